// Compares the kernel with plain loops on tables made by chance, on every instruction set given by name,
// or on all that the machine has. Says nothing but a summary if all agree; exits 1 at the first difference.
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "adder.hpp"
#include "tables.hpp"
#include "word_portable.hpp"

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
    std::fprintf(
        stderr,
        "%s: %s differs at %zu: expected %.17g, got %.17g\n  table %llu: m %d, classes %d, rows %lld, queries %lld, "
        "segments %d, max size %u, missing %d, weights %d, runs %d, own rows %d, tables %d, cap %d\n",
        c.isa.name, what, at, expected, got, (unsigned long long)c.seed, s.m, s.n_classes, (long long)s.n_rows,
        (long long)s.n_queries, s.n_segments, s.max_size, s.may_miss, s.weighted, s.runs, s.own, s.tables, s.cap);
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

// Rows as they were packed are accepted; with one bit too many they are refused, and where every row has a value or
// lacks it by name, with one bit too few as well.
void check_damage(const Case& c, Random& random) {
    for (size_t p = 0; p < c.table.parts.size(); ++p) {
        const Part& part = c.table.parts[p];
        std::vector<uint64_t> words = part.words;
        Segment segment = c.table.segments[p];
        segment.words = words.data();
        const auto accepted = [&] {
            try {
                check_rows(segment, words.size(), part.class_start.size());
                return true;
            } catch (const std::invalid_argument&) { return false; }
        };
        if (!accepted()) differ(c, "check of good rows", p, 1, 0);
        for (int k = 0; k < 20 && !words.empty(); ++k) {
            const size_t at = size_t(random.below(int64_t(words.size())));
            const uint64_t bit = uint64_t{1} << random.below(64);
            if (words[at] & bit && !segment.may_miss) continue;  // a row may have a value outside its domain
            words[at] ^= bit;
            if (accepted()) differ(c, "check of damaged rows", at, 0, 1);
            words[at] ^= bit;
        }
    }
}

struct Expected {
    std::vector<double> V, C;
};

// Planes made by chance that count 1, 2 and 4, added up on the portable path.
void check_adder(const Case& c, Random& random) {
    std::vector<uint64_t> zeros(kBlockWords), words(size_t(kBlockWords) * 40);
    for (uint64_t& word : words) word = random.next() | random.next();
    std::vector<const uint64_t*> added[3], plain;
    for (int l = 0; l < 3; ++l) {
        for (int64_t k = random.below(14); k > 0; --k) {
            added[l].push_back(&words[size_t(random.below(40)) * kBlockWords]);
            plain.insert(plain.end(), size_t(1) << l, added[l].back());
        }
        while (added[l].size() % (8 >> l) != 0) added[l].push_back(zeros.data());
    }
    Adder<Portable> adder(int(plain.size()));
    adder.add({added[0].data(), added[1].data(), added[2].data(), int(added[0].size()), int(added[1].size()),
               int(added[2].size())},
              kVectors<Portable>);
    adder.for_each_row({0, 0, kBlockRows, 1, nullptr}, [&](int row, int sum) {
        const int expected = plain::sum_of_planes(plain, row);
        if (sum != expected) differ(c, "sum of planes", size_t(row), expected, sum);
        const uint64_t mask = adder.high(sum / 8)[row / 64] & adder.lowest(sum % 8)[row / 64];
        if (!(mask >> row % 64 & 1)) differ(c, "rows of a sum", size_t(row), 1, 0);
    });
}

// V as the kernel holds it: [query][distance][class].
std::vector<double> by_distance(const Batch& b, const std::vector<double>& V) {
    std::vector<double> out(b.n_queries * b.V_size());
    for (size_t k = 0; k < V.size(); ++k) {
        const size_t n = b.n_distances(), d = k % n, y = k / n % b.n_classes, q = k / n / b.n_classes;
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
    const size_t distances = c.table.batch().n_distances(), r = c.table.shape.n_classes;
    std::vector<double> sums(rho.size()), square_sums(rho.size());
    for (size_t at = 0; at < gamma.size(); ++at) {
        const double* V = &expected.V[at * distances];
        const auto sum = [&](double g) {
            return plain::weighted_sum(int(distances), plain::powers(int(distances), g).data(), V, 1);
        };
        const double n = sum(1), S = sum(gamma[at]), square = sum(gamma[at] * gamma[at]);
        if (n > 0 && V[0] >= kappa) expect_close(c, "gamma 0", at, 0, gamma[at], 0);
        else if (n <= kappa) expect_close(c, "gamma 1", at, 1, gamma[at], 0);
        else expect_close(c, "S(gamma)", at, 1, S / kappa, 1e-12);
        sums[at / r] += S;
        square_sums[at / r] += square;
    }
    for (size_t q = 0; q < rho.size(); ++q)
        expect_close(c, "rho", q, square_sums[q] > 0 ? sums[q] / square_sums[q] : 1, rho[q], 1e-12);
    for (size_t k = 0; k < weights.size(); ++k) {
        const size_t at = k / distances, d = k % distances;
        const double power = d == 0 ? 1 : std::pow(gamma[at], double(d));
        expect_close(c, "weights", k, rho[at / r] * power, weights[k], 1e-12);
    }
}

// The score of one query and class, from the plain loops' counts.
double plain_score(const Case& c, const Expected& expected, size_t q, size_t y, const double* weights,
                   const Laplace& laplace) {
    const Batch b = c.table.batch();
    const size_t r = b.n_classes, distances = b.n_distances(), columns = b.columns();
    std::vector<double> S, T;
    for (size_t at = q * r; at < (q + 1) * r; ++at)
        S.push_back(plain::weighted_sum(int(distances), weights + at * distances, &expected.V[at * distances], 1));
    const size_t first = (q * r + y) * distances;
    for (size_t i = 0; i < columns; ++i)
        T.push_back(plain::weighted_sum(int(distances), weights + first, &expected.C[first * columns + i], columns));
    return plain::log_joint(b, b.query(q), S.data(), int(y), T.data(), laplace);
}

// Scores are those of the formula; given a margin a class may be left out only if it is that much below the best.
template <class Score>
std::vector<double> check_scores(const Case& c, const Expected& expected, const std::vector<double>& weights,
                                 int n_sets, const Laplace& laplace, double margin, Score score) {
    const size_t r = c.table.shape.n_classes, queries = c.table.shape.n_queries;
    std::vector<double> all(n_sets * queries * r), best(all.size());
    score(std::numeric_limits<double>::infinity(), all.data());
    score(margin, best.data());
    for (size_t k = 0; k < all.size(); ++k) {
        const size_t set = k / (queries * r), q = k / r % queries;
        const double* own_weights = weights.data() + set * expected.V.size();
        expect_close(c, "log joint", k, plain_score(c, expected, q, k % r, own_weights, laplace), all[k], 1e-10);
        const double top = *std::max_element(&all[k - k % r], &all[k - k % r] + r);
        const bool left_out = std::isinf(best[k]) && best[k] < 0 && all[k] < top - margin - 1e-9;
        if (!left_out && best[k] != all[k]) differ(c, "log joint of a class that matters", k, all[k], best[k]);
    }
    return all;
}

// What another instruction set gave, to the bit.
struct Bits {
    std::vector<double> gamma, rho, weights, S, T, scores, cell_scores, cell_S, cell_T;
};

// The sums for all kappas at once are those for the weights of each.
void check_cell_sums(const Case& c, const Expected& expected, const std::vector<double>& kappas, Bits& bits) {
    const Batch b = c.table.batch();
    const size_t pairs = size_t(b.n_queries) * b.n_classes, distances = b.n_distances(), columns = b.columns();
    std::vector<double> gamma(bits.gamma.size()), rho(bits.rho.size());
    bits.cell_S.resize(kappas.size() * pairs);
    bits.cell_T.resize(kappas.size() * pairs * columns);
    c.isa.cell_sums(b, kappas.data(), int(kappas.size()),
                    {gamma.data(), rho.data(), bits.cell_S.data(), bits.cell_T.data()});
    expect_equal(c, "gamma of the sums", bits.gamma, gamma);
    expect_equal(c, "rho of the sums", bits.rho, rho);
    for (size_t k = 0; k < bits.cell_T.size(); ++k) {
        const size_t at = k / columns, pair = at % pairs;
        const double* w = &bits.weights[at * distances];
        const double S = plain::weighted_sum(int(distances), w, &expected.V[pair * distances], 1);
        const double T =
            plain::weighted_sum(int(distances), w, &expected.C[pair * distances * columns + k % columns], columns);
        expect_close(c, "S for a kappa", at, S, bits.cell_S[at], 1e-11);
        expect_close(c, "T for a kappa", k, T, bits.cell_T[k], 1e-11);
    }
}

Bits check(const Case& c, Random random) {
    const Shape& shape = c.table.shape;
    const size_t pairs = size_t(shape.n_queries) * shape.n_classes, distances = c.table.batch().n_distances(),
                 columns = c.table.columns();
    Expected expected;
    const Batch batch = c.table.batch();
    for (int64_t q = 0; q < shape.n_queries; ++q) {
        const PlainRows plain(c.table, q);
        const auto V = plain::distance_counts(batch, batch.query(q), plain.rows);
        const auto C = plain::match_counts(batch, batch.query(q), plain.rows);
        expected.V.insert(expected.V.end(), V.begin(), V.end());
        expected.C.insert(expected.C.end(), C.begin(), C.end());
    }
    check_unpacking(c, random);
    check_damage(c, random);
    check_adder(c, random);
    const std::vector<double>& V = expected.V;
    const std::vector<double> own_V = by_distance(batch, V);
    check_counts(c, batch, expected, own_V);
    const int n_sets = int(random.from_to(1, 6));
    std::vector<double> kappas;
    for (int k = 0; k < n_sets; ++k) kappas.push_back(random.one_in(4) ? 0.3 : double(random.from_to(1, 30)));
    Bits bits{std::vector<double>(n_sets * pairs),
              std::vector<double>(n_sets * shape.n_queries),
              std::vector<double>(n_sets * V.size()),
              std::vector<double>(pairs),
              std::vector<double>(pairs * columns),
              {},
              {},
              {},
              {}};
    for (int k = 0; k < n_sets; ++k) {
        double* gamma = &bits.gamma[k * pairs];
        double *rho = &bits.rho[k * shape.n_queries], *weights = &bits.weights[k * V.size()];
        c.isa.cell_weights(V.data(), shape.n_queries, shape.n_classes, batch.n_distances(), kappas[k], gamma, rho,
                           weights);
        check_gamma(c, expected, kappas[k], {gamma, gamma + pairs}, {rho, rho + shape.n_queries},
                    {weights, weights + V.size()});
    }
    const std::vector<double> first(bits.weights.begin(), bits.weights.begin() + V.size());
    c.isa.weighted_sums(batch, own_V.data(), first.data(), bits.S.data(), bits.T.data());
    for (size_t k = 0; k < bits.T.size(); ++k) {
        const size_t at = k / columns;
        const double* w = &first[at * distances];
        const double S = plain::weighted_sum(int(distances), w, &V[at * distances], 1);
        const double T =
            plain::weighted_sum(int(distances), w, &expected.C[at * distances * columns + k % columns], columns);
        expect_close(c, "S", at, S, bits.S[at], 1e-12);
        expect_close(c, "T", k, T, bits.T[k], 1e-12);
    }
    check_cell_sums(c, expected, kappas, bits);
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
    s.weighted = random.one_in(3);
    s.runs = s.weighted && random.one_in(2);
    s.own = s.n_rows > 0 && random.one_in(3);
    s.tables = seed % 2 == 1;
    s.cap = s.tables && random.one_in(3) ? 3 : 0;
    const int64_t cells = int64_t(s.n_classes) * (s.m * (s.tables ? 7 : 1) + 1) * s.m * 2;
    s.n_queries = std::clamp<int64_t>(std::min((int64_t{1} << 19) / cells, (int64_t{1} << 22) / (s.n_rows * s.m + 1)),
                                      1, random.one_in(4) ? 150 : 20);
    return s;
}

std::vector<const Isa*> choose_isas(int argc, char** argv) {
    if (argc <= 2) return available_isas();
    std::vector<const Isa*> known{&isa_portable}, chosen;
#ifdef LOCALBAYES_X86
    known.insert(known.end(), {&isa_avx2, &isa_avx512});
#endif
#ifdef LOCALBAYES_NEON
    known.push_back(&isa_neon);
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
    expect_equal(c, "S for kappas of another instruction set", a.cell_S, b.cell_S);
    expect_equal(c, "T for kappas of another instruction set", a.cell_T, b.cell_T);
    expect_equal(c, "log joint of another instruction set", a.scores, b.scores);
    expect_equal(c, "log joint by kappa of another instruction set", a.cell_scores, b.cell_scores);
}

// A number that changes with any bit of the results, to compare machines by (FNV-1a).
void mix_into(uint64_t& digest, const Bits& bits) {
    for (const auto* values : {&bits.gamma, &bits.rho, &bits.weights, &bits.S, &bits.T, &bits.scores, &bits.cell_scores,
                               &bits.cell_S, &bits.cell_T})
        for (const double value : *values) digest = (digest ^ std::bit_cast<uint64_t>(value)) * 0x100000001b3;
}

}  // namespace

int main(int argc, char** argv) {
    const int tables = argc > 1 ? std::atoi(argv[1]) : 100;
    const std::vector<const Isa*> isas = choose_isas(argc, argv);
    if (isas.empty()) return std::fputs("no instruction set of that name\n", stderr), 2;
    std::string names;
    for (const Isa* isa : isas) names += std::string(" ") + isa->name;
    uint64_t digest = 0xcbf29ce484222325;
    for (int seed = 0; seed < tables; ++seed) {
        Random random(seed);
        const Shape shape = choose_shape(seed, random);
        const Table table = make_table(shape, random);
        const Bits first = check({table, *isas[0], uint64_t(seed)}, random);
        mix_into(digest, first);
        for (size_t k = 1; k < isas.size(); ++k) {
            const Case c{table, *isas[k], uint64_t(seed)};
            expect_same_bits(c, first, check(c, random));
        }
    }
    std::printf("%d tables agree with plain loops on%s; digest of all results %016llx\n", tables, names.c_str(),
                (unsigned long long)digest);
}
