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

// A table in slots; attribute i owns those from first[i] to first[i + 1] - 1, the last for values never seen.
struct SlotTable {
    int m, r;
    int64_t n, n_queries, n_cells = 0;
    std::vector<int64_t> first{0}, row_start, rows, classes, queries;
    std::vector<double> weights;

    int64_t n_slots() const { return first[m]; }
    bool unseen(int i, int64_t slot) const { return slot == first[i + 1] - 1; }
};

// Where the kernels find the cells of rows of slots.
struct Offsets {
    std::vector<int64_t> row, column;

    Offsets(const SlotTable& t, const std::vector<int64_t>& slots) {
        for (int64_t slot : slots) {
            row.push_back(t.row_start[slot] * t.r);
            column.push_back(slot * t.r);
        }
    }
    template <class Count>
    Pairs<Count> view(const SlotTable& t, Count* counts, int64_t begin, int64_t end) const {
        return Pairs<Count>{counts, row.data(), column.data(), end, t.m, t.r}.from(begin);
    }
};

void expect_close(uint64_t seed, const SlotTable& t, const char* what, double expected, double got,
                  double tolerance = 0) {
    if (std::abs(expected - got) <= tolerance * std::abs(expected)) return;
    std::fprintf(stderr, "%s differs: expected %.17g, got %.17g\n  table %llu: m %d, classes %d, rows %lld\n", what,
                 expected, got, (unsigned long long)seed, t.m, t.r, (long long)t.n);
    std::exit(1);
}

SlotTable make_slot_table(Random& random) {
    SlotTable t;
    t.m = int(random.from_to(1, random.one_in(3) ? 40 : 6));
    t.r = int(random.from_to(1, 20));
    t.n = random.one_in(8) ? random.below(3) : random.below(300);
    t.n_queries = random.from_to(1, 20);
    for (int i = 0; i < t.m; ++i) {
        const int64_t slots = random.from_to(1, 8) + 1;
        for (int64_t v = 0; v < slots; ++v, t.n_cells += t.first[i]) t.row_start.push_back(t.n_cells);
        t.first.push_back(t.first[i] + slots);
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

// Rows of class y that have both slots, by looking at all rows.
double count_naively(const SlotTable& t, const std::vector<double>& weights, int i, int64_t slot_i, int j,
                     int64_t slot_j, int y) {
    double sum = 0;
    for (int64_t k = 0; k < t.n; ++k)
        if (t.classes[k] == y && t.rows[k * t.m + i] == slot_i && t.rows[k * t.m + j] == slot_j) sum += weights[k];
    return sum;
}

template <class Count>
void check_table(uint64_t seed, const SlotTable& t, const std::vector<double>& weights, Random random) {
    const int m = t.m, r = t.r;
    std::vector<Count> pairs(size_t(t.n_cells) * r);
    // In two parts: counts add up.
    const Offsets trained(t, t.rows), asked(t, t.queries);
    const std::vector<Count> added(weights.begin(), weights.end());
    const int64_t half = t.n / 2;
    count_pairs(trained.view(t, pairs.data(), 0, half), t.classes.data(), added.data());
    count_pairs(trained.view(t, pairs.data(), half, t.n), t.classes.data() + half, added.data() + half);
    const auto pair_count = [&](int i, int64_t slot_i, int j, int64_t slot_j, int y) -> Count& {
        if (i > j) std::swap(slot_i, slot_j);
        return pairs[(t.row_start[slot_j] + slot_i) * r + y];
    };
    for (int j = 1; j < m; ++j)
        for (int i = int(random.below(j)), y = 0; y < r; ++y)
            for (int64_t v = t.first[j]; v < t.first[j + 1]; ++v)
                for (int64_t u = t.first[i]; u < t.first[i + 1]; ++u) {
                    const double expected = count_naively(t, weights, i, u, j, v, y);
                    expect_close(seed, t, "count of a pair", expected, double(pair_count(i, u, j, v, y)));
                }
    // As their owner does, so that queries meet counts of zero.
    for (int j = 1; j < m; ++j)
        for (int i = 0; i < j; ++i)
            for (int64_t v = t.first[j]; v < t.first[j + 1]; ++v)
                for (int64_t u = t.first[i]; u < t.first[i + 1]; ++u)
                    for (int y = 0; y < r && (t.unseen(i, u) || t.unseen(j, v)); ++y) pair_count(i, u, j, v, y) = 0;

    // Tables of numbers by slot and class for the formulas.
    std::vector<double> pseudo, weight, table;
    for (int i = 0; i < m; ++i) pseudo.push_back(0.125 * double(random.from_to(1, 16)));
    for (int k = 0; k < m * m; ++k) weight.push_back(0.01 * double(random.below(50)));
    for (int64_t k = 0; k < t.n_slots() * r; ++k) table.push_back(0.01 * double(random.from_to(1, 99)));
    const int64_t begin = random.below(m + 1), span[] = {begin, random.from_to(begin, m)};
    const Pairs<const Count> queries = asked.view<const Count>(t, pairs.data(), 0, t.n_queries);
    std::vector<double> products(size_t(m) * t.n_queries * r), mixtures(products.size());
    multiply_counts<Count>(queries, pseudo.data(), table.data(), span, products.data());
    mix_counts<Count>(queries, pseudo.data(), weight.data(), table.data(), table.data(), mixtures.data());
    for (int64_t p = 0, at = 0; p < m; ++p)
        for (int64_t q = 0; q < t.n_queries; ++q)
            for (int y = 0; y < r; ++y, ++at) {
                const int64_t* slot = &t.queries[q * m];
                double product = table[slot[p] * r + y], mixed = product;
                for (int i = 0; i < m; ++i) {
                    if (i == p) continue;
                    const double n = double(pair_count(int(p), slot[p], i, slot[i], y));
                    if (span[0] <= i && i < span[1]) product *= n + pseudo[i];
                    mixed += weight[p * m + i] * (n + pseudo[p]) * table[slot[i] * r + y];
                }
                expect_close(seed, t, "product of counts", product, products[at], 1e-13);
                expect_close(seed, t, "mixture of counts", mixed, mixtures[at], 1e-13);
            }
}

}  // namespace

int main(int argc, char** argv) {
    const int tables = argc > 1 ? std::atoi(argv[1]) : 100;
    for (int seed = 0; seed < tables; ++seed) {
        Random random(seed);
        const SlotTable table = make_slot_table(random);
        check_table<int32_t>(seed, table, std::vector<double>(table.n, 1.0), random);
        check_table<double>(seed, table, table.weights, random);
    }
    std::printf("%d tables of pairs agree with plain loops\n", tables);
}
