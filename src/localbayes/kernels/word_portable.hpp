// Plain 64-bit words: runs everywhere, and is what the other instruction sets are compared with.
//
// An instruction set is given to the templates as a class of static functions:
//     Vec            kWords words of 64 rows; an array of kBlockWords words is kBlockWords / kWords of them
//     Split          a Vec in the form in which its bits are counted; split(x) makes it
//     Sum            a number of bits; add_popcount(sum, a, b) adds popcount(a & b), add_values adds sums to columns
//     odd, majority  the bits that are set in one or three of three words, and in two at least: their sum and its carry
//     popcounts(x)   the number of bits of every word
//     add_popcounts  out[k] += popcount(rows & columns[k]) for four columns
//     add_bits       adds bit k of a word, as a binary digit, to byte k of 64
//     LookUp         of a table: table[at[k]] for eight places; the table has room for a multiple of 32
//     add_rows       sum[k][j % 8] += x[j] where bit j of words[k] is set, for j = 0 to 63
//     twice          four numbers, two times; only where kWords is eight
//     kColumns       columns that add_values adds at a time, four or eight; four must do
//     kTile          vectors whose masks are held in registers while columns pass
#pragma once
#include <bit>
#include <cstdint>

#include "vectors.hpp"

namespace localbayes {
namespace {

struct Portable {
    using Vec = uint64_t;
    using Sum = int;
    static constexpr int kWords = 1, kTile = 8, kColumns = 4;
    static Vec load(const uint64_t* p) { return *p; }
    static bool is_zero(Vec x) { return x == 0; }
    static auto odd(auto a, auto b, auto c) { return a ^ b ^ c; }
    static auto majority(auto a, auto b, auto c) { return (a & b) | ((a ^ b) & c); }
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
    static void add_bits(uint8_t* to, uint64_t word, int digit) { add_byte_bits(to, word, digit); }
    using LookUp = PlainLookUp;
    template <size_t N>
    static void add_rows(EightDoubles (&sum)[N], const uint64_t (&words)[N], const double* x) {
        add_rows_by_byte(sum, words, x);
    }
};

}  // namespace
}  // namespace localbayes
