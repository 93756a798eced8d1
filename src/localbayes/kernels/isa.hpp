// The table of functions of one instruction set, and the choice among the tables.
//
// Each isa_*.cpp compiles the same templates for one instruction set with options of its own. All that they compile
// is in an unnamed namespace, so that the linker cannot put a copy for one instruction set in the place of another.
// Floating-point operations are written in a fixed order and never contracted: all tables give the same bits.
#pragma once
#include <vector>

#include "batch.hpp"
#include "learning.hpp"
#include "pairs.hpp"

namespace localbayes {

// The shape of sums that were added up elsewhere.
struct SumShape {
    int64_t n_queries;
    int n_classes, m, columns;
};

// Where sums of the paper's weights go: gamma and S are [kappa][query][class], rho is [kappa][query], T is
// [kappa][query][class][column].
struct CellSums {
    double *gamma, *rho, *S, *T;
};

// Formulas over pair counts, see pair_formulas.hpp.
template <class Count>
struct PairFormulas {
    void (*multiply_counts)(const Pairs<const Count>&, const double* pseudo, const double* start, Span span,
                            double* out);
    void (*mix_counts)(const Pairs<const Count>&, const double* pseudo, const double* weight, const double* alone,
                       const double* scale, double* out);
};

struct Isa {
    const char* name;
    void (*distance_counts)(const Batch&, double* V);
    // C[query][class][distance][column].
    void (*match_counts)(const Batch&, const double* V, double* C);
    // S[query][class] and T[query][class][column] for weights[query][class][distance].
    void (*weighted_sums)(const Batch&, const double* V, const double* weights, double* S, double* T);
    // gamma, rho and the sums of the paper's weights rho * gamma^d, for every kappa.
    void (*cell_sums)(const Batch&, const double* kappas, int n_kappas, const CellSums&);
    // Features [kappa][query][class][1 + m] of the local Bayes classifier, see exponent_features.hpp.
    void (*cell_features)(const Batch&, const double* kappas, int n_kappas, const Smoothing&, double* out);
    // Logs of average probabilities [query][class] of the local Bayes classifier, see exponent_contest.hpp. If it
    // prunes, a class that cannot win may get minus infinity; it looks at the attributes before `first_rest` first.
    void (*exponent_scores)(const Batch&, const Smoothing&, const ExponentTable&, int first_rest, bool prunes,
                            double* out);
    // Log joint [query][class] for weights[query][class][distance]. A class that stays more than `margin` below the
    // best may be left out: it is not counted and gets minus infinity.
    void (*log_joint)(const Batch&, const double* V, const double* weights, Laplace, double margin, double* out);
    // Log joint [kappa][query][class] for the paper's weights rho * gamma^d.
    void (*cell_log_joint)(const Batch&, const double* kappas, int n_kappas, Laplace, double margin, double* out);
    // Log joint [query][class] for S and T that were added up elsewhere; of the codes only kMissing matters.
    void (*log_joint_of_sums)(SumShape, const uint32_t* codes, const double* S, const double* T, Laplace, double* out);
    // gamma[query][class], rho[query] and rho * gamma^d for V[query][class][distance].
    void (*cell_weights)(const double* V, int64_t n_queries, int n_classes, int n_distances, double kappa,
                         double* gamma, double* rho, double* weights);
    // Exponents of features, see exponent_fit.hpp; they begin as they come if it `starts`.
    void (*fit_exponents)(const FeatureRows&, const ExponentSearch&, bool starts, ExponentFit&);
    // The loss of rows that look for their class, and its slope unless null, see neighbourhood.hpp.
    double (*neighbour_loss)(const Neighbours&, const double* weights, double* slope);
    void (*sum_values)(const Pairs<const double>&, const double* start, double* out);
    PairFormulas<int32_t> whole;    // for counts of rows
    PairFormulas<double> weighted;  // for sums of weights
};

extern const Isa isa_portable, isa_neon, isa_avx2, isa_avx512;
std::vector<const Isa*> available_isas();  // best first

}  // namespace localbayes
