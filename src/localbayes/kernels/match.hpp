// Match counts: how a query's Hamming distances are counted, exactly, over class-sorted rows.
//
// For a query x and every class y and distance d the lazy classifiers need
//     V[y, d]      how many training rows of class y differ from x in d attributes,
//     C[y, d, i]   how many of those agree with x on attribute i.
//
// Layout. Rows are sorted by class and cut into blocks of 2,048; a code of attribute i is stored as
// its binary digits, one bit plane per digit, 64 rows a word:
//
//     block 0                                  block 1 ...
//     ┌ attribute 0, digit 0 │ 32 words ┐
//     │ attribute 0, digit 1 │ 32 words │      rows of a class are neighbours; a class may begin
//     │ attribute 1, digit 0 │ 32 words │      and end anywhere inside a word, a mask cuts it out
//     └ ...                  │          ┘
//
// A column of q values costs ceil(log2 q) / 8 bytes a row, 70,000 values 17 bits.
//
// Counting, wide classes (count_planes): "row agrees on i" is an AND of digit planes; a carry-save
// adder sums the disagreements of 64 to 512 rows at once into digit planes of the distance; a binary
// descent over those planes gives one mask per distance that occurs, and
//     C[y, d, i] += popcount(mask_d & agree_i).
// Counting, small classes or many attributes (count_rows): the piece is decoded to bytes once per
// batch of queries; a row is compared with the query 32 bytes at a time and its 0/1 bytes are added
// to a byte counter of its distance, emptied before it can overflow.
// Weighted rows (count_weighted): the same sums in double, plain loops.
//
// Classes are the outer loop, pieces of a block the next and queries the inner one, so that a piece
// stays in cache while the batch passes over it, and only one class of C is in use at a time. What is
// kept per query are the cells (y, d) that occur, with their rows C[y, d, :].
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace localbayes {

constexpr int kBlockWords = 32;
constexpr int kBlockRows = 64 * kBlockWords;

// Digits needed to write the codes 0 .. size-1, plus one more code for "missing" if rows may lack a value.
inline int digits(uint32_t size, bool may_miss) {
    int b = 0;
    while ((uint64_t{1} << b) < uint64_t{size} + may_miss) ++b;
    return b;
}

// A view of one part of the training rows; all memory belongs to the caller.
struct Segment {
    const uint64_t* words;         // [block][plane][kBlockWords]
    const int64_t* class_start;    // n_classes + 1 positions in the sorted rows
    const double* weights;         // per sorted row, or null
    std::vector<uint32_t> sizes;   // codes below sizes[i] are values; sizes[i] itself is "missing" if may_miss
    std::vector<int> first_plane;  // m + 1
    bool may_miss;
};

// The cells (class, distance) that occur for each query of a batch, in the order they were found:
// pass after pass of `per_pass` queries, within it class after class.
template <class Count>
struct Cells {
    int n_classes = 0;
    int width = 0;                  // columns of a row of counts: m, or 2m where values may be missing
    int64_t n_queries = 0, per_pass = 1;
    std::vector<int64_t> start{0};  // first cell of a slot
    std::vector<int32_t> distance;
    std::vector<Count> total;       // V
    std::vector<Count> rows;        // C, one row of `width` per cell; columns from m on count the known values

    // Calls f(class, distance, V, C row) for the cells of a query.
    template <class F>
    void for_each(int64_t query, F f) const {
        const int64_t pass = query / per_pass, in_pass = std::min(per_pass, n_queries - pass * per_pass);
        for (int y = 0; y < n_classes; ++y) {
            const int64_t slot = pass * per_pass * n_classes + y * in_pass + query % per_pass;
            for (int64_t c = start[slot]; c < start[slot + 1]; ++c) f(y, distance[c], total[c], &rows[c * width]);
        }
    }
};

// A code of a query that is no value of the column, and one that is not known (where rows may miss values).
constexpr uint32_t kUnseen = 0xFFFFFFFFu, kMissing = 0xFFFFFFFEu;

struct Batch {
    const uint32_t* codes;     // n_queries x m
    const int64_t* own;        // class of the query's own row, which is taken out again, or null
    const double* own_weight;  // that row's weight, or null
    int64_t n_queries;
    int m, n_classes;
};

// The functions of one instruction set.
struct Isa {
    const char* name;
    void (*count)(const std::vector<Segment>&, const Batch&, Cells<int32_t>&);
    void (*count_weighted)(const std::vector<Segment>&, const Batch&, Cells<double>&);
    // For one query: gamma[y] with sum_d V[y, d] gamma^d = kappa, clipped to [0, 1]; totals is [n_classes][m + 1].
    void (*solve_gamma)(const double* totals, int n_classes, int m, double kappa, double* gamma);
    // For one query and weights [n_classes][m + 1]: S[y] = sum_d w V, T[y][i] = sum_d w C.
    void (*weigh)(const Cells<int32_t>&, int64_t query, const double* weights, int m, double* S, double* T);
    void (*weigh_weighted)(const Cells<double>&, int64_t query, const double* weights, int m, double* S, double* T);
};

extern const Isa isa_portable, isa_avx2, isa_avx512;
std::vector<const Isa*> available_isas();  // best first

}  // namespace localbayes
