// Walking over training rows block by block, and over queries so many at a time that what they need stays in cache.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "layout.hpp"

namespace localbayes {
namespace {

constexpr int kSmallPiece = 16;  // rows of a class in a block up to which reading them one by one is cheaper
constexpr int kQueriesPerPass = 256, kPassBytes = 256 << 10;
constexpr size_t kMany = 16, kCachedWords = 1 << 17;  // queries, and words of rows, from which on blocks are prefetched

template <class W>
constexpr int kVectors = kBlockWords / W::kWords;  // vectors in a block
template <class W>
constexpr int kVecRows = 64 * W::kWords;  // rows in a vector
template <class W>
constexpr int vectors(int rows) {
    return (rows + kVecRows<W> - 1) / kVecRows<W>;
}

// How many queries to take at a time if each needs so many bytes.
inline int64_t fitting(int64_t n, size_t bytes_each) {
    return std::clamp<int64_t>(std::min<int64_t>(n, kPassBytes / int64_t(bytes_each + 1)), 1, kQueriesPerPass);
}

// Bits [begin, end) of a word, as far as it has them.
inline uint64_t bits_between(int64_t begin, int64_t end) {
    const int64_t lo = std::clamp<int64_t>(begin, 0, 64), hi = std::clamp<int64_t>(end, 0, 64);
    const uint64_t below_hi = hi == 64 ? ~uint64_t{0} : (uint64_t{1} << hi) - 1;
    return lo == 64 ? 0 : below_hi & (~uint64_t{0} << lo);
}

// Which rows of vector v are among [begin, end).
template <class W>
typename W::Vec rows_between(int64_t begin, int64_t end, int64_t v) {
    constexpr int kRows = kVecRows<W>;
    if (begin <= v * kRows && (v + 1) * kRows <= end) return ~typename W::Vec{};
    uint64_t word[W::kWords];
    for (int k = 0; k < W::kWords; ++k) word[k] = bits_between(begin - v * kRows - 64 * k, end - v * kRows - 64 * k);
    return W::load(word);
}

// Rows [begin, end) of a block, all of class y. Each counts `factor` times or, if there are weights, weights[row].
struct Piece {
    bool small() const { return end - begin <= kSmallPiece; }

    int y, begin, end;
    double factor;
    const double* weights;
    bool many = false;  // the piece is of a run of many rows with weights
};

// Many queries ask for all planes of a block, but in no order that the processor could predict.
[[gnu::noinline]] inline void prefetch(const uint64_t* words, size_t n) {
    asm volatile("");  // GCC leaves out calls of a function that only prefetches
    for (size_t word = 0; word < n; word += 8) __builtin_prefetch(words + word);
}

// Calls f(block, pieces) for every block that holds rows of the classes [y, end_y). The block given starts at the word
// in which the first of them begins, or a little earlier to end within the block: fewer vectors hold a class then.
template <class W, class F>
void for_each_block(const Segment& s, int y, int end_y, size_t n_queries, F f) {
    std::vector<Piece> pieces;
    std::vector<double> weights;  // of the rows of a block, each at its place
    size_t run = s.runs.empty() ? 0 : s.first_run[y];
    for (int64_t row = s.class_start[y], end = s.class_start[end_y]; row < end;) {
        const int64_t block = row / kBlockRows, start = block * kBlockRows, stop = std::min(end, start + kBlockRows);
        for (pieces.clear(); row < stop;) {
            while (s.class_start[y + 1] <= row) ++y;
            int64_t next = std::min(stop, s.class_start[y + 1]);
            Piece piece{y, int(row - start), 0, 1, nullptr};
            if (!s.runs.empty()) {
                while (s.runs[run + 1].start <= row) ++run;
                next = std::min(next, s.runs[run + 1].start);
                piece.factor = s.runs[run].factor;
                if (s.runs[run].weights) {
                    weights.resize(kBlockRows);
                    piece.weights = weights.data();
                    piece.many = s.runs[run].many;
                    std::copy_n(s.runs[run].weights + (row - s.runs[run].start), next - row, &weights[row - start]);
                }
            }
            piece.end = int(next - start);
            pieces.push_back(piece);
            row = next;
        }
        const int first = pieces.front().begin / 64, n_words = vectors<W>(pieces.back().end - 64 * first) * W::kWords;
        const int skipped = std::min(first, kBlockWords - n_words);
        for (Piece& p : pieces) {
            p.begin -= 64 * skipped;
            p.end -= 64 * skipped;
            if (p.weights) p.weights += 64 * skipped;
        }
        if (n_queries >= kMany && s.words_needed(end) > kCachedWords)
            prefetch(s.block(block), s.n_planes * kBlockWords);
        f(s.block(block) + skipped, pieces);
    }
}

}  // namespace
}  // namespace localbayes
