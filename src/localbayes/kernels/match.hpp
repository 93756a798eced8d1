// Match counts: how a query's Hamming distances are counted, exactly, over class-sorted rows.
//
// For a query x and every class y and distance d the lazy classifiers need
//     V[y, d]      how many training rows of class y differ from x in d attributes,
//     C[y, d, i]   how many of those agree with x on attribute i.
//
// Layout. Rows are sorted by class and cut into blocks of 2,048. In a block every value of an
// attribute has a bit plane, 64 rows a word, that says which rows have it:
//
//     block 0                                  block 1 ...
//     ┌ zeros                │ 32 words ┐
//     │ attribute 0, value 0 │ 32 words │      rows of a class are neighbours; a class may begin
//     │ attribute 0, value 1 │ 32 words │      and end anywhere inside a word, a mask cuts it out;
//     │ attribute 1, value 0 │ 32 words │      a value that no row has uses the zeros
//     └ ...                  │          ┘
//
// A column of q <= 15 values costs q bits a row. Above that the code is written in base 4 with four
// planes a digit, and a row agrees if all its digits do: 70,000 values cost 34 bits a row.
//
// Counting. A carry-save adder sums the planes of the query's values, 64 to 512 rows at once, into
// the binary digits of every row's number of agreements. Then, class by class,
//     V: for each value of the higher digits, a word's rows with each value of the lowest three are counted into
//        the eight bytes of a line, and the lines of a class are added up; a class that begins or ends inside a
//        word counts that word's rows before the cut once more; rows of a very small class are read off one by one;
//     C: popcount(mask_d & plane_i) for the mask of every distance that occurs.
// Weighted rows go through the same planes, but their weights are added up one by one, in double.
//
// A batch is asked for V first. V decides the weights, and with them which classes can still win:
// C is counted for those alone (see score.inl). Blocks are the outer loop and queries the inner one,
// so that a block stays in cache while the queries pass over it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace localbayes {

constexpr int kBlockWords = 32;
constexpr int kBlockRows = 64 * kBlockWords;
constexpr uint32_t kMostPlanes = 15;

// Where the planes of an attribute are: one per value, or four per base-4 digit of the code.
struct Column {
    uint32_t n_codes;  // values, and one more for "missing" if rows may lack one
    uint32_t first_plane, n_digits, mask;

    uint32_t plane(uint32_t code, uint32_t digit) const { return first_plane + 4 * digit + (code >> 2 * digit & mask); }
    uint32_t n_planes() const { return 4 * (n_digits - 1) + planes(n_digits - 1); }
    uint32_t planes(uint32_t digit) const { return mask == 3 ? std::min(4u, ((n_codes - 1) >> 2 * digit) + 1) : n_codes; }
};

// A view of one part of the training rows; the memory behind the pointers belongs to the caller.
struct Segment {
    Segment(const uint32_t* sizes, int m, bool may_miss);

    const uint64_t* words = nullptr;       // [block][plane][kBlockWords]
    const int64_t* class_start = nullptr;  // n_classes + 1 positions in the sorted rows
    const double* weights = nullptr;       // per sorted row, or null
    std::vector<Column> columns;
    std::vector<int> wide;  // columns of several digits
    size_t n_planes = 1;
    bool may_miss;

    uint32_t missing(int i) const { return columns[i].n_codes - 1; }
    const uint64_t* block(int64_t b) const { return words + size_t(b) * n_planes * kBlockWords; }
    size_t words_needed(int64_t n) const { return size_t((n + kBlockRows - 1) / kBlockRows) * n_planes * kBlockWords; }
};

// Write the rows codes[order[0]], codes[order[1]], ... to `words`, which are zero before.
template <class Code>
void pack(const Segment& s, const Code* codes, const int64_t* order, int64_t n, uint64_t* words);

// Codes of the sorted rows rows[0], rows[1], ..., row after row.
void unpack(const Segment& s, const int64_t* rows, int64_t n, uint32_t* codes);

constexpr int padded(int n, int to) { return (n + to - 1) / to * to; }

// A code of a query that is no value of the column, and one that is not known (where rows may miss values).
constexpr uint32_t kUnseen = 0xFFFFFFFFu, kMissing = 0xFFFFFFFEu;

// Queries over training rows. C has m columns, or 2 m where values may be missing: column m + i then
// counts the rows whose value of i is known.
struct Batch {
    const std::vector<Segment>& segments;
    const uint32_t* codes;     // n_queries x m
    const int64_t* own;        // class of the query's own row, which is taken out again, or null
    const double* own_weight;  // that row's weight, or null
    int64_t n_queries;
    int m, n_classes;
    bool weighted;

    bool may_miss() const { return segments[0].may_miss; }
    int columns() const { return may_miss() ? 2 * m : m; }
    // V is [query][distance][class], with room for a multiple of four classes.
    size_t class_room() const { return padded(n_classes, 4); }
    size_t V_size() const { return size_t(m + 1) * class_room(); }
    Batch part(int64_t first, int64_t n) const {
        return {segments, codes + first * m, own ? own + first : nullptr, own_weight ? own_weight + first : nullptr,
                n, m, n_classes, weighted};
    }
};

struct Laplace {
    double alpha;
    const double* sizes;  // q_i
};

// The functions of one instruction set; all give the same bits.
struct Isa {
    const char* name;
    void (*distance_counts)(const Batch&, double* V);
    // C[query][class][distance][column].
    void (*match_counts)(const Batch&, const double* V, double* C);
    // S[query][class] and T[query][class][column] for weights[query][class][distance].
    void (*weighted_sums)(const Batch&, const double* V, const double* weights, double* S, double* T);
    // Log joint [query][class] for weights[query][class][distance]. A class that stays more than `margin` below
    // the best may be left out: it is not counted and gets minus infinity.
    void (*log_joint)(const Batch&, const double* V, const double* weights, Laplace, double margin, double* out);
    // Log joint [kappa][query][class] for the paper's weights rho * gamma^d.
    void (*cell_log_joint)(const Batch&, const double* kappas, int n_kappas, Laplace, double margin, double* out);
    // Log joint [query][class] for S and T that were added up elsewhere; a code of kMissing is all that codes say.
    void (*log_joint_of_sums)(const uint32_t* codes, const double* S, const double* T, int64_t n_queries, int n_classes,
                              int m, int columns, Laplace, double* out);
    // gamma[query][class], rho[query] and rho * gamma^d for V[query][class][distance].
    void (*cell_weights)(const double* V, int64_t n_queries, int n_classes, int m, double kappa, double* gamma,
                         double* rho, double* weights);
};

extern const Isa isa_portable, isa_avx2, isa_avx512;
std::vector<const Isa*> available_isas();  // best first

}  // namespace localbayes
