// From counts to scores, compiled once per instruction set: element-wise loops in a fixed order, so that
// a wider vector changes the speed and not a bit of the result.
#include <limits>

namespace {

// Sets of weights and classes are worked on four at a time.
using Four = double __attribute__((vector_size(32)));
Four load(const double* p) {
    Four v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
void store(double* p, Four v) { std::memcpy(p, &v, sizeof v); }

constexpr double kNever = -std::numeric_limits<double>::infinity();
// Far more than the rounding of a score and the width of a tie.
constexpr double kRounding = 1e-6;

// S(gamma) = sum_d V[d] gamma^d = kappa for all classes of one query. S is increasing and convex. Four
// classes are a vector and four vectors are solved side by side, by Halley's step for the power that fits
// S locally, guarded by bisection; a class that has converged stays as it is, so its result does not depend
// on its neighbours.
class GammaSolver {
public:
    GammaSolver(int n_classes, int m, int n_kappas)
        : r_(n_classes), room_(padded(n_classes, 4)), m_(m), n_kappas_(n_kappas), shape_(size_t(3) * room_),
          found_(size_t(4) * room_ * n_kappas), rho_(n_kappas) {}

    // V[distance][class] of the query.
    void solve(const double* V, const double* kappas) {
        describe(V);
        const int vectors = room_ / 4, n = vectors * n_kappas_;
        for (int first = 0; first < n; first += 4) {
            Search s[4];
            for (int j = 0; j < 4; ++j) {
                const int at = std::min(first + j, n - 1);
                s[j] = start(V, 4 * (at % vectors), kappas[at / vectors]);
            }
            evaluate(s);
            for (int step = 0; step < 200; ++step) {
                bool open = false;
                for (Search& search : s) open |= search.next();
                if (!open) break;
                evaluate(s);
            }
            const auto keep = [&](int what, Four Search::*value) {
                for (int j = 0; j < std::min(4, n - first); ++j) store(&found_[what * size_t(n) * 4 + size_t(first + j) * 4], s[j].*value);
            };
            keep(kGamma, &Search::g);
            keep(kSum, &Search::f);
            keep(kSlope, &Search::slope);
            for (Search& search : s) search.g *= search.g;
            evaluate(s);
            keep(kSquares, &Search::f);
        }
        for (int k = 0; k < n_kappas_; ++k) {
            double sum = 0, square_sum = 0;
            for (int y = 0; y < r_; ++y) {
                sum += found(kSum, k, y);
                square_sum += found(kSquares, k, y);
            }
            rho_[k] = square_sum > 0 ? sum / square_sum : 1.0;
        }
    }

    double rho(int k) const { return rho_[k]; }
    double gamma(int k, int y) const { return found(kGamma, k, y); }
    double weight_sum(int k, int y) const { return rho_[k] * found(kSum, k, y); }
    // The rows at distance d have m - d matches each; rounded up.
    double matches(int k, int y) const {
        const double f = found(kSum, k, y), misses = gamma(k, y) * found(kSlope, k, y);
        return rho_[k] * (std::max(m_ * f - misses, 0.0) + 1e-12 * m_ * f);
    }

private:
    enum { kGamma, kSum, kSlope, kSquares };
    double found(int what, int k, int y) const { return found_[(size_t(what) * n_kappas_ + k) * room_ + y]; }

    // Numbers of rows, and means and variances of their distances.
    void describe(const double* V) {
        farthest_ = 0;
        for (int y = 0; y < room_; y += 4) {
            Four n{}, moment{}, second{};
            for (int d = 0; d <= m_; ++d) {
                const Four v = load(V + size_t(d) * room_ + y), dv = double(d) * v;
                n += v;
                moment += dv;
                second += double(d) * dv;
            }
            const Four mean = moment / n;
            store(&shape_[y], n);
            store(&shape_[room_ + y], mean);
            store(&shape_[2 * room_ + y], second / n - mean * mean);
        }
        for (int d = m_; d > 0 && farthest_ == 0; --d)
            for (int y = 0; y < r_; ++y)
                if (V[size_t(d) * room_ + y] != 0) farthest_ = d;
    }

    struct Search {
        const double* V;
        double kappa;
        Four g, f, slope, low{}, high{1, 1, 1, 1};
        decltype(Four{} < Four{}) open;

        // One step of the classes that are still open; whether there are any.
        bool next() {
            const Four inverse = 1 / f, u = kappa * inverse, power = g * slope * inverse;
            low = f < kappa ? g : low;
            high = f > kappa ? g : high;
            // Halley's step for the power, or Newton's where S is flatter than a line through zero
            const Four above = power > 1 ? (power - 1) + (power + 1) * u : power - 1 + u;
            const Four below = power > 1 ? (power + 1) + (power - 1) * u : power;
            Four next = g * above / below;
            next = next > low ? next : 2 * high;
            next = next < high ? next : 0.5 * (low + high);
            const Four error = f - kappa;
            open &= ((error > 5e-14 * kappa) | (error < -5e-14 * kappa)) & (next != g);
            g = open ? next : g;
            return (open[0] | open[1] | open[2] | open[3]) != 0;
        }
    };

    Search start(const double* V, int first, double kappa) const {
        Search s;
        s.V = V + first;
        s.kappa = kappa;
        for (int k = 0; k < 4; ++k) {
            const double n = shape_[first + k], nearest = s.V[k];
            s.open[k] = nearest < kappa && kappa < n ? -1 : 0;
            s.g[k] = s.open[k] ? guess(first + k, kappa) : nearest >= kappa && n > 0 ? 0.0 : 1.0;
        }
        return s;
    }

    // S and its slope.
    void evaluate(Search (&s)[4]) const {
        Four a{}, b{}, c{}, d{}, slope_a{}, slope_b{}, slope_c{}, slope_d{};
        size_t at = size_t(farthest_) * room_;
        for (int distance = farthest_; distance >= 0; --distance, at -= room_) {
            slope_a = slope_a * s[0].g + a;
            slope_b = slope_b * s[1].g + b;
            slope_c = slope_c * s[2].g + c;
            slope_d = slope_d * s[3].g + d;
            a = a * s[0].g + load(s[0].V + at);
            b = b * s[1].g + load(s[1].V + at);
            c = c * s[2].g + load(s[2].V + at);
            d = d * s[3].g + load(s[3].V + at);
        }
        s[0].f = a, s[1].f = b, s[2].f = c, s[3].f = d;
        s[0].slope = slope_a, s[1].slope = slope_b, s[2].slope = slope_c, s[3].slope = slope_d;
    }

    // Seen in logarithms, S is nearly a parabola from n at gamma = 1, whose slope and curvature are the mean
    // and the variance of the distances.
    double guess(int y, double kappa) const {
        const double drop = log2(kappa / shape_[y]), mean = shape_[room_ + y];
        const double root = mean * mean + 2 * 0.6931 * shape_[2 * room_ + y] * drop;
        return exp2(2 * drop / (mean + std::sqrt(std::max(root, 0.0))));
    }
    // To a percent: the bits of a number are its logarithm, but for a straight line in place of a curve.
    static constexpr double kOne = double(int64_t{0x3FF} << 52), kUnit = double(int64_t{1} << 52);
    static double log2(double x) {
        const double line = (double(std::bit_cast<int64_t>(x)) - kOne) / kUnit, part = line - std::floor(line);
        return line + 0.34 * part * (1 - part);
    }
    static double exp2(double x) {
        const double part = x - std::floor(x);
        return std::bit_cast<double>(int64_t(kOne + kUnit * std::max(x - 0.34 * part * (1 - part), -1000.0)));
    }

    int r_, room_, m_, n_kappas_, farthest_ = 0;
    std::vector<double> shape_, found_, rho_;  // found_ is [what][kappa][class]
};

// --- sets of weights ------------------------------------------------------------------------------

// Both kinds give S[class][set], the sums of the weights, and matches[class][set], the sums over attributes
// of the weights of rows that agree, or a little more; fill gives the weights themselves, [distance][set].
// There is room for a multiple of four sets.

// Weights [query][class][distance] that were given: one set.
class GivenWeights {
public:
    GivenWeights(const Batch& b, const double* V, const double* weights)
        : V_(V), weights_(weights), r_(b.n_classes), distances_(b.m + 1), class_room_(b.class_room()) {}

    const double* count(const Batch& part, int64_t first) {
        first_ = first;
        return V_ + first * part.V_size();
    }
    void sums(int64_t q, const double* V, double* S, double* matches) const {
        for (int y = 0; y < r_; ++y) {
            const double* weights = of(q, y);
            double sum = 0, matching = 0;
            for (int d = 0; d < distances_; ++d) {
                const double w = weights[d] * V[d * class_room_ + y];
                sum += w;
                matching += w * (distances_ - 1 - d);
            }
            S[y * room] = sum;
            matches[y * room] = matching;
        }
    }
    void fill(int64_t q, int y, double* w) const {
        for (int d = 0; d < distances_; ++d) w[d * room] = of(q, y)[d];
    }

    static constexpr int n_sets = 1, room = 4;

private:
    const double* of(int64_t q, int y) const { return weights_ + ((first_ + q) * r_ + y) * distances_; }

    const double *V_, *weights_;
    const int r_, distances_;
    const size_t class_room_;
    int64_t first_ = 0;
};

// The paper's weights rho * gamma^d, a set for every kappa.
class CellWeights {
public:
    CellWeights(const Batch& b, const double* kappas, int n_sets)
        : n_sets(n_sets), room(padded(n_sets, 4)), r_(b.n_classes), m_(b.m), kappas_(kappas), solver_(r_, m_, n_sets) {}

    const double* count(const Batch& part, int64_t) {
        V_.resize(part.n_queries * part.V_size());
        gamma_.resize(part.n_queries * r_ * room);
        rho_.resize(part.n_queries * room);
        distance_counts(part, V_.data());
        return V_.data();
    }
    void sums(int64_t q, const double* V, double* S, double* matches) {
        solver_.solve(V, kappas_);
        for (int k = 0; k < n_sets; ++k) {
            rho_[q * room + k] = solver_.rho(k);
            for (int y = 0; y < r_; ++y) {
                gamma_[(q * r_ + y) * room + k] = solver_.gamma(k, y);
                S[y * room + k] = solver_.weight_sum(k, y);
                matches[y * room + k] = solver_.matches(k, y);
            }
        }
    }
    void fill(int64_t q, int y, double* w) const {
        for (int k = 0; k < room; k += 4) {
            const Four gamma = load(&gamma_[(q * r_ + y) * room + k]);
            Four weight = load(&rho_[q * room + k]);
            for (int d = 0; d <= m_; ++d, weight *= gamma) store(w + d * room + k, weight);
        }
    }

    const int n_sets, room;

private:
    const int r_, m_;
    const double* kappas_;
    GammaSolver solver_;
    std::vector<double> V_, gamma_, rho_;
};

// --- scores ---------------------------------------------------------------------------------------

// T[i][k] = sum_d w[d][k] C[d, i] for `room` sets k; V is the query's. Four columns of four sets stay in registers.
class Weigher {
public:
    explicit Weigher(const Batch& b) : rows_(size_t(b.m + 1) * padded(b.columns(), 4)), live_(b.m + 1) {}

    template <class Count>
    void weigh(const Batch& batch, const double* V, int y, const Count* rows, int stride, const double* w, int room, double* T) {
        int n = 0;
        for (int d = 0; d <= batch.m; ++d) {
            if (V[d * batch.class_room() + y] == 0) continue;
            std::copy_n(rows + size_t(d) * stride, stride, &rows_[size_t(n) * stride]);
            live_[n++] = w + d * room;
        }
        for (int k = 0; k < room; k += 4)
            for (int i = 0; i < stride; i += 4) {
                Four a{}, b{}, c{}, d{};
                const double* row = &rows_[i];
                for (int l = 0; l < n; ++l, row += stride) {
                    const Four weight = load(live_[l] + k);
                    a += weight * row[0];
                    b += weight * row[1];
                    c += weight * row[2];
                    d += weight * row[3];
                }
                double* to = T + i * room + k;
                store(to, a);
                store(to + room, b);
                store(to + 2 * room, c);
                store(to + 3 * room, d);
            }
    }

private:
    std::vector<double> rows_;  // of the distances that occur
    std::vector<const double*> live_;
};

double defined(double log) { return std::isnan(log) ? kNever : log; }

// Scores of a query and class from T, S and the log of the prior, for all sets of weights at once.
class Scorer {
public:
    Scorer(const Batch& b, Laplace laplace)
        : m_(b.m), may_miss_(b.may_miss()), laplace_(laplace),
          // Factors are multiplied sixteen at a time between logarithms: far from overflow for any count, unless
          // alpha is so small or large that they are taken one by one.
          group_(laplace.alpha < 1e-15 || laplace.alpha > 1e10 ? 1 : 16) {}

    // sum_i log((alpha + T_i) / (alpha q_i + S)) for the sets [k, k + 4) of `room`. Where values may be missing,
    // T[m + i] stands for S and a value that the query lacks has no factor.
    Four log_likelihood(const double* T, const double* S, int k, int room, const uint32_t* query) const {
        const Four all = load(S + k);
        Four sum{};
        for (int i = 0; i < m_; i += group_) {
            Four above = 1 + Four{}, below = above;
            for (int j = i; j < std::min(i + group_, m_); ++j) {
                if (may_miss_ && query[j] == kMissing) continue;
                above *= laplace_.alpha + load(T + j * room + k);
                below *= laplace_.alpha * laplace_.sizes[j] + (may_miss_ ? load(T + (m_ + j) * room + k) : all);
            }
            const Four ratio = above / below;
            for (int l = 0; l < 4; ++l) sum[l] += std::log(ratio[l]);
        }
        return sum;
    }

    // No less than that: V alone gives sum_i T_i, and the product of the numerators is largest if all T_i are equal.
    double bound(double S, double matches) {
        return defined(m_ * std::log(laplace_.alpha + matches / m_) - log_denominators(S));
    }

private:
    // sum_i log(alpha q_i + S), or a little less: classes whose weights sum to kappa share it.
    double log_denominators(double S) {
        const float key = std::nextafter(float(S), 0.0f);
        for (const auto& [known, value] : recent_)
            if (known == key) return value;
        double sum = 0, below = 1;
        for (int i = 0; i < m_; ++i) {
            below *= laplace_.alpha * laplace_.sizes[i] + double(key);
            if ((i + 1) % group_ == 0 || i + 1 == m_) {
                sum += std::log(below);
                below = 1;
            }
        }
        recent_[next_++ % recent_.size()] = {key, sum};
        return sum;
    }

    const int m_;
    const bool may_miss_;
    const Laplace laplace_;
    const int group_;
    std::array<std::pair<float, double>, 8> recent_ = [] {
        std::array<std::pair<float, double>, 8> none;
        none.fill({-1.0f, 0.0});
        return none;
    }();
    size_t next_ = 0;
};

template <class Weights, class Matches>
void log_joint(const Batch& batch, Weights weights, Matches matcher, Laplace laplace, double margin, double* out) {
    const int m = batch.m, r = batch.n_classes, n_sets = weights.n_sets, room = weights.room;
    const size_t all_pairs = batch.n_queries * r;
    const int64_t step = fitting(batch.n_queries, 8 * (batch.V_size() + 5 * r * room));
    const size_t size = step * r * room;
    std::vector<double> S(size), matches(size), prior(size), bound(size);
    std::vector<double> w(size_t(m + 1) * room), T(size_t(padded(batch.columns(), 4)) * room);
    std::vector<uint8_t> wanted(step * r), counted(step * r);
    Scorer scorer(batch, laplace);
    Weigher weigher(batch);
    const bool choosy = std::isfinite(margin) && !batch.may_miss() && r > 1;
    for (int64_t first = 0; first < batch.n_queries; first += step) {
        const Batch b = batch.part(first, std::min(step, batch.n_queries - first));
        const double* V = weights.count(b, first);
        for (int64_t q = 0; q < b.n_queries; ++q) {
            const size_t at = q * r * room;
            weights.sums(q, V + q * b.V_size(), &S[at], &matches[at]);
            for (int k = 0; k < n_sets; ++k) {
                double all = 0;
                for (int y = 0; y < r; ++y) all += S[at + y * room + k];
                for (int y = 0; y < r; ++y)
                    prior[at + y * room + k] = defined(std::log((laplace.alpha + S[at + y * room + k]) / (laplace.alpha * r + all)));
            }
        }
        const auto result = [&](int64_t q, int y, int k) -> double& { return out[k * all_pairs + (first + q) * r + y]; };
        const auto score = [&](const uint8_t* wanted) {
            matcher.count(b, V, wanted, [&](int64_t q, int y, const auto* rows, int stride) {
                const size_t at = (q * r + y) * room;
                weights.fill(q, y, w.data());
                weigher.weigh(b, V + q * b.V_size(), y, rows, stride, w.data(), room, T.data());
                for (int k = 0; k < n_sets; k += 4) {
                    const Four likelihood = scorer.log_likelihood(T.data(), &S[at], k, room, b.codes + q * m);
                    for (int l = 0; l < std::min(4, n_sets - k); ++l) result(q, y, k + l) = prior[at + k + l] + defined(likelihood[l]);
                }
            });
        };
        if (!choosy) {
            score(nullptr);
            continue;
        }
        // First the class with the best bound, then all whose bound reaches what that class got.
        std::fill(wanted.begin(), wanted.end(), 0);
        for (int64_t q = 0; q < b.n_queries; ++q)
            for (int k = 0; k < n_sets; ++k) {
                int best = 0;
                for (int y = 0; y < r; ++y) {
                    const size_t at = (q * r + y) * room + k;
                    bound[at] = prior[at] + scorer.bound(S[at], matches[at]);
                    result(q, y, k) = kNever;
                    if (bound[at] > bound[(q * r + best) * room + k]) best = y;
                }
                wanted[q * r + best] = 1;
            }
        counted = wanted;
        score(wanted.data());
        std::fill(wanted.begin(), wanted.end(), 0);
        for (int64_t q = 0; q < b.n_queries; ++q)
            for (int k = 0; k < n_sets; ++k) {
                double best = kNever;
                for (int y = 0; y < r; ++y) best = std::max(best, result(q, y, k));
                for (int y = 0; y < r; ++y) {
                    const size_t at = q * r + y;
                    wanted[at] |= !counted[at] && !(bound[at * room + k] < best - margin - kRounding);
                }
            }
        score(wanted.data());
    }
}

void log_joint_given(const Batch& b, const double* V, const double* weights, Laplace laplace, double margin, double* out) {
    with_matcher(b, [&](auto matcher) {
        log_joint(b, GivenWeights(b, V, weights), std::move(matcher), laplace, margin, out);
    });
}

void log_joint_cells(const Batch& b, const double* kappas, int n_sets, Laplace laplace, double margin, double* out) {
    with_matcher(b, [&](auto matcher) {
        log_joint(b, CellWeights(b, kappas, n_sets), std::move(matcher), laplace, margin, out);
    });
}

void weighted_sums(const Batch& b, const double* V, const double* weights, double* S, double* T) {
    const size_t distances = b.m + 1, width = b.columns();
    std::vector<double> w(4 * distances), sums(4 * padded(int(width), 4));
    Weigher weigher(b);
    with_matcher(b, [&](auto matcher) {
        matcher.count(b, V, nullptr, [&](int64_t q, int y, const auto* rows, int stride) {
            const size_t at = q * b.n_classes + y;
            const double* v = V + q * b.V_size();
            S[at] = 0;
            for (size_t d = 0; d < distances; ++d) {
                w[4 * d] = weights[at * distances + d];
                S[at] += w[4 * d] * v[d * b.class_room() + y];
            }
            weigher.weigh(b, v, y, rows, stride, w.data(), 4, sums.data());
            for (size_t i = 0; i < width; ++i) T[at * width + i] = sums[4 * i];
        });
    });
}

void cell_weights(const double* V, int64_t n_queries, int n_classes, int m, double kappa, double* gamma, double* rho,
                  double* weights) {
    GammaSolver solver(n_classes, m, 1);
    const size_t room = padded(n_classes, 4);
    std::vector<double> by_distance((m + 1) * room);
    for (int64_t q = 0; q < n_queries; ++q) {
        for (int y = 0; y < n_classes; ++y)
            for (int d = 0; d <= m; ++d) by_distance[d * room + y] = *V++;
        solver.solve(by_distance.data(), &kappa);
        rho[q] = solver.rho(0);
        for (int y = 0; y < n_classes; ++y) {
            double weight = rho[q];
            *gamma++ = solver.gamma(0, y);
            for (int d = 0; d <= m; ++d, weight *= solver.gamma(0, y)) *weights++ = weight;
        }
    }
}

}  // namespace
