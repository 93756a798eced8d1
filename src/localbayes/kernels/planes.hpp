// The planes of a query's values in one block, for Hamming's distance.
#pragma once
#include <memory>

#include "adder.hpp"
#include "batch.hpp"

namespace localbayes {
namespace {

// What is asked of a block, for one query:
//     added    planes whose sum is the nearness of every row. A row that lacks a value is as near as one that has the
//              query's, and an attribute that the query lacks has no part in the distance;
//     columns  planes to be counted: rows by digit of agreement, then, where rows may lack values, those that do;
//     top      the nearness at distance zero.
struct Selection {
    Addends added;
    const uint64_t* const* columns;
    int top;
};

// Rows that have a code: the value's plane itself, or the AND of its digits' planes, which is written to `to`.
inline const uint64_t* join_digits(const Column& c, const uint64_t* block, uint32_t code, int n_words, uint64_t* to) {
    const uint64_t* plane = block + size_t(c.plane(code, 0)) * kBlockWords;
    if (c.n_digits == 1) return plane;
    std::copy_n(plane, n_words, to);
    for (uint32_t digit = 1; digit < c.n_digits; ++digit) {
        plane = block + size_t(c.plane(code, digit)) * kBlockWords;
        for (int w = 0; w < n_words; ++w) to[w] &= plane[w];
    }
    return to;
}

template <class W>
class HammingPlanes {
public:
    explicit HammingPlanes(const Batch& b)
        : m_(b.m), may_miss_(b.may_miss()), columns_(b.columns() + 8), added_(may_miss_ ? m_ + 8 : 0),
          scratch_(size_t(may_miss_ ? 2 : 0) * m_ * kBlockWords),
          ways_(std::bit_floor(uint32_t(std::clamp<int64_t>(b.n_queries, 1, kMostWays)))), lacking_(m_) {
        size_t n_wide = 0;
        for (const Segment& s : b.segments) n_wide = std::max(n_wide, b.distance ? 0 : s.wide.size());
        joined_ = std::make_unique_for_overwrite<typename W::Vec[]>(ways_ * n_wide * kVectors<W>);
        joined_for_.resize(ways_ * n_wide);
    }

    // What is the same for all queries of a block: the rows that lack each value, those that know it, and how many
    // values every row lacks.
    void begin(const Segment& s, const uint64_t* block, int n_vectors) {
        ++n_blocks_;  // what was joined is of no use any more
        if (!may_miss_) return;
        n_words_ = n_vectors * W::kWords;
        for (int i = 0; i < m_; ++i) {
            const uint64_t* missing = join_digits(s.columns[i], block, s.missing(i), n_words_, scratch(i));
            columns_[m_ + i] = missing;
            uint64_t* known = scratch(m_ + i);
            for (int w = 0; w < n_words_; ++w) known[w] = ~missing[w];
        }
        std::fill_n(columns_.begin() + 2 * m_, 8, block);
        lacking_.add({&columns_[m_], nullptr, nullptr, m_, 0, 0}, n_vectors);
    }

    // The planes of a query in the block; places are those of the query in this segment. A row is as near as it has
    // values of the query or lacks values. All rows agree on an attribute that the query lacks: those that lack it are
    // counted already, and those that know it are added.
    Selection find(const Segment& s, const uint64_t* block, const uint32_t* places, const uint32_t* codes,
                   int n_vectors) {
        n_words_ = n_vectors * W::kWords;
        for (int i = 0; i < m_; ++i) columns_[i] = block + places[i];
        for (size_t k = 0; k < s.wide.size(); ++k)
            if (const int i = s.wide[k]; codes[i] < s.n_values(i))
                columns_[i] = join(s.columns[i], block, codes[i], ways_ * k + (codes[i] & (ways_ - 1)));
        if (may_miss_)
            for (int i = 0; i < m_; ++i) added_[i] = codes[i] == kMissing ? scratch(m_ + i) : columns_[i];
        std::vector<const uint64_t*>& added = may_miss_ ? added_ : columns_;
        std::fill_n(added.begin() + m_, 8, block);
        return {{added.data(), nullptr, nullptr, m_, 0, 0}, columns_.data(), m_};
    }

    // Sums to which the planes are added, or null.
    const Adder<W>* start() const { return may_miss_ ? &lacking_ : nullptr; }

private:
    // Rows that have a code, unless an earlier query of the block has joined them.
    const uint64_t* join(const Column& c, const uint64_t* block, uint32_t code, size_t slot) {
        uint64_t* to = reinterpret_cast<uint64_t*>(&joined_[slot * kVectors<W>]);
        const uint64_t wanted = n_blocks_ << 32 | code;
        if (joined_for_[slot] == wanted) return to;
        joined_for_[slot] = wanted;
        return join_digits(c, block, code, n_words_, to);
    }

    uint64_t* scratch(int slot) { return &scratch_[size_t(slot) * kBlockWords]; }

    int m_, n_words_ = 0;
    bool may_miss_;
    std::vector<const uint64_t*> columns_, added_;
    std::vector<uint64_t> scratch_;  // of missing values, of known ones
    // Of a column of several digits, planes joined for a code are kept for other queries of the block that have it, at
    // one of so many places, a power of two; of every place: the block and the code.
    static constexpr int64_t kMostWays = 32;
    uint32_t ways_;
    std::unique_ptr<typename W::Vec[]> joined_;
    std::vector<uint64_t> joined_for_;
    uint64_t n_blocks_ = 0;  // that were begun
    Adder<W> lacking_;
};

}  // namespace
}  // namespace localbayes
