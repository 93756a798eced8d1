// A fixed piece of work on the portable path, whose instructions are counted: distances, weights and scores of a batch
// of queries, as predict asks for them, or a search of the local Bayes classifier. Prints a checksum.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>

#include "learning_tables.hpp"

using namespace localbayes;
using namespace native;

namespace {

struct Work {
    const char* name;
    Shape shape;
    double margin = 0;  // classes below the best by more than this may be left out
};

// Many classes of middling size, two large classes, the same with all classes scored, with missing values, with runs of
// one weight and with weights of their own, ordered distances, values of several digits, and many attributes with small
// classes.
constexpr Work kWorks[] = {
    {"letters", {.m = 16, .n_classes = 10, .n_rows = 2000, .n_queries = 64, .max_size = 10}},
    {"rows", {.m = 20, .n_classes = 2, .n_rows = 20000, .n_queries = 16, .max_size = 8}},
    {"all",
     {.m = 20, .n_classes = 2, .n_rows = 20000, .n_queries = 16, .max_size = 8},
     std::numeric_limits<double>::infinity()},
    {"missing", {.m = 20, .n_classes = 2, .n_rows = 20000, .n_queries = 16, .max_size = 8, .may_miss = true}},
    {"runs",
     {.m = 20, .n_classes = 2, .n_rows = 20000, .n_queries = 16, .max_size = 8, .weighted = true, .runs = true}},
    {"weights", {.m = 20, .n_classes = 2, .n_rows = 20000, .n_queries = 16, .max_size = 8, .weighted = true}},
    {"ordered", {.m = 16, .n_classes = 10, .n_rows = 2000, .n_queries = 64, .max_size = 10, .tables = true, .cap = 3}},
    {"wide", {.m = 16, .n_classes = 10, .n_rows = 2000, .n_queries = 64, .max_size = 60}},
    {"columns", {.m = 69, .n_classes = 24, .n_rows = 204, .n_queries = 64, .max_size = 4}},
};

// What predict asks for. Under tables the sums are asked for, of which there are as many as scores and T.
void score(const Batch& batch, const Laplace& laplace, double margin, double* scores) {
    const double kappa = 5.0;
    if (!batch.distance) return isa_portable.cell_log_joint(batch, &kappa, 1, laplace, margin, scores);
    const size_t pairs = size_t(batch.n_queries) * batch.n_classes;
    std::vector<double> gamma(pairs), rho(batch.n_queries), T(pairs * batch.columns());
    isa_portable.cell_sums(batch, &kappa, 1, {gamma.data(), rho.data(), scores, T.data()});
}

}  // namespace

// What callgrind counts; a C name, so that it can be told where to begin.
extern "C" __attribute__((noinline)) void measured(const std::function<void()>& work) { work(); }

namespace {

std::vector<double> scores_of(const Work& work, Random& random) {
    const Table table = make_table(work.shape, random);
    const std::vector<double> sizes(table.parts[0].sizes.begin(), table.parts[0].sizes.end());
    std::vector<double> scores(size_t(work.shape.n_queries) * work.shape.n_classes);
    measured([&] { score(table.batch(), {1.0, sizes.data()}, work.margin, scores.data()); });
    return scores;
}

std::vector<double> exponents(Random& random) {
    const FeatureTable table(300, 10, 17, random);
    std::vector<double> found(17 + 10);
    ExponentFit fit{found.data(), found.data() + 17, 0, 0};
    measured([&] { isa_portable.fit_exponents(table.rows(), table.search(), false, fit); });
    return found;
}

std::vector<double> neighbours(Random& random) {
    const NeighbourTable table(500, 100, 16, 10, random);
    std::vector<double> slope(16);
    measured([&] { isa_portable.neighbour_loss(table.neighbours(), table.column_weights.data(), slope.data()); });
    return slope;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string name = argc == 2 ? argv[1] : "";
    Random random(7);
    std::vector<double> found;
    for (const Work& work : kWorks)
        if (name == work.name) found = scores_of(work, random);
    if (name == "exponents") found = exponents(random);
    if (name == "neighbours") found = neighbours(random);
    if (found.empty()) {
        std::fprintf(stderr,
                     "usage: work letters|rows|all|missing|runs|weights|ordered|wide|columns|exponents|neighbours\n");
        return 2;
    }
    uint64_t checksum = 0;
    for (const double x : found) checksum = checksum * 31 + uint64_t(std::isinf(x) ? 0 : int64_t(-1e6 * x));
    std::printf("%016llx\n", (unsigned long long)checksum);
}
