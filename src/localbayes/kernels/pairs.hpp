// Pair counts: how often two attribute values occur together in each class, and the formulas that read them.
//
// A slot is one value of one attribute; each attribute has one more for "a value never seen", whose counts are zero.
// The slots of an attribute are the rows of a matrix whose columns are the slots of all attributes before it. A cell
// holds one count per class. Counts are turned into probabilities on the fly: a table of logarithms would take twice
// the memory and be slower, since fetching cells is what costs.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

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

// Adds rows to a table of r counts per slot.
template <class Count>
void count_values(const Pairs<Count>& values, const int64_t* classes, const Count* weights) {
    for (int64_t k = 0; k < values.n; ++k)
        for (int i = 0; i < values.m; ++i) values.counts[values.from(k).column[i] + classes[k]] += weights[k];
}

// Adds rows, attribute by attribute, so that the part of the table in use stays in cache. Values never seen are
// counted like others: the caller takes them out again.
template <class Count>
void count_pairs(const Pairs<Count>& pairs, const int64_t* classes, const Count* weights) {
    for (int j = 1; j < pairs.m; ++j)
        for (int64_t k = 0; k < pairs.n; ++k) {
            const Pairs<Count> rows = pairs.from(k);
            Count* cells = rows.counts + rows.row[j] + classes[k];
            const Count weight = weights[k];
            for (int i = 0; i < j; ++i) cells[rows.column[i]] += weight;
        }
}

// out[q][y] = start[y] + sum_i table(i, y), for a table of r numbers per slot.
LOCALBAYES_ALSO_AVX2 inline void sum_values(const Pairs<const double>& table, const double* start, double* out) {
    for (int64_t q = 0; q < table.n; ++q) {
        double* __restrict sum = out + q * table.r;
        std::copy_n(start, table.r, sum);
        for (int i = 0; i < table.m; ++i) {
            const double* row = table.counts + table.column[q * table.m + i];
            for (int y = 0; y < table.r; ++y) sum[y] += row[y];
        }
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

// What follows reads the whole table: one row of pairs.m slots, all there are; the slots of attribute i begin at
// first[i], and the last is its unseen one.
inline int64_t n_values(const int64_t* first, int i) { return first[i + 1] - first[i] - 1; }

// Conditional mutual information of two attributes given the class, out[i][j] in bits times the number of rows, over
// rows where both are known. Cells whose shares of n_rows multiply to less than `negligible` are left out.
template <class Count>
void conditional_information(const Pairs<const Count>& pairs, const int64_t* first, const double* n_rows,
                             const double* negligible, double* out) {
    const int m = int(std::find(first, first + pairs.m, pairs.m) - first), r = pairs.r;
    const auto share = [n = *n_rows](double a, double b) { return a / n * (b / n); };
    for (int j = 0; j < m; ++j)
        for (int i = 0; i < j; ++i) {
            const int64_t q_j = n_values(first, j), q_i = n_values(first, i);
            const Count* cells = pairs.counts + pairs.row[first[j]] + pairs.column[first[i]];
            const int64_t step = pairs.column[first[j]];  // from one value of j to the next
            std::vector<double> of_j(q_j * r), of_i(q_i * r), all(r);
            const auto for_each = [&](auto f) {
                for (int64_t v = 0; v < q_j; ++v)
                    for (int64_t at = 0; at < q_i * r; ++at)
                        if (const double n = double(cells[v * step + at]); n > 0) f(n, v * r + at % r, at, at % r);
            };
            for_each([&](double n, int64_t v, int64_t u, int64_t y) {
                of_j[v] += n;
                of_i[u] += n;
                all[y] += n;
            });
            double sum = 0;
            for_each([&](double n, int64_t v, int64_t u, int64_t y) {
                // The ratio is exactly 1, and its logarithm 0, where the two are independent.
                if (share(n, all[y]) >= *negligible && share(of_j[v], of_i[u]) >= *negligible)
                    sum += n * std::log2(n * all[y] / (of_j[v] * of_i[u]));
            });
            out[i * m + j] = out[j * m + i] = sum;
        }
}

// Scores of every (child, parent), and of the child alone where both are the same: sums of log Gamma of the counts.
// `own` has those of a child's values alone, `totals` those that are subtracted, per kind of child and slot of the
// parent, the class's own last; `empty` what cells without rows would add; `table` log Gamma of alpha plus small whole
// numbers. Scores that are equal in theory differ in
// their last bit, and the search for a tree follows that bit. Terms are therefore added one by one in a fixed order:
// class, parent's value, child's value.
template <class Count>
void arc_scores(const Pairs<const Count>& pairs, const int64_t* first, const int64_t* kind, const double* own,
                const double* totals, const double* empty, const double* table, const int64_t* table_size,
                const double* alpha, double* out) {
    const int m = int(std::find(first, first + pairs.m, pairs.m) - first), r = pairs.r;
    const auto log_gamma = [=](Count n) {
        if constexpr (std::integral<Count>)
            if (n < *table_size) return table[n];
        return std::lgamma(*alpha + double(n));
    };
    for (int child = 0; child < m; ++child)
        for (int parent = 0; parent < m; ++parent) {
            const int64_t q = n_values(first, child), n_parent = child == parent ? 1 : n_values(first, parent);
            double sum = 0;
            for (int y = 0; y < r; ++y)
                for (int64_t v = 0; v < n_parent; ++v) {
                    const int64_t slot = child == parent ? pairs.m : first[parent] + v;
                    for (int64_t u = first[child]; u < first[child] + q; ++u)
                        sum += child == parent ? own[u * r + y]
                               : child < parent ? log_gamma(pairs.counts[pairs.row[slot] + pairs.column[u] + y])
                                                : log_gamma(pairs.counts[pairs.row[u] + pairs.column[slot] + y]);
                    sum -= totals[(kind[child] * (pairs.m + 1) + slot) * r + y];
                    sum -= empty[2 * child];
                    sum += empty[2 * child + 1];
                }
            out[child * m + parent] = sum;
        }
}

}  // namespace localbayes
