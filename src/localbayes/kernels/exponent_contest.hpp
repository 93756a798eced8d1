// Which class has the largest average probability: scores of the classes that can have it.
//
// The average over kappas k of exp(score_yk) / Z_k, where Z_k is a sum over all classes, and of a prior. Z_k is bounded by
// the scores that are known and the bounds of the others. Class y cannot win against class b if
//     sum_k share_k (exp(bound_yk) - exp(score_bk)) / Z_k + share (prior_y - prior_b) < 0
// for all Z_k within their bounds. The class with the best bound is scored first. The others that can win are scored
// for their first attributes, then those that are left for all. If that leaves more than one class all are scored.
#pragma once
#include <optional>

#include "exponent_bounds.hpp"
#include "exponent_scores.hpp"

namespace localbayes {
namespace {

// What is known of the classes of one query: [class][kappa].
class Contest {
public:
    Contest(const ExponentTable& table, int room)
        : table_(table), r_(table.n_classes), n_(table.n_kappas), room_(room), low_(n_), high_(n_) {}

    // Scores or upper bounds; known says of which classes they are scores. Finds the class that is ahead.
    void look(const double* scores, const uint8_t* known) {
        scores_ = scores;
        known_ = known;
        exp_.resize(size_t(r_) * n_);
        for (int k = 0; k < n_; ++k) {
            double most = kNever;
            for (int y = 0; y < r_; ++y) most = std::max(most, scores[y * room_ + k]);
            low_[k] = high_[k] = 0;
            for (int y = 0; y < r_; ++y) {
                const double e = exp_[y * n_ + k] = std::exp(scores[y * room_ + k] - most);
                high_[k] += e;
                if (known[y]) low_[k] += e;
            }
            low_[k] = std::max(low_[k], std::numeric_limits<double>::min());
        }
        ahead_ = -1;
        double best = -1;
        for (int y = 0; y < r_; ++y)
            if (known[y])
                if (const double p = average(y, low_); p > best) best = p, ahead_ = y;
        enough_ = -kTie * std::max(best, 1e-290);
    }

    int ahead() const { return ahead_; }
    // Whether class y may have the largest average, or one that ties with it.
    bool can_win(int y) const {
        if (y == ahead_) return true;
        double lead = table_.prior_share * (table_.prior[y] - table_.prior[ahead_]);
        for (int k = 0; k < n_; ++k) {
            const double more = exp_[y * n_ + k] - exp_[ahead_ * n_ + k];
            // A bound is also a part of Z.
            const double least = low_[k] + (known_[y] ? 0.0 : exp_[y * n_ + k]);
            lead += table_.shares[k] * more / (more > 0 ? least : high_[k]);
        }
        return !(lead < enough_);
    }
    // Log of the average, if all are known.
    double log_average(int y) const { return std::log(average(y, high_)); }

private:
    static constexpr double kTie = 1e-7;  // far more than the width of a tie, and than rounding
    double average(int y, const std::vector<double>& Z) const {
        double sum = table_.prior_share * table_.prior[y];
        for (int k = 0; k < n_; ++k) sum += table_.shares[k] * exp_[y * n_ + k] / Z[k];
        return sum;
    }

    const ExponentTable table_;
    const int r_, n_, room_;
    const double* scores_ = nullptr;
    const uint8_t* known_ = nullptr;
    std::vector<double> exp_, low_, high_;
    int ahead_ = -1;
    double enough_ = 0;
};

// Log averages [query][class], or only those of the winners.
template <class W, class Matches>
class ExponentContest {
public:
    ExponentContest(const Batch& batch, const Smoothing& smoothing, const ExponentTable& table, int first_rest,
                    bool prunes, double* out)
        : batch_(batch), some_(first_of(batch, first_rest)), weights_(batch, table.kappas, table.n_kappas),
          matcher_(batch), weigher_(batch), scorer_(batch, weights_.room, smoothing, table), table_(table), out_(out),
          r_(batch.n_classes), room_(weights_.room), first_rest_(first_rest),
          prunes_(prunes && r_ > 1 && batch.distance && !batch.may_miss()),
          step_(fitting(batch.n_queries, 8 * (batch.V_size() + 4 * r_ * room_))), S_(step_ * r_ * room_),
          scores_(S_.size()), matches_(S_.size()), rest_(step_ * room_), known_(step_ * r_), wanted_(known_.size()),
          w_(size_t(batch.n_distances()) * room_),
          T_(std::max(size_t(batch.raw_width()) * room_, scorer_.size() + kOctet)), least_(room_), contest_(table, room_) {
        if (prunes_) bounds_.emplace(batch, smoothing, table, first_rest);
        if (prunes_ && first_rest < batch.m) some_matcher_.emplace(some_);
    }

    void compute() {
        for (int64_t first = 0; first < batch_.n_queries; first += step_) {
            const Batch part = batch_.part(first, std::min(step_, batch_.n_queries - first));
            const Places places(part);
            const double* V = weights_.count(part, places, first);
            for (int64_t q = 0; q < part.n_queries; ++q) {
                const size_t at = q * r_ * room_;
                weights_.sums(q, V + q * part.V_size(), &S_[at], prunes_ ? &matches_[at] : nullptr);
            }
            std::fill(known_.begin(), known_.end(), 0);
            if (prunes_) {
                for (int64_t q = 0; q < part.n_queries; ++q) find_bounds(part, q);
                score(part, places, V, matcher_);
                for (int64_t q = 0; q < part.n_queries; ++q) want_contenders(q);
                if (some_matcher_) {
                    look_at_some(part, places, V);
                    for (int64_t q = 0; q < part.n_queries; ++q) want_contenders(q);
                }
                score(part, places, V, matcher_);
                for (int64_t q = 0; q < part.n_queries; ++q) want_rest(q);
            } else {
                std::fill(wanted_.begin(), wanted_.end(), 1);
            }
            score(part, places, V, matcher_);
            for (int64_t q = 0; q < part.n_queries; ++q) put(q, first + q);
        }
    }

private:
    static Batch first_of(Batch b, int n) {
        b.first_counted = n;
        return b;
    }
    size_t cell(int64_t q, int y) const { return (q * r_ + y) * room_; }

    // Scores of the classes that are wanted.
    void score(const Batch& part, const Places& places, const double* V, Matches& matcher) {
        matcher.count(part, places, V, wanted_.data(), [&](const auto& tally) {
            sum_up(part, tally);
            scorer_.template score<W>(tally.y, &S_[cell(tally.q, tally.y)], T_.data(), batch_.m,
                                      &scores_[cell(tally.q, tally.y)]);
            known_[tally.q * r_ + tally.y] = 1;
        });
    }
    // Bounds of the classes that are wanted, from their first attributes.
    void look_at_some(const Batch& part, const Places& places, const double* V) {
        const Batch some = first_of(part, first_rest_);
        some_matcher_->count(some, places, V, wanted_.data(), [&](const auto& tally) {
            sum_up(some, tally);
            scorer_.template score<W>(tally.y, &S_[cell(tally.q, tally.y)], T_.data(), first_rest_, least_.data());
            for (int k = 0; k < table_.n_kappas; ++k) {
                double& bound = scores_[cell(tally.q, tally.y) + k];
                bound = std::min(bound, least_[k] + rest_[tally.q * room_ + k]);
            }
        });
    }
    template <class Tally>
    void sum_up(const Batch& part, const Tally& tally) {
        weights_.fill(tally.q, tally.y, tally.live, w_.data());
        weigher_.weigh(tally, w_.data(), room_, T_.data());
        join_columns(part, room_, T_.data());
        scorer_.begin(part.query(tally.q));
    }

    // Bounds of all classes of a query. Wanted is the best of them, and classes that have no bound.
    void find_bounds(const Batch& part, int64_t q) {
        const int top = batch_.n_distances() - 1;
        bounds_->begin(part.query(q));
        uint8_t* wanted = &wanted_[q * r_];
        std::fill_n(wanted, r_, 0);
        for (int k = 0; k < table_.n_kappas; ++k) {
            const double* gamma = weights_.gamma(q) + k;
            const double S = weights_.rho(q)[k] * table_.kappas[k];
            bounds_->prepare(k, S);
            rest_[q * room_ + k] = bounds_->rest() + kMargin;
            for (int y = 0; y < r_; ++y) {
                const size_t at = cell(q, y) + k;
                if (gamma[y * room_] > 0 && gamma[y * room_] < 1)
                    scores_[at] = table_.bias[k * r_ + y] + kMargin + bounds_->bound(top * S_[at] - matches_[at]);
                else scores_[at] = kNever, wanted[y] = 1;  // S is another one
            }
        }
        int best = 0;
        double most = kNever;
        for (int y = 0; y < r_; ++y) {
            double sum = 0;
            for (int k = 0; k < table_.n_kappas; ++k) sum += scores_[cell(q, y) + k];
            if (sum > most) most = sum, best = y;
        }
        wanted[best] = 1;
    }
    void want_contenders(int64_t q) {
        contest_.look(&scores_[cell(q, 0)], &known_[q * r_]);
        for (int y = 0; y < r_; ++y) wanted_[q * r_ + y] = !known_[q * r_ + y] && contest_.can_win(y);
    }
    // All that is left, unless one class can win only.
    void want_rest(int64_t q) {
        contest_.look(&scores_[cell(q, 0)], &known_[q * r_]);
        int n = 0;
        for (int y = 0; y < r_; ++y) n += contest_.can_win(y);
        for (int y = 0; y < r_; ++y) wanted_[q * r_ + y] = n > 1 && !known_[q * r_ + y];
    }
    void put(int64_t q, int64_t to) {
        contest_.look(&scores_[cell(q, 0)], &known_[q * r_]);
        bool all = true;
        for (int y = 0; y < r_; ++y) all &= known_[q * r_ + y] != 0;
        for (int y = 0; y < r_; ++y)
            out_[to * r_ + y] = all || y == contest_.ahead() ? contest_.log_average(y) : kNever;
    }

    static constexpr double kMargin = 1e-6;  // far more than the rounding of a score

    const Batch& batch_;
    const Batch some_;
    CellWeights<W> weights_;
    Matches matcher_;
    std::optional<Matches> some_matcher_;
    Weigher<W> weigher_;
    ExponentScorer scorer_;
    std::optional<ExponentBounds> bounds_;
    const ExponentTable table_;
    double* const out_;
    const int r_, room_, first_rest_;
    const bool prunes_;
    const int64_t step_;                        // queries at a time
    std::vector<double> S_, scores_, matches_;  // [query][class][kappa]
    std::vector<double> rest_;                  // [query][kappa]
    std::vector<uint8_t> known_, wanted_;       // [query][class]
    std::vector<double> w_, T_, least_;         // of one query and class
    Contest contest_;
};

template <class W>
void exponent_scores(const Batch& b, const Smoothing& smoothing, const ExponentTable& table, int first_rest,
                     bool prunes, double* out) {
    with_matcher<W>(b, [&]<class Matches>(Matches) {
        ExponentContest<W, Matches>(b, smoothing, table, first_rest, prunes, out).compute();
    });
}

}  // namespace
}  // namespace localbayes
