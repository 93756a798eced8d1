// C[distance][column]: how many rows of one class lie at a distance and have the query's value of an attribute.
#pragma once
#include "adder.hpp"

namespace localbayes {
namespace {

// Adds the rows of one piece of a class to rows[distance * width + column]; a row whose sum is s lies at distance
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

    void add(const Adder<W>& sums, int top, const uint64_t* const* columns, const Piece& piece, int32_t* rows) {
        if (piece.end - piece.begin <= 64) return add_words(sums, top, columns, piece, rows);
        for (int i = 0; i < n_columns_; ++i) {
            Split* to = &split_[size_t(i) * kVectors<W>];
            for (int v = 0; v < sums.n_vectors(); ++v) to[v] = W::split(W::load(columns[i] + v * W::kWords));
        }
        for (int v = 0; v < sums.n_vectors(); v += W::kTile)
            with_constant<1, W::kTile>(std::min(W::kTile, sums.n_vectors() - v),
                                       [&]<int N>() { add_tile<N>(sums, top, piece, v, rows); });
    }

    // Rows with weights, one by one. Of missing values the rows that do not lack them are counted: a difference of sums
    // of weights would not be exact.
    void add(const Adder<W>& sums, int top, const uint64_t* const* columns, const Piece& piece, double* rows) const {
        sums.for_each_row(piece, [&](int row, int sum) {
            const double weight = piece.weights[row - piece.begin];
            double* to = rows + size_t(top - sum) * width_;
            for (int i = 0; i < n_columns_; ++i)
                if ((columns[i][row / 64] >> row % 64 & 1) != (i >= first_missing_)) to[i] += weight;
        });
    }

private:
    // A piece of few rows: word by word, which spares it the rest of its vectors.
    void add_words(const Adder<W>& sums, int top, const uint64_t* const* columns, const Piece& piece, int32_t* rows) {
        for (int w = piece.begin / 64; w * 64 < piece.end; ++w) {
            const auto word = [&](const Vec* planes) { return reinterpret_cast<const uint64_t*>(planes)[w]; };
            const uint64_t mask = bits_between(piece.begin - 64 * w, piece.end - 64 * w);
            for (int i = 0; i < n_columns_; ++i) words_[i] = columns[i][w];
            for (int group = 0; group <= top / 8; ++group) {
                const uint64_t some = mask & word(sums.high(group));
                for (int low = 0; low < 8 && some != 0; ++low) {
                    const uint64_t leaf = some & word(sums.lowest(low));
                    if (leaf == 0) continue;
                    int32_t* row = rows + size_t(top - 8 * group - low) * width_;
                    for (int i = 0; i < width_; i += 4) W::add_popcounts(row + i, leaf, &words_[i]);
                }
            }
        }
    }

    // N vectors of the block, for all distances that occur in them. The number of vectors is a template parameter, so
    // that every loop over them is unrolled.
    template <int N>
    void add_tile(const Adder<W>& sums, int top, const Piece& piece, int first, int32_t* rows) const {
        Vec inside[N];
        for (int v = 0; v < N; ++v) inside[v] = rows_between(piece.begin, piece.end, first + v);
        for (int group = 0; group <= top / 8; ++group) {
            Vec some[N];
            for (int v = 0; v < N; ++v) some[v] = inside[v] & sums.high(group)[first + v];
            if (!any<W>(some, N)) continue;
            for (int low = 0; low < 8; ++low) {
                Vec leaf[N];
                for (int v = 0; v < N; ++v) leaf[v] = some[v] & sums.lowest(low)[first + v];
                if (any<W>(leaf, N) && !(zero_is_empty_ && 8 * group + low == 0))
                    add_distance<N>(leaf, first, rows + size_t(top - 8 * group - low) * width_);
            }
        }
    }

    // Popcounts of one distance's masks with all columns. Vectors without a row are passed over.
    template <int N>
    void add_distance(const Vec (&mask)[N], int first, int32_t* row) const {
        Split live[N];
        const Split* at[N];
        int n = 0;
        for (int v = 0; v < N; ++v) n += !W::is_zero(mask[v]);
        if (n == N) {  // most vectors of a large class: all stay in registers
            for (int v = 0; v < N; ++v) {
                live[v] = W::split(mask[v]);
                at[v] = &split_[first + v];
            }
            return count_live<N>(live, at, row);
        }
        n = 0;
        for (int v = 0; v < N; ++v) {
            live[n] = W::split(mask[v]);
            at[n] = &split_[first + v];
            n += !W::is_zero(mask[v]);
        }
        with_constant<1, N>(n, [&]<int K>() { count_live<K>(live, at, row); });
    }

    template <int K>
    [[gnu::always_inline]] void count_live(const Split* live, const Split* const* at, int32_t* out) const {
        for (int i = 0; i < width_; i += 4) {
            typename W::Sum sum[4] = {};
            for (int v = 0; v < K; ++v) {  // a mask serves four columns while it is in registers
                const Split mask = live[v];
                const Split* column = at[v] + size_t(i) * kVectors<W>;
                for (int k = 0; k < 4; ++k) W::add_popcount(sum[k], mask, column[k * kVectors<W>]);
            }
            W::add_values(out + i, sum);
        }
    }

    // Which rows of a vector are among [begin, end).
    static Vec rows_between(int begin, int end, int v) {
        constexpr int kRows = kVecRows<W>;
        if (begin <= v * kRows && (v + 1) * kRows <= end) return ~Vec{};
        uint64_t word[W::kWords];
        for (int k = 0; k < W::kWords; ++k)
            word[k] = bits_between(begin - v * kRows - 64 * k, end - v * kRows - 64 * k);
        return W::load(word);
    }

    int n_columns_, first_missing_, width_;
    bool zero_is_empty_;
    std::vector<uint64_t> words_;
    std::vector<Split> split_;
};

}  // namespace
}  // namespace localbayes
