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
// Two questions are asked of a batch of queries: first for V alone, which decides the weights, then
// for C, but only of the classes that can still matter (see score.cpp). Classes are the outer loop,
// pieces of a block the next and queries the inner one, so that a piece stays in cache while the
// batch passes over it and only one class of counts is in use at a time.
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

// A view of one part of the training rows; the memory behind the pointers belongs to the caller.
struct Segment {
    Segment(const uint32_t* sizes, int m, bool may_miss);

    const uint64_t* words = nullptr;       // [block][plane][kBlockWords]
    const int64_t* class_start = nullptr;  // n_classes + 1 positions in the sorted rows
    const double* weights = nullptr;       // per sorted row, or null
    std::vector<uint32_t> sizes;   // codes below sizes[i] are values; sizes[i] itself is "missing" if may_miss
    std::vector<int> first_plane;  // m + 1
    bool may_miss;

    size_t words_needed(int64_t n) const {
        return size_t((n + kBlockRows - 1) / kBlockRows) * first_plane.back() * kBlockWords;
    }
};

// Set the bits of the rows codes[order[0]], codes[order[1]], ... in `words`, which are zero before.
template <class Code>
void pack(const Segment& s, const Code* codes, const int64_t* order, int64_t n, uint64_t* words);

// Codes of the sorted rows rows[0], rows[1], ..., row after row.
void unpack(const Segment& s, const int64_t* rows, int64_t n, uint32_t* codes);

// A code of a query that is no value of the column, and one that is not known (where rows may miss values).
constexpr uint32_t kUnseen = 0xFFFFFFFFu, kMissing = 0xFFFFFFFEu;

struct Batch {
    const uint32_t* codes;     // n_queries x m
    const int64_t* own;        // class of the query's own row, which is taken out again, or null
    const double* own_weight;  // that row's weight, or null
    int64_t n_queries;
    int m, n_classes;
};

// Receives the counts of one query and class: total[d] is V, rows[d * stride + i] is C for the
// distances that occur (from column m on: how many rows have a known value of i - m).
template <class Count>
struct Sink {
    virtual ~Sink() = default;
    virtual void take(int64_t query, int y, const Count* total, const Count* rows, int stride) = 0;
};

// What to count: V, or V and C, for all pairs of query and class or for those that are wanted.
struct Order {
    bool rows;
    const uint8_t* wanted;  // n_queries x n_classes, or null for all
};

// The functions of one instruction set.
struct Isa {
    const char* name;
    void (*count)(const std::vector<Segment>&, const Batch&, const Order&, Sink<int32_t>&);
    void (*count_weighted)(const std::vector<Segment>&, const Batch&, const Order&, Sink<double>&);
    // For one query: gamma[y] with sum_d V[y, d] gamma^d = kappa, clipped to [0, 1]. `totals` is
    // [n_classes][m + 1]; scratch holds n_classes * (m + 6) numbers.
    void (*solve_gamma)(const double* totals, int n_classes, int m, double kappa, double* gamma, double* scratch);
};

extern const Isa isa_portable, isa_avx2, isa_avx512;
std::vector<const Isa*> available_isas();  // best first

}  // namespace localbayes
