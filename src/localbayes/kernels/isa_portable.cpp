// Plain 64-bit words: runs everywhere, and is what the other paths are compared with.
#include <bit>
#include <cstdint>

namespace {

struct Word {
    using Vec = uint64_t;
    using Sum = int;
    static constexpr int kWords = 1, kTile = 8;
    static Vec load(const uint64_t* p) { return *p; }
    static bool is_zero(Vec x) { return x == 0; }
    static Vec popcounts(Vec x) { return std::popcount(x); }
    using Split = Vec;
    static Split split(Vec x) { return x; }
    static void add_popcount(Sum& sum, Split a, Split b) { sum += std::popcount(a & b); }
    static void add_values(int32_t* out, const Sum (&sum)[4]) {
        for (int k = 0; k < 4; ++k) out[k] += sum[k];
    }
    static void add_popcounts(int32_t* out, uint64_t rows, const uint64_t* columns) {
        for (int k = 0; k < 4; ++k) out[k] += std::popcount(rows & columns[k]);
    }
};

}  // namespace

#include "count.inl"
#include "score.inl"

const localbayes::Isa localbayes::isa_portable{
    "portable", distance_counts, match_counts, weighted_sums, log_joint_given, log_joint_cells, log_joint_of_sums, cell_weights};
