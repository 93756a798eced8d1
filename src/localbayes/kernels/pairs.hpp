// Pair counts: how often two attribute values occur together in each class, and the two scores that read them.
//
// A slot is one value of one attribute; each attribute has one more for "a value never seen", whose counts are zero.
// The slots of an attribute are the rows of a matrix whose columns are the slots of all attributes before it. A cell
// holds one count per class. Counts are turned into probabilities on the fly: a table of logarithms would take twice
// the memory and be slower, since fetching cells is what costs.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

// What a query calls is compiled twice and chosen when the module is loaded. Neither version contracts
// multiplications and additions, so both give the same bits.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define LOCALBAYES_ALSO_AVX2 __attribute__((target_clones("avx2", "default")))
#else
#define LOCALBAYES_ALSO_AVX2
#endif

namespace localbayes {

// The counts, and n rows of m values to count or to score. The cell of attributes i < j of a row is at row[j] +
// column[i]; column[i] is also where tables of r numbers per slot have those of the value of i.
template <class Count>
struct Pairs {
    Count* counts;
    const int64_t *row, *column;
    int64_t n;
    int m, r;

    Pairs from(int64_t k) const { return {counts, row + k * m, column + k * m, n - k, m, r}; }

    // to[y] = start[y], changed by step(to[y], count, i, y) for the attributes i != p from begin to end, in the first
    // row. Blocks of classes stay in registers; the last may overlap the one before it. All is inlined, so that it is
    // compiled for the instructions of the caller.
    template <class Step>
    [[gnu::always_inline]] void fold(int p, int begin, int end, const double* start, double* to, Step step) const {
        const auto fold_blocks = [&](auto width) __attribute__((always_inline)) {
            for (int block = 0; block < r; block += width) {
                const int y = std::min(block, r - width);
                double value[width];
                for (int k = 0; k < width; ++k) value[k] = start[y + k];
                const auto change = [&](int i, const Count* count) __attribute__((always_inline)) {
                    for (int k = 0; k < width; ++k) value[k] = step(value[k], double(count[k]), i, y + k);
                };
                for (int i = begin; i < std::min(end, p); ++i) change(i, counts + row[p] + column[i] + y);
                for (int i = std::max(begin, p + 1); i < end; ++i) change(i, counts + row[i] + column[p] + y);
                for (int k = 0; k < width; ++k) to[y + k] = value[k];
            }
        };
        if (r >= 8) fold_blocks(std::integral_constant<int, 8>{});
        else if (r >= 4) fold_blocks(std::integral_constant<int, 4>{});
        else if (r >= 2) fold_blocks(std::integral_constant<int, 2>{});
        else fold_blocks(std::integral_constant<int, 1>{});
    }
};

// Adds rows, attribute by attribute, so that the part of the table in use stays in cache. Values never seen are
// counted like others: the caller takes them out again.
template <class Count>
void count_pairs(const Pairs<Count>& pairs, const int64_t* classes, const Count* weights) {
    for (int j = 1; j < pairs.m; ++j)
        for (int64_t k = 0; k < pairs.n; ++k) {
            const Pairs<Count> rows = pairs.from(k);
            for (int i = 0; i < j; ++i) rows.counts[rows.row[j] + rows.column[i] + classes[k]] += weights[k];
        }
}

// One-dependence estimators, out[p][q][y] = start(p, y) prod_{i != p} (n_{p, i, y} + pseudo[i]) over the attributes i
// from span[0] to span[1]; start is given per slot and class.
template <class Count>
LOCALBAYES_ALSO_AVX2 void multiply_counts(const Pairs<const Count>& pairs, const double* pseudo, const double* start,
                                          const int64_t* span, double* out) {
    for (int64_t q = 0; q < pairs.n; ++q)
        for (int p = 0; p < pairs.m; ++p) {
            const Pairs<const Count> query = pairs.from(q);
            query.fold(p, int(span[0]), int(span[1]), start + query.column[p], out + (p * pairs.n + q) * pairs.r,
                       [=](double product, double n, int i, int) { return product * (n + pseudo[i]); });
        }
}

// Hidden parents, out[i][q][y] = alone(i, y) + sum_{j != i} weight[i][j] (n_{i, j, y} + pseudo[i]) scale(j, y);
// alone and scale are given per slot and class.
template <class Count>
LOCALBAYES_ALSO_AVX2 void mix_counts(const Pairs<const Count>& pairs, const double* pseudo, const double* weight,
                                     const double* alone, const double* scale, double* out) {
    for (int64_t q = 0; q < pairs.n; ++q)
        for (int i = 0; i < pairs.m; ++i) {
            const Pairs<const Count> query = pairs.from(q);
            const double* weight_of = weight + i * pairs.m;
            query.fold(i, 0, pairs.m, alone + query.column[i], out + (i * pairs.n + q) * pairs.r,
                       [=](double sum, double n, int j, int y) {
                           return sum + weight_of[j] * (n + pseudo[i]) * scale[query.column[j] + y];
                       });
        }
}

}  // namespace localbayes
