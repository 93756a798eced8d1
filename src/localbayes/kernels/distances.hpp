// V[distance][class]: how many rows of a class lie at a distance of the query.
#pragma once
#include "loose.hpp"

namespace localbayes {
namespace {

// Eight counts that a word holds, a byte each, with room for their sums.
using Eight = Vector<uint16_t, 8>;
inline Eight spread(uint64_t word) {
    static_assert(std::endian::native == std::endian::little);
#ifdef __clang__
    return __builtin_convertvector(std::bit_cast<Vector<uint8_t, 8>>(word), Eight);
#else  // GCC makes six instructions of that, and one or two of this
    using Bytes = Vector<uint8_t, 16>;
    constexpr Bytes kZip{0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    return Eight(__builtin_shuffle(Bytes(Vector<uint64_t, 2>{word, 0}), Bytes{}, kZip));
#endif
}

// Adds the rows of one block to V; a row whose sum is s lies at distance top - s. The twin is plain::distance_counts.
template <class W>
class DistanceCounter {
    using Vec = typename W::Vec;

public:
    // There is room for eight numbers of every sum in `lanes`, up to a multiple of eight sums, for rows with weights.
    DistanceCounter(const Adder<W>& sums, int top, size_t class_room, double* lanes)
        : sums_(sums), top_(top), class_room_(class_room), lanes_(lanes) {}

    // V of all classes in the block. Rows of a small piece are read one by one.
    void add(const std::vector<Piece>& pieces, double* V) const {
        bool any_large = false;
        for (const Piece& p : pieces) {
            any_large |= !p.small() && !p.weights;
            if (p.small())
                sums_.for_each_row(p, [&](int row, int sum) {
                    V[(top_ - sum) * class_room_ + p.y] += p.weights ? p.weights[row] : p.factor;
                });
            else if (p.weights) add_weighted(p, V + p.y);
        }
        if (!any_large) return;
        for (int group = 0; group <= top_ / 8; ++group) add_group(pieces, group, V);
    }

private:
    void add_weighted(const Piece& p, double* V) const {
        std::fill_n(lanes_, 8 * (top_ + 1), 0.0);
        LooseWeights<W>(sums_, lanes_).add(p);
        for (int sum = 0; sum <= top_; ++sum)
            V[(top_ - sum) * class_room_] += sum_of(load<EightDoubles>(lanes_ + 8 * sum));
    }

    // The rows of large classes whose sum is in a group of eight. Every word has a line that says how many of its rows
    // have each of the eight sums; a class adds up the lines of its words. The word in which one class ends and the
    // next begins has a second line, of the rows before that cut.
    void add_group(const std::vector<Piece>& pieces, int group, double* V) const {
        Vec lines[kVectors<W>], any{};
        for (int v = 0; v < sums_.n_vectors(); ++v) {
            lines[v] = line(sums_.high(group)[v], v);
            any |= lines[v];
        }
        if (W::is_zero(any)) return;
        const auto* words = reinterpret_cast<const uint64_t*>(lines);
        int cut = -1;
        uint64_t before_cut = 0;
        for (const Piece& p : pieces) {
            if (p.small() || p.weights) continue;
            if (cut != p.begin) before_cut = line_before(p.begin, group);
            Eight rows = -spread(before_cut);
            for (int w = p.begin / 64; w < p.end / 64; ++w) rows += spread(words[w]);
            cut = p.end;
            before_cut = line_before(cut, group);
            rows += spread(before_cut);
            int32_t counts[8];
            for (int k = 0; k < 8; ++k) counts[k] = rows[k];
            add_counts(counts, p.factor, group, V + p.y);
        }
    }

    // How many rows of each word of the mask have each value of the lowest three digits, a byte for each.
    Vec line(Vec mask, int v) const {
        Vec counts{};
        if (W::is_zero(mask)) return counts;
        for (int low = 0; low < 8; ++low) counts |= W::popcounts(mask & sums_.lowest(low)[v]) << 8 * low;
        return counts;
    }

    // The same of the rows that are in the word of `row`, but before it.
    uint64_t line_before(int row, int group) const {
        const auto word = [&](const Vec* planes) { return reinterpret_cast<const uint64_t*>(planes)[row / 64]; };
        const uint64_t mask = row % 64 == 0 ? 0 : word(sums_.high(group)) & ~(~uint64_t{0} << row % 64);
        uint64_t counts = 0;
        for (int k = 0; k < 8 && mask != 0; ++k)
            counts |= uint64_t(std::popcount(mask & word(sums_.lowest(k)))) << 8 * k;
        return counts;
    }

    // Add what was counted for the sums of a group to V of one class.
    void add_counts(const int32_t (&counts)[8], double factor, int group, double* V) const {
        V += (top_ - 8 * group) * class_room_;
        for (int k = 0; k < std::min(8, top_ + 1 - 8 * group); ++k)
            V[-ptrdiff_t(k * class_room_)] += factor * counts[k];
    }

    const Adder<W>& sums_;
    const int top_;
    const size_t class_room_;
    double* const lanes_;
};

}  // namespace
}  // namespace localbayes
