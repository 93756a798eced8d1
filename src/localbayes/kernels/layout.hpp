// How training rows are kept: bit planes of class-sorted rows.
//
// Rows are sorted by class and cut into blocks of 2,048. In a block every value of an attribute has a bit plane,
// 64 rows a word, that says which rows have the value:
//
//     block 0                                  block 1 ...
//     ┌ zeros                │ 32 words ┐
//     │ attribute 0, value 0 │ 32 words │      the rows of a class are neighbours; a class may begin
//     │ attribute 0, value 1 │ 32 words │      and end anywhere inside a word, a mask cuts it out;
//     │ attribute 1, value 0 │ 32 words │      a value that no row has uses the zeros
//     └ ...                  │          ┘
//
// A column of q <= 15 values costs q bits a row. Above that the code is written in base 4 with four planes a digit,
// and a row has a value if it has all its digits: 70,000 values cost 34 bits a row. Distances that are not Hamming's
// need a plane for every value; the caller says for which columns.
//
// A row may stand for several that are equal, or weigh more or less than one. The rows of a class are then cut into
// runs: all rows of a run count the same factor, or each has a weight of its own. Without runs every row counts once.
//
// How a query is counted:
//     planes.hpp     the planes of the query's values in a block
//     adder.hpp      their sum, for every row: how many attributes agree
//     distances.hpp  V[class][distance]: how many rows of a class lie at a distance
//     matches.hpp    C[class][distance][attribute]: how many of those agree on an attribute
//     loose.hpp      the same sums over rows that have weights of their own
//     gamma.hpp      the weights of the distances, from V
//     score.hpp      the scores of the classes, from V, C and the weights
//     near_lacks.hpp what near rows lack, for bounds of the scores
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace localbayes {

constexpr int kBlockWords = 32;
constexpr int kBlockRows = 64 * kBlockWords;
constexpr uint32_t kMostPlanes = 15;

constexpr int padded(int n, int to) { return (n + to - 1) / to * to; }

// Where the planes of an attribute are: one per value, or four per base-4 digit of the code.
struct Column {
    uint32_t n_codes;  // values, and one more for "missing" if rows may lack one
    uint32_t first_plane, n_digits, mask;

    uint32_t plane(uint32_t code, uint32_t digit) const { return first_plane + 4 * digit + (code >> 2 * digit & mask); }
    uint32_t n_planes() const { return 4 * (n_digits - 1) + planes(n_digits - 1); }
    uint32_t planes(uint32_t digit) const {
        return mask == 3 ? std::min(4u, ((n_codes - 1) >> 2 * digit) + 1) : n_codes;
    }
};

// Neighbouring rows of a class from `start` on, up to the next run. Each counts `factor` times or, where weights are
// given, its own weight.
struct Run {
    int64_t start;
    double factor;
    const double* weights;
    bool many = false;  // rows that have weights
};
constexpr int64_t kManyLoose = 1024;

// The runs of a segment as they come: n_runs + 1 positions, and the factor of every run, 0 where rows have weights of
// their own, which follow each other in `loose`.
struct RunArrays {
    const int64_t* start;
    const double *factor, *loose;
    size_t n_runs, n_loose;
};

// A view of one part of the training rows; the memory behind the pointers belongs to the caller.
struct Segment {
    // A column for which by_value is set has a plane for every value, whatever their number; by_value may be null: none
    // is. Throws std::invalid_argument where there are more planes than can be addressed.
    Segment(const uint32_t* sizes, int m, bool may_miss, const uint8_t* by_value = nullptr);

    const uint64_t* words = nullptr;       // [block][plane][kBlockWords]
    const int64_t* class_start = nullptr;  // n_classes + 1 positions in the sorted rows
    std::vector<Run> runs;                 // and one more at the end; none if every row counts once
    std::vector<size_t> first_run;         // of every class
    std::vector<Column> columns;
    std::vector<int> wide;  // columns of several digits
    size_t n_planes = 1;
    bool may_miss;

    // Rows that have weights of their own, a weight for each.
    void set_weights(const double* weights, int n_classes);
    // Throws std::invalid_argument where runs do not cover the rows, or a class does not begin with one.
    void set_runs(const RunArrays& arrays, int n_classes);

    uint32_t missing(int i) const { return columns[i].n_codes - 1; }
    uint32_t n_values(int i) const { return columns[i].n_codes - may_miss; }
    const uint64_t* block(int64_t b) const { return words + size_t(b) * block_words(); }
    size_t block_words() const { return n_planes * kBlockWords; }
    // Words that n rows need; the largest number if that is no number of words.
    size_t words_needed(int64_t n) const {
        const size_t blocks = size_t(n / kBlockRows) + (n % kBlockRows != 0);
        size_t needed;
        return n < 0 || __builtin_mul_overflow(blocks, block_words(), &needed) ? SIZE_MAX : needed;
    }
};

// Write the rows codes[order[0]], codes[order[1]], ... to `words`, which are zero before.
template <class Code>
void pack(const Segment& s, const Code* codes, const int64_t* order, int64_t n, uint64_t* words);

// Throws std::invalid_argument unless arrays that may come from a file are rows as `pack` writes them: class_start has
// n_starts entries, begins with 0 and does not decrease; there are n_words words, just as many as the rows need; the
// plane of zeros is zero; a row has one value of every attribute or, where values cannot be missing, none; bits beyond
// the last row are zero; no size is 0.
void check_rows(const Segment& s, size_t n_words, size_t n_starts);

// Codes of the sorted rows rows[0], rows[1], ..., row after row.
void unpack(const Segment& s, const int64_t* rows, int64_t n, uint32_t* codes);

}  // namespace localbayes
