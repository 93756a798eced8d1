// Compares the kernel with plain loops on tables made by chance, on every instruction set given by name,
// or on all that the machine has. Says nothing but a summary if all agree; exits 1 at the first difference.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "tables.hpp"

using namespace localbayes;
using namespace native;

namespace {

struct Case {
    const Table& table;
    const Isa& isa;
    uint64_t seed;
};

[[noreturn]] void differ(const Case& c, const char* what, size_t at, double expected, double got) {
    const Shape& s = c.table.shape;
    std::fprintf(stderr,
                 "%s: %s differs at %zu: expected %.17g, got %.17g\n  table %llu: m %d, classes %d, rows %lld, queries %lld, "
                 "segments %d, max size %u, missing %d, weights %d, own rows %d\n",
                 c.isa.name, what, at, expected, got, (unsigned long long)c.seed, s.m, s.n_classes, (long long)s.n_rows,
                 (long long)s.n_queries, s.n_segments, s.max_size, s.may_miss, s.weighted, s.own);
    std::exit(1);
}

template <class A, class B>
void expect_equal(const Case& c, const char* what, const std::vector<A>& expected, const std::vector<B>& got) {
    for (size_t k = 0; k < expected.size(); ++k)
        if (double(expected[k]) != double(got[k])) differ(c, what, k, double(expected[k]), double(got[k]));
}

void expect_close(const Case& c, const char* what, size_t at, double expected, double got, double tolerance) {
    if (expected == got || std::abs(expected - got) <= tolerance * std::max(1.0, std::abs(expected))) return;
    differ(c, what, at, expected, got);
}

// Rows come back from the planes as they went in.
void check_unpacking(const Case& c, Random& random) {
    const size_t m = c.table.shape.m;
    for (size_t s = 0; s < c.table.parts.size(); ++s) {
        const Part& part = c.table.parts[s];
        std::vector<int64_t> rows;
        std::vector<uint32_t> expected;
        for (size_t k = 0; k < part.order.size(); ++k) {
            if (random.one_in(3)) continue;
            rows.push_back(int64_t(k));
            const uint32_t* row = &part.codes[part.order[k] * m];
            expected.insert(expected.end(), row, row + m);
        }
        std::vector<uint32_t> got(expected.size());
        unpack(c.table.segments[s], rows.data(), int64_t(rows.size()), got.data());
        expect_equal(c, "unpack", expected, got);
    }
}

struct Expected {
    std::vector<double> V, C;
};

// V as the kernel holds it: [query][distance][class].
std::vector<double> by_distance(const Batch& b, const std::vector<double>& V) {
    std::vector<double> out(b.n_queries * b.V_size());
    for (size_t k = 0; k < V.size(); ++k) {
        const size_t d = k % (b.m + 1), y = k / (b.m + 1) % b.n_classes, q = k / (b.m + 1) / b.n_classes;
        out[q * b.V_size() + d * b.class_room() + y] = V[k];
    }
    return out;
}

void check_counts(const Case& c, const Batch& batch, const Expected& expected, const std::vector<double>& expected_V) {
    std::vector<double> V(expected_V.size()), C(expected.C.size());
    c.isa.distance_counts(batch, V.data());
    expect_equal(c, "V", expected_V, V);
    c.isa.match_counts(batch, V.data(), C.data());
    expect_equal(c, "C", expected.C, C);
}

// gamma by definition: the weights of a class sum to kappa, unless that is out of reach.
void check_gamma(const Case& c, const Expected& expected, double kappa, const std::vector<double>& gamma,
                 const std::vector<double>& rho, const std::vector<double>& weights) {
    const size_t distances = c.table.shape.m + 1, r = c.table.shape.n_classes;
    std::vector<double> sum(rho.size()), square_sum(rho.size());
    for (size_t at = 0; at < gamma.size(); ++at) {
        const double* V = &expected.V[at * distances];
        double n = 0, S = 0, square = 0;
        for (size_t d = 0; d < distances; ++d) {
            const double power = d == 0 ? 1 : std::pow(gamma[at], double(d));
            n += V[d];
            S += V[d] * power;
            square += V[d] * power * power;
        }
        if (n > 0 && V[0] >= kappa) expect_close(c, "gamma 0", at, 0, gamma[at], 0);
        else if (n <= kappa) expect_close(c, "gamma 1", at, 1, gamma[at], 0);
        else expect_close(c, "S(gamma)", at, 1, S / kappa, 1e-12);
        sum[at / r] += S;
        square_sum[at / r] += square;
    }
    for (size_t q = 0; q < rho.size(); ++q)
        expect_close(c, "rho", q, square_sum[q] > 0 ? sum[q] / square_sum[q] : 1, rho[q], 1e-12);
    for (size_t k = 0; k < weights.size(); ++k) {
        const size_t at = k / distances, d = k % distances;
        const double power = d == 0 ? 1 : std::pow(gamma[at], double(d));
        expect_close(c, "weights", k, rho[at / r] * power, weights[k], 1e-12);
    }
}

// The score of one query and class, one logarithm per attribute.
double score_naively(const Case& c, const Expected& expected, size_t q, size_t y, const double* weights, const Laplace& laplace) {
    const size_t m = c.table.shape.m, r = c.table.shape.n_classes, columns = c.table.columns();
    const auto class_sum = [&](size_t at) {
        double S = 0;
        for (size_t d = 0; d <= m; ++d) S += weights[at * (m + 1) + d] * expected.V[at * (m + 1) + d];
        return S;
    };
    const auto column_sum = [&](size_t at, size_t i) {
        double T = 0;
        for (size_t d = 0; d <= m; ++d) T += weights[at * (m + 1) + d] * expected.C[(at * (m + 1) + d) * columns + i];
        return T;
    };
    double all = 0;
    for (size_t other = 0; other < r; ++other) all += class_sum(q * r + other);
    const size_t at = q * r + y;
    const double S = class_sum(at);
    double score = std::log((laplace.alpha + S) / (laplace.alpha * double(r) + all));
    for (size_t i = 0; i < m; ++i) {
        if (c.table.shape.may_miss && c.table.queries[q * m + i] == kMissing) continue;
        const double known = c.table.shape.may_miss ? column_sum(at, m + i) : S;
        score += std::log((laplace.alpha + column_sum(at, i)) / (laplace.alpha * laplace.sizes[i] + known));
    }
    return std::isnan(score) ? -std::numeric_limits<double>::infinity() : score;
}

// Scores are those of the formula; given a margin a class may be left out only if it is that much below the best.
template <class Score>
std::vector<double> check_scores(const Case& c, const Expected& expected, const std::vector<double>& weights, int n_sets,
                                 const Laplace& laplace, double margin, Score score) {
    const size_t r = c.table.shape.n_classes, queries = c.table.shape.n_queries;
    std::vector<double> all(n_sets * queries * r), best(all.size());
    score(std::numeric_limits<double>::infinity(), all.data());
    score(margin, best.data());
    for (size_t k = 0; k < all.size(); ++k) {
        const size_t set = k / (queries * r), q = k / r % queries;
        const double* own_weights = weights.data() + set * expected.V.size();
        expect_close(c, "log joint", k, score_naively(c, expected, q, k % r, own_weights, laplace), all[k], 1e-10);
        const double top = *std::max_element(&all[k - k % r], &all[k - k % r] + r);
        const bool left_out = std::isinf(best[k]) && best[k] < 0 && all[k] < top - margin - 1e-9;
        if (!left_out && best[k] != all[k]) differ(c, "log joint of a class that matters", k, all[k], best[k]);
    }
    return all;
}

// What another instruction set gave, to the bit.
struct Bits {
    std::vector<double> gamma, rho, weights, S, T, scores, cell_scores;
};

Bits check(const Case& c, Random random) {
    const Shape& shape = c.table.shape;
    const size_t pairs = size_t(shape.n_queries) * shape.n_classes, distances = shape.m + 1, columns = c.table.columns();
    Expected expected;
    for (int64_t q = 0; q < shape.n_queries; ++q) {
        const Naive naive = count_naively(c.table, q);
        expected.V.insert(expected.V.end(), naive.V.begin(), naive.V.end());
        expected.C.insert(expected.C.end(), naive.C.begin(), naive.C.end());
    }
    check_unpacking(c, random);
    const Batch batch = c.table.batch();
    const std::vector<double>& V = expected.V;
    const std::vector<double> own_V = by_distance(batch, V);
    check_counts(c, batch, expected, own_V);
    const int n_sets = int(random.from_to(1, 6));
    std::vector<double> kappas;
    for (int k = 0; k < n_sets; ++k) kappas.push_back(random.one_in(4) ? 0.3 : double(random.from_to(1, 30)));
    Bits bits{std::vector<double>(n_sets * pairs), std::vector<double>(n_sets * shape.n_queries),
              std::vector<double>(n_sets * V.size()), std::vector<double>(pairs), std::vector<double>(pairs * columns), {}, {}};
    for (int k = 0; k < n_sets; ++k) {
        double* gamma = &bits.gamma[k * pairs];
        double *rho = &bits.rho[k * shape.n_queries], *weights = &bits.weights[k * V.size()];
        c.isa.cell_weights(V.data(), shape.n_queries, shape.n_classes, shape.m, kappas[k], gamma, rho, weights);
        check_gamma(c, expected, kappas[k], {gamma, gamma + pairs}, {rho, rho + shape.n_queries}, {weights, weights + V.size()});
    }
    const std::vector<double> first(bits.weights.begin(), bits.weights.begin() + V.size());
    c.isa.weighted_sums(batch, own_V.data(), first.data(), bits.S.data(), bits.T.data());
    for (size_t k = 0; k < bits.T.size(); ++k) {
        const size_t at = k / columns;
        double S = 0, T = 0;
        for (size_t d = 0; d < distances; ++d) {
            S += first[at * distances + d] * V[at * distances + d];
            T += first[at * distances + d] * expected.C[(at * distances + d) * columns + k % columns];
        }
        expect_close(c, "S", at, S, bits.S[at], 1e-12);
        expect_close(c, "T", k, T, bits.T[k], 1e-12);
    }
    const std::vector<uint32_t>& largest = c.table.parts.back().sizes;
    const std::vector<double> sizes(largest.begin(), largest.end());
    const Laplace laplace{random.one_in(5) ? 1e-3 : 1, sizes.data()};
    const double margin = random.one_in(2) ? 0 : 3;
    bits.scores = check_scores(c, expected, bits.weights, n_sets, laplace, margin, [&](double by, double* out) {
        for (int k = 0; k < n_sets; ++k)
            c.isa.log_joint(batch, own_V.data(), &bits.weights[k * V.size()], laplace, by, out + k * pairs);
    });
    bits.cell_scores = check_scores(c, expected, bits.weights, n_sets, laplace, margin, [&](double by, double* out) {
        c.isa.cell_log_joint(batch, kappas.data(), n_sets, laplace, by, out);
    });
    return bits;
}

// Small and large tables in turn; the number of queries keeps C within a few million cells.
Shape choose_shape(uint64_t seed, Random& random) {
    static constexpr uint32_t kSizes[] = {1, 2, 3, 15, 16, 17, 200, 300, 70000};
    if (seed % 32 == 5)  // more queries than the counts of one pass have room for
        return {.m = 200, .n_classes = 1, .n_rows = 40, .n_queries = 70, .max_size = 3, .may_miss = true};
    Shape s;
    const bool wide = seed % 4 == 1, deep = seed % 4 == 2;
    s.m = int(random.from_to(1, wide ? 200 : 40));
    s.n_classes = int(random.from_to(1, seed % 4 == 3 ? 40 : 5));
    s.n_rows = random.one_in(10) ? random.below(3) : random.below(deep ? 5000 : 400);
    s.n_segments = int(random.from_to(1, 3));
    s.max_size = kSizes[random.below(std::size(kSizes))];
    s.may_miss = random.one_in(3);
    s.weighted = random.one_in(4);
    s.own = s.n_rows > 0 && random.one_in(3);
    const int64_t cells = int64_t(s.n_classes) * (s.m + 1) * s.m * 2;
    s.n_queries = std::clamp<int64_t>(std::min((int64_t{1} << 19) / cells, (int64_t{1} << 22) / (s.n_rows * s.m + 1)), 1,
                                      random.one_in(4) ? 150 : 20);
    return s;
}

std::vector<const Isa*> choose_isas(int argc, char** argv) {
    if (argc <= 2) return available_isas();
    std::vector<const Isa*> known{&isa_portable}, chosen;
#ifdef LOCALBAYES_X86
    known.insert(known.end(), {&isa_avx2, &isa_avx512});
#endif
    for (int k = 2; k < argc; ++k)
        for (const Isa* isa : known)
            if (std::strcmp(isa->name, argv[k]) == 0) chosen.push_back(isa);
    return chosen;
}

void expect_same_bits(const Case& c, const Bits& a, const Bits& b) {
    expect_equal(c, "gamma of another instruction set", a.gamma, b.gamma);
    expect_equal(c, "rho of another instruction set", a.rho, b.rho);
    expect_equal(c, "weights of another instruction set", a.weights, b.weights);
    expect_equal(c, "S of another instruction set", a.S, b.S);
    expect_equal(c, "T of another instruction set", a.T, b.T);
    expect_equal(c, "log joint of another instruction set", a.scores, b.scores);
    expect_equal(c, "log joint by kappa of another instruction set", a.cell_scores, b.cell_scores);
}

}  // namespace

int main(int argc, char** argv) {
    const int tables = argc > 1 ? std::atoi(argv[1]) : 100;
    const std::vector<const Isa*> isas = choose_isas(argc, argv);
    if (isas.empty()) return std::fputs("no instruction set of that name\n", stderr), 2;
    std::string names;
    for (const Isa* isa : isas) names += std::string(" ") + isa->name;
    for (int seed = 0; seed < tables; ++seed) {
        Random random(seed);
        const Shape shape = choose_shape(seed, random);
        const Table table = make_table(shape, random);
        const Bits first = check({table, *isas[0], uint64_t(seed)}, random);
        for (size_t k = 1; k < isas.size(); ++k) {
            const Case c{table, *isas[k], uint64_t(seed)};
            expect_same_bits(c, first, check(c, random));
        }
    }
    std::printf("%d tables agree with plain loops on%s\n", tables, names.c_str());
}
