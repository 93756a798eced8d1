// Plain 64-bit words: runs everywhere, and is what the other paths are compared with.
#include <bit>
#include <cstdint>
#include <cstring>

namespace {

struct Word {
    using Vec = uint64_t;
    using Sum = int;
    static constexpr int kWords = 1;
    static constexpr double kByteRow = 10, kByteChunk = 12, kLeaf = 1, kPopcount = 4;
    static Vec load(const uint64_t* p) { return *p; }
    static bool is_zero(Vec x) { return x == 0; }
    static void add_popcount(Sum& sum, Vec x) { sum += std::popcount(x); }
    static int value(Sum sum) { return sum; }

    using Bytes = uint8_t __attribute__((vector_size(32)));
    static Bytes load_bytes(const uint8_t* p) {
        Bytes b;
        std::memcpy(&b, p, sizeof b);
        return b;
    }
    static int count_equal(Bytes a, Bytes b) {  // ones of eight lanes are summed by a multiplication
        const Bytes ones = (a == b) & 1;
        uint64_t lane[4];
        std::memcpy(lane, &ones, sizeof lane);
        return int((lane[0] + lane[1] + lane[2] + lane[3]) * 0x0101010101010101u >> 56);
    }
};

}  // namespace

#include "count.inl"
#include "weigh.inl"

const localbayes::Isa localbayes::isa_portable{
    "portable", count, count_weighted, solve_gamma, weigh<int32_t>, weigh<double>};
