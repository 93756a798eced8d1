// Which class has the largest average probability: scores of the classes that can have it.
//
// The average over kappas k of exp(score_yk) / Z_k, where Z_k is a sum over all classes, and of a prior. Z_k is bounded
// by the scores that are known and the bounds of the others. Class y cannot win against class b if
//     sum_k share_k (exp(bound_yk) - exp(score_bk)) / Z_k + share (prior_y - prior_b) < 0
// for all Z_k within their bounds. The class with the best bound is scored first. Of the others that can win, the terms
// are bounded anew; those that still can are scored for their first attributes, then those that are left for all. If
// that leaves more than one class all are scored.
#pragma once
#include <optional>

#include "exponent_bounds.hpp"
#include "exponent_scores.hpp"
#include "exponent_terms.hpp"

namespace localbayes {
namespace {

// What is known of the classes of one query: [class][kappa].
class Contest {
public:
    Contest(const ExponentTable& table, int room)
        : table_(table), r_(table.n_classes), n_(table.n_kappas), room_(room), low_(n_), high_(n_) {}

    // Takes exp(score - most), where most_k is the largest score of all classes, or an upper bound of it. Of classes
    // that did not change since the first look the numbers are there already.
    void look(const double* scores, const uint8_t* known, double* exps, double* most, const uint8_t* changed) {
        known_ = known;
        exp_ = exps;
        for (int k = 0; k < n_; ++k) {
            if (!changed) {
                most[k] = kNever;
                for (int y = 0; y < r_; ++y) most[k] = std::max(most[k], scores[y * room_ + k]);
            }
            low_[k] = high_[k] = 0;
            for (int y = 0; y < r_; ++y) {
                double& e = exps[y * room_ + k];
                if (!changed || changed[y]) e = std::exp(scores[y * room_ + k] - most[k]);
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
            const double more = exp_[y * room_ + k] - exp_[ahead_ * room_ + k];
            // A bound is also a part of Z.
            const double least = low_[k] + (known_[y] ? 0.0 : exp_[y * room_ + k]);
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
        for (int k = 0; k < n_; ++k) sum += table_.shares[k] * exp_[y * room_ + k] / Z[k];
        return sum;
    }

    const ExponentTable table_;
    const int r_, n_, room_;
    const uint8_t* known_ = nullptr;
    const double* exp_ = nullptr;
    std::vector<double> low_, high_;
    int ahead_ = -1;
    double enough_ = 0;
};

// Log averages [query][class], or only those of the winners.
template <class W, class Count>
class ExponentContest {
public:
    ExponentContest(const Batch& batch, const Smoothing& smoothing, const ExponentTable& table, int first_rest,
                    bool prunes, double* out)
        : batch_(batch), some_(first_of(batch, first_rest)), weights_(batch, table.kappas, table.n_kappas),
          summer_(batch, table.n_kappas, weights_.room), scorer_(batch, weights_.room, smoothing, table), table_(table),
          out_(out), r_(batch.n_classes), room_(weights_.room), first_rest_(first_rest),
          prunes_(prunes && r_ > 1 && batch.distance && !batch.may_miss()),
          step_(fitting(batch.n_queries, 2 * (batch.V_size() + 4 * r_ * room_))), S_(step_ * r_ * room_),
          scores_(S_.size()), matches_(S_.size()), exps_(S_.size()), excess_(S_.size()), rest_(step_ * room_),
          most_(rest_.size()), known_(step_ * r_), wanted_(known_.size()), open_(step_), least_(room_),
          contest_(table, room_) {
        if (prunes_) bounds_.emplace(batch, smoothing, table, first_rest);
        if (prunes_ && first_rest < batch.m) {
            some_summer_.emplace(some_, table.n_kappas, room_);
            if (std::is_same_v<Count, int32_t>) terms_.emplace(batch, smoothing, table, first_rest, room_);
        }
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
                score(part, places, V);
                for (int64_t q = 0; q < part.n_queries; ++q) want_contenders(q, true);
                for (int64_t q = 0; terms_ && q < part.n_queries; ++q) {
                    look_at_terms(part, q, V + q * part.V_size());
                    want_contenders(q, false);
                }
                if (some_summer_) {
                    look_at_some(part, places, V);
                    for (int64_t q = 0; q < part.n_queries; ++q) want_contenders(q, false);
                }
                score(part, places, V);
                for (int64_t q = 0; q < part.n_queries; ++q) decide(q, first + q);
            } else {
                std::fill(wanted_.begin(), wanted_.end(), 1);
                std::fill(open_.begin(), open_.end(), 1);
            }
            score(part, places, V);
            for (int64_t q = 0; q < part.n_queries; ++q)
                if (open_[q]) put(q, first + q);
        }
    }

private:
    static Batch first_of(Batch b, int n) {
        b.first_counted = n;
        return b;
    }
    size_t cell(int64_t q, int y) const { return (q * r_ + y) * room_; }

    // Scores of the classes that are wanted.
    void score(const Batch& part, const Places& places, const double* V) {
        summer_.sum(part, places, V, wanted_.data(), fill(), [&](int64_t q, int y, const Live&, const double* T) {
            scorer_.begin(part.query(q));
            scorer_.template score<W>(y, &S_[cell(q, y)], T, batch_.m, &scores_[cell(q, y)]);
            known_[q * r_ + y] = 1;
        });
    }
    // Bounds of the classes of a query that are wanted, less what their terms cannot add.
    void look_at_terms(const Batch& part, int64_t q, const double* V) {
        terms_->begin(part.query(q));
        for (int y = 0; y < r_; ++y) {
            if (!wanted_[q * r_ + y]) continue;
            const size_t at = cell(q, y);
            terms_->excess(y, V + y, weights_.gamma(q) + y * room_, weights_.rho(q), &S_[at], &excess_[at]);
            for (int k = 0; k < table_.n_kappas; ++k) scores_[at + k] -= excess_[at + k];
        }
    }
    // Bounds of the classes that are wanted, from their first attributes.
    void look_at_some(const Batch& part, const Places& places, const double* V) {
        const Batch some = first_of(part, first_rest_);
        some_summer_->sum(some, places, V, wanted_.data(), fill(), [&](int64_t q, int y, const Live&, const double* T) {
            scorer_.begin(part.query(q));
            scorer_.template score<W>(y, &S_[cell(q, y)], T, first_rest_, least_.data());
            for (int k = 0; k < table_.n_kappas; ++k) {
                double& bound = scores_[cell(q, y) + k];
                bound = std::min(bound, least_[k] + rest_[q * room_ + k] - excess_[cell(q, y) + k]);
            }
        });
    }
    auto fill() const {
        return [this](int64_t q, int y, const Live& live, double* w) { weights_.fill(q, y, live, w); };
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
    void look(int64_t q, bool first) {
        contest_.look(&scores_[cell(q, 0)], &known_[q * r_], &exps_[cell(q, 0)], &most_[q * room_],
                      first ? nullptr : &wanted_[q * r_]);
    }
    void want_contenders(int64_t q, bool first) {
        look(q, first);
        for (int y = 0; y < r_; ++y) wanted_[q * r_ + y] = !known_[q * r_ + y] && contest_.can_win(y);
    }
    // The winner, or all that is left if several classes can win.
    void decide(int64_t q, int64_t to) {
        look(q, false);
        int n = 0;
        for (int y = 0; y < r_; ++y) n += contest_.can_win(y);
        for (int y = 0; y < r_; ++y) wanted_[q * r_ + y] = n > 1 && !known_[q * r_ + y];
        std::fill_n(out_ + to * r_, r_, kNever);
        out_[to * r_ + contest_.ahead()] = contest_.log_average(contest_.ahead());
        open_[q] = n > 1;
    }
    void put(int64_t q, int64_t to) {
        look(q, true);
        for (int y = 0; y < r_; ++y) out_[to * r_ + y] = contest_.log_average(y);
    }

    static constexpr double kMargin = 1e-6;  // far more than the rounding of a score

    const Batch& batch_;
    const Batch some_;
    CellWeights<W> weights_;
    Summer<W, Count> summer_;
    std::optional<Summer<W, Count>> some_summer_;
    ExponentScorer scorer_;
    std::optional<ExponentBounds> bounds_;
    std::optional<TermBounds<W>> terms_;
    const ExponentTable table_;
    double* const out_;
    const int r_, room_, first_rest_;
    const bool prunes_;
    const int64_t step_;                               // queries at a time
    std::vector<double> S_, scores_, matches_, exps_;  // [query][class][kappa]
    std::vector<double> excess_;                       // the same: what terms cannot add
    std::vector<double> rest_, most_;                  // [query][kappa]
    std::vector<uint8_t> known_, wanted_;              // [query][class]
    std::vector<uint8_t> open_;                        // by query: whether several classes may win
    std::vector<double> least_;                        // of one query and class
    Contest contest_;
};

template <class W>
void exponent_scores(const Batch& b, const Smoothing& smoothing, const ExponentTable& table, int first_rest,
                     bool prunes, double* out) {
    with_count(b, [&]<class Count>(Count) {
        ExponentContest<W, Count>(b, smoothing, table, first_rest, prunes, out).compute();
    });
}

}  // namespace
}  // namespace localbayes
