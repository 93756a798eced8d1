// Plain 64-bit words: runs everywhere, and is what the other paths are compared with.
#include <bit>
#include <cstdint>
#include <cstring>

namespace {

struct Word {
    using Vec = uint64_t;
    using Sum = int;
    static constexpr int kWords = 1, kTile = 8;
    static constexpr double kByteRow = 12, kByteChunk = 30, kPlanesPerByte = 1;
    static Vec load(const uint64_t* p) { return *p; }
    static Vec broadcast(uint64_t x) { return x; }
    static bool is_zero(Vec x) { return x == 0; }
    using Split = Vec;
    static Split split(Vec x) { return x; }
    static void add_popcount(Sum& sum, Split a, Split b) { sum += std::popcount(a & b); }
    static int value(Sum sum) { return sum; }
    static void add_values(int32_t* out, const Sum (&sum)[4]) {
        for (int k = 0; k < 4; ++k) out[k] += sum[k];
    }

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
#include "gamma.inl"

const localbayes::Isa localbayes::isa_portable{
    "portable", count, count_weighted, solve_gamma};
