// Exponents of least penalised log loss, by Newton's method with conjugate gradients.
//
// The score of class y is b_y + sum_p w_p F_yp. The loss is the sum of the log losses of the rows plus `ridge` times
// the squared distances of w from a target and of b from 0. It is convex, and w >= 0. A step solves H d = -slope for
// the exponents that are free: those above zero, or whose slope leads them away from it. H is seen through its products
// with vectors only. Classes of a row that are unlikely say nothing of H, so that most of it is never looked at. The
// twin of the loss and its slope is plain::ExponentLoss.
#pragma once
#include <cmath>

#include "exponent_features.hpp"
#include "learning.hpp"

namespace localbayes {
namespace {

class ExponentFitter {
public:
    ExponentFitter(const FeatureRows& rows, double ridge)
        : rows_(rows), r_(rows.n_classes), p_(rows.n_features), room_(padded(p_, kOctet)),
          size_(room_ + padded(r_, kOctet)), ridge_(ridge), first_last_(std::max<int64_t>(rows.n * r_ - kOctet, 0)),
          last_(size_t(kOctet) * p_ + kOctet), target_(size_), scores_(padded(r_, kOctet)), slope_(size_), free_(size_),
          diagonal_(size_), mean_(room_) {
        std::copy(rows.features + first_last_ * p_, rows.features + rows.n * r_ * p_, last_.begin());
    }

    // The power of a list, in increasing order, with which the scores F prior have the least loss, which is convex in
    // it.
    double common_power(const double* prior, const double* powers, int n_powers) {
        std::vector<double> products(size_t(rows_.n) * r_), w(room_);
        std::copy_n(prior, p_, w.begin());
        for (int64_t n = 0, at = 0; n < rows_.n; ++n)
            for (int y = 0; y < r_; ++y) products[at++] = product(row(n, y), w.data());
        int low = 0, high = n_powers - 1;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (powered_loss(products, powers[middle]) > powered_loss(products, powers[middle + 1])) low = middle + 1;
            else high = middle;
        }
        return powers[low];
    }

    // Improves the exponents until a step would gain little, and takes that step.
    void fit(const double* target, ExponentFit& fit) {
        std::copy_n(target, p_, target_.begin());
        std::vector<double> at(size_), next(size_), step(size_), slope;
        std::copy_n(fit.w, p_, at.begin());
        std::copy_n(fit.b, r_, at.begin() + room_);
        double loss = evaluate(at);
        for (int k = 0; k < kSteps; ++k) {
            find_step(at, step);
            slope = slope_;
            const double gain = -dot(slope, step);
            const bool last = !(gain > kGain * loss);
            double share = 1, best = loss;
            do {
                for (int i = 0; i < size_; ++i) next[i] = at[i] + share * step[i];
                for (int i = 0; i < p_; ++i) next[i] = std::max(next[i], 0.0);
                if (last) break;
                best = evaluate(next);
                double expected = 0;
                for (int i = 0; i < size_; ++i) expected += slope[i] * (next[i] - at[i]);
                if (best <= loss + kEnough * expected) break;
                share /= 2;
            } while (share > kLeastShare);
            at.swap(next);
            loss = last ? loss - gain / 2 : best;
            if (last) break;
        }
        std::copy_n(at.begin(), p_, fit.w);
        std::copy_n(at.begin() + room_, r_, fit.b);
        fit.loss = loss;
        fit.penalty = penalty(at);
    }

private:
    // The relative gain of a last step, and the shares of a class that matter for H and for a slope.
    static constexpr double kGain = 1e-6, kLikely = 1e-4, kPossible = 1e-12;
    static constexpr double kEnough = 1e-4, kLeastShare = 1e-9;  // of a step
    static constexpr double kResidual = 0.03;                    // of conjugate gradients, relative
    static constexpr int kSteps = 100, kConjugate = 200;

    // A class that is likely for a row.
    struct Likely {
        int64_t n;
        int y;
        double share;
    };

    // Features of a row and class. They may be read up to a multiple of eight, where weights are zero.
    const float* row(int64_t n, int y) const {
        const int64_t at = n * r_ + y;
        return at < first_last_ ? rows_.features + at * p_ : &last_[(at - first_last_) * p_];
    }
    static Octet wide(const float* at) { return __builtin_convertvector(load<EightFloats>(at), Octet); }
    double product(const float* features, const double* w) const {
        Octet sum{};
        for (int i = 0; i < room_; i += kOctet) sum += wide(features + i) * load<Octet>(w + i);
        return sum_of(sum);
    }
    void add_row(const float* features, double factor, double* to) const {
        for (int i = 0; i < room_; i += kOctet) store(to + i, load<Octet>(to + i) + factor * wide(features + i));
    }
    // Features of the next row were read as well.
    void clear_rest(std::vector<double>& of) const { std::fill(of.begin() + p_, of.begin() + room_, 0.0); }

    // Log of the sum of exponentials of the scores, which become the shares of the classes.
    double log_total() {
        const int all = int(scores_.size());
        double most = scores_[0];
        for (int y = 1; y < r_; ++y) most = std::max(most, scores_[y]);
        for (int y = r_; y < all; ++y) scores_[y] = kNever;
        Octet sum{};
        for (int y = 0; y < all; y += kOctet) {
            const Octet e = exp_of(load<Octet>(&scores_[y]) - most);
            store(&scores_[y], e);
            sum += e;
        }
        const double total = sum_of(sum);
        for (int y = 0; y < all; y += kOctet) store(&scores_[y], load<Octet>(&scores_[y]) / total);
        return most + log_of(total);
    }

    // The loss of scores that are all multiplied by a power, without a penalty.
    double powered_loss(const std::vector<double>& products, double power) {
        double loss = 0;
        for (int64_t n = 0; n < rows_.n; ++n) {
            for (int y = 0; y < r_; ++y) scores_[y] = power * products[n * r_ + y];
            const double own = scores_[rows_.truth[n]];
            loss += rows_.weights[n] * (log_total() - own);
        }
        return loss;
    }
    // The loss; its slope and the likely classes are kept.
    double evaluate(const std::vector<double>& v) {
        double loss = 0;
        std::fill(slope_.begin(), slope_.end(), 0.0);
        likely_.clear();
        for (int64_t n = 0; n < rows_.n; ++n) {
            for (int y = 0; y < r_; ++y) scores_[y] = v[room_ + y] + product(row(n, y), v.data());
            const int64_t truth = rows_.truth[n];
            const double own = scores_[truth], weight = rows_.weights[n];
            loss += weight * (log_total() - own);
            for (int y = 0; y < r_; ++y) {
                const double share = scores_[y], error = share - (y == truth);
                if (share > kLikely) likely_.push_back({n, y, share});
                if (std::abs(error) <= kPossible) continue;
                slope_[room_ + y] += weight * error;
                add_row(row(n, y), weight * error, slope_.data());
            }
        }
        clear_rest(slope_);
        for (int i = 0; i < size_; ++i) slope_[i] += 2 * ridge_ * (v[i] - target_[i]);
        return loss + penalty(v);
    }
    double penalty(const std::vector<double>& v) const {
        double sum = 0;
        for (int i = 0; i < size_; ++i) sum += (v[i] - target_[i]) * (v[i] - target_[i]);
        return ridge_ * sum;
    }

    // Calls f(first, last) for the likely classes of every row that has any.
    template <class F>
    void for_each_row(F f) const {
        const Likely* const end = likely_.data() + likely_.size();
        for (const Likely *first = likely_.data(), *last = first; first < end; first = last) {
            while (last < end && last->n == first->n) ++last;
            f(first, last);
        }
    }
    // H times a vector.
    void multiply_curvature(const std::vector<double>& v, std::vector<double>& out) {
        std::fill(out.begin(), out.end(), 0.0);
        for_each_row([&](const Likely* first, const Likely* last) {
            double mean = 0;
            double* const products = scores_.data();
            for (const Likely* k = first; k < last; ++k) {
                products[k - first] = v[room_ + k->y] + product(row(k->n, k->y), v.data());
                mean += k->share * products[k - first];
            }
            for (const Likely* k = first; k < last; ++k) {
                const double factor = rows_.weights[k->n] * k->share * (products[k - first] - mean);
                out[room_ + k->y] += factor;
                add_row(row(k->n, k->y), factor, out.data());
            }
        });
        clear_rest(out);
        for (int i = 0; i < size_; ++i) out[i] = free_[i] * (out[i] + 2 * ridge_ * v[i]);
    }
    void find_diagonal() {
        std::fill(diagonal_.begin(), diagonal_.end(), 2 * ridge_);
        for_each_row([&](const Likely* first, const Likely* last) {
            const double weight = rows_.weights[first->n];
            std::fill(mean_.begin(), mean_.end(), 0.0);
            for (const Likely* k = first; k < last; ++k) {
                diagonal_[room_ + k->y] += weight * k->share * (1 - k->share);
                add_row(row(k->n, k->y), k->share, mean_.data());
            }
            for (const Likely* k = first; k < last; ++k)
                for (int i = 0; i < room_; i += kOctet) {
                    const Octet apart = wide(row(k->n, k->y) + i) - load<Octet>(&mean_[i]);
                    store(&diagonal_[i], load<Octet>(&diagonal_[i]) + weight * k->share * apart * apart);
                }
        });
    }

    // H d = -slope for what is free, by conjugate gradients in the scale of H's diagonal.
    void find_step(const std::vector<double>& v, std::vector<double>& d) {
        for (int i = 0; i < size_; ++i) free_[i] = i >= p_ || v[i] > 0 || slope_[i] < 0;
        find_diagonal();
        std::vector<double> residual(size_), scaled(size_), direction(size_), image(size_);
        std::fill(d.begin(), d.end(), 0.0);
        for (int i = 0; i < size_; ++i) {
            residual[i] = -free_[i] * slope_[i];
            direction[i] = residual[i] / diagonal_[i];
        }
        double rest = dot(residual, direction);
        const double enough = kResidual * kResidual * rest;
        for (int k = 0; k < kConjugate && rest > enough; ++k) {
            multiply_curvature(direction, image);
            const double length = rest / dot(direction, image);
            for (int i = 0; i < size_; ++i) {
                d[i] += length * direction[i];
                residual[i] -= length * image[i];
                scaled[i] = residual[i] / diagonal_[i];
            }
            const double before = rest;
            rest = dot(residual, scaled);
            for (int i = 0; i < size_; ++i) direction[i] = scaled[i] + rest / before * direction[i];
        }
    }
    double dot(const std::vector<double>& a, const std::vector<double>& b) const {
        Octet sum{};
        for (int i = 0; i < size_; i += kOctet) sum += load<Octet>(&a[i]) * load<Octet>(&b[i]);
        return sum_of(sum);
    }

    const FeatureRows rows_;
    const int r_, p_, room_, size_;  // vectors hold the exponents in their room, then the biases
    const double ridge_;
    const int64_t first_last_;
    std::vector<float> last_;  // the last rows and classes, with room behind them
    std::vector<double> target_, scores_, slope_, free_, diagonal_, mean_;
    std::vector<Likely> likely_;
};

// Finds the target, the common power of the prior, and fits. Exponents begin at the target unless `starts`.
template <class W>
void fit_exponents(const FeatureRows& rows, const ExponentSearch& search, bool starts, ExponentFit& fit) {
    ExponentFitter fitter(rows, search.ridge);
    const double power = fitter.common_power(search.prior, search.powers, search.n_powers);
    std::vector<double> target(search.prior, search.prior + rows.n_features);
    for (double& w : target) w *= power;
    if (!starts) {
        std::copy(target.begin(), target.end(), fit.w);
        std::fill_n(fit.b, rows.n_classes, 0.0);
    }
    fitter.fit(target.data(), fit);
}

}  // namespace
}  // namespace localbayes
