// Scores from counts, in plain double arithmetic in a fixed order: the same bits on every machine.
#include "score.hpp"

#include <cmath>
#include <limits>

namespace localbayes {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

template <class Count, class F>
struct Call : Sink<Count> {
    explicit Call(F& f) : f(f) {}
    void take(int64_t query, int y, const Count* total, const Count* rows, int stride) override {
        f(query, y, total, rows, stride);
    }
    F& f;
};

int columns(const Counter& c) { return c.segments[0].may_miss ? 2 * c.batch.m : c.batch.m; }

// T[i] = sum_d w[d] C[d, i].
template <class Count>
void weigh(const Count* total, const Count* rows, int stride, const double* w, int m, int width, double* T) {
    std::fill_n(T, width, 0.0);
    for (int d = 0; d <= m; ++d) {
        if (total[d] == Count{} || w[d] == 0) continue;
        const Count* row = rows + size_t(d) * stride;
        for (int i = 0; i < width; ++i) T[i] += w[d] * double(row[i]);
    }
}

// Factors are multiplied sixteen at a time between logarithms: far from overflow for any count, unless
// alpha is so small or large that they are taken one by one.
int factors_per_log(double alpha) { return alpha < 1e-15 || alpha > 1e10 ? 1 : 16; }

// sum_i log((alpha + T_i) / (alpha q_i + S)). Where values may be missing, T[m + i] stands for S and a
// value that the query lacks has no factor.
double log_likelihood(const double* T, double S, int m, const Laplace& laplace, const uint32_t* query, bool may_miss) {
    const int group = factors_per_log(laplace.alpha);
    double sum = 0;
    for (int i = 0; i < m; i += group) {
        double above = 1, below = 1;
        for (int k = i; k < std::min(i + group, m); ++k) {
            if (may_miss && query[k] == kMissing) continue;
            above *= laplace.alpha + T[k];
            below *= laplace.alpha * laplace.sizes[k] + (may_miss ? T[m + k] : S);
        }
        sum += std::log(above / below);
    }
    return std::isnan(sum) ? kNever : sum;
}

// The matches of the rows at distance d number m - d, so V alone gives sum_i T_i; the product of the
// numerators is largest if all T_i are equal.
double log_likelihood_bound(const double* V, const double* w, double S, int m, const Laplace& laplace) {
    double matches = 0, below = 1, sum = 0;
    for (int d = 0; d < m; ++d) matches += w[d] * V[d] * (m - d);
    const int group = factors_per_log(laplace.alpha);
    for (int i = 0; i < m; ++i) {
        below *= laplace.alpha * laplace.sizes[i] + S;
        if ((i + 1) % group == 0 || i + 1 == m) {
            sum -= std::log(below);
            below = 1;
        }
    }
    const double bound = m * std::log(laplace.alpha + matches / m) + sum;
    return std::isnan(bound) ? kNever : bound;
}

// Far more than the rounding of a score and the width of a tie.
constexpr double kMargin = 1e-6;

}  // namespace

template <class F>
void Counter::count(const Order& order, F f) const {
    if (weighted) {
        Call<double, F> sink(f);
        isa.count_weighted(segments, batch, order, sink);
    } else {
        Call<int32_t, F> sink(f);
        isa.count(segments, batch, order, sink);
    }
}

template <class T>
void totals(const Counter& c, T* V) {
    const size_t distances = c.batch.m + 1;
    c.count({false, nullptr}, [&](int64_t q, int y, const auto* total, const auto*, int) {
        std::copy_n(total, distances, V + (q * c.batch.n_classes + y) * distances);
    });
}
void distance_counts(const Counter& c, double* V) { totals(c, V); }
void distance_counts(const Counter& c, int64_t* V) { totals(c, V); }

template <class T>
void match_counts(const Counter& c, T* C) {
    const size_t distances = c.batch.m + 1, width = columns(c);
    c.count({true, nullptr}, [&](int64_t q, int y, const auto*, const auto* rows, int stride) {
        for (size_t d = 0; d < distances; ++d)
            std::copy_n(rows + d * stride, width, C + ((q * c.batch.n_classes + y) * distances + d) * width);
    });
}
template void match_counts(const Counter&, double*);
template void match_counts(const Counter&, int64_t*);

void weighted_sums(const Counter& c, const double* weights, double* S, double* T) {
    const size_t m = c.batch.m, width = columns(c);
    c.count({true, nullptr}, [&](int64_t q, int y, const auto* total, const auto* rows, int stride) {
        const size_t at = q * c.batch.n_classes + y;
        const double* w = weights + at * (m + 1);
        S[at] = 0;
        for (size_t d = 0; d <= m; ++d) S[at] += w[d] * double(total[d]);
        weigh(total, rows, stride, w, int(m), int(width), T + at * width);
    });
}

void log_joint(const Counter& c, const double* V, const double* weights, int n_sets, Laplace laplace, bool best_only,
               double* out) {
    const int m = c.batch.m, r = c.batch.n_classes, width = columns(c);
    const bool may_miss = c.segments[0].may_miss;
    const size_t n = c.batch.n_queries, pairs = n * r, distances = m + 1;
    std::vector<double> S(n_sets * pairs), log_prior(n_sets * pairs), bound(n_sets * pairs), T(width);
    for (size_t set = 0; set < size_t(n_sets); ++set)
        for (size_t q = 0; q < n; ++q) {
            double all = 0;
            for (size_t at = q * r; at < (q + 1) * r; ++at) {
                double& s = S[set * pairs + at];
                for (size_t d = 0; d < distances; ++d) s += weights[(set * pairs + at) * distances + d] * V[at * distances + d];
                all += s;
            }
            for (size_t at = q * r; at < (q + 1) * r; ++at) {
                const double s = S[set * pairs + at], prior = std::log((laplace.alpha + s) / (laplace.alpha * r + all));
                log_prior[set * pairs + at] = std::isnan(prior) ? kNever : prior;
            }
        }
    const auto score = [&](const std::vector<uint8_t>* wanted) {
        c.count({true, wanted ? wanted->data() : nullptr}, [&](int64_t q, int y, const auto* total, const auto* rows, int stride) {
            for (size_t set = 0; set < size_t(n_sets); ++set) {
                const size_t at = set * pairs + q * r + y;
                weigh(total, rows, stride, weights + at * distances, m, width, T.data());
                out[at] = log_prior[at] + log_likelihood(T.data(), S[at], m, laplace, c.batch.codes + q * m, may_miss);
            }
        });
    };
    if (!best_only || may_miss || r < 2) return score(nullptr);

    // First the class with the best bound, then all whose bound reaches what that class got.
    std::fill_n(out, n_sets * pairs, kNever);
    std::vector<uint8_t> wanted(pairs), counted(pairs);
    for (size_t set = 0; set < size_t(n_sets); ++set)
        for (size_t q = 0; q < n; ++q) {
            size_t best = q * r;
            for (size_t at = q * r; at < (q + 1) * r; ++at) {
                const size_t k = set * pairs + at;
                bound[k] = log_prior[k] + log_likelihood_bound(V + at * distances, weights + k * distances, S[k], m, laplace);
                if (bound[k] > bound[set * pairs + best]) best = at;
            }
            wanted[best] = counted[best] = 1;
        }
    score(&wanted);
    std::fill(wanted.begin(), wanted.end(), 0);
    for (size_t set = 0; set < size_t(n_sets); ++set)
        for (size_t q = 0; q < n; ++q) {
            const double* scores = out + set * pairs + q * r;
            const double best = *std::max_element(scores, scores + r);
            for (size_t at = q * r; at < (q + 1) * r; ++at)
                wanted[at] |= !counted[at] && !(bound[set * pairs + at] < best - kMargin);
        }
    score(&wanted);
}

void cell_weights(const Isa& isa, const double* V, int64_t n_queries, int n_classes, int m, double kappa,
                  double* gamma, double* rho, double* weights) {
    const size_t distances = m + 1, size = n_classes * distances;
    std::vector<double> scratch(size_t(n_classes) * (m + 6));
    for (int64_t q = 0; q < n_queries; ++q, V += size, gamma += n_classes, weights += size) {
        isa.solve_gamma(V, n_classes, m, kappa, gamma, scratch.data());
        double sum = 0, square_sum = 0;
        for (int y = 0; y < n_classes; ++y) {
            double power = 1;
            for (size_t d = 0; d < distances; ++d, power *= gamma[y]) {
                weights[y * distances + d] = power;
                sum += V[y * distances + d] * power;
                square_sum += V[y * distances + d] * power * power;
            }
        }
        rho[q] = square_sum > 0 ? sum / square_sum : 1.0;
        for (size_t k = 0; k < size; ++k) weights[k] *= rho[q];
    }
}

}  // namespace localbayes
