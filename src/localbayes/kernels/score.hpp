// From weights by class and distance to naive Bayes scores.
#pragma once
#include "match.hpp"

namespace localbayes {

// The training rows and how they are counted.
struct Counter {
    const Isa& isa;
    const std::vector<Segment>& segments;
    Batch batch;
    bool weighted;

    template <class F>
    void count(const Order& order, F f) const;  // calls f(query, class, total, rows, stride)
};

struct Laplace {
    double alpha;
    const double* sizes;  // q_i
};

// V[query][class][distance].
void distance_counts(const Counter&, double* V);
void distance_counts(const Counter&, int64_t* V);
// C[query][class][distance][column], columns as in Sink.
template <class T>
void match_counts(const Counter&, T* C);
// S[query][class] and T[query][class][column] for weights[query][class][distance].
void weighted_sums(const Counter&, const double* weights, double* S, double* T);
// Log joint [set of weights][query][class]; weights is [set][query][class][distance]. With best_only a
// class that cannot win is not counted and gets minus infinity.
void log_joint(const Counter&, const double* V, const double* weights, int n_sets, Laplace, bool best_only, double* out);
// gamma[query][class], rho[query] and rho * gamma^d.
void cell_weights(const Isa&, const double* V, int64_t n_queries, int n_classes, int m, double kappa,
                  double* gamma, double* rho, double* weights);

}  // namespace localbayes
