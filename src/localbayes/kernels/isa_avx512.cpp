// 512-bit words with a popcount instruction (VPOPCNTDQ).
#include <immintrin.h>

#include <cstdint>

namespace {

struct Word {
    using Vec = uint64_t __attribute__((vector_size(64)));
    struct Sum { __m512i lanes = _mm512_setzero_si512(); };
    static constexpr int kWords = 8;
    static constexpr double kByteRow = 3, kByteChunk = 2, kLeaf = 2, kPopcount = 1.5;
    static Vec load(const uint64_t* p) { return Vec(_mm512_loadu_si512(p)); }
    static bool is_zero(Vec x) { return _mm512_test_epi64_mask(__m512i(x), __m512i(x)) == 0; }
    static void add_popcount(Sum& sum, Vec x) {
        sum.lanes = _mm512_add_epi64(sum.lanes, _mm512_popcnt_epi64(__m512i(x)));
    }
    static int value(Sum sum) {
        const Vec s = Vec(sum.lanes);
        return int(((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
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

const localbayes::Isa localbayes::isa_avx512{
    "avx512", count, count_weighted, solve_gamma, weigh<int32_t>, weigh<double>};
