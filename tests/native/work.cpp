// A fixed piece of work on the portable path, whose instructions are counted: distances, weights and
// scores of a batch of queries, as predict asks for them. Prints a checksum.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "tables.hpp"

using namespace localbayes;
using namespace native;

namespace {

struct Work {
    const char* name;
    Shape shape;
    double margin = 0;  // classes below the best by more than this may be left out
};

// Many classes of middling size, two large classes, the same with all classes scored, with missing values, with runs of one weight and with
// weights of their own, ordered distances, and many attributes with small classes.
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
    {"columns", {.m = 69, .n_classes = 24, .n_rows = 204, .n_queries = 64, .max_size = 4}},
};

}  // namespace

// What callgrind counts; a C name, so that it can be told where to begin. Under tables the sums are asked for, of which
// there are as many as scores and T.
extern "C" __attribute__((noinline)) void measured(const Batch& batch, const Laplace& laplace, double margin,
                                                   double* scores) {
    const double kappa = 5.0;
    if (!batch.distance) return isa_portable.cell_log_joint(batch, &kappa, 1, laplace, margin, scores);
    const size_t pairs = size_t(batch.n_queries) * batch.n_classes;
    std::vector<double> gamma(pairs), rho(batch.n_queries), T(pairs * batch.columns());
    isa_portable.cell_sums(batch, &kappa, 1, {gamma.data(), rho.data(), scores, T.data()});
}

int main(int argc, char** argv) {
    for (const Work& work : kWorks) {
        if (argc != 2 || std::strcmp(argv[1], work.name) != 0) continue;
        Random random(7);
        const Table table = make_table(work.shape, random);
        const std::vector<double> sizes(table.parts[0].sizes.begin(), table.parts[0].sizes.end());
        std::vector<double> scores(size_t(work.shape.n_queries) * work.shape.n_classes);
        measured(table.batch(), {1.0, sizes.data()}, work.margin, scores.data());
        uint64_t checksum = 0;
        for (const double score : scores) checksum = checksum * 31 + uint64_t(std::isinf(score) ? 0 : -1e6 * score);
        std::printf("%016llx\n", (unsigned long long)checksum);
        return 0;
    }
    std::fprintf(stderr, "usage: work letters|rows|all|missing|runs|weights|ordered|columns\n");
    return 2;
}
