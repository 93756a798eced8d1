// Sums over rows that have weights of their own.
//
// Eight neighbouring rows are the lanes of a vector, row k of a byte in lane k. A sum is made lane by lane, from the
// first byte to the last, and then over the lanes: in that order on every instruction set.
#pragma once
#include "adder.hpp"

namespace localbayes {
namespace {

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
        if (W::kWords == 8 && groups_of_words(first, end) <= 2 * (end - first)) add_groups(p, first, end);
        // Sums that come times eight are the places of their lanes.
        else sums_.fit_bytes(3) ? add_words<3>(p, first, end) : add_words<0>(p, first, end);
        add_rows(p, 64 * end, p.end);
    }

private:
    void add_rows(const Piece& p, int begin, int end) const {
        sums_.for_each_row({p.y, begin, end, 0, nullptr},
                           [&](int row, int sum) { by_sum_[8 * sum + row % 8] += p.weights[row]; });
    }

    uint64_t word(const typename W::Vec* planes, int w) const { return reinterpret_cast<const uint64_t*>(planes)[w]; }

    // Groups of eight sums that occur, added up over words.
    int groups_of_words(int first, int end) const {
        int n = 0;
        for (int group = 0; group < sums_.n_groups(); ++group)
            for (int w = first; w < end; ++w) n += word(sums_.high(group), w) != 0;
        return n;
    }

    // Eight sums at a time, whose rows are masks. Where vectors are wide and few groups occur this is quicker than row
    // by row.
    void add_groups(const Piece& p, int first, int end) const {
        for (int group = 0; group < sums_.n_groups(); ++group) {
            EightDoubles sum[8];
            for (int k = 0; k < 8; ++k) sum[k] = load<EightDoubles>(by_sum_ + 64 * group + 8 * k);
            for (int w = first; w < end; ++w) {
                const uint64_t some = word(sums_.high(group), w);
                if (some == 0) continue;
                uint64_t rows[8];
                for (int k = 0; k < 8; ++k) rows[k] = some & word(sums_.lowest(k), w);
                W::add_rows(sum, rows, p.weights + 64 * w);
            }
            for (int k = 0; k < 8; ++k) store(by_sum_ + 64 * group + 8 * k, sum[k]);
        }
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
        constexpr int kMost = W::kWords == 8 ? 12 : 4;  // columns whose sums stay in registers
        const int parts = (n_columns_ + kMost - 1) / kMost, step = (n_columns_ + parts - 1) / parts;
        for (int i = 0; i < n_columns_; i += step)
            with_constant<1, kMost>(std::min(step, n_columns_ - i),
                                    [&]<int N>() { add_columns<N>(columns + i, i, at, T + i * room, room); });
    }

private:
    // Final weights of the rows of a piece, and zeros for other rows of their words. Not inlined, so that tables and
    // pointers stay in registers.
    [[gnu::noinline]] void weigh(const Adder<W>& sums, int top, const PieceWords& at, const Piece& p,
                                 const double* by_distance) {
        for (int sum = 0; sum <= top; ++sum) by_sum_[sum] = by_distance[top - sum];
        if (!sums.fit_bytes())
            sums.for_each_row(p, [&](int row, int sum) { final_[row] = by_sum_[sum] * p.weights[row]; });
        const typename W::LookUp weight_of(by_sum_.data(), top + 1);
        double* to = final_.data();
        for (int w = at.first; w < at.end && sums.fit_bytes(); ++w) {
            alignas(64) uint8_t of_word[64];
            sums.sums_of_word(w, of_word);
            for (int k = 64 * w; k < 64 * w + 64; k += 8)
                store(to + k, weight_of(of_word + k % 64) * load<EightDoubles>(p.weights + k));
        }
        std::fill(&final_[64 * at.first], &final_[p.begin], 0.0);
        std::fill(final_.data() + p.end, final_.data() + 64 * at.end, 0.0);
    }

    // Not inlined, so that the pointers stay in registers.
    template <int N>
    [[gnu::noinline]] void add_columns(const uint64_t* const* columns, int first, const PieceWords& at, double* T,
                                       int room) const {
        EightDoubles sum[N] = {};
        uint64_t flip[N];
        for (int k = 0; k < N; ++k) flip[k] = first + k >= first_missing_ ? ~uint64_t{0} : 0;
        for (int w = at.first; w < at.end; ++w) {
            uint64_t words[N];
            for (int k = 0; k < N; ++k) words[k] = columns[k][w] ^ flip[k];
            W::add_rows(sum, words, &final_[64 * w]);
        }
        for (int k = 0; k < N; ++k) T[k * room] += sum_of(sum[k]);
    }

    int n_columns_, first_missing_;
    std::vector<double> by_sum_;  // weights of distances, by sum of planes
    std::vector<double> final_;   // weights of the rows of a block
};

}  // namespace
}  // namespace localbayes
