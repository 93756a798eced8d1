// Compares the pair counts and what is asked of them with plain loops on tables made by chance.
// Says nothing but a summary if all agree; exits 1 at the first difference.
#include <cmath>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "arcs.hpp"
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
    int64_t n_values(int i) const { return first[i + 1] - first[i] - 1; }
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

// What reads the whole table: counts of values, information and the scores of arcs.
template <class Count>
void check_whole(uint64_t seed, const SlotTable& t, const std::vector<double>& weights,
                 const std::vector<Count>& pairs) {
    using Value = std::conditional_t<std::integral<Count>, int64_t, double>;
    const int m = t.m, r = t.r;
    const int64_t n_slots = t.n_slots();
    std::vector<int64_t> all(n_slots);
    std::iota(all.begin(), all.end(), 0);
    const Offsets trained(t, t.rows), every(t, all);
    std::vector<Value> values(n_slots * r);
    const std::vector<Value> added(weights.begin(), weights.end());
    count_values(trained.view(t, values.data(), 0, t.n), t.classes.data(), added.data());
    const auto count = [&](int i, int64_t slot_i, int j, int64_t slot_j, int y) {
        return count_naively(t, weights, i, slot_i, j, slot_j, y);
    };
    std::vector<double> of_class(r);
    for (int64_t k = 0; k < t.n; ++k) of_class[t.classes[k]] += weights[k];
    const double n_rows = std::accumulate(weights.begin(), weights.end(), 0.0), negligible = 0.00123456789,
                 alpha = 0.5;  // no share is just that

    // Log Gamma of some counts by table, of the others computed; one kind of totals for every attribute.
    const std::vector<double> log_gammas{std::lgamma(alpha), std::lgamma(alpha + 1), std::lgamma(alpha + 2)};
    const int64_t table_size = int64_t(log_gammas.size());
    std::vector<int64_t> kind(m);
    std::iota(kind.begin(), kind.end(), 0);
    std::vector<double> own, totals, empty;
    for (int i = 0; i < m; ++i) {
        const double q = double(t.n_values(i));
        for (int64_t at = 0; at < n_slots * r; ++at) totals.push_back(std::lgamma(alpha * q + double(values[at])));
        for (int y = 0; y < r; ++y) totals.push_back(std::lgamma(alpha * q + of_class[y]));
        empty.insert(empty.end(), {q * std::lgamma(alpha), std::lgamma(alpha * q)});
    }
    for (const Value n : values) own.push_back(std::lgamma(alpha + double(n)));
    const WholeTable<Count> whole{
        {pairs.data(), every.row.data(), every.column.data(), 1, int(n_slots), r}, t.first.data(), m};
    std::vector<double> scores(m * m), information(m * m);
    const ArcTerms terms{kind.data(), own.data(), totals.data(), empty.data(), log_gammas.data(), table_size, alpha};
    arc_scores(whole, terms, scores.data());
    conditional_information(whole, n_rows, negligible, information.data());

    // All attributes of small tables, the first few of others: plain loops are slow.
    for (int j = 0; j < std::min(m, 4); ++j)
        for (int i = 0; i < std::min(m, 4); ++i) {
            const int64_t q_i = t.n_values(i), q_j = t.n_values(j), u0 = t.first[i], v0 = t.first[j];
            double score = 0, bits = 0;
            for (int y = 0; y < r; ++y) {
                double both_known = 0;
                for (int64_t u = u0; u < u0 + q_i; ++u)
                    for (int64_t v = v0; v < v0 + q_j; ++v) both_known += count(i, u, j, v, y);
                for (int64_t v = v0; v < v0 + (i == j ? 1 : q_j); ++v) {
                    double n_v = 0;
                    for (int64_t u = u0; u < u0 + q_i; ++u) {
                        const double n = i == j ? count(i, u, i, u, y) : count(i, u, j, v, y);
                        n_v += n;
                        score += std::lgamma(alpha + n) - std::lgamma(alpha);
                    }
                    const double total = i == j ? of_class[y] : count(j, v, j, v, y), q = double(q_i);
                    score -= std::lgamma(alpha * q + total) - std::lgamma(alpha * q);
                    for (int64_t u = u0; u < u0 + q_i && i != j; ++u) {
                        const double n = count(i, u, j, v, y);
                        double n_u = 0;
                        for (int64_t w = v0; w < v0 + q_j; ++w) n_u += count(i, u, j, w, y);
                        if (n > 0 && n * both_known >= negligible * n_rows * n_rows &&
                            n_v * n_u >= negligible * n_rows * n_rows)
                            bits += n * std::log2(n * both_known / (n_v * n_u));
                    }
                }
            }
            expect_close(seed, t, "score of an arc", 1e4 + score, 1e4 + scores[i * m + j], 1e-12);
            if (i != j) expect_close(seed, t, "information", 1e-3 + bits, 1e-3 + information[i * m + j], 1e-9);
        }
    for (int i = 0; i < m; ++i)
        for (int64_t v = t.first[i]; v < t.first[i + 1]; ++v)
            for (int y = 0; y < r; ++y)
                expect_close(seed, t, "count of a value", count(i, v, i, v, y), double(values[v * r + y]));
}

template <class Count>
const PairFormulas<Count>& formulas_of(const Isa& isa) {
    if constexpr (std::integral<Count>) return isa.whole;
    else return isa.weighted;
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
    const int begin = int(random.below(m + 1));
    const Span span{begin, int(random.from_to(begin, m))};
    const Pairs<const Count> queries = asked.view<const Count>(t, pairs.data(), 0, t.n_queries);
    std::vector<double> products(size_t(m) * t.n_queries * r), mixtures(products.size());
    const Pairs<const double> numbers = asked.view<const double>(t, table.data(), 0, t.n_queries);
    std::vector<double> start, sums(size_t(t.n_queries) * r);
    for (int y = 0; y < r; ++y) start.push_back(0.1 * double(random.below(50)));
    for (const Isa* isa : available_isas()) {
        const PairFormulas<Count>& formulas = formulas_of<Count>(*isa);
        formulas.multiply_counts(queries, pseudo.data(), table.data(), span, products.data());
        formulas.mix_counts(queries, pseudo.data(), weight.data(), table.data(), table.data(), mixtures.data());
        isa->sum_values(numbers, start.data(), sums.data());
        for (int64_t q = 0; q < t.n_queries; ++q)
            for (int y = 0; y < r; ++y) {
                const Pairs<const Count> row = queries.from(q);
                for (int p = 0; p < m; ++p) {
                    const size_t at = (p * t.n_queries + q) * r + y;
                    const double product = plain::multiply_counts(row, pseudo.data(), table.data(), span, p, y);
                    const double mixture =
                        plain::mix_counts(row, pseudo.data(), weight.data(), table.data(), table.data(), p, y);
                    expect_close(seed, t, "product of counts", product, products[at]);
                    expect_close(seed, t, "mixture of counts", mixture, mixtures[at]);
                }
                const double sum = plain::sum_values(numbers.from(q), start.data(), y);
                expect_close(seed, t, "sum of values", sum, sums[q * r + y]);
            }
    }
    check_whole<Count>(seed, t, weights, pairs);
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
