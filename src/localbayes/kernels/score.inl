// From counts to scores, compiled once per instruction set: element-wise loops in a fixed order, so that
// a wider vector changes the speed and not a bit of the result.
#include <limits>
#include <map>
#include <optional>
#include <type_traits>

namespace {

// Classes are worked on four at a time.
using Four = Vector<double, 4>;
using FourBits = decltype(Four{} < Four{});
Four load(const double* p) { return load<Four>(p); }
bool none(FourBits bits) { return (bits[0] | bits[1] | bits[2] | bits[3]) == 0; }

// Calls f(Sets{}, k) with what holds the sets of weights from k on: a number if there is room for one set only, or four
// of them, or eight where that is one vector.
template <class F>
void for_sets(int room, F f) {
    if (room == 1) return f(double{}, 0);
    int k = 0;
    if constexpr (Word::kWords == 8)
        for (; k + 8 <= room; k += 8) f(Vector<double, 8>{}, k);
    for (; k < room; k += 4) f(Four{}, k);
}

// Positive numbers, one or several, as mantissa * 2^exponent with a mantissa from 1 to 2, so that products far outside the
// range of double have a logarithm. The exponent is a double, too: adding 2^52 puts a whole number into the low bits.
template <class Sets>
struct Parts {
    using Bits = std::conditional_t<std::is_same_v<Sets, double>, int64_t, decltype(Sets{} < Sets{})>;
    explicit Parts(Sets x)
        : mantissa(std::bit_cast<Sets>((std::bit_cast<Bits>(x) & 0xFFFFFFFFFFFFF) | std::bit_cast<int64_t>(1.0))),
          exponent(std::bit_cast<Sets>(std::bit_cast<Bits>(x) >> 52 | std::bit_cast<int64_t>(0x1p52)) - (0x1p52 + 1023)) {}
    Sets mantissa, exponent;
};

constexpr double kNever = -std::numeric_limits<double>::infinity();
// Far more than the rounding of a score and the width of a tie.
constexpr double kRounding = 1e-6;

// The natural logarithm of a mantissa, by the series of the inverse hyperbolic tangent.
constexpr double kLog2 = 0.6931471805599453;
template <class Sets>
Sets log_of_mantissa(Sets x) {
    const auto large = x > 1.4142135623730951;
    const Sets y = large ? 0.5 * x : x, s = (y - 1) / (y + 1), square = s * s, fourth = square * square;
    Sets even = 2. / 21 + Sets{}, odd = 2. / 19 + Sets{};
    for (int k = 17; k > 1; k -= 4) {
        even = even * fourth + 2. / k;
        odd = odd * fourth + 2. / (k - 2);
    }
    return s * (even * fourth + 2 + odd * square) + (large ? kLog2 + Sets{} : Sets{});
}

// No less than the natural logarithm, and at most kLogAbove more.
constexpr double kLogAbove = 1e-4;
Four log_above(Four x) {
    const Parts<Four> of(x > 1e-300 ? x : 1e-300 + Four{});
    const Four t = of.mantissa - 1;
    const Four part = 1.44149241 + t * (-0.706486449 + t * (0.409470299 + t * (-0.187488605 + t * 0.0430049578)));
    return x > 0 ? kLog2 * (of.exponent + t * part + 4e-5) : kNever + Four{};
}

// e to the power of x <= 0, to one in a thousand.
Four exp_about(Four x) {
    const Four power = x > -690 ? x * (1 / kLog2) : -1000 + Four{};
    const Four shifted = power + 0x1.8p52, part = power - (shifted - 0x1.8p52);  // the lowest bits are the whole part
    const Four whole = std::bit_cast<Four>((std::bit_cast<FourBits>(shifted) + 1023) << 52);
    return whole * (1 + part * (0.6931 + part * (0.2402 + part * 0.0555)));
}

// S(gamma) = sum_d V[d] gamma^d = kappa for all classes of one query. S is increasing and convex. Four
// classes are a vector and six vectors are solved side by side, by Halley's step for the power that fits
// S locally, guarded by bisection; a class that has converged stays as it is, so its result does not depend
// on its neighbours.
class GammaSolver {
public:
    GammaSolver(int n_classes, int m, const double* kappas, int n_kappas)
        : r_(n_classes), room_(padded(n_classes, 4)), m_(m), n_kappas_(n_kappas), enough_(2 * std::max(5e-14 / m, 1e-15)),
          slack_(3 * std::sqrt(m * enough_)), kappas_(kappas), shape_(size_t(4) * room_) {
        for (int k = 0; k < n_kappas; ++k) log_kappas_.push_back(std::log(kappas[k]));
    }

    // Of one query, by class and kappa: gamma, S and, unless null, matches, the sum of the weights over rows and attributes
    // that agree; rho by kappa. There is room for so many kappas.
    struct Solution {
        double *gamma, *rho, *S, *matches;
        int room;
    };

    // V[distance][class] of the query.
    void solve(const double* V, const Solution& to) {
        describe(V);
        totals_.assign(n_kappas_, Totals{});
        const int n = room_ / 4 * n_kappas_;
        const int groups = (n + kSideBySide - 1) / kSideBySide, step = (n + groups - 1) / groups;
        for (int first = 0; first < n; first += step)
            with_constant<1, kSideBySide>(std::min(step, n - first), [&]<int N>() { solve_some<N>(V, first, to); });
        for (int k = 0; k < n_kappas_; ++k) {
            const Four s = totals_[k].sum, squares = totals_[k].squares;
            const double below = squares[0] + squares[1] + squares[2] + squares[3];
            const double rho = to.rho[k] = below > 0 ? (s[0] + s[1] + s[2] + s[3]) / below : 1.0;
            for (double* values : {to.S, to.matches})
                for (int at = k; values && at < r_ * to.room; at += to.room) values[at] *= rho;
        }
    }

private:
    static constexpr int kSideBySide = 6;
    struct Totals { Four sum{}, squares{}; };  // of the weights of all classes

    // Solve for N vectors of classes and kappas, from the first on.
    template <int N>
    void solve_some(const double* V, int first, const Solution& to) {
        const int vectors = room_ / 4;
        Search s[N];
        for (int j = 0; j < N; ++j) s[j] = start(V, 4 * ((first + j) % vectors), (first + j) / vectors);
        evaluate(s);
        for (int step = 0; step < 200; ++step) {
            FourBits open{};
            for (Search& search : s) open |= search.next();
            if (none(open)) break;
            evaluate(s);
        }
        const auto put = [&](double* values, int j, Four v) {
            const int y = 4 * ((first + j) % vectors), k = (first + j) / vectors;
            if (to.room == 1 && y + 4 <= r_) return store(values + y, v);
            for (int l = 0; l < std::min(4, r_ - y); ++l) values[(y + l) * to.room + k] = v[l];
        };
        for (int j = 0; j < N; ++j) {
            const Four g = s[j].g, sum = (g > 0) & (g < 1) ? s[j].kappa + Four{} : s[j].f;
            put(to.gamma, j, g);
            put(to.S, j, sum);
            totals_[(first + j) / vectors].sum += sum;
            if (to.matches) {
                // The rows at distance d have m - d matches each. If the slope is that of the step before, its error e is at
                // most the root of m enough, and a share of 2 e of all is the most that matches are off.
                const Four all = m_ * sum, some = all - g * s[j].slope;
                put(to.matches, j, (some > 0 ? some : Four{}) + slack_ * all);
            }
            s[j].g *= g;
        }
        evaluate<false>(s);
        for (int j = 0; j < N; ++j) totals_[(first + j) / vectors].squares += s[j].f;
    }

    // Numbers of rows, means and variances of their distances, and logarithms of the first.
    void describe(const double* V) {
        const auto empty = [&](int distances) {  // as many as end with the farthest
            FourBits bits{};
            const double* end = V + size_t(farthest_ + 1) * room_;
            for (const double* at = end - distances * room_; at < end; at += 4) bits |= load<FourBits>(at);
            return none(bits);
        };
        farthest_ = m_;
        while (farthest_ >= 8 && empty(8)) farthest_ -= 8;
        while (farthest_ > 0 && empty(1)) --farthest_;
        for (int y = 0; y < room_; y += 4) {
            Four n{}, moment{}, second{};
            for (int d = 0; d <= farthest_; ++d) {
                const Four v = load(V + size_t(d) * room_ + y), dv = double(d) * v;
                n += v;
                moment += dv;
                second += double(d) * dv;
            }
            const Four mean = moment / n;
            store(&shape_[y], n);
            store(&shape_[room_ + y], mean);
            store(&shape_[2 * room_ + y], second / n - mean * mean);
            store(&shape_[3 * room_ + y], log_above(n));
        }
    }

    // Only a class that has kappa rows at distance zero has a gamma of zero, and only one of no more rows a gamma of one.
    static constexpr double kAboveZero = std::numeric_limits<double>::min(), kBelowOne = 1 - 0x1p-53;

    struct Search {
        const double* V;
        double kappa, enough;
        Four g, f, slope, low = kAboveZero + Four{}, high = kBelowOne + Four{};
        FourBits open;

        // One step of the classes that are open; those that stay so are given back.
        FourBits next() {
            // Halley's step for the power g S' / S that fits locally, with the fractions multiplied out.
            const Four steep = g * slope, more = steep + f, less = steep - f, error = f - kappa;
            const Four above = less * f + more * kappa, below = more * f + less * kappa;
            low = error < 0 ? g : low;
            high = error > 0 ? g : high;
            const Four step = g * above / below, before = g;
            const FourBits last = error * error <= enough * steep;
            const Four outside = last ? (step > low ? high : low) : 0.5 * (low + high);
            g = open & (step != g) ? ((step > low) & (step < high) ? step : outside) : g;
            open &= ~last & (g != before);
            return open;
        }
    };

    // Seen in logarithms, S is nearly a parabola from n at gamma = 1, whose slope and curvature are the mean
    // and the variance of the distances.
    Search start(const double* V, int first, int k) const {
        Search s;
        s.V = V + first;
        const double kappa = s.kappa = kappas_[k];
        s.enough = kappa * enough_;
        const Four n = load(&shape_[first]), mean = load(&shape_[room_ + first]), nearest = load(s.V);
        const Four variance = load(&shape_[2 * room_ + first]), drop = log_kappas_[k] - load(&shape_[3 * room_ + first]);
        const Four square = mean * mean + 2 * variance * drop;
        double root[4];
        store(root, square > 0 ? square : Four{});
        for (double& x : root) x = std::sqrt(x);
        s.open = (nearest < kappa) & (kappa < n);
        const Four closed = ((nearest >= kappa) & (n > 0)) ? Four{} : 1 + Four{};
        s.g = s.open ? exp_about(2 * drop / (mean + load(root))) : closed;
        return s;
    }

    // S and its slope, or S alone.
    template <bool kSlope = true, int N>
    void evaluate(Search (&s)[N]) const {
        Four sum[N] = {}, slope[N] = {}, g[N];
        for (int j = 0; j < N; ++j) g[j] = s[j].g;
        size_t at = size_t(farthest_) * room_;
        for (int distance = farthest_; distance >= 0; --distance, at -= room_)
            for (int j = 0; j < N; ++j) {
                if constexpr (kSlope) slope[j] = slope[j] * g[j] + sum[j];
                sum[j] = sum[j] * g[j] + load(s[j].V + at);
            }
        for (int j = 0; j < N; ++j) {
            s[j].f = sum[j];
            s[j].slope = slope[j];
        }
    }

    int r_, room_, m_, n_kappas_, farthest_ = 0;
    // The step after an error e leaves at most e^2 m / (2 g S'), and is the last one if that is little; the last bit of
    // gamma is worth d last bits of gamma^d.
    double enough_, slack_;
    const double* kappas_;
    std::vector<double> log_kappas_, shape_;
    std::vector<Totals> totals_;  // by kappa
};

// --- sets of weights ------------------------------------------------------------------------------

// Both kinds give S[class][set], the sums of the weights, and, if asked for, matches[class][set], the sums over
// attributes of the weights of rows that agree, or a little more; fill gives the weights themselves, [distance][set],
// of the distances that are live. There is room for a multiple of four sets, unless there is only one.

// Weights [query][class][distance] that were given: one set.
class GivenWeights {
public:
    GivenWeights(const Batch& b, const double* V, const double* weights)
        : V_(V), weights_(weights), r_(b.n_classes), distances_(b.m + 1), class_room_(b.class_room()) {}

    const double* count(const Batch& part, const Places&, int64_t first) {
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
            S[y] = sum;
            if (matches) matches[y] = matching;
        }
    }
    void fill(int64_t q, int y, const Live& live, double* w) const {
        for (const int d : live) *w++ = of(q, y)[d];
    }

    static constexpr int n_sets = 1, room = 1;

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
        : n_sets(n_sets), room(n_sets == 1 ? 1 : padded(n_sets, 4)), r_(b.n_classes),
          solver_(r_, b.m, kappas, n_sets) {}

    const double* count(const Batch& part, const Places& places, int64_t) {
        V_.resize(part.n_queries * part.V_size());
        gamma_.resize(part.n_queries * r_ * room);
        rho_.resize(part.n_queries * room);
        count_distances(part, places, V_.data());
        return V_.data();
    }
    void sums(int64_t q, const double* V, double* S, double* matches) {
        solver_.solve(V, {&gamma_[q * r_ * room], &rho_[q * room], S, matches, room});
    }
    void fill(int64_t q, int y, const Live& live, double* w) const {
        const double *gamma = &gamma_[(q * r_ + y) * room], *rho = &rho_[q * room];
        for_sets(room, [&]<class Sets>(Sets, int k) { powers(load<Sets>(rho + k), load<Sets>(gamma + k), live, w + k); });
    }

    const int n_sets, room;

private:
    template <class Sets>
    void powers(Sets weight, Sets gamma, const Live& live, double* w) const {
        int d = 0;
        for (const int next : live) {
            for (; d < next; ++d) weight *= gamma;
            store(w, weight);
            w += room;
        }
    }

    const int r_;
    GammaSolver solver_;
    std::vector<double> V_, gamma_, rho_;
};

// --- scores ---------------------------------------------------------------------------------------

// T[i][k] = sum_d w[d][k] C[d, i] for `room` sets k, over the distances that are live. Four columns, of the only
// set or of four, stay in registers.
class Weigher {
public:
    explicit Weigher(const Batch& b) : rows_(size_t(b.m + 1) * padded(b.columns(), 4)) {}

    template <class Count>
    void weigh(const Live& live, const Count* rows, int stride, const double* w, int room, double* T) {
        const size_t n = live.size();
        if (room == 1) {
            const auto weigh_columns = [&]<int N>(int i) {
                Four sum[N] = {};
                for (size_t l = 0; l < n; ++l) {
                    const Count* row = rows + size_t(live[l]) * stride + i;
                    for (int j = 0; j < N; ++j)
                        sum[j] += w[l] * __builtin_convertvector(load<Vector<Count, 4>>(row + 4 * j), Four);
                }
                for (int j = 0; j < N; ++j) store(T + i + 4 * j, sum[j]);
            };
            int i = 0;
            for (; i + 16 <= stride; i += 16) weigh_columns.template operator()<4>(i);
            for (; i < stride; i += 4) weigh_columns.template operator()<1>(i);
            return;
        }
        for (size_t l = 0; l < n; ++l) std::copy_n(rows + size_t(live[l]) * stride, stride, &rows_[l * stride]);
        for_sets(room, [&]<class Sets>(Sets, int k) {
            for (int i = 0; i < stride; i += 4) {
                Sets sum[4] = {};
                const double* row = &rows_[i];
                for (size_t l = 0; l < n; ++l, row += stride)
                    for (int j = 0; j < 4; ++j) sum[j] += load<Sets>(w + l * room + k) * row[j];
                for (int j = 0; j < 4; ++j) store(T + (i + j) * room + k, sum[j]);
            }
        });
    }

private:
    std::vector<double> rows_;  // of the distances that occur
};

// Scores of a query and class from T, S and the prior, for one set of weights or four at once.
class Scorer {
public:
    Scorer(int m, bool may_miss, Laplace laplace)
        : m_(m), may_miss_(may_miss), laplace_(laplace),
          // Factors are multiplied sixteen at a time before the exponent is taken out: for sums of weights up to 1e15
          // that stays in range, unless alpha is so small or large that they are taken one by one.
          group_(laplace.alpha < 1e-3 || laplace.alpha > 1e10 ? 1 : 16) {
        std::map<double, int> columns;
        for (int i = 0; i < m_; ++i) {
            ++columns[laplace.sizes[i]];
            without_.push_back(laplace.alpha * laplace.sizes[i]);
        }
        sizes_.assign(columns.begin(), columns.end());
    }

    // (alpha + S_y) / (alpha r + sum S) for all r classes.
    template <class Sets>
    void priors(const double* S, int r, int room, double* prior) const {
        Sets all{};
        for (int y = 0; y < r; ++y) all += load<Sets>(S + y * room);
        for (int y = 0; y < r; ++y)
            store(prior + y * room, (laplace_.alpha + load<Sets>(S + y * room)) / (laplace_.alpha * r + all));
    }

    // log(prior prod_i (alpha + T_i) / (alpha q_i + S)) for the sets from k on of `room`. Where values may be missing,
    // T[m + i] stands for S and a value that the query lacks has no factor.
    template <class Sets>
    Sets log_joint(const double* prior, const double* T, const double* S, int k, int room, const uint32_t* query) const {
        const Sets all = load<Sets>(S + k);
        Sets above = load<Sets>(prior + k), number = 1 + Sets{}, power{};
        for (int i = 0; i < m_; i += group_) {
            Sets below = 1 + Sets{};
            for (int j = i; j < std::min(i + group_, m_); ++j) {
                if (may_miss_ && query[j] == kMissing) continue;
                above *= laplace_.alpha + load<Sets>(T + j * room + k);
                below *= without_[j] + (may_miss_ ? load<Sets>(T + (m_ + j) * room + k) : all);
            }
            const Sets ratio = above / below;
            const Parts<Sets> parts(ratio), product(number * parts.mantissa);
            power += ratio > 0 ? parts.exponent + product.exponent : kNever + Sets{};  // there may be nothing to divide by
            number = product.mantissa;
            above = 1 + Sets{};
        }
        return log_of_mantissa(number) + kLog2 * power;
    }

    // No less than that: V alone gives sum_i T_i, and the product of the numerators is largest if all T_i are equal
    // that are not zero because the class lacks a value.
    Four bound(Four prior, Four S, Four matches, Four lacking) const {
        const Four rest = m_ - lacking, zero = lacking * log_above(laplace_.alpha + Four{});
        Four bound = log_above(prior) + rest * log_above(laplace_.alpha + matches / (rest > 1 ? rest : 1 + Four{}));
        bound += lacking > 0 ? zero : Four{};
        for (const auto& [size, columns] : sizes_) bound -= columns * (log_above(laplace_.alpha * size + S) - kLogAbove);
        return bound == bound ? bound : kNever + Four{};
    }

private:
    const int m_;
    const bool may_miss_;
    const Laplace laplace_;
    const int group_;
    std::vector<std::pair<double, int>> sizes_;  // and how many columns have each
    std::vector<double> without_;  // denominators without a row
};

constexpr int kSingleRounds = 2;

template <class Weights, class Matches>
void log_joint(const Batch& batch, Weights weights, Matches matcher, Laplace laplace, double margin, double* out) {
    const int m = batch.m, r = batch.n_classes, n_sets = weights.n_sets, room = weights.room;
    const size_t all_pairs = batch.n_queries * r;
    const int64_t step = fitting(batch.n_queries, 8 * (batch.V_size() + 5 * r * room));
    const size_t size = step * r * room + 3;  // bounds are taken four at a time
    std::vector<double> S(size), matches(size), prior(size), bound(size), best(step * n_sets);
    std::vector<double> w(size_t(m + 1) * room), T(size_t(padded(batch.columns(), 4)) * room);
    std::vector<uint8_t> wanted(step * r), lacking(size + 32);
    std::optional<Absence> absence;
    Scorer scorer(m, batch.may_miss(), laplace);
    Weigher weigher(batch);
    const bool choosy = std::isfinite(margin) && !batch.may_miss() && r > 1;
    if (choosy) absence.emplace(batch);
    for (int64_t first = 0; first < batch.n_queries; first += step) {
        const Batch b = batch.part(first, std::min(step, batch.n_queries - first));
        const Places places(b);
        const double* V = weights.count(b, places, first);
        for (int64_t q = 0; q < b.n_queries; ++q) {
            const size_t at = q * r * room;
            weights.sums(q, V + q * b.V_size(), &S[at], choosy ? &matches[at] : nullptr);
            for_sets(room, [&]<class Sets>(Sets, int k) { scorer.template priors<Sets>(&S[at + k], r, room, &prior[at + k]); });
        }
        const auto result = [&](int64_t q, int y, int k) -> double& { return out[k * all_pairs + (first + q) * r + y]; };
        const auto score = [&](const uint8_t* wanted) {
            matcher.count(b, places, V, wanted, [&](int64_t q, int y, const auto* rows, int stride, const Live& live) {
                const size_t at = (q * r + y) * room;
                const uint32_t* query = b.codes + q * m;
                weights.fill(q, y, live, w.data());
                weigher.weigh(live, rows, stride, w.data(), room, T.data());
                for_sets(room, [&]<class Sets>(Sets, int k) {
                    double scores[sizeof(Sets) / sizeof(double)];
                    store(scores, scorer.template log_joint<Sets>(&prior[at], T.data(), &S[at], k, room, query));
                    for (int l = 0; l < std::min(int(std::size(scores)), n_sets - k); ++l) {
                        result(q, y, k + l) = scores[l];
                        best[q * n_sets + k + l] = std::max(best[q * n_sets + k + l], scores[l]);
                    }
                });
            });
        };
        if (!choosy) {
            score(nullptr);
            continue;
        }
        for (int64_t q = 0; q < b.n_queries; ++q) absence->count(places, q, &lacking[q * r]);
        for (int64_t at = 0; at < b.n_queries * r * room; at += 4) {
            const uint8_t* of = &lacking[at / room];  // of one pair with room for four sets, or of four with one each
            const Four lacked = room > 1 ? *of + Four{} : Four{double(of[0]), double(of[1]), double(of[2]), double(of[3])};
            store(&bound[at], scorer.bound(load(&prior[at]), load(&S[at]), load(&matches[at]), lacked));
        }
        for (int k = 0; k < n_sets; ++k) std::fill_n(&result(0, 0, k), b.n_queries * r, kNever);
        std::fill(best.begin(), best.end(), kNever);
        // Of the classes whose bound reaches the best score so far, the one with the best bound, a few times over, then
        // all. A class that was chosen has no bound any more.
        const auto want = [&](int64_t pair) {
            wanted[pair] = 1;
            std::fill_n(&bound[pair * room], room, std::numeric_limits<double>::quiet_NaN());
        };
        for (int round = 0; round <= kSingleRounds; ++round) {
            std::fill(wanted.begin(), wanted.end(), 0);
            for (int64_t q = 0; q < b.n_queries; ++q)
                for (int k = 0; k < n_sets; ++k) {
                    double reach = best[q * n_sets + k] - margin - kRounding;
                    int first = -1;
                    for (int y = 0; y < r; ++y)
                        if (const double most = bound[(q * r + y) * room + k]; most >= reach) {
                            if (round == kSingleRounds) want(q * r + y);
                            else first = y, reach = most;
                        }
                    if (first >= 0) want(q * r + first);
                }
            score(wanted.data());
        }
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
    std::vector<double> sums(padded(int(width), 4)), w(distances);
    Weigher weigher(b);
    with_matcher(b, [&](auto matcher) {
        matcher.count(b, Places(b), V, nullptr, [&](int64_t q, int y, const auto* rows, int stride, const Live& live) {
            const size_t at = q * b.n_classes + y;
            S[at] = 0;
            for (size_t l = 0; l < live.size(); ++l) {
                w[l] = weights[at * distances + live[l]];
                S[at] += w[l] * V[q * b.V_size() + live[l] * b.class_room() + y];
            }
            weigher.weigh(live, rows, stride, w.data(), 1, sums.data());
            std::copy_n(sums.data(), width, T + at * width);
        });
    });
}

void log_joint_of_sums(const uint32_t* codes, const double* S, const double* T, int64_t n_queries, int n_classes, int m,
                       int columns, Laplace laplace, double* out) {
    const Scorer scorer(m, columns > m, laplace);
    std::vector<double> prior(n_classes);
    for (int64_t q = 0; q < n_queries; ++q, S += n_classes, codes += m) {
        scorer.priors<double>(S, n_classes, 1, prior.data());
        for (int y = 0; y < n_classes; ++y, T += columns)
            *out++ = scorer.log_joint<double>(&prior[y], T, S + y, 0, 1, codes);
    }
}

void cell_weights(const double* V, int64_t n_queries, int n_classes, int m, double kappa, double* gamma, double* rho,
                  double* weights) {
    GammaSolver solver(n_classes, m, &kappa, 1);
    const size_t room = padded(n_classes, 4);
    std::vector<double> by_distance((m + 1) * room), S(n_classes);
    for (int64_t q = 0; q < n_queries; ++q, ++rho) {
        for (int y = 0; y < n_classes; ++y)
            for (int d = 0; d <= m; ++d) by_distance[d * room + y] = *V++;
        solver.solve(by_distance.data(), {gamma, rho, S.data(), nullptr, 1});
        for (int y = 0; y < n_classes; ++y, ++gamma) {
            double weight = *rho;
            for (int d = 0; d <= m; ++d, weight *= *gamma) *weights++ = weight;
        }
    }
}

}  // namespace
