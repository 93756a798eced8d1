// The functions of the table in isa.hpp, for one instruction set W.
#pragma once
#include "exponent_contest.hpp"
#include "exponent_fit.hpp"
#include "isa.hpp"
#include "neighbourhood.hpp"
#include "pair_formulas.hpp"
#include "score.hpp"

namespace localbayes {
namespace {

template <class W>
void distance_counts(const Batch& b, double* V) {
    count_distances<W>(b, Places(b), V);
}

template <class W>
void match_counts(const Batch& b, const double* V, double* C) {
    const size_t distances = b.n_distances(), width = b.columns();
    std::vector<double> row(b.raw_width());
    with_count(b, [&]<class Count>(Count) {
        Matcher<W, Count>(b).count(b, Places(b), V, nullptr, [&](const auto& tally) {
            double* to = C + (tally.q * b.n_classes + tally.y) * distances * width;
            std::fill_n(to, distances * width, 0.0);
            for (const int d : tally.live) {
                std::copy_n(tally.rows + size_t(d) * tally.stride, row.size(), row.data());
                join_columns(b, 1, row.data());
                std::copy_n(row.data(), width, to + d * width);
            }
        });
    });
}

template <class W>
void weighted_sums(const Batch& b, const double* V, const double* weights, double* S, double* T) {
    const size_t distances = b.n_distances(), width = b.columns();
    const auto fill = [&](int64_t q, int y, const Live& live, double* w) {
        for (const int d : live) *w++ = weights[(q * b.n_classes + y) * distances + d];
    };
    with_summer<W>(b, 1, 1, [&](auto summer) {
        summer.sum(b, Places(b), V, nullptr, fill, [&](int64_t q, int y, const Live& live, const double* sums) {
            const size_t at = q * b.n_classes + y;
            const double* counts = V + q * b.V_size() + y;
            S[at] = 0;
            for (const int d : live) S[at] += weights[at * distances + d] * counts[d * b.class_room()];
            std::copy_n(sums, width, T + at * width);
        });
    });
}

// Queries are taken in parts, so that V of a part stays in cache between the counting of V and of C.
template <class W>
void cell_sums(const Batch& b, const double* kappas, int n_kappas, const CellSums& to) {
    CellWeights<W> weights(b, kappas, n_kappas);
    const int r = b.n_classes, room = weights.room;
    const size_t width = b.columns();
    const auto fill = [&](int64_t q, int y, const Live& live, double* w) { weights.fill(q, y, live, w); };
    with_summer<W>(b, n_kappas, room, [&](auto summer) {
        const int64_t at_once = summer.queries_at_once(b);
        const int64_t step =
            at_once ? std::min(at_once, b.n_queries) : fitting(b.n_queries, 8 * (b.V_size() + 2 * r * room));
        std::vector<double> S(size_t(step) * r * room);
        for (int64_t first = 0; first < b.n_queries; first += step) {
            const Batch part = b.part(first, std::min(step, b.n_queries - first));
            const Places places(part);
            double* V = weights.begin(part);
            at_once ? summer.count_all(part, places, V) : count_distances<W>(part, places, V);
            for (int64_t q = 0; q < part.n_queries; ++q) {
                weights.sums(q, V + q * b.V_size(), &S[q * r * room], nullptr);
                for (int k = 0; k < n_kappas; ++k) {
                    const size_t at = k * b.n_queries + first + q;
                    to.rho[at] = weights.rho(q)[k];
                    for (int y = 0; y < r; ++y) {
                        to.gamma[at * r + y] = weights.gamma(q)[y * room + k];
                        to.S[at * r + y] = S[(q * r + y) * room + k];
                    }
                }
            }
            const auto keep = [&](int64_t q, int y, const Live&, const double* T) {
                for (int k = 0; k < n_kappas; ++k) {
                    double* out = to.T + ((k * b.n_queries + first + q) * r + y) * width;
                    for (size_t i = 0; i < width; ++i) out[i] = T[i * room + k];
                }
            };
            if (at_once) summer.sum_counted(part, V, fill, keep);
            else summer.sum(part, places, V, nullptr, fill, keep);
        }
    });
}

template <class W>
void log_joint(const Batch& b, const double* V, const double* weights, Laplace laplace, double margin, double* out) {
    with_count(b, [&]<class Count>(Count) {
        JointScores<W, GivenWeights, Count>(b, GivenWeights(b, V, weights), laplace, margin, out).compute();
    });
}

template <class W>
void cell_log_joint(const Batch& b, const double* kappas, int n_kappas, Laplace laplace, double margin, double* out) {
    using Weights = CellWeights<W>;
    with_count(b, [&]<class Count>(Count) {
        JointScores<W, Weights, Count>(b, Weights(b, kappas, n_kappas), laplace, margin, out).compute();
    });
}

template <class W>
void log_joint_of_sums(SumShape shape, const uint32_t* codes, const double* S, const double* T, Laplace laplace,
                       double* out) {
    const Scorer scorer(shape.m, shape.columns > shape.m, laplace);
    std::vector<double> prior(shape.n_classes);
    for (int64_t q = 0; q < shape.n_queries; ++q, S += shape.n_classes, codes += shape.m) {
        scorer.priors<double>(S, shape.n_classes, 1, prior.data());
        for (int y = 0; y < shape.n_classes; ++y, T += shape.columns)
            *out++ = scorer.log_joint<double>({&prior[y], T, S + y, 1}, codes);
    }
}

template <class W>
void cell_weights(const double* V, int64_t n_queries, int n_classes, int n_distances, double kappa, double* gamma,
                  double* rho, double* weights) {
    GammaSolver<W> solver(n_classes, n_distances, &kappa, 1);
    const size_t room = padded(n_classes, 4);
    std::vector<double> by_distance(n_distances * room), S(n_classes);
    for (int64_t q = 0; q < n_queries; ++q, ++rho) {
        for (int y = 0; y < n_classes; ++y)
            for (int d = 0; d < n_distances; ++d) by_distance[d * room + y] = *V++;
        solver.solve(by_distance.data(), {gamma, rho, S.data(), nullptr, 1});
        for (int y = 0; y < n_classes; ++y, ++gamma) {
            double weight = *rho;
            for (int d = 0; d < n_distances; ++d, weight *= *gamma) *weights++ = weight;
        }
    }
}

template <class W>
constexpr Isa functions(const char* name) {
    return {name,
            distance_counts<W>,
            match_counts<W>,
            weighted_sums<W>,
            cell_sums<W>,
            cell_features<W>,
            exponent_scores<W>,
            log_joint<W>,
            cell_log_joint<W>,
            log_joint_of_sums<W>,
            cell_weights<W>,
            fit_exponents<W>,
            neighbour_loss<W>,
            sum_values<W>,
            {multiply_counts<W, int32_t>, mix_counts<W, int32_t>},
            {multiply_counts<W, double>, mix_counts<W, double>}};
}

}  // namespace
}  // namespace localbayes
