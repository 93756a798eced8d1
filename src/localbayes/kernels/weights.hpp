// Sets of weights of the distances, by query and class.
#pragma once
#include "counting.hpp"
#include "gamma.hpp"

namespace localbayes {
namespace {

// Calls f(Sets{}, k) with what holds the sets of weights from k on: a number if there is room for one set only, or four
// of them, or eight where that is one vector.
template <class W, class F>
void for_sets(int room, F f) {
    if (room == 1) return f(double{}, 0);
    int k = 0;
    if constexpr (W::kWords == 8)
        for (; k + 8 <= room; k += 8) f(Vector<double, 8>{}, k);
    for (; k < room; k += 4) f(Four{}, k);
}

// Both kinds of weights give S[class][set], the sums of the weights, and, if asked for, matches[class][set], the sums
// over attributes of the weights of rows that agree, or a little more. `fill` gives the weights themselves,
// [distance][set], of the distances that are live. There is room for a multiple of four sets, or for just one.

// Weights [query][class][distance] that were given: one set.
class GivenWeights {
public:
    GivenWeights(const Batch& b, const double* V, const double* weights)
        : V_(V), weights_(weights), r_(b.n_classes), distances_(b.n_distances()), class_room_(b.class_room()) {}

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
    static constexpr bool kCountsV = false;

private:
    const double* of(int64_t q, int y) const { return weights_ + ((first_ + q) * r_ + y) * distances_; }

    const double *V_, *weights_;
    const int r_, distances_;
    const size_t class_room_;
    int64_t first_ = 0;
};

// The paper's weights rho * gamma^d, a set for every kappa.
template <class W>
class CellWeights {
public:
    CellWeights(const Batch& b, const double* kappas, int n_sets)
        : n_sets(n_sets), room(n_sets == 1 ? 1 : padded(n_sets, 4)), r_(b.n_classes),
          solver_(r_, b.n_distances(), kappas, n_sets) {}

    const double* count(const Batch& part, const Places& places, int64_t) {
        double* V = begin(part);
        count_distances<W>(part, places, V);
        return V;
    }
    // Room for V, for a caller who counts it.
    double* begin(const Batch& part) {
        V_.resize(part.n_queries * part.V_size());
        gamma_.resize(part.n_queries * r_ * room);
        rho_.resize(part.n_queries * room);
        return V_.data();
    }
    void sums(int64_t q, const double* V, double* S, double* matches) {
        solver_.solve(V, {&gamma_[q * r_ * room], &rho_[q * room], S, matches, room});
    }
    void fill(int64_t q, int y, const Live& live, double* w) const {
        const double *gamma = &gamma_[(q * r_ + y) * room], *rho = &rho_[q * room];
        for_sets<W>(room,
                    [&]<class Sets>(Sets, int k) { powers(load<Sets>(rho + k), load<Sets>(gamma + k), live, w + k); });
    }

    const double* gamma(int64_t q) const { return &gamma_[q * r_ * room]; }  // [class][set]
    const double* rho(int64_t q) const { return &rho_[q * room]; }

    const int n_sets, room;
    static constexpr bool kCountsV = true;

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
    GammaSolver<W> solver_;
    std::vector<double> V_, gamma_, rho_;
};

}  // namespace
}  // namespace localbayes
