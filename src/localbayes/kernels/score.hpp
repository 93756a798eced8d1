// Log joint probabilities of all classes, or of those that may win.
//
// V alone gives S and an upper bound of every score. Given a margin, C is counted only for classes whose bound comes
// within the margin of the best score found so far: first for the class with the best bound, which is likely to win,
// then for all that are left.
#pragma once
#include <optional>

#include "absence.hpp"
#include "near_lacks.hpp"
#include "scorer.hpp"
#include "weigher.hpp"

namespace localbayes {
namespace {

constexpr double kRounding = 1e-6;     // far more than the rounding of a score and the width of a tie
constexpr double kSubtracted = 1e-12;  // the same of a difference of sums of weights, as a share
constexpr int kSingleRounds = 2;       // rounds in which one class a query is scored, before all that are left
constexpr int64_t kFewQueries = 32;    // of which V takes more room than others
constexpr int64_t kLargeClass = 512;   // rows from which on it is worth while to look at what they lack

// Scores of a batch for the weights of one kind (see weights.hpp). The twin is plain::log_joint.
template <class W, class Weights, class Count>
class JointScores {
public:
    JointScores(const Batch& batch, Weights weights, Laplace laplace, double margin, double* out)
        : batch_(batch), weights_(std::move(weights)), summer_(batch, weights_.n_sets, weights_.room),
          scorer_(batch.m, batch.may_miss(), laplace), margin_(margin), out_(out), r_(batch.n_classes),
          prunes_(std::isfinite(margin) && r_ > 1 && !batch.distance), room_(weights_.room),
          at_once_(Weights::kCountsV && !prunes_ ? Summer<W, Count>::queries_at_once(batch) : 0),
          step_(at_once_ ? std::min(at_once_, batch.n_queries)
                         : queries_at_a_time(batch.n_queries, 8 * (batch.V_size() + 5 * r_ * room_))),
          S_(step_ * r_ * room_ + 3), prior_(S_.size()), best_(step_ * weights_.n_sets) {
        if (prunes_) {
            if (!batch.may_miss()) absence_.emplace(batch);
            else if (std::is_same_v<Count, int32_t> && room_ == 1) use_lacks();
            matches_.resize(S_.size());  // bounds are taken four at a time
            bound_.resize(S_.size());
            wanted_.resize(step_ * r_);
            lacking_.resize(S_.size() + 32);
        }
    }

    void compute() {
        for (int64_t first = 0; first < batch_.n_queries; first += step_) {
            const Batch part = batch_.part(first, std::min(step_, batch_.n_queries - first));
            const Places places(part);
            if constexpr (Weights::kCountsV)
                if (at_once_) {
                    score_all(part, places, first);
                    continue;
                }
            const double* V = weights_.count(part, places, first);
            sum_weights(part, V);
            if (prunes_) score_best(part, places, V, first);
            else score(part, places, V, nullptr, first);
        }
    }

private:
    // Queries that V of a part is kept of. Of few, each class would be counted for one or two at a time: they may take
    // twice the room.
    static int64_t queries_at_a_time(int64_t n, size_t bytes_each) {
        const int64_t fit = fitting(n, bytes_each);
        return fit < kFewQueries ? fitting(n, bytes_each / 2) : fit;
    }

    // S and the priors of all queries, and what the bounds need.
    void sum_weights(const Batch& part, const double* V) {
        for (int64_t q = 0; q < part.n_queries; ++q) {
            const size_t at = q * r_ * room_;
            weights_.sums(q, V + q * part.V_size(), &S_[at], prunes_ ? &matches_[at] : nullptr);
            for_sets<W>(room_, [&]<class Sets>(Sets, int k) {
                scorer_.template priors<Sets>(&S_[at + k], r_, room_, &prior_[at + k]);
            });
        }
    }

    // Scores of the classes that are wanted ([query][class]), or of all.
    void score(const Batch& part, const Places& places, const double* V, const uint8_t* wanted, int64_t first) {
        summer_.sum(part, places, V, wanted, filler(), scorer(part, first));
    }

    // Scores of all classes; V and C are counted in one walk over the rows.
    void score_all(const Batch& part, const Places& places, int64_t first) {
        double* V = weights_.begin(part);
        summer_.count_all(part, places, V);
        sum_weights(part, V);
        summer_.sum_counted(part, V, filler(), scorer(part, first));
    }

    auto filler() const {
        return [this](int64_t q, int y, const Live& live, double* w) { weights_.fill(q, y, live, w); };
    }
    auto scorer(const Batch& part, int64_t first) {
        return [this, &part, first](int64_t q, int y, const Live&, const double* T) {
            const size_t at = (q * r_ + y) * room_;
            for_sets<W>(room_, [&]<class Sets>(Sets, int k) {
                double scores[sizeof(Sets) / sizeof(double)];
                const typename Scorer::Sums sums{&prior_[at + k], T + k, &S_[at + k], room_};
                store(scores, scorer_.template log_joint<Sets>(sums, part.query(q)));
                for (int l = 0; l < std::min(int(std::size(scores)), weights_.n_sets - k); ++l) {
                    result(first + q, y, k + l) = scores[l];
                    double& best = best_[q * weights_.n_sets + k + l];
                    best = std::max(best, scores[l]);
                }
            });
        };
    }

    // Scores of the classes whose bound reaches the best score, less the margin; the others get minus infinity.
    void score_best(const Batch& part, const Places& places, const double* V, int64_t first) {
        find_bounds(part, places);
        for (int k = 0; k < weights_.n_sets; ++k) std::fill_n(&result(first, 0, k), part.n_queries * r_, kNever);
        std::fill(best_.begin(), best_.end(), kNever);
        for (int round = 0; round <= kSingleRounds; ++round) {
            choose(part.n_queries, round == kSingleRounds);
            score(part, places, V, wanted_.data(), first);
            if (lacks_ && round == 0) tighten_bounds(part, places, V);
        }
    }

    // Bounds look at what rows lack, where classes are large.
    void use_lacks() {
        lacks_.emplace(batch_);
        for (int y = 0; y < r_; ++y) {
            int64_t rows = 0;
            for (const Segment& s : batch_.segments) rows += s.class_start[y + 1] - s.class_start[y];
            large_.push_back(rows >= kLargeClass);
        }
    }

    // Bounds of the classes that reach the best score, by the values that their near rows lack. As in Scorer::bound the
    // weight K_i of rows that know a value may be more than it is: here it is S less these rows. The product is largest
    // if all T_i are equal.
    void tighten_bounds(const Batch& part, const Places& places, const double* V) {
        for (int64_t q = 0; q < part.n_queries; ++q)
            for (int y = 0; y < r_; ++y) wanted_[q * r_ + y] = large_[y] && bound_[q * r_ + y] >= reach(q, 0);
        const int m = part.m;
        lacks_->sum(part, places, V, wanted_.data(), filler(), [&](int64_t q, int y, const double* L) {
            const size_t at = q * r_ + y;
            const double S = S_[at], rounding = kSubtracted * S, n = scorer_.factors(part.query(q)).n;
            double sum = matches_[at] - (m - n) * S + m * rounding;
            for (int i = 0; i < m; ++i)
                if (part.query(q)[i] != kMissing) sum -= L[i];
            T_.assign(2 * m, std::max(sum, 0.0) / std::max(n, 1.0));
            for (int i = 0; i < m; ++i) T_[m + i] = std::max(S - L[i] - rounding, 0.0);
            const double bound =
                scorer_.template log_joint<double>({&prior_[at], T_.data(), &S_[at], 1}, part.query(q));
            bound_[at] = std::min(bound_[at], bound);
        });
    }

    void find_bounds(const Batch& part, const Places& places) {
        for (int64_t q = 0; q < part.n_queries; ++q) {
            const typename Scorer::Factors factors = scorer_.factors(part.query(q));
            if (absence_) absence_->count(places, q, part.query(q), &lacking_[q * r_]);
            for (int64_t at = q * r_ * room_; at < (q + 1) * r_ * room_; at += 4) {
                const uint8_t* of = &lacking_[at / room_];  // of one class with room for four sets, or of four with one
                const Four lacking =
                    room_ > 1 ? *of + Four{} : Four{double(of[0]), double(of[1]), double(of[2]), double(of[3])};
                const typename Scorer::Known known{load(&prior_[at]), load(&S_[at]), load(&matches_[at]), lacking};
                store(&bound_[at], scorer_.bound(known, factors));
            }
        }
    }

    // Wanted are, of the classes whose bound reaches the best score so far, the one with the best bound, or all. A
    // class that was chosen has no bound any more.
    void choose(int64_t n_queries, bool all) {
        std::fill(wanted_.begin(), wanted_.end(), 0);
        const auto want = [&](int64_t pair) {
            wanted_[pair] = 1;
            std::fill_n(&bound_[pair * room_], room_, std::numeric_limits<double>::quiet_NaN());
        };
        for (int64_t q = 0; q < n_queries; ++q)
            for (int k = 0; k < weights_.n_sets; ++k) {
                double least = reach(q, k);
                int chosen = -1;
                for (int y = 0; y < r_; ++y)
                    if (const double most = bound_[(q * r_ + y) * room_ + k]; most >= least) {
                        if (all) want(q * r_ + y);
                        else chosen = y, least = most;
                    }
                if (chosen >= 0) want(q * r_ + chosen);
            }
    }

    // What a class must reach to be among those asked for.
    double reach(int64_t q, int k) const { return best_[q * weights_.n_sets + k] - margin_ - kRounding; }
    double& result(int64_t q, int y, int k) { return out_[(k * batch_.n_queries + q) * r_ + y]; }

    const Batch& batch_;
    Weights weights_;
    Summer<W, Count> summer_;
    const Scorer scorer_;
    const double margin_;
    double* const out_;  // [set][query][class]
    const int r_;
    const bool prunes_;
    const int room_;
    const int64_t at_once_;                // queries whose V and C are counted in one walk; 0 if they are not
    const int64_t step_;                   // queries at a time
    std::vector<double> S_, prior_;        // [query][class][set]
    std::vector<double> best_;             // [query][set]
    std::vector<double> matches_, bound_;  // like S
    std::vector<uint8_t> wanted_, lacking_;
    std::optional<Absence<W>> absence_;  // not used where values may be missing
    std::optional<NearLacks<W>> lacks_;  // used there, if rows count once and there is one set
    std::vector<uint8_t> large_;         // classes whose rows are looked at
    std::vector<double> T_;              // of a bound
};

}  // namespace
}  // namespace localbayes
