// 512-bit words with a popcount instruction (VPOPCNTDQ).
#pragma once
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "vectors.hpp"

namespace localbayes {
namespace {

struct Avx512 {
    using Vec = uint64_t __attribute__((vector_size(64)));
    struct Sum {
        __m512i lanes = _mm512_setzero_si512();
    };
    static constexpr int kWords = 8, kTile = 4, kColumns = 8;
    static Vec load(const uint64_t* p) { return Vec(_mm512_loadu_si512(p)); }
    static bool is_zero(Vec x) { return _mm512_test_epi64_mask(__m512i(x), __m512i(x)) == 0; }
    static Vec odd(Vec a, Vec b, Vec c) {
        return Vec(_mm512_ternarylogic_epi64(__m512i(a), __m512i(b), __m512i(c), 0x96));
    }
    static Vec majority(Vec a, Vec b, Vec c) {
        return Vec(_mm512_ternarylogic_epi64(__m512i(a), __m512i(b), __m512i(c), 0xE8));
    }
    static Vec popcounts(Vec x) { return Vec(_mm512_popcnt_epi64(__m512i(x))); }
    using Split = Vec;
    static Split split(Vec x) { return x; }
    static void add_popcount(Sum& sum, Split a, Split b) {
        sum.lanes = _mm512_add_epi64(sum.lanes, __m512i(popcounts(a & b)));
    }
    // Numbers of four columns share a lane, 16 bits each: a block has 2,048 rows.
    template <int N>
    [[gnu::always_inline]] static void add_values(int32_t* out, const Sum (&sum)[N]) {
        const auto pack = [&](int k) {
            const auto column = [&](int l) { return Vec(sum[k + l].lanes) << 16 * l; };
            const __m512i four = __m512i(column(0) | column(1) | column(2) | column(3));
            return half<0>(four) + half<1>(four);
        };
        const Half first = pack(0), second = N == 8 ? pack(N - 4) : first;
        const Half both = Half(_mm256_unpacklo_epi64(__m256i(first), __m256i(second))) +
                          Half(_mm256_unpackhi_epi64(__m256i(first), __m256i(second)));
        const __m128i counts =
            _mm_add_epi64(_mm256_castsi256_si128(__m256i(both)), _mm256_extracti128_si256(__m256i(both), 1));
        if constexpr (N == 8) {
            using Counts = Vector<int32_t, 8>;
            localbayes::store(out, localbayes::load<Counts>(out) + Counts(_mm256_cvtepu16_epi32(counts)));
        } else add(out, _mm_cvtepu16_epi32(counts));
    }
    static void add_popcounts(int32_t* out, uint64_t rows, const uint64_t* columns) {
        Half words;
        std::memcpy(&words, columns, sizeof words);
        const __m256i counts = _mm256_popcnt_epi64(__m256i(words & rows)),
                      even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
        add(out, _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(counts, even)));
    }
    static void add_bits(uint8_t* to, uint64_t word, int digit) {
        const __m512i bits = _mm512_maskz_set1_epi8(word, char(1 << digit));
        _mm512_storeu_si512(to, __m512i(Vec(_mm512_loadu_si512(to)) | Vec(bits)));
    }
    // A table of up to 32 numbers stays in registers.
    struct LookUp {
        LookUp(const double* table, int size) : size(size), plain(table, size) {
            for (int k = 0; k < 4; ++k) part[k] = __m512d(localbayes::load<EightDoubles>(table + 8 * k));
        }
        EightDoubles operator()(const uint8_t* at) const {
            if (size > 32) return plain(at);
            const __m512i places =
                _mm512_maskz_cvtepu8_epi64(0xFF, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)));
            const __m512d below = _mm512_permutex2var_pd(part[0], places, part[1]);
            if (size <= 16) return EightDoubles(below);
            const __mmask8 above = _mm512_test_epi64_mask(places, _mm512_set1_epi64(16));
            return EightDoubles(_mm512_mask_blend_pd(above, below, _mm512_permutex2var_pd(part[2], places, part[3])));
        }
        int size;
        PlainLookUp plain;
        __m512d part[4];
    };
    template <size_t N>
    [[gnu::always_inline]] static void add_rows(EightDoubles (&sum)[N], const uint64_t (&words)[N], const double* x) {
        Vec of_row{1, 2, 4, 8, 16, 32, 64, 128};
        for (int byte = 0; byte < 8; ++byte, of_row <<= 8) {
            const __m512d rows = __m512d(localbayes::load<EightDoubles>(x + 8 * byte));
            for (size_t k = 0; k < N; ++k) {
                const __mmask8 has = _mm512_test_epi64_mask(_mm512_set1_epi64(int64_t(words[k])), __m512i(of_row));
                sum[k] = EightDoubles(_mm512_mask_add_pd(__m512d(sum[k]), has, __m512d(sum[k]), rows));
            }
        }
    }
    static EightDoubles twice(const double* four) {
        return EightDoubles(_mm512_maskz_broadcast_f64x4(0xFF, _mm256_loadu_pd(four)));
    }

private:
    using Half = uint64_t __attribute__((vector_size(32)));
    template <int k>
    static Half half(__m512i x) {
        return Half(_mm512_maskz_extracti64x4_epi64(0xFF, x, k));
    }
    static void add(int32_t* out, __m128i four) {
        __m128i* target = reinterpret_cast<__m128i*>(out);
        _mm_storeu_si128(target, _mm_add_epi32(_mm_loadu_si128(target), four));
    }
};

}  // namespace
}  // namespace localbayes
