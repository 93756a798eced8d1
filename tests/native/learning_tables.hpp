// Tables made by chance for the searches of the local Bayes classifier.
#pragma once
#include <cmath>

#include "learning.hpp"
#include "tables.hpp"

namespace native {

constexpr float kNoMass = -690;  // log of what stands for no mass

inline double share(Random& random) { return double(random.from_to(1, 1000)) / 1001; }

// Features of rows: logs of probabilities, of which the true class has larger ones.
struct FeatureTable {
    FeatureTable(int64_t n, int r, int p, Random& random) : r(r), p(p) {
        for (int64_t k = 0; k < n; ++k) {
            truth.push_back(random.below(r));
            weights.push_back(double(random.from_to(1, 4)) / 2);
            for (int y = 0; y < r; ++y)
                for (int i = 0; i < p; ++i)
                    features.push_back(float((y == truth[k] ? 1 : 2) * std::log(share(random))));
        }
        for (int i = 0; i < p; ++i) prior.push_back(random.one_in(5) ? 0 : share(random));
        for (int k = -6; k < 4; ++k) powers.push_back(std::exp2(k));
        ridge = std::exp2(double(random.from_to(-6, 3)));
    }

    localbayes::FeatureRows rows() const {
        return {features.data(), truth.data(), weights.data(), int64_t(truth.size()), r, p};
    }
    localbayes::ExponentSearch search() const { return {prior.data(), powers.data(), int(powers.size()), ridge}; }

    int r, p;
    std::vector<float> features;
    std::vector<int64_t> truth;
    std::vector<double> weights, prior, powers;
    double ridge;
};

// Rows that look for rows of their class. Those that fill the room have hardly any mass and no class.
struct NeighbourTable {
    NeighbourTable(int64_t n, int64_t n_queries, int m, int r, Random& random)
        : m(m), room((n + 63) / 64 * 64), log_mass(room, kNoMass), classes(room, -1) {
        constexpr int kValues = 3;  // of a column
        for (int64_t k = 0; k < kValues * m * room; ++k) apart.push_back(float(random.below(8)) / 7);
        for (int64_t k = 0; k < n; ++k) {
            log_mass[k] = float(std::log(share(random)));
            classes[k] = int32_t(random.below(r));
        }
        for (int64_t q = 0; q < n_queries; ++q) {
            own.push_back(random.below(n));
            own_mass.push_back(random.one_in(2) ? kNoMass : log_mass[own[q]] - 1);
            truth.push_back(classes[random.below(n)]);
            weights.push_back(share(random));
            for (int i = 0; i < m; ++i) picks.push_back(uint32_t(i * kValues + random.below(kValues)));
        }
        for (int i = 0; i < m; ++i) column_weights.push_back(random.one_in(5) ? 0 : 3 * share(random));
    }

    localbayes::Neighbours neighbours() const {
        return {apart.data(),
                picks.data(),
                log_mass.data(),
                own_mass.data(),
                own.data(),
                classes.data(),
                truth.data(),
                weights.data(),
                int64_t(own.size()),
                room,
                m};
    }

    int m;
    int64_t room;
    std::vector<float> apart, log_mass, own_mass;
    std::vector<uint32_t> picks;
    std::vector<int64_t> own;
    std::vector<int32_t> classes, truth;
    std::vector<double> weights, column_weights;
};

}  // namespace native
