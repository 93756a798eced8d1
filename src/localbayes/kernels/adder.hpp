// The sum of bit planes, for every row of a block, and the rows that have a given sum.
#pragma once
#include <array>
#include <bit>
#include <vector>

#include "blocks.hpp"
#include "vectors.hpp"

namespace localbayes {
namespace {

constexpr int kMaxDigits = 32;

// Bit k of a byte in lane k.
using Lanes = Vector<uint32_t, 8>;
constexpr auto kSpread = [] {
    std::array<Lanes, 256> table{};
    for (uint32_t b = 0; b < 256; ++b)
        table[b] = Lanes{b & 1, b >> 1 & 1, b >> 2 & 1, b >> 3 & 1, b >> 4 & 1, b >> 5 & 1, b >> 6 & 1, b >> 7 & 1};
    return table;
}();

// Planes to be added. Those that count 1 are a multiple of eight, those that count 2 of four, those that count 4 of
// two: planes of zeros fill them up.
struct Addends {
    const uint64_t *const *ones, *const *twos, *const *fours;
    int n_ones, n_twos, n_fours;
};

// Sums of planes that are at most `most`. A carry-save adder makes their binary digits for kVecRows rows at once; from
// the digits come masks of rows: those whose sum is s are high(s / 8) & lowest(s % 8). What it computes is
// plain::sum_of_planes.
template <class W>
class Adder {
    using Vec = typename W::Vec;

public:
    explicit Adder(int most)
        : n_digits_(std::max(3, int(std::bit_width(unsigned(most))))), high_(size_t(most / 8 + 1) * kVectors<W>) {
        for (int sum = 0; sum <= most; sum += 8) {
            flips_.push_back(~Vec{});
            for (int l = 3; l < n_digits_; ++l) flips_.push_back(sum >> l & 1 ? Vec{} : ~Vec{});
        }
    }

    // The planes are added to sums that another adder of the same kind has made, if it is given.
    void add(const Addends& planes, int n_vectors, const Adder* start = nullptr) {
        n_vectors_ = n_vectors;
        start_ = start;
        with_constant<3, 9>(std::min(n_digits_, 9), [&]<int kDigits>() { add_up<kDigits>(planes); });
    }

    int n_vectors() const { return n_vectors_; }
    int n_groups() const { return int(high_.size() / kVectors<W>); }  // of eight sums
    // Rows whose sum is 8 * group to 8 * group + 7, and rows whose sum ends in the three binary digits of `low`.
    const Vec* high(int group) const { return &high_[size_t(group) * kVectors<W>]; }
    const Vec* lowest(int low) const { return lowest_[low]; }

    // Calls f(row, sum) for the rows of a piece, eight rows at a time.
    template <class F>
    void for_each_row(const Piece& piece, F f) const {
        for (int row = piece.begin; row < piece.end;) {
            const int byte = row / 8, end = std::min(piece.end, 8 * byte + 8);
            Lanes sums{};
            for (int l = 0; l < n_digits_; ++l) {
                uint64_t word;
                std::memcpy(&word, reinterpret_cast<const char*>(digits_[l]) + byte / 8 * 8, 8);
                sums |= kSpread[word >> byte % 8 * 8 & 255] << l;
            }
            for (; row < end; ++row) f(row, int(sums[row % 8]));
        }
    }

    // The sums of the 64 rows of a word, each times 2^shift, if that fits a byte.
    void sums_of_word(int w, uint8_t* sums, int shift = 0) const {
        std::fill_n(sums, 64, 0);
        for (int l = 0; l < n_digits_; ++l)
            W::add_bits(sums, reinterpret_cast<const uint64_t*>(digits_[l])[w], l + shift);
    }
    bool fit_bytes(int shift = 0) const { return n_digits_ + shift <= 8; }

private:
    // Planes are added eight at a time. Up to eight digits their number is a template parameter, so that they stay in
    // registers.
    template <int kDigits>
    void add_up(const Addends& planes) {
        const int n_digits = kDigits < 9 ? kDigits : n_digits_;
        for (int v = 0; v < n_vectors_; ++v) {
            Vec ones{}, twos{}, fours{}, more[kDigits < 9 ? kDigits : kMaxDigits] = {};
            if (start_) {
                ones = start_->digits_[0][v];
                twos = start_->digits_[1][v];
                fours = start_->digits_[2][v];
                for (int l = 3; l < n_digits; ++l) more[l] = start_->digits_[l][v];
            }
            const auto carry = [&](Vec eights) {
                for (int l = 3; l < n_digits; ++l) {
                    const Vec up = more[l] & eights;
                    more[l] ^= eights;
                    eights = up;
                }
            };
            for (int i = 0; i < planes.n_ones; i += 8) {
                const auto a = [&](int k) { return W::load(planes.ones[i + k] + v * W::kWords); };
                const Vec t0 = full_add(ones, a(0), a(1)), t1 = full_add(ones, a(2), a(3));
                const Vec t2 = full_add(ones, a(4), a(5)), t3 = full_add(ones, a(6), a(7));
                const Vec u0 = full_add(twos, t0, t1), u1 = full_add(twos, t2, t3);
                carry(full_add(fours, u0, u1));
            }
            for (int i = 0; i < planes.n_twos; i += 4) {
                const auto a = [&](int k) { return W::load(planes.twos[i + k] + v * W::kWords); };
                const Vec u0 = full_add(twos, a(0), a(1)), u1 = full_add(twos, a(2), a(3));
                carry(full_add(fours, u0, u1));
            }
            for (int i = 0; i < planes.n_fours; i += 2) {
                const auto a = [&](int k) { return W::load(planes.fours[i + k] + v * W::kWords); };
                carry(full_add(fours, a(0), a(1)));
            }
            digits_[0][v] = ones;
            digits_[1][v] = twos;
            digits_[2][v] = fours;
            for (int low = 0; low < 4; ++low) {
                const Vec pair = (low & 1 ? ones : ~ones) & (low & 2 ? twos : ~twos);
                lowest_[low][v] = pair & ~fours;
                lowest_[low + 4][v] = pair & fours;
            }
            for (int l = 3; l < n_digits; ++l) digits_[l][v] = more[l];
            Vec* high = &high_[v];
            for (const Vec *flip = flips_.data(), *end = flip + flips_.size(); flip < end; flip += n_digits - 2) {
                Vec mask = flip[0];
                for (int l = 3; l < n_digits; ++l) mask &= more[l] ^ flip[l - 2];
                *high = mask;
                high += kVectors<W>;
            }
        }
    }

    static Vec full_add(Vec& sum, Vec a, Vec b) {
        const Vec carry = W::majority(sum, a, b);
        sum = W::odd(sum, a, b);
        return carry;
    }

    int n_digits_, n_vectors_ = 0;
    const Adder* start_ = nullptr;
    std::vector<Vec> high_, flips_;  // a flip turns the digits of one group into ones
    alignas(64) Vec digits_[kMaxDigits][kVectors<W>], lowest_[8][kVectors<W>];
};

template <class W>
bool any(const typename W::Vec* masks, int n) {
    typename W::Vec all = masks[0];
    for (int v = 1; v < n; ++v) all |= masks[v];
    return !W::is_zero(all);
}

}  // namespace
}  // namespace localbayes
