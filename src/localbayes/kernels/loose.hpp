// Sums over rows that have weights of their own.
//
// Eight neighbouring rows are the lanes of a vector, row k of a byte in lane k. A sum is made lane by lane, from the
// first byte to the last, and then over the lanes: in that order on every instruction set.
#pragma once
#include "adder.hpp"

namespace localbayes {
namespace {

constexpr int kBytes = 8;  // of a word

// The words of a block that hold rows of a piece, and which of their bits these are.
struct PieceWords {
    explicit PieceWords(const Piece& p) : first(p.begin / 64), end((p.end + 63) / 64) {
        for (int w = first; w < end; ++w) inside[w] = bits_between(p.begin - 64 * w, p.end - 64 * w);
    }
    int first, end;
    uint64_t inside[kBlockWords];
};

template <class W>
const uint64_t* words_of(const typename W::Vec* planes) {
    return reinterpret_cast<const uint64_t*>(planes);
}

// Calls f(d, sum) with the weight of the rows of a piece at every distance d that occurs.
template <class W, class F>
void loose_distances(const Adder<W>& sums, int top, const Piece& p, F f) {
    const PieceWords at(p);
    for (int group = 0; group <= top / 8; ++group) {
        const uint64_t* high = words_of<W>(sums.high(group));
        uint64_t some[kBlockWords], any = 0;
        for (int w = at.first; w < at.end; ++w) any |= some[w] = at.inside[w] & high[w];
        for (int low = 0; low < 8 && any != 0; ++low) {
            const uint64_t* lowest = words_of<W>(sums.lowest(low));
            EightDoubles sum[4] = {};
            uint64_t found = 0;
            for (int w = at.first; w < at.end; ++w) {
                const uint64_t rows = some[w] & lowest[w];
                if (rows == 0) continue;
                found |= rows;
                for (int b = 0; b < kBytes; ++b)
                    W::add_masked(sum[b % 4], rows >> 8 * b & 255, load<EightDoubles>(p.weights + 64 * w + 8 * b));
            }
            if (found != 0) f(top - 8 * group - low, sum_of((sum[0] + sum[1]) + (sum[2] + sum[3])));
        }
    }
}

// T of a piece: the final weight of a row is its own times that of its distance, and T of a column is the sum over the
// rows that are in the column. The twin is plain::weighted_sum of plain::match_counts.
template <class W>
class LooseSums {
public:
    // Columns from first_missing on are of rows that lack a value; those that do not are summed up.
    LooseSums(int n_columns, int first_missing)
        : n_columns_(n_columns), first_missing_(first_missing), final_(kBlockRows) {}

    // by_distance is the weight of every distance. T has a stride of `room`.
    void add(const Adder<W>& sums, int top, const uint64_t* const* columns, const Piece& p, const double* by_distance,
             double* T, int room) {
        const PieceWords at(p);
        weigh(sums, top, at, p.weights, by_distance);
        constexpr int kColumns = W::kWords == 8 ? 8 : 4;  // whose sums stay in registers
        for (int i = 0; i < n_columns_; i += kColumns)
            with_constant<1, kColumns>(std::min(kColumns, n_columns_ - i), [&]<int N>() {
                if (i + N <= first_missing_) add_columns<N, false>(columns + i, i, at, T + i * room, room);
                else add_columns<N, true>(columns + i, i, at, T + i * room, room);
            });
    }

private:
    // Final weights of the rows of a piece, and zeros for other rows of their words.
    void weigh(const Adder<W>& sums, int top, const PieceWords& at, const double* weights, const double* by_distance) {
        for (int w = at.first; w < at.end; ++w) {
            EightDoubles factor[kBytes] = {};
            for (int group = 0; group <= top / 8; ++group) {
                const uint64_t some = at.inside[w] & words_of<W>(sums.high(group))[w];
                for (int low = 0; low < 8 && some != 0; ++low) {
                    const uint64_t rows = some & words_of<W>(sums.lowest(low))[w];
                    if (rows == 0) continue;
                    const EightDoubles weight = by_distance[top - 8 * group - low] + EightDoubles{};
                    for (int b = 0; b < kBytes; ++b) W::add_masked(factor[b], rows >> 8 * b & 255, weight);
                }
            }
            for (int b = 0; b < kBytes; ++b)
                store(&final_[64 * w + 8 * b], factor[b] * load<EightDoubles>(weights + 64 * w + 8 * b));
        }
    }

    template <int N, bool kMissing>
    void add_columns(const uint64_t* const* columns, int first, const PieceWords& at, double* T, int room) const {
        EightDoubles sum[N] = {};
        const uint8_t* bytes[N];
        unsigned flip[N];
        for (int k = 0; k < N; ++k) {
            bytes[k] = reinterpret_cast<const uint8_t*>(columns[k]);
            flip[k] = first + k >= first_missing_ ? 255 : 0;
        }
        for (int b = kBytes * at.first; b < kBytes * at.end; ++b) {
            const EightDoubles x = load<EightDoubles>(&final_[8 * b]);
            for (int k = 0; k < N; ++k) W::add_masked(sum[k], kMissing ? bytes[k][b] ^ flip[k] : bytes[k][b], x);
        }
        for (int k = 0; k < N; ++k) T[k * room] += sum_of(sum[k]);
    }

    int n_columns_, first_missing_;
    std::vector<double> final_;  // weights of the rows of a block
};

}  // namespace
}  // namespace localbayes
