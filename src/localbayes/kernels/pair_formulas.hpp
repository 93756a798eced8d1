// What a query asks of pair counts, for one instruction set W. See pairs.hpp for the table.
#pragma once
#include <algorithm>
#include <type_traits>

#include "pairs.hpp"

namespace localbayes {
namespace {

// to[y] = start[y], changed by step(to[y], count, i, y) for the attributes i != p of a span, in the first row. Blocks
// of classes stay in registers; the last may overlap the one before it. All is inlined, so that loops have a fixed
// length.
template <class Count, class Step>
[[gnu::always_inline]] inline void fold(const Pairs<const Count>& pairs, int p, Span span, const double* start,
                                        double* to, Step step) {
    const auto fold_blocks = [&](auto width) __attribute__((always_inline)) {
        for (int block = 0; block < pairs.r; block += width) {
            const int y = std::min<int>(block, pairs.r - width);
            double value[width];
            for (int k = 0; k < width; ++k) value[k] = start[y + k];
            const auto change = [&](int i, const Count* count) __attribute__((always_inline)) {
                for (int k = 0; k < width; ++k) value[k] = step(value[k], double(count[k]), i, y + k);
            };
            const Count* counts = pairs.counts + y;
            for (int i = span.begin; i < std::min(span.end, p); ++i) change(i, counts + pairs.row[p] + pairs.column[i]);
            for (int i = std::max(span.begin, p + 1); i < span.end; ++i)
                change(i, counts + pairs.row[i] + pairs.column[p]);
            for (int k = 0; k < width; ++k) to[y + k] = value[k];
        }
    };
    if (pairs.r >= 8) fold_blocks(std::integral_constant<int, 8>{});
    else if (pairs.r >= 4) fold_blocks(std::integral_constant<int, 4>{});
    else if (pairs.r >= 2) fold_blocks(std::integral_constant<int, 2>{});
    else fold_blocks(std::integral_constant<int, 1>{});
}

// out[q][y] = start[y] + sum_i table(i, y), for a table of r numbers per slot.
template <class W>
void sum_values(const Pairs<const double>& table, const double* start, double* out) {
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
// of the span; start is given per slot and class.
template <class W, class Count>
void multiply_counts(const Pairs<const Count>& pairs, const double* pseudo, const double* start, Span span,
                     double* out) {
    for (int64_t q = 0; q < pairs.n; ++q)
        for (int p = 0; p < pairs.m; ++p) {
            const Pairs<const Count> query = pairs.from(q);
            fold(query, p, span, start + query.column[p], out + (p * pairs.n + q) * pairs.r,
                 [=](double product, double n, int i, int) { return product * (n + pseudo[i]); });
        }
}

// Hidden parents, out[i][q][y] = alone(i, y) + sum_{j != i} weight[i][j] (n_{i, j, y} + pseudo[i]) scale(j, y);
// alone and scale are given per slot and class.
template <class W, class Count>
void mix_counts(const Pairs<const Count>& pairs, const double* pseudo, const double* weight, const double* alone,
                const double* scale, double* out) {
    for (int64_t q = 0; q < pairs.n; ++q)
        for (int i = 0; i < pairs.m; ++i) {
            const Pairs<const Count> query = pairs.from(q);
            const double* weight_of = weight + i * pairs.m;
            fold(query, i, {0, pairs.m}, alone + query.column[i], out + (i * pairs.n + q) * pairs.r,
                 [=](double sum, double n, int j, int y) {
                     return sum + weight_of[j] * (n + pseudo[i]) * scale[query.column[j] + y];
                 });
        }
}

}  // namespace
}  // namespace localbayes
