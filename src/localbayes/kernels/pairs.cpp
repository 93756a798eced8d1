#include "pairs.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <numbers>
#include <type_traits>
#include <vector>

#include "parts.hpp"

// What a query calls is compiled twice and chosen when the module is loaded. Neither version contracts
// multiplications and additions, so both give the same bits.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define LOCALBAYES_ALSO_AVX2 __attribute__((target_clones("avx2", "default")))
#else
#define LOCALBAYES_ALSO_AVX2
#endif

namespace localbayes {

namespace {

constexpr int kGroup = 16;  // factors between two normalisations

// Multiplies positive numbers and takes the exponents out.
inline void multiply(double* __restrict number, double* __restrict exponent, const double* __restrict factor, size_t size) {
    for (size_t k = 0; k < size; ++k) {
        const Parts<double> product(number[k] * factor[k]);
        exponent[k] += product.exponent;
        number[k] = product.mantissa;
    }
}

// 2^k for k <= 0, zero where that is below the normal range.
inline double power_of_two(double k) {
    const double biased = (k > -kBias ? k : -kBias) + (kShift + kBias);
    return std::bit_cast<double>(std::bit_cast<uint64_t>(biased) << kMantissaBits);
}

// Calls f(W, y) for blocks of classes y .. y + W - 1 that cover all r; the last may overlap the one before it. W is a
// constant, so that what a block works on stays in registers.
template <class F>
inline void for_blocks(int r, F f) {
    const auto cover = [&](auto width) {
        for (int y = 0; y + width < r; y += width) f(width, y);
        f(width, r - width);
    };
    if (r >= 8) cover(std::integral_constant<int, 8>{});
    else if (r >= 4) cover(std::integral_constant<int, 4>{});
    else if (r >= 2) cover(std::integral_constant<int, 2>{});
    else cover(std::integral_constant<int, 1>{});
}

// Where the counts of a query lie: of attributes i < j at row[j] + column[i].
template <class Pair>
struct Cells {
    std::vector<const Pair*> row;
    std::vector<int64_t> column;

    explicit Cells(int m) : row(m), column(m) {}
    void find(const Slots& s, const int64_t* slot, const Pair* pairs) {
        for (int i = 0; i < s.m; ++i) {
            row[i] = pairs + s.row(i, slot[i]);
            column[i] = slot[i] * s.n_classes;
        }
    }
};

// to[k] = prod_i (n_{p, i, y + k} + pseudo[i]) over the attributes i != p from begin to end.
template <int kWidth, class Pair>
inline void multiply_counts(const Cells<Pair>& cells, int p, int begin, int end, int y, const double* pseudo, double* to) {
    const Pair* const* row = cells.row.data();
    const int64_t* column = cells.column.data();
    double product[kWidth];
    for (int k = 0; k < kWidth; ++k) product[k] = 1;
    const auto multiply_by = [&](const Pair* count, double a) {
        for (int k = 0; k < kWidth; ++k) product[k] *= double(count[k]) + a;
    };
    for (int i = begin; i < std::min(end, p); ++i) multiply_by(row[p] + column[i] + y, pseudo[i]);
    for (int i = std::max(begin, p + 1); i < end; ++i) multiply_by(row[i] + column[p] + y, pseudo[i]);
    for (int k = 0; k < kWidth; ++k) to[k] = product[k];
}

// to[k] = alone[k] + sum_{j != i} weight[j] (n_{i, j, y + k} + pseudo) scale(j, y + k).
template <int kWidth, class Pair>
inline void mix_counts(const Cells<Pair>& cells, int m, int i, int y, double pseudo, const double* weight,
                       const double* alone, const double* scale, double* to) {
    const Pair* const* row = cells.row.data();
    const int64_t* column = cells.column.data();
    double sum[kWidth];
    for (int k = 0; k < kWidth; ++k) sum[k] = alone[column[i] + y + k];
    const auto add = [&](const Pair* count, double w, const double* t) {
        for (int k = 0; k < kWidth; ++k) sum[k] += w * (double(count[k]) + pseudo) * t[k];
    };
    for (int j = 0; j < i; ++j) add(row[i] + column[j] + y, weight[j], scale + column[j] + y);
    for (int j = i + 1; j < m; ++j) add(row[j] + column[i] + y, weight[j], scale + column[j] + y);
    for (int k = 0; k < kWidth; ++k) to[k] = sum[k];
}

// log sum_p product[p] mantissa[slot[p]] 2^power[p], for each class.
inline void sum_products(int m, int r, const int64_t* slot, const double* __restrict product, const double* __restrict power,
                         const double* __restrict mantissa, double* __restrict top, double* __restrict total,
                         double* __restrict out) {
    std::copy_n(power, r, top);
    std::fill_n(total, r, 0.0);
    for (int p = 1; p < m; ++p)
        for (int y = 0; y < r; ++y) top[y] = std::max(top[y], power[size_t(p) * r + y]);
    for (int p = 0; p < m; ++p) {
        const double* base = mantissa + slot[p] * r;
        for (int y = 0; y < r; ++y)
            total[y] += product[size_t(p) * r + y] * base[y] * power_of_two(power[size_t(p) * r + y] - top[y]);
    }
    for (int y = 0; y < r; ++y) out[y] = std::log(total[y]) + top[y] * std::numbers::ln2;
}

// out = prior + sum_i log(mixed[i]), for each class.
inline void sum_logs(int m, int r, const double* __restrict mixed, const double* prior, double* __restrict product,
                     double* __restrict power, double* __restrict out) {
    std::fill_n(product, r, 1.0);
    std::fill_n(power, r, 0.0);
    for (int i = 0; i < m; ++i) {
        multiply(product, power, mixed + size_t(i) * r, r);
    }
    for (int y = 0; y < r; ++y) out[y] = prior[y] + std::log(product[y]) + power[y] * std::numbers::ln2;
}

template <class Count>
inline double log_gamma(const LogGamma& f, Count k) {
    if constexpr (std::integral<Count>)
        if (k >= 0 && k < f.size) return f.table[k];
    return std::lgamma(f.shift + double(k));
}

}  // namespace

template <class Code>
void find_slots(const Slots& s, const Code* codes, int64_t n, int64_t* slots) {
    for (int64_t k = 0; k < n; ++k)
        for (int i = 0; i < s.m; ++i)
            slots[k * s.m + i] = s.first[i] + std::min<int64_t>(codes[k * s.m + i], s.n_values(i));
}

template <class Count, class Pair>
void count_rows(const Slots& s, Rows rows, const int64_t* classes, const double* weights, Count* values, Pair* pairs) {
    const int m = s.m, r = s.n_classes;
    for (int64_t k = 0; k < rows.n; ++k)
        for (int i = 0; i < m; ++i)
            if (const int64_t slot = rows.slots[k * m + i]; slot != s.unseen(i))
                values[slot * r + classes[k]] += Count(weights ? weights[k] : 1);
    // Attribute by attribute, so that the part of the table in use stays in cache.
    for (int j = 1; j < m && pairs; ++j)
        for (int64_t k = 0; k < rows.n; ++k) {
            const int64_t* slot = rows.slots + k * m;
            if (slot[j] == s.unseen(j)) continue;
            Pair* row = pairs + s.row(j, slot[j]) + classes[k];
            const Pair weight = Pair(weights ? weights[k] : 1);
            for (int i = 0; i < j; ++i)
                if (slot[i] != s.unseen(i)) row[slot[i] * r] += weight;
        }
}

LOCALBAYES_ALSO_AVX2 void sum_rows(Rows rows, int m, int n_classes, const double* table, const double* start, double* out) {
    for (int64_t q = 0; q < rows.n; ++q) {
        double* __restrict sum = out + q * n_classes;
        std::copy_n(start, n_classes, sum);
        for (int i = 0; i < m; ++i) {
            const double* row = table + rows.slots[q * m + i] * n_classes;
            for (int y = 0; y < n_classes; ++y) sum[y] += row[y];
        }
    }
}

template <class Pair>
LOCALBAYES_ALSO_AVX2 void sum_superparents(const Slots& s, Rows rows, const Pair* pairs, const double* pseudo,
                                           const double* mantissa, const double* exponent, double* out) {
    const int m = s.m, r = s.n_classes;
    Cells<Pair> cells(m);
    std::vector<double> product(size_t(m) * r), power(size_t(m) * r), group(size_t(m) * r), top(r), total(r);
    for (int64_t q = 0; q < rows.n; ++q) {
        const int64_t* slot = rows.slots + q * m;
        cells.find(s, slot, pairs);
        std::fill(product.begin(), product.end(), 1.0);
        for (int p = 0; p < m; ++p) std::copy_n(exponent + slot[p] * r, r, &power[size_t(p) * r]);
        for (int begin = 0; begin < m; begin += kGroup) {
            const int end = std::min(begin + kGroup, m);
            for (int p = 0; p < m; ++p)
                for_blocks(r, [&](auto width, int y) {
                    multiply_counts<width>(cells, p, begin, end, y, pseudo, &group[size_t(p) * r + y]);
                });
            multiply(product.data(), power.data(), group.data(), product.size());
        }
        sum_products(m, r, slot, product.data(), power.data(), mantissa, top.data(), total.data(), out + q * r);
    }
}

template <class Pair>
LOCALBAYES_ALSO_AVX2 void mix_parents(const Slots& s, Rows rows, const Pair* pairs, const double* pseudo,
                                      const double* weight, const double* alone, const double* scale,
                                      const double* prior, double* out) {
    const int m = s.m, r = s.n_classes;
    Cells<Pair> cells(m);
    std::vector<double> mixed(size_t(m) * r), product(r), power(r);
    for (int64_t q = 0; q < rows.n; ++q) {
        const int64_t* slot = rows.slots + q * m;
        cells.find(s, slot, pairs);
        for (int i = 0; i < m; ++i)
            for_blocks(r, [&](auto width, int y) {
                mix_counts<width>(cells, m, i, y, pseudo[i], weight + size_t(i) * m, alone, scale, &mixed[size_t(i) * r + y]);
            });
        sum_logs(m, r, mixed.data(), prior, product.data(), power.data(), out + q * r);
    }
}

template <class Pair>
void conditional_information(const Slots& s, const Pair* pairs, double n_rows, double negligible, double* out) {
    const int m = s.m, r = s.n_classes;
    std::vector<double> of_j, of_i, all;  // counts of one attribute, and of all, in rows where both are known
    std::fill_n(out, size_t(m) * m, 0.0);
    for (int j = 0; j < m; ++j)
        for (int i = 0; i < j; ++i) {
            const int64_t q_j = s.n_values(j), q_i = s.n_values(i);
            const auto cell = [&](int64_t v, int64_t u) { return pairs + s.row(j, s.first[j] + v) + (s.first[i] + u) * r; };
            of_j.assign(q_j * r, 0.0);
            of_i.assign(q_i * r, 0.0);
            all.assign(r, 0.0);
            for (int64_t v = 0; v < q_j; ++v)
                for (int64_t u = 0; u < q_i; ++u)
                    for (int y = 0; y < r; ++y) {
                        const double n = double(cell(v, u)[y]);
                        of_j[v * r + y] += n;
                        of_i[u * r + y] += n;
                        all[y] += n;
                    }
            double sum = 0;
            for (int64_t v = 0; v < q_j; ++v)
                for (int64_t u = 0; u < q_i; ++u)
                    for (int y = 0; y < r; ++y)
                        if (const double n = double(cell(v, u)[y]), n_v = of_j[v * r + y], n_u = of_i[u * r + y];
                            n > 0 && n / n_rows * (all[y] / n_rows) >= negligible &&
                            n_v / n_rows * (n_u / n_rows) >= negligible)
                            // The ratio is exactly 1, and its logarithm 0, where the two are independent.
                            sum += n * std::log2(n * all[y] / (n_v * n_u));
            out[i * m + j] = out[j * m + i] = sum / n_rows;
        }
}

template <class Count, class Pair>
void parent_gains(const Slots& s, const Count* values, const Pair* pairs, const double* class_counts, LogGamma cell,
                  const LogGamma* total, double* gain) {
    const int m = s.m, r = s.n_classes;
    // Scores that are equal in theory differ in their last bit, and the search follows that bit. Terms are
    // therefore added one by one in a fixed order: class, parent's value, child's value.
    const auto score = [&](int child, int parent) {
        const int64_t q = s.n_values(child), n_parent = parent < 0 ? 1 : s.n_values(parent);
        const double empty_cells = double(q) * log_gamma(cell, int64_t{0}), empty_total = log_gamma(total[child], int64_t{0});
        const int64_t step = r * (parent > child ? 1 : parent < 0 ? 1 : s.first[child]);
        double sum = 0;
        for (int y = 0; y < r; ++y)
            for (int64_t v = 0; v < n_parent; ++v) {
                if (parent < 0) {
                    for (int64_t u = 0; u < q; ++u) sum += log_gamma(cell, values[(s.first[child] + u) * r + y]);
                    sum -= log_gamma(total[child], Count(class_counts[y]));
                } else {
                    const int64_t slot = s.first[parent] + v;
                    const Pair* from = parent > child ? pairs + s.row(parent, slot) + s.first[child] * r
                                                      : pairs + s.row(child, s.first[child]) + slot * r;
                    for (int64_t u = 0; u < q; ++u) sum += log_gamma(cell, from[u * step + y]);
                    sum -= log_gamma(total[child], values[slot * r + y]);
                }
                sum -= empty_cells;
                sum += empty_total;
            }
        return sum;
    };
    for (int child = 0; child < m; ++child) {
        const double alone = score(child, -1);
        for (int parent = 0; parent < m; ++parent)
            gain[child * m + parent] = child == parent ? 0 : score(child, parent) - alone;
    }
}

template void find_slots(const Slots&, const uint8_t*, int64_t, int64_t*);
template void find_slots(const Slots&, const uint16_t*, int64_t, int64_t*);
template void find_slots(const Slots&, const uint32_t*, int64_t, int64_t*);

template void count_rows(const Slots&, Rows, const int64_t*, const double*, int64_t*, int32_t*);
template void sum_superparents(const Slots&, Rows, const int32_t*, const double*, const double*, const double*, double*);
template void mix_parents(const Slots&, Rows, const int32_t*, const double*, const double*, const double*, const double*,
                          const double*, double*);
template void conditional_information(const Slots&, const int32_t*, double, double, double*);
template void parent_gains(const Slots&, const int64_t*, const int32_t*, const double*, LogGamma, const LogGamma*, double*);

template void count_rows(const Slots&, Rows, const int64_t*, const double*, double*, double*);
template void sum_superparents(const Slots&, Rows, const double*, const double*, const double*, const double*, double*);
template void mix_parents(const Slots&, Rows, const double*, const double*, const double*, const double*, const double*,
                          const double*, double*);
template void conditional_information(const Slots&, const double*, double, double, double*);
template void parent_gains(const Slots&, const double*, const double*, const double*, LogGamma, const LogGamma*, double*);

}  // namespace localbayes
