// Compares the searches of the local Bayes classifier with plain loops on tables made by chance, on every instruction
// set. Says nothing but a summary if all agree; exits 1 at the first difference.
#include <cstdio>
#include <cstdlib>

#include "learning_tables.hpp"
#include "plain_learning.hpp"

using namespace localbayes;
using namespace native;

namespace {

[[noreturn]] void differ(const Isa& isa, const char* what, uint64_t seed, double expected, double got) {
    std::fprintf(stderr, "%s: %s differs: expected %.17g, got %.17g (table %llu)\n", isa.name, what, expected, got,
                 (unsigned long long)seed);
    std::exit(1);
}

// Results of the first instruction set, which the others must have to the bit.
using Bits = std::vector<double>;
void expect_same(const Isa& isa, uint64_t seed, const Bits& bits, Bits& first) {
    if (first.empty()) first = bits;
    for (size_t k = 0; k < bits.size(); ++k)
        if (bits[k] != first[k]) differ(isa, "a bit", seed, first[k], bits[k]);
}

// Sums of a query are in float.
Bits check_neighbours(const Isa& isa, const NeighbourTable& table, uint64_t seed) {
    const Neighbours neighbours = table.neighbours();
    const plain::NeighbourLoss expected(neighbours, table.column_weights.data());
    Bits found(table.m);
    found.push_back(isa.neighbour_loss(neighbours, table.column_weights.data(), found.data()));
    double scale = 1e-3;
    for (const double weight : table.weights) scale += weight;
    if (std::abs(found.back() - expected.loss) > 1e-4 * scale) differ(isa, "loss", seed, expected.loss, found.back());
    for (int i = 0; i < table.m; ++i)
        if (std::abs(found[i] - expected.slope[i]) > 1e-4 * scale)
            differ(isa, "slope", seed, expected.slope[i], found[i]);
    const double alone = isa.neighbour_loss(neighbours, table.column_weights.data(), nullptr);
    if (alone != found.back()) differ(isa, "loss without a slope", seed, found.back(), alone);
    return found;
}

// The prior times the power whose loss is least.
std::vector<double> plain_target(const FeatureTable& table) {
    std::vector<double> best;
    double least = std::numeric_limits<double>::infinity();
    const std::vector<double> none(table.r);
    for (const double power : table.powers) {
        std::vector<double> w(table.prior);
        for (double& x : w) x *= power;
        const double loss = plain::ExponentLoss(table.rows(), w, 0, w.data(), none.data()).log_loss;
        if (loss < least) best = w, least = loss;
    }
    return best;
}

// How far a loss may be above the least that exponents >= 0 have: it curves upwards by at least 2 ridge.
double most_above(const plain::ExponentLoss& at, const FeatureTable& table, const double* w) {
    const double curvature = 2 * table.ridge;
    double most = 0;
    for (size_t i = 0; i < at.slope.size(); ++i) {
        const double slope = at.slope[i];
        double step = slope / curvature;
        if (int(i) < table.p) step = std::min(step, w[i]);
        most += slope * step - curvature / 2 * step * step;
    }
    return most;
}

Bits check_exponents(const Isa& isa, const FeatureTable& table, bool starts, uint64_t seed) {
    Bits found(table.p + table.r, 0.5);
    double *w = found.data(), *b = w + table.p;
    ExponentFit fit{w, b, 0, 0};
    isa.fit_exponents(table.rows(), table.search(), starts, fit);
    for (int i = 0; i < table.p; ++i)
        if (!(w[i] >= 0)) differ(isa, "an exponent", seed, 0, w[i]);
    const plain::ExponentLoss at(table.rows(), plain_target(table), table.ridge, w, b);
    const double loss = at.log_loss + at.penalty, scale = loss + 1e-9;  // one class has no loss
    if (std::abs(fit.penalty - at.penalty) > 1e-9 * scale) differ(isa, "penalty", seed, at.penalty, fit.penalty);
    if (std::abs(fit.loss - loss) > 1e-6 * scale) differ(isa, "penalised loss", seed, loss, fit.loss);
    if (const double above = most_above(at, table, w); above > 1e-5 * scale)
        differ(isa, "distance from the least loss", seed, 0, above);
    found.insert(found.end(), {fit.loss, fit.penalty});
    return found;
}

}  // namespace

int main(int argc, char** argv) {
    const int tables = argc > 1 ? std::atoi(argv[1]) : 100;
    for (int seed = 0; seed < tables; ++seed) {
        Random random(seed);
        const int p = int(random.from_to(1, random.one_in(3) ? 40 : 9)), r = int(random.from_to(1, 20));
        const FeatureTable features(random.from_to(1, 60), r, p, random);
        const NeighbourTable neighbours(random.from_to(1, 200), random.from_to(1, 20), p, r, random);
        Bits near, cold, warm;
        for (const Isa* isa : available_isas()) {
            expect_same(*isa, seed, check_neighbours(*isa, neighbours, seed), near);
            expect_same(*isa, seed, check_exponents(*isa, features, false, seed), cold);
            expect_same(*isa, seed, check_exponents(*isa, features, true, seed), warm);
        }
    }
    std::printf("%d tables of what is learned agree with plain loops\n", tables);
}
