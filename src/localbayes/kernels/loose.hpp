// Sums over rows that have weights of their own.
//
// Eight neighbouring rows are the lanes of a vector, row k of a byte in lane k. A sum is made lane by lane, from the
// first byte to the last, and then over the lanes: in that order on every instruction set.
#pragma once
#include "adder.hpp"

namespace localbayes {
namespace {

constexpr int kBytes = 8;  // of a word

// The words of a block that hold rows of a piece.
struct PieceWords {
    explicit PieceWords(const Piece& p) : first(p.begin / 64), end((p.end + 63) / 64) {}
    int first, end;
};

// The weight of the rows of a piece by their sum of planes: by_sum[sum][row % 8]. No branch depends on the rows.
template <class W>
class LooseWeights {
public:
    LooseWeights(const Adder<W>& sums, double* by_sum) : sums_(sums), by_sum_(by_sum) {}

    void add(const Piece& p) const {
        const int first = (p.begin + 63) / 64, end = p.end / 64;  // words of which all rows are in the piece
        if (first >= end || !sums_.fit_bytes()) return add_rows(p, p.begin, p.end);
        add_rows(p, p.begin, 64 * first);
        // Sums that come times eight are the places of their lanes.
        sums_.fit_bytes(3) ? add_words<3>(p, first, end) : add_words<0>(p, first, end);
        add_rows(p, 64 * end, p.end);
    }

private:
    void add_rows(const Piece& p, int begin, int end) const {
        sums_.for_each_row({p.y, begin, end, 0, nullptr},
                           [&](int row, int sum) { by_sum_[8 * sum + row % 8] += p.weights[row]; });
    }

    template <int kShift>
    void add_words(const Piece& p, int first, int end) const {
        for (int w = first; w < end; ++w) {
            alignas(64) uint8_t of_word[64];
            sums_.sums_of_word(w, of_word, kShift);
            const double* weights = p.weights + 64 * w;
            for (size_t k = 0; k < 64; k += 8)
                for (size_t lane = 0; lane < 8; ++lane)
                    by_sum_[(size_t(of_word[k + lane]) << (3 - kShift)) + lane] += weights[k + lane];
        }
    }

    const Adder<W>& sums_;
    double* const by_sum_;
};

// T of a piece: the final weight of a row is its own times that of its distance, and T of a column is the sum over the
// rows that are in the column. The twin is plain::weighted_sum of plain::match_counts.
template <class W>
class LooseSums {
public:
    // Columns from first_missing on are of rows that lack a value; those that do not are summed up.
    LooseSums(int n_columns, int first_missing, int n_sums)
        : n_columns_(n_columns), first_missing_(first_missing), by_sum_(padded(n_sums, 32)), final_(kBlockRows) {}

    // by_distance is the weight of every distance. T has a stride of `room`.
    void add(const Adder<W>& sums, int top, const uint64_t* const* columns, const Piece& p, const double* by_distance,
             double* T, int room) {
        const PieceWords at(p);
        weigh(sums, top, at, p, by_distance);
        constexpr int kColumns = W::kWords == 8 ? 8 : 4;  // whose sums stay in registers
        for (int i = 0; i < n_columns_; i += kColumns)
            with_constant<1, kColumns>(std::min(kColumns, n_columns_ - i), [&]<int N>() {
                if (i + N <= first_missing_) add_columns<N, false>(columns + i, i, at, T + i * room, room);
                else add_columns<N, true>(columns + i, i, at, T + i * room, room);
            });
    }

private:
    // Final weights of the rows of a piece, and zeros for other rows of their words.
    void weigh(const Adder<W>& sums, int top, const PieceWords& at, const Piece& p, const double* by_distance) {
        for (int sum = 0; sum <= top; ++sum) by_sum_[sum] = by_distance[top - sum];
        if (!sums.fit_bytes())
            sums.for_each_row(p, [&](int row, int sum) { final_[row] = by_sum_[sum] * p.weights[row]; });
        for (int w = at.first; w < at.end && sums.fit_bytes(); ++w) {
            alignas(64) uint8_t of_word[64];
            sums.sums_of_word(w, of_word);
            for (int k = 0; k < 64; k += 8)
                store(&final_[64 * w + k], W::look_up(by_sum_.data(), top + 1, of_word + k) *
                                               load<EightDoubles>(p.weights + 64 * w + k));
        }
        std::fill(&final_[64 * at.first], &final_[p.begin], 0.0);
        std::fill(final_.data() + p.end, final_.data() + 64 * at.end, 0.0);
    }

    // Not inlined, so that the pointers stay in registers.
    template <int N, bool kMissing>
    [[gnu::noinline]] void add_columns(const uint64_t* const* columns, int first, const PieceWords& at, double* T, int room) const {
        EightDoubles sum[N] = {};
        const uint8_t* bytes[N];
        unsigned flip[N];
        for (int k = 0; k < N; ++k) {
            bytes[k] = reinterpret_cast<const uint8_t*>(columns[k]);
            flip[k] = first + k >= first_missing_ ? 255 : 0;
        }
        for (int b = kBytes * at.first; b < kBytes * at.end; ++b) {
            const EightDoubles x = load<EightDoubles>(&final_[8 * b]);
            for (int k = 0; k < N; ++k) {
                if constexpr (kMissing) W::add_masked(sum[k], bytes[k][b] ^ flip[k], x);
                else W::add_masked(sum[k], bytes[k] + b, x);
            }
        }
        for (int k = 0; k < N; ++k) T[k * room] += sum_of(sum[k]);
    }

    int n_columns_, first_missing_;
    std::vector<double> by_sum_;  // weights of distances, by sum of planes
    std::vector<double> final_;   // weights of the rows of a block
};

}  // namespace
}  // namespace localbayes
