// How surely rows find rows of their own class, and the slope of that in the weights of the columns.
//
// A query finds row j with a probability proportional to mass_j exp(-sum_i w_i apart_ij), where apart_ij depends on the
// values of both in column i. So a value of a column has a vector over the rows, and a query picks one for every
// column. The loss is the sum over queries of -log of the probability of the rows of their own class. Sums of one query
// are in float, sixteen rows side by side, those over queries in double. The twin is plain::NeighbourLoss.
#pragma once
#include "layout.hpp"
#include "learning.hpp"
#include "logs.hpp"

namespace localbayes {
namespace {

class Neighbourhood {
public:
    explicit Neighbourhood(const Neighbours& n) : n_(n), room_(n.room), z_(room_), w_(n.m) {}

    // The loss at weights [column] and, unless null, its slope.
    double loss(const double* weights, double* slope) {
        std::copy_n(weights, n_.m, w_.begin());
        if (slope) std::fill_n(slope, n_.m, 0.0);
        double sum = 0;
        for (int64_t q = 0; q < n_.n_queries; ++q) {
            find_masses(q);
            const Found found = find(q);
            sum += n_.weights[q] * (log_of(found.all) - log_of(found.own));
            if (slope) add_slope(q, found, slope);
        }
        return sum;
    }

private:
    static constexpr int kSide = 16, kVectors = 4;  // rows of a vector, and vectors that stay in registers
    using Side = Vector<float, kSide>;
    // Masses of the rows of the query's class, and of all.
    struct Found {
        double own, all;
    };

    const float* apart(int64_t q, int i) const { return n_.apart + n_.picks[q * n_.m + i] * room_; }
    static double sum_of(const Side& x) {
        double sum = 0;
        for (int k = 0; k < kSide; ++k) sum += x[k];
        return sum;
    }

    // Logs of the masses of all rows as the query sees them.
    void find_masses(int64_t q) {
        for (int64_t at = 0; at < room_; at += kVectors * kSide) {
            Side z[kVectors];
            for (int k = 0; k < kVectors; ++k) z[k] = load<Side>(n_.log_mass + at + k * kSide);
            for (int i = 0; i < n_.m; ++i) {
                const float *from = apart(q, i) + at, w = w_[i];
                for (int k = 0; k < kVectors; ++k) z[k] -= w * load<Side>(from + k * kSide);
            }
            for (int k = 0; k < kVectors; ++k) store(&z_[at + k * kSide], z[k]);
        }
        const int64_t own = n_.own[q];
        z_[own] += n_.own_mass[q] - n_.log_mass[own];
    }
    // Masses up to a factor, in the place of their logs.
    Found find(int64_t q) {
        Side most = load<Side>(&z_[0]);
        for (int64_t at = kSide; at < room_; at += kSide) {
            const Side z = load<Side>(&z_[at]);
            most = z > most ? z : most;
        }
        float largest = most[0];
        for (int k = 1; k < kSide; ++k) largest = std::max(largest, most[k]);
        Side own{}, all{};
        for (int64_t at = 0; at < room_; at += kSide) {
            const Side mass = exp_of(load<Side>(&z_[at]) - largest);
            store(&z_[at], mass);
            own += alike(q, at) ? mass : Side{};
            all += mass;
        }
        return {sum_of(own) + 1e-30, sum_of(all)};
    }
    Vector<int32_t, kSide> alike(int64_t q, int64_t at) const {
        return load<Vector<int32_t, kSide>>(n_.classes + at) == n_.truth[q];
    }
    // The loss of a query has the slope (share of j) - (share of j among the rows of its class) in the log mass of row
    // j.
    void add_slope(int64_t q, const Found& found, double* slope) {
        const float of_all = float(n_.weights[q] / found.all), of_own = float(n_.weights[q] / found.own);
        for (int64_t at = 0; at < room_; at += kSide) {
            const Side mass = load<Side>(&z_[at]);
            store(&z_[at], mass * of_all - (alike(q, at) ? mass * of_own : Side{}));
        }
        for (int i = 0; i < n_.m; i += kVectors) {
            const int n = std::min(kVectors, n_.m - i);
            const float* from[kVectors];
            for (int k = 0; k < kVectors; ++k) from[k] = apart(q, i + std::min(k, n - 1));
            Side sum[kVectors] = {};
            for (int64_t at = 0; at < room_; at += kSide) {
                const Side s = load<Side>(&z_[at]);
                for (int k = 0; k < kVectors; ++k) sum[k] += s * load<Side>(from[k] + at);
            }
            for (int k = 0; k < n; ++k) slope[i + k] -= sum_of(sum[k]);
        }
    }

    const Neighbours n_;
    const int64_t room_;
    std::vector<float> z_, w_;
};

template <class W>
double neighbour_loss(const Neighbours& neighbours, const double* weights, double* slope) {
    return Neighbourhood(neighbours).loss(weights, slope);
}

}  // namespace
}  // namespace localbayes
