// The paper's equation for gamma, solved for all classes of a query.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "layout.hpp"
#include "logs.hpp"

namespace localbayes {
namespace {

// S(gamma) = sum_d V[d] gamma^d = kappa for all classes of one query. S is increasing and convex. Four classes are a
// vector, or, of several kappas and where a vector has room for them, four classes by two kappas. Six vectors are
// solved side by side, by Halley's step for the power of gamma that fits S locally, guarded by bisection. A class that
// has converged stays as it is, so its result does not depend on its neighbours. In plain loops: plain::weighted_sum of
// plain::powers of gamma is kappa, or gamma is 0 or 1 where that is out of reach.
template <class W>
class GammaSolver {
public:
    GammaSolver(int n_classes, int n_distances, const double* kappas, int n_kappas)
        : r_(n_classes), room_(padded(n_classes, 4)), top_(n_distances - 1), n_kappas_(n_kappas),
          enough_(2 * std::max(5e-14 / top_, 1e-15)), slack_(3 * std::sqrt(top_ * enough_)), shape_(size_t(4) * room_) {
        for (int k = 0; k <= n_kappas; ++k) {
            const double kappa = kappas[std::min(k, n_kappas - 1)];
            kappas_.insert(kappas_.end(), 4, kappa);
            log_kappas_.insert(log_kappas_.end(), 4, std::log(kappa));
        }
    }

    // Of one query, by class and kappa: gamma, S and, unless null, matches, the sum of the weights over rows and
    // attributes that agree; rho by kappa. There is room for so many kappas.
    struct Solution {
        double *gamma, *rho, *S, *matches;
        int room;
    };

    // V[distance][class] of the query.
    void solve(const double* V, const Solution& to) {
        describe(V);
        totals_.assign(n_kappas_ + 1, Totals{});
        if constexpr (W::kWords == 8) n_kappas_ > 1 ? solve_all<EightDoubles>(V, to) : solve_all<Four>(V, to);
        else solve_all<Four>(V, to);
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
    template <class Lanes>
    static constexpr int kKappas = sizeof(Lanes) / sizeof(Four);  // in a vector
    // Sums of the weights of all classes, and of their squares.
    struct Totals {
        Four sum{}, squares{};
    };

    template <class Lanes>
    void solve_all(const double* V, const Solution& to) {
        const int n = room_ / 4 * ((n_kappas_ + kKappas<Lanes> - 1) / kKappas<Lanes>);
        const int groups = (n + kSideBySide - 1) / kSideBySide, step = (n + groups - 1) / groups;
        for (int first = 0; first < n; first += step)
            with_constant<1, kSideBySide>(std::min(step, n - first),
                                          [&]<int N>() { solve_some<Lanes, N>(V, first, to); });
    }

    // Solve for N vectors of classes and kappas, from the first on.
    template <class Lanes, int N>
    void solve_some(const double* V, int first, const Solution& to) {
        const auto class_of = [&](int j) { return 4 * ((first + j) % (room_ / 4)); };
        const auto kappa_of = [&](int j) { return kKappas<Lanes> * ((first + j) / (room_ / 4)); };
        Search<Lanes> s[N];
        for (int j = 0; j < N; ++j) s[j] = start<Lanes>(V, class_of(j), kappa_of(j));
        evaluate(s);
        for (int step = 0; step < 200; ++step) {
            BitsOf<Lanes> open{};
            for (Search<Lanes>& search : s) open |= search.next();
            if (none(open)) break;
            evaluate(s);
        }
        // Four classes of every kappa in v.
        const auto by_kappa = [&](int j, Lanes v, auto f) {
            for (int k = 0; k < kKappas<Lanes>; ++k) f(kappa_of(j) + k, four_of(v, k));
        };
        const auto put = [&](double* values, int j, Lanes v) {
            const int y = class_of(j);
            if (to.room == 1 && y + 4 <= r_) return store(values + y, four_of(v, 0));
            by_kappa(j, v, [&](int k, Four four) {
                if (k < n_kappas_)
                    for (int l = 0; l < std::min(4, r_ - y); ++l) values[(y + l) * to.room + k] = four[l];
            });
        };
        for (int j = 0; j < N; ++j) {
            const Lanes g = s[j].g, sum = ((g > 0) & (g < 1)) ? s[j].kappa : s[j].f;
            put(to.gamma, j, g);
            put(to.S, j, sum);
            by_kappa(j, sum, [&](int k, Four four) { totals_[k].sum += four; });
            if (to.matches) {
                // The rows at distance d have m - d matches each. If the slope is that of the step before, its error e
                // is at most the root of m enough, and a share of 2 e of all is the most that matches are off.
                const Lanes all = top_ * sum, some = all - g * s[j].slope;
                put(to.matches, j, (some > 0 ? some : Lanes{}) + slack_ * all);
            }
            s[j].g *= g;
        }
        evaluate<false>(s);
        for (int j = 0; j < N; ++j) by_kappa(j, s[j].f, [&](int k, Four four) { totals_[k].squares += four; });
    }

    // Numbers of rows, means and variances of their distances, and logarithms of the first.
    void describe(const double* V) {
        const auto empty = [&](int distances) {  // as many as end with the farthest
            FourBits bits{};
            const double* end = V + size_t(farthest_ + 1) * room_;
            for (const double* at = end - distances * room_; at < end; at += 4) bits |= load<FourBits>(at);
            return none(bits);
        };
        farthest_ = top_;
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

    // Only a class that has kappa rows at distance zero has a gamma of zero, and only one of no more rows a gamma of
    // one.
    static constexpr double kAboveZero = std::numeric_limits<double>::min(), kBelowOne = 1 - 0x1p-53;

    template <class Lanes>
    struct Search {
        using Bits = BitsOf<Lanes>;

        const double* V;
        Lanes kappa, enough, g, f, slope, low = kAboveZero + Lanes{}, high = kBelowOne + Lanes{};
        Bits open;

        // One step of the classes that are open; those that stay so are given back.
        Bits next() {
            // Halley's step for the power g S' / S that fits locally, with the fractions multiplied out.
            const Lanes steep = g * slope, more = steep + f, less = steep - f, error = f - kappa;
            const Lanes above = less * f + more * kappa, below = more * f + less * kappa;
            low = error < 0 ? g : low;
            high = error > 0 ? g : high;
            const Lanes step = g * above / below, before = g;
            const Bits last = error * error <= enough * steep;
            const Lanes outside = last ? (step > low ? high : low) : 0.5 * (low + high);
            g = (open & (step != g)) ? (((step > low) & (step < high)) ? step : outside) : g;
            open &= ~last & (g != before);
            return open;
        }
    };

    // Four numbers, once for each kappa of a vector.
    template <class Lanes>
    static Lanes for_each_kappa(const double* four) {
        if constexpr (kKappas<Lanes> == 2) return W::twice(four);
        else return load(four);
    }

    // Seen in logarithms, S is nearly a parabola from n at gamma = 1, whose slope and curvature are the mean
    // and the variance of the distances.
    template <class Lanes>
    Search<Lanes> start(const double* V, int first, int k) const {
        const auto shape = [&](int part) { return for_each_kappa<Lanes>(&shape_[part * room_ + first]); };
        Search<Lanes> s;
        s.V = V + first;
        s.kappa = load<Lanes>(&kappas_[4 * k]);
        s.enough = s.kappa * enough_;
        const Lanes n = shape(0), mean = shape(1), nearest = for_each_kappa<Lanes>(s.V);
        const Lanes variance = shape(2), drop = load<Lanes>(&log_kappas_[4 * k]) - shape(3);
        const Lanes square = mean * mean + 2 * variance * drop;
        double root[4 * kKappas<Lanes>];
        store(root, square > 0 ? square : Lanes{});
        for (double& x : root) x = std::sqrt(x);
        s.open = (nearest < s.kappa) & (s.kappa < n);
        const Lanes closed = ((nearest >= s.kappa) & (n > 0)) ? Lanes{} : 1 + Lanes{};
        s.g = s.open ? exp_about(2 * drop / (mean + load<Lanes>(root))) : closed;
        return s;
    }

    // S and its slope, or S alone.
    template <bool kSlope = true, class Lanes, int N>
    void evaluate(Search<Lanes> (&s)[N]) const {
        Lanes sum[N] = {}, slope[N] = {}, g[N];
        for (int j = 0; j < N; ++j) g[j] = s[j].g;
        size_t at = size_t(farthest_) * room_;
        for (int distance = farthest_; distance >= 0; --distance, at -= room_)
            for (int j = 0; j < N; ++j) {
                if constexpr (kSlope) slope[j] = slope[j] * g[j] + sum[j];
                sum[j] = sum[j] * g[j] + for_each_kappa<Lanes>(s[j].V + at);
            }
        for (int j = 0; j < N; ++j) {
            s[j].f = sum[j];
            s[j].slope = slope[j];
        }
    }

    int r_, room_, top_, n_kappas_, farthest_ = 0;
    // The step after an error e leaves at most e^2 m / (2 g S'), and is the last one if that is little; the last bit of
    // gamma is worth d last bits of gamma^d.
    double enough_, slack_;
    std::vector<double> kappas_, log_kappas_;  // each four times, the last one eight times
    std::vector<double> shape_;
    std::vector<Totals> totals_;  // by kappa, and room for one more
};

}  // namespace
}  // namespace localbayes
