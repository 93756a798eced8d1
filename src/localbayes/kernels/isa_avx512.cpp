// 512-bit words with a popcount instruction (VPOPCNTDQ).
#include <immintrin.h>

#include <cstdint>

namespace {

struct Word {
    using Vec = uint64_t __attribute__((vector_size(64)));
    struct Sum { __m512i lanes = _mm512_setzero_si512(); };
    static constexpr int kWords = 8, kTile = 4;
    static Vec load(const uint64_t* p) { return Vec(_mm512_loadu_si512(p)); }
    static bool is_zero(Vec x) { return _mm512_test_epi64_mask(__m512i(x), __m512i(x)) == 0; }
    static Vec popcounts(Vec x) { return Vec(_mm512_popcnt_epi64(__m512i(x))); }
    using Split = Vec;
    static Split split(Vec x) { return x; }
    static void add_popcount(Sum& sum, Split a, Split b) {
        sum.lanes = _mm512_add_epi64(sum.lanes, __m512i(popcounts(a & b)));
    }
    static void add_values(int32_t* out, const Sum (&sum)[4]) {
        for (int k = 0; k < 4; ++k) {
            const Vec s = Vec(sum[k].lanes);
            out[k] += int32_t(((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
        }
    }
};

}  // namespace

#include "count.inl"
#include "score.inl"

const localbayes::Isa localbayes::isa_avx512{
    "avx512", distance_counts, match_counts, weighted_sums, log_joint_given, log_joint_cells, log_joint_of_sums, cell_weights};
