// From counts to weighted sums, compiled once per instruction set: element-wise loops in a fixed
// order, so that a wider vector changes the speed and not a bit of the result.
#include <cmath>
#include <limits>

#include "match.hpp"

namespace {

using namespace localbayes;

// S(gamma) = sum_d V[d] gamma^d is increasing and convex. All classes are solved side by side by
// Halley's step for the power that fits S locally, guarded by bisection; a class that has converged
// stays as it is, so its result does not depend on its neighbours. The start, one Newton step of
// log S against log gamma from gamma = 1, lies above the root because log S is convex in log gamma.
void solve_gamma(const double* totals, int n_classes, int m, double kappa, double* gamma) {
    const int r = n_classes;
    std::vector<double> buffer(size_t(m + 1) * r + 5 * size_t(r));
    double* v = buffer.data();  // [distance][class]
    double *low = v + size_t(m + 1) * r, *high = low + r, *f = high + r, *slope = f + r, *open = slope + r;
    for (int y = 0; y < r; ++y)
        for (int d = 0; d <= m; ++d) v[size_t(d) * r + y] = totals[size_t(y) * (m + 1) + d];
    bool any = false;
    for (int y = 0; y < r; ++y) {
        double n = 0, moment = 0;
        for (int d = 0; d <= m; ++d) {
            n += v[size_t(d) * r + y];
            moment += d * v[size_t(d) * r + y];
        }
        const bool inside = v[y] < kappa && kappa < n;
        gamma[y] = inside ? std::exp(-std::log(n / kappa) * n / moment) : v[y] >= kappa && n > 0 ? 0.0 : 1.0;
        low[y] = 0;
        high[y] = 1;
        open[y] = inside;
        any |= inside;
    }
    for (int step = 0; any && step < 200; ++step) {
        for (int y = 0; y < r; ++y) f[y] = slope[y] = 0;
        for (int d = m; d >= 0; --d)
            for (int y = 0; y < r; ++y) {
                slope[y] = slope[y] * gamma[y] + f[y];
                f[y] = f[y] * gamma[y] + v[size_t(d) * r + y];
            }
        double still_open = 0;
        for (int y = 0; y < r; ++y) {
            const double g = gamma[y], u = kappa / f[y], power = g * slope[y] / f[y];
            low[y] = f[y] < kappa ? g : low[y];
            high[y] = f[y] > kappa ? g : high[y];
            const double halley = g * ((power - 1) + (power + 1) * u) / ((power + 1) + (power - 1) * u);
            const double newton = g - (f[y] - kappa) / slope[y];
            double next = power > 1 ? halley : newton;
            next = next > low[y] && next < high[y] ? next : 0.5 * (low[y] + high[y]);
            const bool solved = std::abs(f[y] - kappa) <= 1e-14 * kappa || next == g;
            open[y] = solved ? 0.0 : open[y];
            gamma[y] = open[y] != 0.0 ? next : g;
            still_open += open[y];
        }
        any = still_open > 0;
    }
}

template <class Count>
void weigh(const Cells<Count>& cells, int64_t query, const double* weights, int m, double* S, double* T) {
    const int width = cells.width;
    std::fill_n(S, cells.n_classes, 0.0);
    std::fill_n(T, size_t(cells.n_classes) * width, 0.0);
    cells.for_each(query, [&](int y, int d, Count total, const Count* row) {
        const double w = weights[size_t(y) * (m + 1) + d];
        S[y] += w * double(total);
        double* t = T + size_t(y) * width;
        for (int i = 0; i < width; ++i) t[i] += w * double(row[i]);
    });
}

}  // namespace
