// The factors of the local Bayes classifier, as logarithms, from weighted sums.
#pragma once
#include "weigher.hpp"

namespace localbayes {
namespace {

// Attributes are worked on eight at a time, in the same order on every instruction set.
using Octet = Vector<double, 8>;
constexpr int kOctet = 8;

// Features of a query and class: log(1 + S), then log((alpha + T_i / unit_i) / (alpha q_i + S)) for every attribute;
// where values may be missing, T[m + i] stands for S. A value that was never seen, or is not known, has the feature 0.
// The twin is LocalBayesClassifier.features.
class FeatureMaker {
public:
    FeatureMaker(const Batch& b, const Smoothing& smoothing)
        : m_(b.m), may_miss_(b.may_miss()), alpha_(smoothing.alpha), room_(padded(1 + m_, kOctet)), below_(m_),
          units_(smoothing.units), sizes_(smoothing.sizes) {
        for (int i = 0; i < m_; ++i) below_[i] = alpha_ * sizes_[i];
    }

    int room() const { return room_; }  // a multiple of eight numbers that holds all features

    // T is [column][set] with room for so many sets; of these, set k.
    void make(const uint32_t* query, const double* T, int n_sets, int k, double S, double* out) const {
        out[0] = 1 + S;
        for (int i = 0; i < m_; ++i) {
            const double known = may_miss_ ? T[(m_ + i) * n_sets + k] : S;
            out[1 + i] = (alpha_ + T[i * n_sets + k] / units_[i]) / (below_[i] + known);
        }
        for (int i = 0; i < m_; ++i)
            if (query[i] >= sizes_[i]) out[1 + i] = 1;
        std::fill(out + 1 + m_, out + room_, 1.0);
        for (int i = 0; i < room_; i += kOctet) store(out + i, log_of(load<Octet>(out + i)));
    }

private:
    int m_;
    bool may_miss_;
    double alpha_;
    int room_;
    std::vector<double> below_;  // denominators without a row
    const double *units_, *sizes_;
};

// Features [kappa][query][class][1 + m] under the paper's weights, for every kappa from one count of the matches.
template <class W>
void cell_features(const Batch& b, const double* kappas, int n_kappas, const Smoothing& smoothing, double* out) {
    CellWeights<W> weights(b, kappas, n_kappas);
    const FeatureMaker maker(b, smoothing);
    const int r = b.n_classes, room = weights.room, p = 1 + b.m;
    const int64_t step = fitting(b.n_queries, 8 * (b.V_size() + 2 * r * room));
    std::vector<double> S(size_t(step) * r * room), row(maker.room());
    const auto fill = [&](int64_t q, int y, const Live& live, double* w) { weights.fill(q, y, live, w); };
    with_summer<W>(b, n_kappas, room, [&](auto summer) {
        for (int64_t first = 0; first < b.n_queries; first += step) {
            const Batch part = b.part(first, std::min(step, b.n_queries - first));
            const Places places(part);
            const double* V = weights.count(part, places, first);
            for (int64_t q = 0; q < part.n_queries; ++q) weights.sums(q, V + q * b.V_size(), &S[q * r * room], nullptr);
            summer.sum(part, places, V, nullptr, fill, [&](int64_t q, int y, const Live&, const double* T) {
                for (int k = 0; k < n_kappas; ++k) {
                    maker.make(part.query(q), T, room, k, S[(q * r + y) * room + k], row.data());
                    std::copy_n(row.data(), p, out + ((k * b.n_queries + first + q) * r + y) * p);
                }
            });
        }
    });
}

}  // namespace
}  // namespace localbayes
