// Values that the near rows of a class lack: what bounds need where values may be missing.
#pragma once
#include "counting.hpp"

namespace localbayes {
namespace {

// L_i: the weight of the rows of a class that lack attribute i, over its nearest rows only. Those that have some share
// of the weight of all are few, and half of the columns of C are not counted. Rows must count once each.
template <class W>
class NearLacks {
public:
    explicit NearLacks(const Batch& b)
        : m_(b.m), width_(padded(b.m, 4)), tally_size_(size_t(b.n_distances()) * width_),
          per_pass_(fitting(b.n_queries, sizeof(int32_t) * tally_size_)), tallies_(per_pass_ * tally_size_),
          by_distance_(per_pass_ * b.n_distances()), w_(b.n_distances()), L_(width_), sight_(b),
          counter_(m_, 0, width_, false) {}

    // Calls f(q, y, L) for the queries and classes that are wanted ([query][class]). fill(q, y, live, w) gives the only
    // set of weights of distances. A query's own row lacks nothing that the query knows.
    template <class Fill, class F>
    void sum(const Batch& b, const Places& places, const double* V, const uint8_t* wanted, Fill fill, F f) {
        for (int y = 0; y < b.n_classes; ++y) {
            for (int64_t q = 0; q < b.n_queries; ++q) {
                if (wanted[q * b.n_classes + y]) queries_.push_back(q);
                if (queries_.size() == per_pass_) pass(b, places, V, y, fill, f);
            }
            if (!queries_.empty()) pass(b, places, V, y, fill, f);
        }
    }

private:
    static constexpr double kShare = 0.9;  // of the weight of a class that near rows have

    template <class Fill, class F>
    void pass(const Batch& b, const Places& places, const double* V, int y, Fill& fill, F& f) {
        near_.clear();
        for (size_t k = 0; k < queries_.size(); ++k) {
            const int64_t q = queries_[k];
            find_live(b, V + q * b.V_size() + y, live_);
            fill(q, y, live_, w_.data());
            near_.push_back(find_near(b, V + q * b.V_size() + y, &by_distance_[k * b.n_distances()]));
        }
        for (const Segment& s : b.segments)
            for_each_block<W>(s, y, y + 1, queries_.size(), [&](const uint64_t* block, const auto& pieces) {
                sight_.begin(s, block, pieces.back().end);
                counter_.begin();
                for (size_t k = 0; k < queries_.size(); ++k) {
                    const int64_t q = queries_[k];
                    sight_.look(s, block, places.of(s, q), b.query(q), pieces.back().end);
                    const Selection& planes = sight_.planes;
                    counter_.look(sight_.sums, planes.top, planes.columns + m_, planes.top + 1 - near_[k]);
                    for (const Piece& piece : pieces) counter_.add(piece, &tallies_[k * tally_size_]);
                }
            });
        for (size_t k = 0; k < queries_.size(); ++k) {
            std::fill(L_.begin(), L_.end(), 0.0);
            int32_t* rows = &tallies_[k * tally_size_];
            for (int d = 0; d < near_[k]; ++d)
                if (const double w = by_distance_[k * b.n_distances() + d]; w != 0)
                    for (int i = 0; i < width_; i += 4)
                        store(&L_[i], load(&L_[i]) + w * __builtin_convertvector(
                                                             load<Vector<int32_t, 4>>(rows + d * width_ + i), Four));
            std::fill_n(rows, near_[k] * width_, 0);
            f(queries_[k], y, L_.data());
        }
        queries_.clear();
    }

    // How many distances are near. Their weights are written down, and zero where there is no row.
    int find_near(const Batch& b, const double* V, double* by_distance) const {
        double all = 0, near = 0;
        for (size_t l = 0; l < live_.size(); ++l) all += w_[l] * V[live_[l] * b.class_room()];
        int d = 0;
        for (size_t l = 0; l < live_.size() && near < kShare * all; ++l) {
            for (; d < live_[l]; ++d) by_distance[d] = 0;
            by_distance[d++] = w_[l];
            near += w_[l] * V[live_[l] * b.class_room()];
        }
        return d;
    }

    int m_, width_;
    size_t tally_size_, per_pass_;
    std::vector<int32_t> tallies_;  // zero between passes
    std::vector<int64_t> queries_;
    std::vector<int> near_;            // distances, by place in queries_
    std::vector<double> by_distance_;  // their weights
    std::vector<double> w_, L_;
    Live live_;
    Sight<W> sight_;
    MatchCounter<W> counter_;
};

}  // namespace
}  // namespace localbayes
