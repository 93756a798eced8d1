// C[distance][column]: how many rows of one class lie at a distance and have the query's value of an attribute.
#pragma once
#include "adder.hpp"

namespace localbayes {
namespace {

// Adds the rows of pieces of a class to rows[distance * width + column]; a row whose sum is s lies at distance
// top - s. The twin is plain::match_counts.
template <class W>
class MatchCounter {
    using Vec = typename W::Vec;
    using Split = typename W::Split;

public:
    // Columns from first_missing on are of rows that lack a value. The width is a multiple of four. A row whose sum is
    // zero is in no column if `zero_is_empty`.
    MatchCounter(int n_columns, int first_missing, int width, bool zero_is_empty)
        : n_columns_(n_columns), first_missing_(first_missing), width_(width), zero_is_empty_(zero_is_empty),
          words_(width), split_(size_t(width) * kVectors<W>) {}

    // A new block. Which of its rows lack values is the same for all queries.
    void begin() { missing_are_split_ = false; }

    // The rows of a query in a block; what is added then are pieces of them. Rows whose sum is below the least are
    // left out, unless they have weights of their own.
    void look(const Adder<W>& sums, int top, const uint64_t* const* columns, int least = 0) {
        sums_ = &sums;
        top_ = top;
        least_ = least;
        columns_ = columns;
        is_split_ = false;
    }

    // Adds rows in integers, or, where a piece has a factor or weights, in double. Of missing values the rows that do
    // not lack them are counted in double: a difference of sums of weights would not be exact.
    template <class Count>
    void add(const Piece& piece, Count* rows) {
        if (piece.weights) return add_weighted(piece, rows);
        if (piece.end - piece.begin <= 64) return add_words(piece, rows);
        if (!is_split_) split<Count>();
        const int end = vectors<W>(piece.end);
        for (int v = piece.begin / kVecRows<W>; v < end; v += W::kTile)
            with_constant<1, W::kTile>(std::min(W::kTile, end - v), [&]<int N>() { add_tile<N>(piece, v, rows); });
    }

private:
    template <class Count>
    static constexpr bool kCountsKnown = std::is_same_v<Count, double>;

    template <class Count>
    void split() {
        const int n = missing_are_split_ ? std::min(first_missing_, n_columns_) : n_columns_;
        for (int i = 0; i < n; ++i) {
            Split* to = &split_[size_t(i) * kVectors<W>];
            const bool flip = kCountsKnown<Count> && i >= first_missing_;
            for (int v = 0; v < sums_->n_vectors(); ++v) {
                const Vec rows = W::load(columns_[i] + v * W::kWords);
                to[v] = W::split(flip ? ~rows : rows);
            }
        }
        is_split_ = missing_are_split_ = true;
    }

    template <int N>
    [[gnu::always_inline]] static void put(int32_t* out, const typename W::Sum (&sum)[N], double) {
        W::add_values(out, sum);
    }
    template <int N>
    [[gnu::always_inline]] static void put(double* out, const typename W::Sum (&sum)[N], double factor) {
        int32_t counts[N] = {};
        W::add_values(counts, sum);
        add_counts(out, counts, factor);
    }
    template <int N>
    static void add_counts(double* out, const int32_t (&counts)[N], double factor) {
        for (int k = 0; k < N; k += 4)
            store(out + k,
                  load(out + k) + factor * __builtin_convertvector(load<Vector<int32_t, 4>>(counts + k), Four));
    }

    // Rows with weights of their own, one by one.
    template <class Count>
    void add_weighted(const Piece& piece, Count* rows) const {
        if constexpr (kCountsKnown<Count>)
            sums_->for_each_row(piece, [&](int row, int sum) {
                double* to = rows + size_t(top_ - sum) * width_;
                for (int i = 0; i < n_columns_; ++i)
                    if ((columns_[i][row / 64] >> row % 64 & 1) != (i >= first_missing_)) to[i] += piece.weights[row];
            });
    }

    // A piece of few rows: word by word, which spares it the rest of its vectors.
    template <class Count>
    void add_words(const Piece& piece, Count* rows) {
        for (int w = piece.begin / 64; w * 64 < piece.end; ++w) {
            const auto word = [&](const Vec* planes) { return reinterpret_cast<const uint64_t*>(planes)[w]; };
            const uint64_t mask = bits_between(piece.begin - 64 * w, piece.end - 64 * w);
            for (int i = 0; i < n_columns_; ++i)
                words_[i] = kCountsKnown<Count> && i >= first_missing_ ? ~columns_[i][w] : columns_[i][w];
            for (int group = least_ / 8; group <= top_ / 8; ++group) {
                const uint64_t some = mask & word(sums_->high(group));
                for (int low = std::max(0, least_ - 8 * group); low < 8 && some != 0; ++low) {
                    const uint64_t leaf = some & word(sums_->lowest(low));
                    if (leaf == 0) continue;
                    Count* row = rows + size_t(top_ - 8 * group - low) * width_;
                    for (int i = 0; i < width_; i += 4) {
                        if constexpr (kCountsKnown<Count>) {
                            int32_t counts[4] = {};
                            W::add_popcounts(counts, leaf, &words_[i]);
                            add_counts(row + i, counts, piece.factor);
                        } else W::add_popcounts(row + i, leaf, &words_[i]);
                    }
                }
            }
        }
    }

    // N vectors of the block, for all distances that occur in them. The number of vectors is a template parameter, so
    // that every loop over them is unrolled.
    template <int N, class Count>
    void add_tile(const Piece& piece, int first, Count* rows) const {
        Vec inside[N];
        for (int v = 0; v < N; ++v) inside[v] = rows_between<W>(piece.begin, piece.end, first + v);
        for (int group = least_ / 8; group <= top_ / 8; ++group) {
            Vec some[N];
            for (int v = 0; v < N; ++v) some[v] = inside[v] & sums_->high(group)[first + v];
            if (!any<W>(some, N)) continue;
            for (int low = std::max(0, least_ - 8 * group); low < 8; ++low) {
                Vec leaf[N];
                for (int v = 0; v < N; ++v) leaf[v] = some[v] & sums_->lowest(low)[first + v];
                if (any<W>(leaf, N) && !(zero_is_empty_ && 8 * group + low == 0))
                    add_distance<N>(leaf, first, rows + size_t(top_ - 8 * group - low) * width_, piece.factor);
            }
        }
    }

    // Popcounts of one distance's masks with all columns. Vectors of few rows are passed over if they have none; those
    // of many rarely are without, and to find that out takes as long as to count them.
    template <int N, class Count>
    void add_distance(const Vec (&mask)[N], int first, Count* row, double factor) const {
        Split live[N];
        const Split* at[N];
        int n = 0;
        for (int v = 0; v < N; ++v) {
            live[n] = W::split(mask[v]);
            at[n] = &split_[first + v];
            n += W::kWords > 2 || !W::is_zero(mask[v]);
        }
        if constexpr (W::kWords > 2) count_live<N>(live, at, row, factor);
        else with_constant<1, N>(n, [&]<int K>() { count_live<K>(live, at, row, factor); });
    }

    template <int K, class Count>
    [[gnu::always_inline]] void count_live(const Split* live, const Split* const* at, Count* out, double factor) const {
        int i = 0;
        for (; i + W::kColumns <= width_; i += W::kColumns) count_columns<K, W::kColumns>(live, at, i, out, factor);
        if constexpr (W::kColumns > 4)
            if (i < width_) count_columns<K, 4>(live, at, i, out, factor);
    }

    // Columns i to i + N - 1. A mask serves all of them while it is in registers.
    template <int K, int N, class Count>
    [[gnu::always_inline]] void count_columns(const Split* live, const Split* const* at, int i, Count* out,
                                              double factor) const {
        typename W::Sum sum[N] = {};
        for (int v = 0; v < K; ++v) {
            const Split mask = live[v];
            const Split* column = at[v] + size_t(i) * kVectors<W>;
            for (int k = 0; k < N; ++k) W::add_popcount(sum[k], mask, column[k * kVectors<W>]);
        }
        put(out + i, sum, factor);
    }

    int n_columns_, first_missing_, width_;
    bool zero_is_empty_, is_split_ = false, missing_are_split_ = false;
    const Adder<W>* sums_ = nullptr;
    int top_ = 0, least_ = 0;
    const uint64_t* const* columns_ = nullptr;
    std::vector<uint64_t> words_;
    std::vector<Split> split_;
};

}  // namespace
}  // namespace localbayes
