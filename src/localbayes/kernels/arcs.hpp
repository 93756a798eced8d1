// What reads the whole table of pair counts: how much two attributes tell of each other, and scores of arcs of a tree.
#pragma once
#include <cmath>
#include <concepts>
#include <vector>

#include "pairs.hpp"

namespace localbayes {

// The whole table: pairs.m is the number of slots, and one row names them all. The slots of attribute i begin at
// first[i], and the last of them is that of values never seen; first[n_attributes] is the number of slots.
template <class Count>
struct WholeTable {
    Pairs<const Count> pairs;
    const int64_t* first;
    int n_attributes;

    int64_t n_values(int i) const { return first[i + 1] - first[i] - 1; }
};

// Conditional mutual information of two attributes given the class, out[i][j] in bits times the number of rows, over
// rows where both are known. Cells whose shares of n_rows multiply to less than `negligible` are left out.
template <class Count>
void conditional_information(const WholeTable<Count>& table, double n_rows, double negligible, double* out) {
    const Pairs<const Count>& pairs = table.pairs;
    const int m = table.n_attributes, r = pairs.r;
    const auto share = [n_rows](double a, double b) { return a / n_rows * (b / n_rows); };
    for (int j = 0; j < m; ++j)
        for (int i = 0; i < j; ++i) {
            const int64_t q_j = table.n_values(j), q_i = table.n_values(i);
            const Count* cells = pairs.counts + pairs.row[table.first[j]] + pairs.column[table.first[i]];
            const int64_t step = pairs.column[table.first[j]];  // from one value of j to the next
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
                if (share(n, all[y]) >= negligible && share(of_j[v], of_i[u]) >= negligible)
                    sum += n * std::log2(n * all[y] / (of_j[v] * of_i[u]));
            });
            out[i * m + j] = out[j * m + i] = sum;
        }
}

// What the scores of arcs are made of.
struct ArcTerms {
    const int64_t* kind;   // [attribute]: which of the totals are its own
    const double* own;     // [slot][class]: log Gamma of the counts of a child's values alone
    const double* totals;  // [kind][slot of the parent, the class's own last][class]: what is subtracted
    const double* empty;   // [attribute][2]: what cells without rows would subtract and add
    const double* table;   // log Gamma of alpha plus the whole numbers below table_size
    int64_t table_size;
    double alpha;
};

// Scores of every (child, parent), and of the child alone where both are the same: sums of log Gamma of the counts.
// Scores that are equal in theory differ in their last bit, and the search for a tree follows that bit. Terms are
// therefore added one by one in a fixed order: class, parent's value, child's value.
template <class Count>
void arc_scores(const WholeTable<Count>& whole, const ArcTerms& terms, double* out) {
    const Pairs<const Count>& pairs = whole.pairs;
    const int64_t* first = whole.first;
    const int m = whole.n_attributes, r = pairs.r;
    const auto log_gamma = [&](int64_t cell) {
        const Count n = pairs.counts[cell];
        if constexpr (std::integral<Count>)
            if (n < terms.table_size) return terms.table[n];
        return std::lgamma(terms.alpha + double(n));
    };
    for (int child = 0; child < m; ++child)
        for (int parent = 0; parent < m; ++parent) {
            const int64_t q = whole.n_values(child), n_parent = child == parent ? 1 : whole.n_values(parent);
            double sum = 0;
            for (int y = 0; y < r; ++y)
                for (int64_t v = 0; v < n_parent; ++v) {
                    const int64_t slot = child == parent ? pairs.m : first[parent] + v;
                    for (int64_t u = first[child]; u < first[child] + q; ++u)
                        sum += child == parent  ? terms.own[u * r + y]
                               : child < parent ? log_gamma(pairs.row[slot] + pairs.column[u] + y)
                                                : log_gamma(pairs.row[u] + pairs.column[slot] + y);
                    sum -= terms.totals[(terms.kind[child] * (pairs.m + 1) + slot) * r + y];
                    sum -= terms.empty[2 * child];
                    sum += terms.empty[2 * child + 1];
                }
            out[child * m + parent] = sum;
        }
}

}  // namespace localbayes
