// Upper bounds of scores with exponents, from V alone.
//
// Let S be the weight of the rows of a class, T_i their agreement with the query and D_i their distance, each a sum
// over rows. V gives S and D = sum_i D_i. For a query's value the tables have T_i <= most_i S - slope_i D_i. So
//     sum_i w_i log(alpha + T_i / unit_i) <= sum_i max_D [w_i log(alpha + (most_i S - slope_i D) / unit_i) + p D] - p D
// for every price p, where the maximum is over 0 <= D <= far_i S. The right side has a part that depends on S only,
// which most classes of a query have in common, and the best of a few prices is taken for every class. Logarithms may
// be a little too large.
#pragma once
#include <array>

#include "exponent_features.hpp"

namespace localbayes {
namespace {

// What the tables say of the value of a query.
struct Reach {
    double most, slope;
};

inline Reach reach_of(const Distance& distance, int i, uint32_t v) {
    Reach reach{0, 0};
    if (distance.nominal(i)) {
        reach.most = distance.s(i, 0, 0);
        reach.slope = distance.most(i) > 0 ? reach.most / distance.most(i) : 0;
        return reach;
    }
    for (uint32_t u = 0; u < distance.size(i); ++u) reach.most = std::max<double>(reach.most, distance.s(i, v, u));
    reach.slope = reach.most;
    for (uint32_t u = 0; u < distance.size(i); ++u)
        if (const int d = distance.d(i, v, u); d > 0)
            reach.slope = std::min(reach.slope, (reach.most - distance.s(i, v, u)) / d);
    return reach;
}

class ExponentBounds {
public:
    // Attributes from `first_rest` on are those that a first look leaves out. Attributes are put side by side, those
    // with a distance first.
    ExponentBounds(const Batch& b, const Smoothing& smoothing, const ExponentTable& table, int first_rest)
        : distance_(*b.distance), m_(b.m), smoothing_(smoothing), table_(table), place_(m_),
          room_(padded(m_, kOctet) + kOctet), w_(size_t(table.n_kappas) * room_), rest_w_(w_.size()), seen_(room_),
          most_(room_), slope_(room_, 1.0), per_slope_(room_, 1.0), far_(room_), rate_(room_, 1.0), unit_(room_, 1.0),
          below_(room_, 1.0) {
        for (const bool far : {true, false}) {
            for (int i = 0; i < m_; ++i)
                if ((distance_.most(i) > 0) == far) place(i, i >= first_rest);
            n_ = padded(n_, kOctet);
            if (far) n_far_ = n_;
        }
        size_t size = 0;
        for (int i = 0; i < m_; ++i) {
            start_.push_back(size);
            size += distance_.nominal(i) ? 1 : distance_.size(i);
        }
        known_.resize(size);
        reach_.resize(size);
    }

    // The query whose classes are bounded next.
    void begin(const uint32_t* query) {
        for (int i = 0; i < m_; ++i) {
            const bool seen = query[i] < smoothing_.sizes[i];
            const int at = place_[i];
            seen_[at] = seen;
            if (!seen) continue;
            const Reach& r = of(i, query[i]);
            most_[at] = r.most;
            slope_[at] = r.slope;
            per_slope_[at] = 1 / r.slope;
        }
    }

    // For kappa k, where the weight of the rows of a class is S: what the bounds of all such classes have in common.
    void prepare(int k, double S) {
        const double *w = &w_[size_t(k) * room_], *rest_w = &rest_w_[size_t(k) * room_];
        const double alpha = smoothing_.alpha;
        const auto sum = [](Octet x) {
            double total = 0;
            for (int l = 0; l < kOctet; ++l) total += x[l];
            return total;
        };
        Octet fixed{}, rest{};
        for (int at = 0; at < n_; at += kOctet) {
            const Octet below = log_above(load<Octet>(&below_[at]) + S) - kLogAbove;
            const Octet largest = log_above(alpha + S * load<Octet>(&most_[at]) * load<Octet>(&rate_[at]));
            const Octet seen = load<Octet>(&seen_[at]);
            fixed += seen * load<Octet>(w + at) * ((at < n_far_ ? Octet{} : largest) - below);
            rest += seen * load<Octet>(rest_w + at) * (largest - below);
        }
        rest_ = sum(rest);
        const double alone = table_.w[k * (1 + m_)] * log_of(1 + S) + sum(fixed);
        for (int p = 0; p < kPrices; ++p) {
            const double price = price_[p] = kLeastPrice * kSteps[p] / S, per_price = 1 / price;
            Octet value{};
            for (int at = 0; at < n_far_; at += kOctet) {
                const Octet rate = load<Octet>(&rate_[at]), slope = load<Octet>(&slope_[at]);
                const Octet most = S * load<Octet>(&most_[at]), far = S * load<Octet>(&far_[at]);
                const Octet exponent = load<Octet>(&seen_[at]) * load<Octet>(w + at);
                const Octet best =
                    (alpha * load<Octet>(&unit_[at]) + most) * load<Octet>(&per_slope_[at]) - exponent * per_price;
                const Octet D = best > 0 ? (best < far ? best : far) : Octet{};
                value += exponent * log_above(alpha + rate * (most - slope * D)) + price * D;
            }
            value_[p] = alone + sum(value);
        }
    }

    // The bound of a class whose rows have the distance D in all, without its bias.
    double bound(double D) const {
        double least = value_[0] - price_[0] * D;
        for (int p = 1; p < kPrices; ++p) least = std::min(least, value_[p] - price_[p] * D);
        return least;
    }
    // The most that attributes from first_rest on add to a score.
    double rest() const { return rest_; }

private:
    static constexpr int kPrices = 10;
    static constexpr double kLeastPrice = 0.05;
    static constexpr double kSteps[kPrices] = {1, 1.5, 2.2, 3.3, 5, 7.5, 11, 17, 25, 50};

    const Reach& of(int i, uint32_t code) {
        const size_t at = start_[i] + (distance_.nominal(i) ? 0 : code);
        if (!known_[at]) {
            known_[at] = true;
            reach_[at] = reach_of(distance_, i, code);
            reach_[at].slope = std::max(reach_[at].slope, 1e-300);
        }
        return reach_[at];
    }
    void place(int i, bool is_rest) {
        place_[i] = n_;
        far_[n_] = distance_.most(i);
        unit_[n_] = smoothing_.units[i];
        rate_[n_] = 1 / smoothing_.units[i];
        below_[n_] = smoothing_.alpha * smoothing_.sizes[i];
        for (int k = 0; k < table_.n_kappas; ++k) {
            w_[k * room_ + n_] = table_.w[k * (1 + m_) + 1 + i];
            if (is_rest) rest_w_[k * room_ + n_] = w_[k * room_ + n_];
        }
        ++n_;
    }

    const Distance& distance_;
    const int m_;
    const Smoothing smoothing_;
    const ExponentTable table_;
    std::vector<int> place_;  // of an attribute among those side by side
    const int room_;
    int n_ = 0, n_far_ = 0;
    std::vector<double> w_, rest_w_;  // [kappa][attribute]
    std::vector<double> seen_, most_, slope_, per_slope_, far_, rate_, unit_, below_;
    std::vector<size_t> start_;
    std::vector<char> known_;
    std::vector<Reach> reach_;  // by attribute and value
    std::array<double, kPrices> price_, value_;
    double rest_ = 0;
};

}  // namespace
}  // namespace localbayes
