// 256-bit words; a popcount is two table look-ups per byte.
#include <immintrin.h>

#include <cstdint>

namespace {

struct Word {
    using Vec = uint64_t __attribute__((vector_size(32)));
    struct Sum { __m256i bytes = _mm256_setzero_si256(); };  // at most 31 additions fit a byte; a block has 8
    static constexpr int kWords = 4;
    static constexpr double kByteRow = 3, kByteChunk = 2, kLeaf = 2, kPopcount = 2;
    static Vec load(const uint64_t* p) { return Vec(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
    static bool is_zero(Vec x) { return _mm256_testz_si256(__m256i(x), __m256i(x)); }
    static void add_popcount(Sum& sum, Vec x) {
        const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
                                               0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
        const __m256i nibble = _mm256_set1_epi8(15), bits = __m256i(x);
        const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(bits, nibble));
        const __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(bits, 4), nibble));
        sum.bytes = _mm256_add_epi8(sum.bytes, _mm256_add_epi8(low, high));
    }
    static int value(Sum sum) {
        const __m256i s = _mm256_sad_epu8(sum.bytes, _mm256_setzero_si256());
        const __m128i half = _mm_add_epi32(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1));
        return _mm_cvtsi128_si32(half) + _mm_extract_epi32(half, 2);
    }

    using Bytes = uint8_t __attribute__((vector_size(32)));
    static Bytes load_bytes(const uint8_t* p) {
        return Bytes(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    }
    static int count_equal(Bytes a, Bytes b) {
        return _mm_popcnt_u32(_mm256_movemask_epi8(_mm256_cmpeq_epi8(__m256i(a), __m256i(b))));
    }
};

}  // namespace

#include "count.inl"
#include "weigh.inl"

const localbayes::Isa localbayes::isa_avx2{
    "avx2", count, count_weighted, solve_gamma, weigh<int32_t>, weigh<double>};
