// Scores with exponents, b_y + w_0 log(1 + S_y) + sum_i w_i log((alpha + T_i / unit_i) / (alpha q_i + S_y)), of the
// classes of a query for every kappa.
#pragma once
#include "exponent_features.hpp"

namespace localbayes {
namespace {

// Numbers of all attributes and kappas are one row, [attribute][kappa] with `room` kappas, as T is.
class ExponentScorer {
public:
    ExponentScorer(const Batch& b, int room, const Smoothing& smoothing, const ExponentTable& table)
        : m_(b.m), n_sets_(table.n_kappas), room_(room), may_miss_(b.may_miss()), smoothing_(smoothing), table_(table),
          size_(padded(m_ * room, kOctet)), rate_(size_), below_(size_, 1.0), exponents_(size_), of_query_(size_),
          factors_(size_), totals_(size_), first_(room) {
        for (int i = 0; i < m_; ++i)
            for (int k = 0; k < room; ++k) {
                const int at = i * room + k;
                rate_[at] = 1 / smoothing.units[i];
                below_[at] = smoothing.alpha * smoothing.sizes[i];
                if (k < n_sets_) exponents_[at] = table.w[k * (1 + m_) + 1 + i];
            }
        for (int k = 0; k < n_sets_; ++k) first_[k] = table.w[k * (1 + m_)];
    }

    // A value that was never seen, or is not known, has no factor.
    void begin(const uint32_t* query) {
        of_query_ = exponents_;
        for (int i = 0; i < m_; ++i)
            if (query[i] >= smoothing_.sizes[i]) std::fill_n(&of_query_[i * room_], room_, 0.0);
    }

    // Scores of class y for all kappas, from the first n attributes. T is read up to a multiple of eight.
    template <class W>
    void score(int y, const double* S, const double* T, int n, double* out) {
        const int end = n * room_, all = padded(end, kOctet);
        for (int i = 0; i < n; ++i) std::copy_n(S, room_, &totals_[i * room_]);
        std::fill(totals_.begin() + end, totals_.begin() + all, 1.0);
        const double* known = may_miss_ ? T + m_ * room_ : totals_.data();
        for (int at = 0; at < all; at += kOctet) {
            const Octet above = smoothing_.alpha + load<Octet>(T + at) * load<Octet>(&rate_[at]);
            const Octet below = load<Octet>(&below_[at]) + load<Octet>(known + at);
            store(&factors_[at], load<Octet>(&of_query_[at]) * log_of(above / below));
        }
        for_sets<W>(room_, [&]<class Sets>(Sets, int k) {
            Sets sum = load<Sets>(&first_[k]) * log_of(1 + load<Sets>(S + k));
            for (int at = k; at < end; at += room_) sum += load<Sets>(&factors_[at]);
            store(out + k, sum);
        });
        for (int k = 0; k < n_sets_; ++k) out[k] += table_.bias[k * table_.n_classes + y];
    }

private:
    const int m_, n_sets_, room_;
    const bool may_miss_;
    const Smoothing smoothing_;
    const ExponentTable table_;
    const int size_;
    std::vector<double> rate_, below_, exponents_, of_query_, factors_, totals_, first_;
};

}  // namespace
}  // namespace localbayes
