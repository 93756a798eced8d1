// What the two searches of the local Bayes classifier compute, in plain loops. The native checks compare them.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "learning.hpp"

namespace localbayes::plain {

// Shares of classes or rows that have scores, and the log of the sum of exponentials.
struct Shares {
    explicit Shares(std::vector<double> scores) : of(std::move(scores)) {
        const double most = *std::max_element(of.begin(), of.end());
        double sum = 0;
        for (double& s : of) sum += s = std::exp(s - most);
        for (double& s : of) s /= sum;
        log_total = most + std::log(sum);
    }
    std::vector<double> of;
    double log_total;
};

// The loss of exponents and biases and its slope [feature, then class]; see exponent_fit.hpp.
struct ExponentLoss {
    ExponentLoss(const FeatureRows& rows, const std::vector<double>& target, double ridge, const double* w,
                 const double* b)
        : slope(rows.n_features + rows.n_classes) {
        const int p = rows.n_features, r = rows.n_classes;
        for (int64_t n = 0; n < rows.n; ++n) {
            const float* features = rows.features + n * r * p;
            std::vector<double> scores(b, b + r);
            for (int k = 0; k < r * p; ++k) scores[k / p] += w[k % p] * features[k];
            const double own = scores[rows.truth[n]];
            const Shares shares(scores);
            log_loss += rows.weights[n] * (shares.log_total - own);
            for (int k = 0; k < r * p; ++k) slope[k % p] += error(rows, shares, n, k / p) * features[k];
            for (int y = 0; y < r; ++y) slope[p + y] += error(rows, shares, n, y);
        }
        for (int i = 0; i < p + r; ++i) {
            const double apart = i < p ? w[i] - target[i] : b[i - p];
            penalty += ridge * apart * apart;
            slope[i] += 2 * ridge * apart;
        }
    }

    double log_loss = 0, penalty = 0;
    std::vector<double> slope;

private:
    static double error(const FeatureRows& rows, const Shares& shares, int64_t n, int y) {
        return rows.weights[n] * (shares.of[y] - (y == rows.truth[n]));
    }
};

// The loss of rows that look for rows of their class, and its slope [column]; see neighbourhood.hpp.
struct NeighbourLoss {
    NeighbourLoss(const Neighbours& n, const double* weights) : slope(n.m) {
        for (int64_t q = 0; q < n.n_queries; ++q) {
            const auto apart = [&](int i, int64_t row) { return n.apart[n.picks[q * n.m + i] * n.room + row]; };
            std::vector<double> scores(n.log_mass, n.log_mass + n.room);
            scores[n.own[q]] = n.own_mass[q];
            for (int64_t row = 0; row < n.room; ++row)
                for (int i = 0; i < n.m; ++i) scores[row] -= weights[i] * apart(i, row);
            const Shares shares(scores);
            double own =
                1e-30 * *std::max_element(shares.of.begin(), shares.of.end());  // there may be no row of the class
            for (int64_t row = 0; row < n.room; ++row) own += n.classes[row] == n.truth[q] ? shares.of[row] : 0;
            loss -= n.weights[q] * std::log(own);
            for (int64_t row = 0; row < n.room; ++row) {
                const double among_own = n.classes[row] == n.truth[q] ? shares.of[row] / own : 0;
                for (int i = 0; i < n.m; ++i) slope[i] += n.weights[q] * (among_own - shares.of[row]) * apart(i, row);
            }
        }
    }

    double loss = 0;
    std::vector<double> slope;
};

}  // namespace localbayes::plain
