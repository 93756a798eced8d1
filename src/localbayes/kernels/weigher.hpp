// Weighted sums of C.
#pragma once
#include "weights.hpp"

namespace localbayes {
namespace {

// T[i][k] = sum_d w[d][k] C[d, i] for `room` sets k, over the distances that are live. Four columns, of the only
// set or of four, stay in registers.
template <class W>
class Weigher {
public:
    explicit Weigher(const Batch& b) : rows_(size_t(b.n_distances()) * b.raw_width()) {}

    template <class Count>
    void weigh(const Tally<Count>& tally, const double* w, int room, double* T) {
        const Count* rows = tally.rows;
        const int stride = tally.stride;
        const Live& live = tally.live;
        const size_t n = live.size();
        if (room == 1) {
            const auto weigh_columns = [&]<int N>(int i) {
                Four sum[N] = {};
                for (size_t l = 0; l < n; ++l) {
                    const Count* row = rows + size_t(live[l]) * stride + i;
                    for (int j = 0; j < N; ++j)
                        sum[j] += w[l] * __builtin_convertvector(load<Vector<Count, 4>>(row + 4 * j), Four);
                }
                for (int j = 0; j < N; ++j) store(T + i + 4 * j, sum[j]);
            };
            int i = 0;
            for (; i + 16 <= stride; i += 16) weigh_columns.template operator()<4>(i);
            for (; i < stride; i += 4) weigh_columns.template operator()<1>(i);
            return;
        }
        for (size_t l = 0; l < n; ++l)
            for (int i = 0; i < stride; i += 4)
                store(&rows_[l * stride + i],
                      __builtin_convertvector(load<Vector<Count, 4>>(rows + size_t(live[l]) * stride + i), Four));
        for_sets<W>(room, [&]<class Sets>(Sets, int k) {
            const auto weigh_columns = [&]<int N>(int i) {
                Sets sum[N] = {};
                const double* row = &rows_[i];
                for (size_t l = 0; l < n; ++l, row += stride)
                    for (int j = 0; j < N; ++j) sum[j] += load<Sets>(w + l * room + k) * row[j];
                for (int j = 0; j < N; ++j) store(T + (i + j) * room + k, sum[j]);
            };
            int i = 0;
            for (; i + 8 <= stride; i += 8) weigh_columns.template operator()<8>(i);
            if (i < stride) weigh_columns.template operator()<4>(i);
        });
    }

private:
    std::vector<double> rows_;  // of the distances that occur
};

// T of queries and classes: C, weighted. Where there are few sets, the sums of rows with weights of their own are made
// without C, see loose.hpp.
template <class W, class Count>
class Summer {
public:
    Summer(const Batch& b, int n_sets, int room)
        : n_sets_(n_sets), room_(room), matcher_(b), weigher_(b), w_(size_t(b.n_distances()) * room),
          T_(size_t(b.raw_width()) * room + 8), loose_(b, n_sets, room, matcher_.per_pass()) {}

    // Calls f(q, y, live, T[column][set]) for all queries and classes, or those that are wanted. fill(q, y, live, w)
    // gives the weights of distances, [distance that is live][set]. T may be read a vector of eight beyond its end.
    template <class Fill, class F>
    void sum(const Batch& b, const Places& places, const double* V, const uint8_t* wanted, Fill fill, F f) {
        const auto finish = finisher(b, fill, f);
        if constexpr (kLoose) {
            if (n_sets_ <= kFewSets) {
                Taken<Fill> taken{loose_, fill};
                return matcher_.count(b, places, V, wanted, taken, finish);
            }
        }
        matcher_.count(b, places, V, wanted, finish);
    }

    // The same in two steps, for all classes, where rows count once each: V and C are counted in one walk over the
    // rows, then, when V has given the weights, C is summed up.
    static int64_t queries_at_once(const Batch& b) { return kLoose ? 0 : Matcher<W, Count>::queries_at_once(b); }
    void count_all(const Batch& b, const Places& places, double* V) { matcher_.count_all(b, places, V); }
    template <class Fill, class F>
    void sum_counted(const Batch& b, const double* V, Fill fill, F f) {
        matcher_.give(b, V, finisher(b, fill, f));
    }

private:
    static constexpr bool kLoose = std::is_same_v<Count, double>;
    static constexpr int kFewSets = 16;  // with more, counting C row by row is as quick

    template <class Fill, class F>
    auto finisher(const Batch& b, Fill& fill, F& f) {
        return [&](const auto& tally) {
            fill(tally.q, tally.y, tally.live, w_.data());
            weigher_.weigh(tally, w_.data(), room_, T_.data());
            if constexpr (kLoose)
                if (n_sets_ <= kFewSets) loose_.add_sums(tally.slot, T_);
            join_columns(b, room_, T_.data());
            f(tally.q, tally.y, tally.live, T_.data());
        };
    }

    // Sums of the queries of a pass over rows with weights of their own.
    struct Loose {
        Loose(const Batch& b, int n_sets, int room, size_t per_pass)
            : n_sets(n_sets), room(room), weighted(b.weighted), n_distances(b.n_distances()),
              width(b.raw_width() * size_t(room)), sums(b.raw_columns(), b.n_hits(), n_distances),
              by_distance(kLoose ? per_pass * n_sets * n_distances : 0), T(kLoose ? per_pass * width : 0),
              w(size_t(n_distances) * room) {}

        void add_sums(size_t slot, std::vector<double>& to) {
            double* from = &T[slot * width];
            for (size_t i = 0; i < width; ++i) to[i] += from[i];
            std::fill_n(from, width, 0.0);
        }

        int n_sets, room;
        bool weighted;
        int n_distances;
        size_t width;
        LooseSums<W> sums;
        std::vector<double> by_distance, T;  // [slot][set][distance], zero where no row is; [slot][column][set]
        std::vector<double> w;
        Live live;
    };

    template <class Fill>
    struct Taken {
        static constexpr bool kTakes = true;

        void begin(const Batch& b, const double* V, const std::vector<int64_t>& queries, int y) {
            double* to = loose.by_distance.data();
            std::fill_n(to, queries.size() * loose.n_sets * loose.n_distances, 0.0);
            for (const int64_t q : queries) {
                find_live(b, V + q * b.V_size() + y, loose.live);
                fill(q, y, loose.live, loose.w.data());
                for (int k = 0; k < loose.n_sets; ++k, to += loose.n_distances)
                    for (size_t l = 0; l < loose.live.size(); ++l) to[loose.live[l]] = loose.w[l * loose.room + k];
            }
        }
        // Frequencies, and few rows, are left to C: what they count adds up without rounding, or may do so, and T then
        // does not depend on the order of rows.
        bool add(size_t slot, const Sight<W>& sight, const Piece& piece) {
            if (!piece.many || !loose.weighted) return false;
            for (int k = 0; k < loose.n_sets; ++k)
                loose.sums.add(sight.sums, sight.planes.top, sight.planes.columns, piece,
                               &loose.by_distance[(slot * loose.n_sets + k) * loose.n_distances],
                               &loose.T[slot * loose.width + k], loose.room);
            return true;
        }

        Loose& loose;
        Fill& fill;
    };

    int n_sets_, room_;
    Matcher<W, Count> matcher_;
    Weigher<W> weigher_;
    std::vector<double> w_, T_;  // of one query and class: [distance][set], [column][set]
    Loose loose_;
};

// Calls f(summer) with one for the rows of a batch.
template <class W, class F>
void with_summer(const Batch& b, int n_sets, int room, F f) {
    with_count(b, [&]<class Count>(Count) { f(Summer<W, Count>(b, n_sets, room)); });
}

}  // namespace
}  // namespace localbayes
