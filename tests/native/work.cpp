// A fixed piece of work on the portable path, whose instructions are counted: distances, weights and
// scores of a batch of queries, as predict asks for them. Prints a checksum.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "score.hpp"
#include "tables.hpp"

using namespace localbayes;
using namespace native;

namespace {

struct Work {
    const char* name;
    Shape shape;
};

// Many classes of middling size, two large classes, and many attributes with small classes.
constexpr Work kWorks[] = {
    {"letters", {.m = 16, .n_classes = 10, .n_rows = 2000, .n_queries = 64, .max_size = 10}},
    {"rows", {.m = 20, .n_classes = 2, .n_rows = 20000, .n_queries = 16, .max_size = 8}},
    {"columns", {.m = 69, .n_classes = 24, .n_rows = 204, .n_queries = 64, .max_size = 4}},
};

}  // namespace

// What callgrind counts; a C name, so that it can be told where to begin.
extern "C" __attribute__((noinline)) void measured(const Counter& counter, const Laplace& laplace, double* V, double* gamma,
                                                   double* rho, double* weights, double* scores) {
    const Batch& batch = counter.batch;
    distance_counts(counter, V);
    cell_weights(counter.isa, V, batch.n_queries, batch.n_classes, batch.m, 5.0, gamma, rho, weights);
    log_joint(counter, V, weights, 1, laplace, true, scores);
}

int main(int argc, char** argv) {
    for (const Work& work : kWorks) {
        if (argc != 2 || std::strcmp(argv[1], work.name) != 0) continue;
        Random random(7);
        const Table table = make_table(work.shape, random);
        const size_t pairs = size_t(work.shape.n_queries) * work.shape.n_classes, distances = work.shape.m + 1;
        const std::vector<double> sizes(table.parts[0].sizes.begin(), table.parts[0].sizes.end());
        std::vector<double> V(pairs * distances), gamma(pairs), rho(work.shape.n_queries), weights(V.size()), scores(pairs);
        measured({isa_portable, table.segments, table.batch(), false}, {1.0, sizes.data()}, V.data(), gamma.data(),
                 rho.data(), weights.data(), scores.data());
        uint64_t checksum = 0;
        for (const double count : V) checksum = checksum * 31 + uint64_t(count);
        std::printf("%016llx\n", (unsigned long long)checksum);
        return 0;
    }
    std::fprintf(stderr, "usage: work letters|rows|columns\n");
    return 2;
}
