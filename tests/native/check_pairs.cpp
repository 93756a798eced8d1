// Compares the pair counts and what is asked of them with plain loops on tables made by chance.
// Says nothing but a summary if all agree; exits 1 at the first difference.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "pairs.hpp"
#include "tables.hpp"

using namespace localbayes;
using native::Random;

namespace {

// A table in slots; `classes` and `weights` belong to its rows.
struct SlotTable {
    int m, r;
    std::vector<int64_t> first, start, rows, classes, queries;
    std::vector<double> weights;
    int64_t n, n_queries;

    Slots slots() const { return {first.data(), start.data(), m, r}; }
    int64_t n_slots() const { return first[m]; }
    size_t n_pairs() const { return size_t(start[m]) * r; }
};

void differ(uint64_t seed, const SlotTable& t, const char* what, size_t at, double expected, double got) {
    std::fprintf(stderr, "%s differs at %zu: expected %.17g, got %.17g\n  table %llu: m %d, classes %d, rows %lld\n", what, at,
                 expected, got, (unsigned long long)seed, t.m, t.r, (long long)t.n);
    std::exit(1);
}

void expect_close(uint64_t seed, const SlotTable& t, const char* what, const std::vector<double>& expected,
                  const std::vector<double>& got, double tolerance) {
    for (size_t k = 0; k < expected.size(); ++k) {
        const double scale = std::max(1.0, std::abs(expected[k]));
        if (expected[k] != got[k] && !(std::abs(expected[k] - got[k]) <= tolerance * scale))
            differ(seed, t, what, k, expected[k], got[k]);
    }
}

SlotTable make_slot_table(Random& random) {
    SlotTable t;
    t.m = int(random.from_to(1, random.one_in(3) ? 40 : 6));
    t.r = int(random.from_to(1, 20));
    t.n = random.one_in(8) ? random.below(3) : random.below(300);
    t.n_queries = random.from_to(1, 20);
    t.first.push_back(0);
    t.start.push_back(0);
    for (int i = 0; i < t.m; ++i) {
        const int64_t slots = random.from_to(1, 8) + 1;
        t.start.push_back(t.start.back() + slots * t.first.back());
        t.first.push_back(t.first.back() + slots);
    }
    const auto fill = [&](int64_t n, std::vector<int64_t>& rows) {
        for (int64_t k = 0; k < n * t.m; ++k) {
            const int i = int(k % t.m);
            const int64_t slots = t.first[i + 1] - t.first[i];
            rows.push_back(t.first[i] + (random.one_in(9) ? slots - 1 : random.below(slots - 1)));
        }
    };
    fill(t.n, t.rows);
    fill(t.n_queries, t.queries);
    for (int64_t k = 0; k < t.n; ++k) {
        t.classes.push_back(random.below(t.r));
        t.weights.push_back(double(random.from_to(0, 24)) / 8);
    }
    return t;
}

// Rows of class y that have both slots (one slot if they are the same), by looking at all rows.
double count_naively(const SlotTable& t, bool weighted, int i, int64_t slot_i, int j, int64_t slot_j, int y) {
    double sum = 0;
    const Slots s = t.slots();
    if (slot_i == s.unseen(i) || slot_j == s.unseen(j)) return 0;
    for (int64_t k = 0; k < t.n; ++k)
        if (t.classes[k] == y && t.rows[k * t.m + i] == slot_i && t.rows[k * t.m + j] == slot_j)
            sum += weighted ? t.weights[k] : 1;
    return sum;
}

template <class Count, class Pair>
void check_table(uint64_t seed, const SlotTable& t, bool weighted, Random random) {
    const Slots s = t.slots();
    const size_t r = t.r;
    std::vector<Count> values(t.n_slots() * r);
    std::vector<Pair> pairs(t.n_pairs());
    // In two parts: counts add up.
    const int64_t half = t.n / 2;
    const double* weights = weighted ? t.weights.data() : nullptr;
    count_rows(s, {t.rows.data(), half}, t.classes.data(), weights, values.data(), pairs.data());
    count_rows(s, {t.rows.data() + half * t.m, t.n - half}, t.classes.data() + half, weights ? weights + half : nullptr,
               values.data(), pairs.data());
    const auto pair_count = [&](int i, int64_t slot_i, int j, int64_t slot_j, int y) {
        if (i > j) std::swap(i, j), std::swap(slot_i, slot_j);
        return double(pairs[s.row(j, slot_j) + slot_i * t.r + y]);
    };
    for (int j = 0; j < t.m; ++j)
        for (int64_t v = s.first[j]; v < s.first[j + 1]; ++v)
            for (int y = 0; y < t.r; ++y) {
                const double expected = count_naively(t, weighted, j, v, j, v, y);
                if (double(values[v * t.r + y]) != expected) differ(seed, t, "count of a value", v, expected, double(values[v * t.r + y]));
                const int i = j ? int(random.below(j)) : -1;
                for (int64_t u = i < 0 ? 0 : s.first[i]; i >= 0 && u < s.first[i + 1]; ++u) {
                    const double both = count_naively(t, weighted, i, u, j, v, y);
                    if (pair_count(i, u, j, v, y) != both) differ(seed, t, "count of a pair", u, both, pair_count(i, u, j, v, y));
                }
            }

    // Tables of numbers by slot and class for the formulas.
    std::vector<double> pseudo, weight, prior, table;
    for (int i = 0; i < t.m; ++i) pseudo.push_back(0.125 * double(random.from_to(1, 16)));
    for (int k = 0; k < t.m * t.m; ++k) weight.push_back(0.01 * double(random.below(50)));
    for (size_t y = 0; y < r; ++y) prior.push_back(-0.1 * double(random.below(50)));
    for (size_t k = 0; k < t.n_slots() * r; ++k) table.push_back(0.01 * double(random.from_to(1, 99)));
    const std::vector<double> exponent(table.size(), -3.0);
    const Rows asked{t.queries.data(), t.n_queries};
    const size_t size = size_t(t.n_queries) * r;
    std::vector<double> sums, one_parent, hidden, out(size);
    for (int64_t q = 0; q < t.n_queries; ++q)
        for (int y = 0; y < t.r; ++y) {
            const int64_t* slot = &t.queries[q * t.m];
            double sum = prior[y], parents = 0, mixture = prior[y];
            for (int p = 0; p < t.m; ++p) {
                sum += table[slot[p] * t.r + y];
                double product = table[slot[p] * t.r + y] * std::exp2(-3.0), mixed = table[slot[p] * t.r + y];
                for (int i = 0; i < t.m; ++i) {
                    if (i == p) continue;
                    const double n = pair_count(p, slot[p], i, slot[i], y);
                    product *= n + pseudo[i];
                    mixed += weight[p * t.m + i] * (n + pseudo[p]) * table[slot[i] * t.r + y];
                }
                parents += product;
                mixture += std::log(mixed);
            }
            sums.push_back(sum);
            one_parent.push_back(std::log(parents));
            hidden.push_back(mixture);
        }
    sum_rows(asked, t.m, t.r, table.data(), prior.data(), out.data());
    expect_close(seed, t, "sum of rows", sums, out, 1e-12);
    sum_superparents(s, asked, pairs.data(), pseudo.data(), table.data(), exponent.data(), out.data());
    expect_close(seed, t, "superparents", one_parent, out, 1e-10);
    mix_parents(s, asked, pairs.data(), pseudo.data(), weight.data(), table.data(), table.data(), prior.data(), out.data());
    expect_close(seed, t, "hidden parents", hidden, out, 1e-10);

    std::vector<double> class_counts(r);
    for (int64_t k = 0; k < t.n; ++k) class_counts[t.classes[k]] += weighted ? t.weights[k] : 1;
    const auto dirichlet = [&](int child, int parent) {
        const double alpha = 0.5, q = double(s.n_values(child));
        double sum = 0;
        for (int y = 0; y < t.r; ++y)
            for (int64_t v = 0; v < (parent < 0 ? 1 : s.n_values(parent)); ++v) {
                const int64_t at = parent < 0 ? 0 : s.first[parent] + v;
                for (int64_t u = s.first[child]; u < s.unseen(child); ++u) {
                    const double n = parent < 0 ? double(values[u * t.r + y]) : pair_count(child, u, parent, at, y);
                    sum += std::lgamma(alpha + n) - std::lgamma(alpha);
                }
                const double total = parent < 0 ? class_counts[y] : double(values[at * t.r + y]);
                sum -= std::lgamma(alpha * q + total) - std::lgamma(alpha * q);
            }
        return sum;
    };
    std::vector<double> expected, gain(size_t(t.m) * t.m);
    for (int child = 0; child < t.m; ++child)
        for (int parent = 0; parent < t.m; ++parent)
            expected.push_back(child == parent ? 0 : dirichlet(child, parent) - dirichlet(child, -1));
    const std::vector<double> some{std::lgamma(0.5), std::lgamma(1.5), std::lgamma(2.5)};
    std::vector<LogGamma> totals;
    for (int i = 0; i < t.m; ++i) totals.push_back({0.5 * double(s.n_values(i)), nullptr, 0});
    parent_gains(s, values.data(), pairs.data(), class_counts.data(), {0.5, some.data(), 3}, totals.data(), gain.data());
    expect_close(seed, t, "gain of a parent", expected, gain, 1e-9);
}

}  // namespace

int main(int argc, char** argv) {
    const int tables = argc > 1 ? std::atoi(argv[1]) : 100;
    for (int seed = 0; seed < tables; ++seed) {
        Random random(seed);
        const SlotTable table = make_slot_table(random);
        check_table<int64_t, int32_t>(seed, table, false, random);
        check_table<double, double>(seed, table, true, random);
    }
    std::printf("%d tables of pairs agree with plain loops\n", tables);
}
