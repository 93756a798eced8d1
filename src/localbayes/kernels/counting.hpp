// V and C of a batch of queries. Blocks are the outer loop and queries the inner one, so that a block stays in cache
// while the queries pass over it.
#pragma once
#include "distances.hpp"
#include "matches.hpp"
#include "places.hpp"
#include "table_planes.hpp"

namespace localbayes {
namespace {

// One query against one block of rows: its planes, added up.
template <class W>
struct Sight {
    // Columns are needed only if matches are counted.
    explicit Sight(const Batch& b, bool counts = true)
        : by_tables(b.distance != nullptr), hamming(b), tables(b, counts), sums(b.n_distances() - 1) {}

    // Before queries look at a block.
    void begin(const Segment& s, const uint64_t* block, int rows) {
        by_tables ? tables.begin() : hamming.begin(s, block, vectors<W>(rows));
    }

    void look(const Segment& s, const uint64_t* block, const uint32_t* places, const uint32_t* codes, int rows) {
        const int n_vectors = vectors<W>(rows);
        planes = by_tables ? tables.find(block, places, n_vectors) : hamming.find(s, block, places, codes, n_vectors);
        sums.add(planes.added, n_vectors, by_tables ? nullptr : hamming.start());
    }

    bool by_tables;
    HammingPlanes<W> hamming;
    TablePlanes<W> tables;
    Selection planes;
    Adder<W> sums;
};

// Leave-one-out: the query's own row agrees with it on all that is known and not out of the column's domain.
template <class Count>
Count own_weight(const Batch& b, int64_t q) {
    return b.own_weight ? Count(b.own_weight[q]) : Count(1);
}
inline int own_distance(const Batch& b, int64_t q) {
    int sum = 0;
    for (int i = 0; i < b.m; ++i)
        if (b.query(q)[i] == kUnseen) sum += b.distance ? b.distance->most(i) : 1;
    return sum;
}

inline void leave_out_own(const Batch& b, double* V) {
    for (int64_t q = 0; b.own && q < b.n_queries; ++q)
        V[q * b.V_size() + own_distance(b, q) * b.class_room() + b.own[q]] -= own_weight<double>(b, q);
}

// V[query][distance][class] of all queries.
template <class W>
void count_distances(const Batch& b, const Places& places, double* V) {
    const size_t size = b.V_size();
    std::fill_n(V, b.n_queries * size, 0.0);
    Sight<W> sight(b, false);
    std::vector<double> lanes(size_t(8) * padded(b.n_distances(), 8));
    // Four times as many as fit: a block needs V of its classes only, and more queries share what is joined for it.
    const int64_t step = fitting(b.n_queries, 2 * size);
    for (int64_t first = 0; first < b.n_queries; first += step)
        for (const Segment& s : b.segments)
            for_each_block<W>(s, 0, b.n_classes, size_t(step), [&](const uint64_t* block, const auto& pieces) {
                sight.begin(s, block, pieces.back().end);
                for (int64_t q = first; q < std::min(first + step, b.n_queries); ++q) {
                    sight.look(s, block, places.of(s, q), b.query(q), pieces.back().end);
                    const DistanceCounter<W> counter(sight.sums, sight.planes.top, b.class_room(), lanes.data());
                    counter.add(pieces, V + q * size);
                }
            });
    leave_out_own(b, V);
}

using Live = std::vector<int>;  // distances at which a class has rows, increasing

inline void find_live(const Batch& b, const double* V, Live& live) {
    const size_t room = b.class_room();
    live.resize(b.n_distances());
    size_t n = 0;
    for (int d = 0, end = b.n_distances(); d < end; ++d, V += room) {  // without a branch that depends on V
        live[n] = d;
        n += *V != 0;
    }
    live.resize(n);
}

// C of one query and class: rows[d * stride + column], zero but for the distances that are live. There is a column for
// every digit of agreement, which `join_columns` puts together.
template <class Count>
struct Tally {
    size_t slot;  // of the query in its pass
    int64_t q;
    int y;
    const Count* rows;
    int stride;
    const Live& live;
};

// Columns of digits into columns of attributes, in place: T[i] = sum_l 2^l T[digit l of i], then those of values that
// rows know. A column has `room` numbers, one or a multiple of four.
template <class Numbers, class T>
void join_digits_of(const Batch& b, int room, T* columns) {
    constexpr int kStep = int(sizeof(Numbers) / sizeof(T));
    for (int i = 0; i < b.counted(); ++i) {
        const T* from = columns + b.distance->first_hit(i) * room;
        const int n_digits = b.distance->n_digits(i);
        for (int k = 0; k < room; k += kStep) {
            Numbers sum = load<Numbers>(from + k);
            for (int l = 1; l < n_digits; ++l) sum += T(1 << l) * load<Numbers>(from + l * room + k);
            store(columns + i * room + k, sum);
        }
    }
}
template <class T>
void join_columns(const Batch& b, int room, T* columns) {
    if (!b.distance) return;
    room == 1 ? join_digits_of<T>(b, room, columns) : join_digits_of<Vector<T, 4>>(b, room, columns);
    if (b.may_miss()) std::copy_n(columns + b.n_hits() * room, b.m * room, columns + b.m * room);
}

// Counts C of one query and class at a time, in integers or, where rows count more or less than once, in double.
template <class W, class Count>
class Matcher {
public:
    explicit Matcher(const Batch& b)
        : width_(b.raw_width()), tally_size_(size_t(b.n_distances()) * width_),
          per_pass_(fitting(b.n_queries, sizeof(Count) * tally_size_)), tallies_(per_pass_ * tally_size_), sight_(b),
          counter_(b.raw_columns(), b.n_hits(), width_, far_is_empty(b)) {}

    // Calls f(tally) for all queries and classes, or those that are wanted ([query][class]).
    template <class F>
    void count(const Batch& b, const Places& places, const double* V, const uint8_t* wanted, F f) {
        CountAll none;
        count(b, places, V, wanted, none, f);
    }

    // The same, but rows that have weights of their own are left to `loose` (see weigher.hpp), if that takes them.
    template <class Loose, class F>
    void count(const Batch& b, const Places& places, const double* V, const uint8_t* wanted, Loose& loose, F f) {
        for (int y = 0; y < b.n_classes; ++y) {
            for (int64_t q = 0; q < b.n_queries; ++q) {
                if (!wanted || wanted[q * b.n_classes + y]) queries_.push_back(q);
                if (queries_.size() == per_pass_) pass(b, places, V, y, loose, f);
            }
            if (!queries_.empty()) pass(b, places, V, y, loose, f);
        }
    }

    size_t per_pass() const { return per_pass_; }  // queries

    // V and C of all queries and classes in one walk over the rows; C is kept for `give`. Rows must count once each.
    void count_all(const Batch& b, const Places& places, double* V) {
        const size_t all = size_t(b.n_queries) * b.n_classes * tally_size_;
        if (tallies_.size() < all) tallies_.resize(all);
        std::fill_n(V, b.n_queries * b.V_size(), 0.0);
        for (const Segment& s : b.segments)
            for_each_block<W>(s, 0, b.n_classes, size_t(b.n_queries), [&](const uint64_t* block, const auto& pieces) {
                sight_.begin(s, block, pieces.back().end);
                counter_.begin();
                for (int64_t q = 0; q < b.n_queries; ++q) {
                    sight_.look(s, block, places.of(s, q), b.query(q), pieces.back().end);
                    const DistanceCounter<W> distances(sight_.sums, sight_.planes.top, b.class_room(), nullptr);
                    distances.add(pieces, V + q * b.V_size());
                    counter_.look(sight_.sums, sight_.planes.top, sight_.planes.columns);
                    for (const Piece& piece : pieces)
                        counter_.add(piece, &tallies_[(q * b.n_classes + piece.y) * tally_size_]);
                }
            });
        leave_out_own(b, V);
    }

    // Calls f(tally) for all queries and classes that were counted.
    template <class F>
    void give(const Batch& b, const double* V, F f) {
        for (int64_t q = 0; q < b.n_queries; ++q)
            for (int y = 0; y < b.n_classes; ++y) finish(b, V, q, y, 0, size_t(q * b.n_classes + y), f);
    }

    // How many queries to count at once; 0 if C of few queries does not stay in cache. More share what is joined for a
    // block, and of each only the classes of the block are needed.
    static int64_t queries_at_once(const Batch& b) {
        const int64_t bytes = sizeof(Count) * b.n_classes * b.n_distances() * b.raw_width() + 1;
        return kFewQueries * bytes > kFewBytes ? 0 : std::min<int64_t>(kManyBytes / bytes, kQueriesPerPass);
    }

private:
    static constexpr int64_t kFewQueries = 32, kFewBytes = 1 << 20, kManyBytes = 1 << 21;

    struct CountAll {
        static constexpr bool kTakes = false;
    };

    // A row at the largest distance is in no column: it agrees on nothing, and as rows that lack a value are near, it
    // lacks none. In double the rows that do not lack a value are counted, and it is one of them.
    static bool far_is_empty(const Batch& b) {
        if (b.distance) return !b.may_miss() && b.distance->far_is_unlike();
        return !b.may_miss() || !std::is_same_v<Count, double>;
    }

    template <class Loose, class F>
    void pass(const Batch& b, const Places& places, const double* V, int y, Loose& loose, F& f) {
        if constexpr (Loose::kTakes) loose.begin(b, V, queries_, y);
        for (const Segment& s : b.segments)
            for_each_block<W>(s, y, y + 1, queries_.size(), [&](const uint64_t* block, const auto& pieces) {
                sight_.begin(s, block, pieces.back().end);
                counter_.begin();
                for (size_t k = 0; k < queries_.size(); ++k) {
                    const int64_t q = queries_[k];
                    sight_.look(s, block, places.of(s, q), b.query(q), pieces.back().end);
                    counter_.look(sight_.sums, sight_.planes.top, sight_.planes.columns);
                    for (const Piece& piece : pieces) {
                        if constexpr (Loose::kTakes)
                            if (piece.weights && loose.add(k, sight_, piece)) continue;
                        counter_.add(piece, &tallies_[k * tally_size_]);
                    }
                }
            });
        for (size_t k = 0; k < queries_.size(); ++k) finish(b, V, queries_[k], y, k, k, f);
        queries_.clear();
    }

    // Gives f the counts that place `at` holds, and makes them zero.
    template <class F>
    void finish(const Batch& b, const double* V, int64_t q, int y, size_t slot, size_t at, F& f) {
        Count* rows = &tallies_[at * tally_size_];
        Count* own = b.own && b.own[q] == y ? rows + size_t(own_distance(b, q)) * width_ : nullptr;
        if (own) leave_out(b, q, own);
        find_live(b, V + q * b.V_size() + y, live_);
        count_known(b, V + q * b.V_size() + y, rows);
        f(Tally<Count>{slot, q, y, rows, width_, live_});
        if (own) std::fill_n(own, width_, Count{});  // where no other row may be
        for (const int d : live_) std::fill_n(rows + size_t(d) * width_, width_, Count{});
    }

    // Rows that know a value are all but those that lack it.
    void count_known(const Batch& b, const double* V, int32_t* rows) const {
        for (int i = b.n_hits(); i < b.raw_columns(); ++i)
            for (const int d : live_) rows[d * width_ + i] = int32_t(V[d * b.class_room()]) - rows[d * width_ + i];
    }
    void count_known(const Batch&, const double*, double*) const {}  // they were counted themselves

    static void leave_out(const Batch& b, int64_t q, Count* row) {
        constexpr bool kCountsKnown = std::is_same_v<Count, double>;
        const Count weight = own_weight<Count>(b, q);
        const uint32_t* query = b.query(q);
        for (int i = 0; i < b.m; ++i) {
            const int agreement = query[i] >= kMissing ? 0 : b.distance ? b.distance->s(i, query[i], query[i]) : 1;
            for (int l = 0; agreement >> l != 0; ++l)
                if (agreement >> l & 1) row[(b.distance ? b.distance->first_hit(i) : i) + l] -= weight;
            if (b.may_miss() && (query[i] != kMissing) == kCountsKnown) row[b.n_hits() + i] -= weight;
        }
    }

    int width_;
    size_t tally_size_, per_pass_;
    std::vector<Count> tallies_;  // zero between passes
    std::vector<int64_t> queries_;
    Live live_;
    Sight<W> sight_;
    MatchCounter<W> counter_;
};

// Calls f(Count{}) with what counts are: integers if every row counts once, or double.
template <class F>
void with_count(const Batch& b, F f) {
    bool once = !b.own_weight;
    for (const Segment& s : b.segments) once &= s.runs.empty();
    once ? f(int32_t{}) : f(double{});
}

}  // namespace
}  // namespace localbayes
