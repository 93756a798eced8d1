// The equation for gamma, compiled once per instruction set: element-wise loops in a fixed order, so
// that a wider vector changes the speed and not a bit of the result.
#include <cmath>
#include <limits>

#include "match.hpp"

namespace {

using namespace localbayes;

// S(gamma) = sum_d V[d] gamma^d is increasing and convex. All classes are solved side by side by
// Halley's step for the power that fits S locally, guarded by bisection; a class that has converged
// stays as it is, so its result does not depend on its neighbours. The start, one Newton step of
// log S against log gamma from gamma = 1, lies above the root because log S is convex in log gamma.
void solve_gamma(const double* totals, int n_classes, int m, double kappa, double* gamma, double* scratch) {
    const int r = n_classes;
    double* __restrict v = scratch;  // [distance][class]
    double *__restrict low = v + size_t(m + 1) * r, *__restrict high = low + r, *__restrict f = high + r;
    double *__restrict slope = f + r, *__restrict open = slope + r, *__restrict g = gamma;
    int farthest = 0, any = 0;
    for (int y = 0; y < r; ++y) {
        double n = 0, moment = 0;
        for (int d = 0; d <= m; ++d) {
            const double count = totals[size_t(y) * (m + 1) + d];
            v[size_t(d) * r + y] = count;
            n += count;
            moment += d * count;
            if (count != 0 && d > farthest) farthest = d;
        }
        const bool inside = v[y] < kappa && kappa < n;
        g[y] = inside ? std::exp(-std::log(n / kappa) * n / moment) : v[y] >= kappa && n > 0 ? 0.0 : 1.0;
        low[y] = 0;
        high[y] = 1;
        open[y] = inside;
        any |= inside;
    }
    for (int step = 0; any && step < 200; ++step) {
        for (int y = 0; y < r; ++y) f[y] = slope[y] = 0;
        for (int d = farthest; d >= 0; --d)
            for (int y = 0; y < r; ++y) {
                slope[y] = slope[y] * g[y] + f[y];
                f[y] = f[y] * g[y] + v[size_t(d) * r + y];
            }
        for (int y = 0; y < r; ++y) {
            const double inverse = 1 / f[y], u = kappa * inverse, power = g[y] * slope[y] * inverse;
            low[y] = f[y] < kappa ? g[y] : low[y];
            high[y] = f[y] > kappa ? g[y] : high[y];
            // Halley's step for the power, or Newton's where S is flatter than a line through zero
            const double above = power > 1 ? (power - 1) + (power + 1) * u : power - 1 + u;
            const double below = power > 1 ? (power + 1) + (power - 1) * u : power;
            double next = g[y] * above / below;
            next = next > low[y] ? next : 2.0;
            next = next < high[y] ? next : 0.5 * (low[y] + high[y]);
            open[y] = std::abs(f[y] - kappa) <= 1e-14 * kappa ? 0.0 : open[y];
            open[y] = next == g[y] ? 0.0 : open[y];
            g[y] = open[y] != 0.0 ? next : g[y];
        }
        any = 0;
        for (int y = 0; y < r; ++y) any |= open[y] != 0.0;
    }
}

}  // namespace
