// The planes of a query's values in one block, for Hamming's distance.
#pragma once
#include "adder.hpp"
#include "batch.hpp"

namespace localbayes {
namespace {

// What is asked of a block, for one query:
//     added    planes whose sum is the nearness of every row. A row that lacks a value is as near as one that has the
//              query's, and an attribute that the query lacks is left out;
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
        : m_(b.m), may_miss_(b.may_miss()), columns_(b.columns() + 8), nearness_(may_miss_ ? m_ + 8 : 0),
          scratch_(size_t(may_miss_ ? 3 : 1) * m_ * kBlockWords) {}

    // The first n_vectors vectors of a block; places are those of the query in this segment.
    Selection find(const Segment& s, const uint64_t* block, const uint32_t* places, const uint32_t* codes,
                   int n_vectors) {
        n_words_ = n_vectors * W::kWords;
        top_ = m_;
        for (int i = 0; i < m_; ++i) columns_[i] = block + places[i];
        for (const int i : s.wide)
            if (codes[i] < s.n_values(i))
                columns_[i] = join_digits(s.columns[i], block, codes[i], n_words_, scratch(i));
        if (may_miss_)
            for (int i = 0; i < m_; ++i) find_missing(s, block, codes[i], i);
        std::vector<const uint64_t*>& added = may_miss_ ? nearness_ : columns_;
        std::fill_n(added.begin() + m_, 8, block);
        return {{added.data(), nullptr, nullptr, m_, 0, 0}, columns_.data(), top_};
    }

private:
    uint64_t* scratch(int slot) { return &scratch_[size_t(slot) * kBlockWords]; }

    // Rows that lack the value of attribute i, and those that lack it or agree.
    void find_missing(const Segment& s, const uint64_t* block, uint32_t code, int i) {
        const uint64_t* missing = join_digits(s.columns[i], block, s.missing(i), n_words_, scratch(m_ + i));
        columns_[m_ + i] = missing;
        nearness_[i] = block;
        if (code == kMissing) return void(--top_);
        uint64_t* to = scratch(2 * m_ + i);
        for (int w = 0; w < n_words_; ++w) to[w] = missing[w] | columns_[i][w];
        nearness_[i] = to;
    }

    int m_, n_words_ = 0, top_ = 0;
    bool may_miss_;
    std::vector<const uint64_t*> columns_, nearness_;
    std::vector<uint64_t> scratch_;  // of digits joined, of missing values, of both
};

}  // namespace
}  // namespace localbayes
