// 256-bit words; a popcount is two table look-ups per byte, one per nibble.
#pragma once
#include <immintrin.h>

#include <bit>
#include <cstdint>

#include "vectors.hpp"

namespace localbayes {
namespace {

struct Avx2 {
    using Vec = uint64_t __attribute__((vector_size(32)));
    struct Sum {
        __m256i bytes = _mm256_setzero_si256();
    };  // at most 31 additions fit a byte; a block has 8
    static constexpr int kWords = 4, kTile = 8, kColumns = 4;
    static Vec load(const uint64_t* p) { return Vec(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
    static bool is_zero(Vec x) { return _mm256_testz_si256(__m256i(x), __m256i(x)); }
    static Vec odd(Vec a, Vec b, Vec c) { return a ^ b ^ c; }
    static Vec majority(Vec a, Vec b, Vec c) { return (a & b) | ((a ^ b) & c); }
    struct Split {
        __m256i low, high;
    };  // nibbles of every byte, split once and looked up many times
    static Split split(Vec x) {
        const __m256i nibble = _mm256_set1_epi8(15), bits = __m256i(x);
        return {_mm256_and_si256(bits, nibble), _mm256_and_si256(_mm256_srli_epi16(bits, 4), nibble)};
    }
    static void add_popcount(Sum& sum, const Split& a, const Split& b) {
        const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3,
                                               1, 2, 2, 3, 2, 3, 3, 4);
        const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(a.low, b.low));
        const __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(a.high, b.high));
        sum.bytes = _mm256_add_epi8(sum.bytes, _mm256_add_epi8(low, high));
    }
    static Vec popcounts(Vec x) {
        Sum sum;
        add_popcount(sum, split(x), split(x));
        return Vec(_mm256_sad_epu8(sum.bytes, _mm256_setzero_si256()));
    }
    static void add_values(int32_t* out, const Sum (&sum)[4]) {
        const __m256i none = _mm256_setzero_si256();
        const auto pair = [&](Sum a, Sum b) {  // 32-bit lanes a0 b0 a1 b1 ...
            return _mm256_or_si256(_mm256_sad_epu8(a.bytes, none),
                                   _mm256_slli_epi64(_mm256_sad_epu8(b.bytes, none), 32));
        };
        const __m256i ab = pair(sum[0], sum[1]), cd = pair(sum[2], sum[3]);
        const __m256i abcd = _mm256_add_epi32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
        __m128i* target = reinterpret_cast<__m128i*>(out);
        const __m128i both = _mm_add_epi32(_mm256_castsi256_si128(abcd), _mm256_extracti128_si256(abcd, 1));
        _mm_storeu_si128(target, _mm_add_epi32(_mm_loadu_si128(target), both));
    }
    static void add_popcounts(int32_t* out, uint64_t rows, const uint64_t* columns) {
        for (int k = 0; k < 4; ++k) out[k] += std::popcount(rows & columns[k]);
    }
    static void add_bits(uint8_t* to, uint64_t word, int digit) { add_byte_bits(to, word, digit); }
    using LookUp = PlainLookUp;
    template <size_t N>
    static void add_rows(EightDoubles (&sum)[N], const uint64_t (&words)[N], const double* x) {
        add_rows_by_byte(sum, words, x);
    }
};

}  // namespace
}  // namespace localbayes
