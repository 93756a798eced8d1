// Small vectors of numbers, loaded from and stored to arrays of any alignment.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>

namespace localbayes {
namespace {

template <class T, int n>
using Vector __attribute__((vector_size(n * sizeof(T)))) = T;

template <class Values, class T>
Values load(const T* p) {
    Values v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
template <class Values, class T>
void store(T* p, Values v) {
    std::memcpy(p, &v, sizeof v);
}

// Classes, or sets of weights, are worked on four at a time.
using Four = Vector<double, 4>;
using EightDoubles = Vector<double, 8>;
template <class Lanes>
using BitsOf = decltype(Lanes{} < Lanes{});
using FourBits = BitsOf<Four>;
inline Four load(const double* p) { return load<Four>(p); }
inline bool none(FourBits bits) { return (bits[0] | bits[1] | bits[2] | bits[3]) == 0; }
inline bool none(BitsOf<EightDoubles> bits) {
    return (bits[0] | bits[1] | bits[2] | bits[3] | bits[4] | bits[5] | bits[6] | bits[7]) == 0;
}
// Numbers 4 k to 4 k + 3.
inline Four four_of(Four x, int) { return x; }
inline Four four_of(EightDoubles x, int k) { return Four{x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]}; }

using EightFloats = Vector<float, 8>;
// Numbers of eight neighbouring rows that a mask has; the others are zero.
using EightBits = Vector<int64_t, 8>;
constexpr auto kChosen = [] {
    std::array<EightBits, 256> table{};
    for (int64_t b = 0; b < 256; ++b)
        table[b] = EightBits{-(b & 1),      -(b >> 1 & 1), -(b >> 2 & 1), -(b >> 3 & 1),
                             -(b >> 4 & 1), -(b >> 5 & 1), -(b >> 6 & 1), -(b >> 7 & 1)};
    return table;
}();
inline EightDoubles masked(unsigned mask, const EightDoubles& x) { return EightDoubles(kChosen[mask] & EightBits(x)); }
template <size_t N>
void add_rows_by_byte(EightDoubles (&sum)[N], const uint64_t (&words)[N], const double* x) {
    for (int byte = 0; byte < 8; ++byte) {
        const EightDoubles rows = load<EightDoubles>(x + 8 * byte);
        for (size_t k = 0; k < N; ++k) sum[k] += masked(words[k] >> 8 * byte & 255, rows);
    }
}
inline double sum_of(const EightDoubles& x) {
    return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

// Bit k of a word, as a binary digit, added to byte k of 64.
constexpr auto kByteBits = [] {
    std::array<uint64_t, 256> table{};
    for (uint64_t b = 0; b < 256; ++b)
        for (int k = 0; k < 8; ++k) table[b] |= (b >> k & 1) << 8 * k;
    return table;
}();
inline void add_byte_bits(uint8_t* to, uint64_t word, int digit) {
    for (int k = 0; k < 8; ++k) {
        uint64_t eight;
        std::memcpy(&eight, to + 8 * k, 8);
        eight |= kByteBits[word >> 8 * k & 255] << digit;
        std::memcpy(to + 8 * k, &eight, 8);
    }
}

struct PlainLookUp {
    PlainLookUp(const double* table, int) : table(table) {}
    EightDoubles operator()(const uint8_t* at) const {
        EightDoubles found;
        for (int k = 0; k < 8; ++k) found[k] = table[at[k]];
        return found;
    }
    const double* table;
};

// Calls f<n>() for an n from kFirst to kLast, so that loops of that length are unrolled.
template <int kFirst, int kLast, class F>
void with_constant(int n, F f) {
    if (n == kFirst) f.template operator()<kFirst>();
    else if constexpr (kFirst < kLast) with_constant<kFirst + 1, kLast>(n, f);
}

}  // namespace
}  // namespace localbayes
