// The planes of a query's values in one block, for a distance by tables.
#pragma once
#include <memory>

#include "planes.hpp"
#include "table_program.hpp"

namespace localbayes {
namespace {

// Runs the programs of table_program.hpp. The columns of C are found only if they are to be counted.
template <class W>
class TablePlanes {
public:
    TablePlanes(const Batch& b, bool counts)
        : counted_(counts ? JoinSlots::kWays * uint32_t(b.counted()) : 0),
          columns_(b.distance && counts ? b.raw_columns() : 0),
          joined_(std::make_unique_for_overwrite<typename W::Vec[]>(size_t(JoinSlots(b).n) * kVectors<W>)),
          joined_for_(b.distance ? JoinSlots::kWays * size_t(b.m) : 0) {
        for (auto& planes : added_) planes.resize(b.distance ? 3 * b.m + 8 : 0);
    }

    // Another block: what was joined is of no use any more.
    void begin() { ++n_blocks_; }

    // The first n_vectors vectors of a block.
    Selection find(const uint64_t* block, const uint32_t* program, int n_vectors) {
        const uint32_t *attribute = program + kHeadSize, *end = attribute + program[kAttributes] * kAttributeSize;
        const uint32_t *end_near = attribute + program[kNear] * kAttributeSize, *next = end + program[kJoinsSize];
        for (; attribute < end && (attribute < end_near || attribute[kSlot] < counted_); attribute += kAttributeSize)
            join_attribute(block, attribute, end + attribute[kJoinsBegin], n_vectors * W::kWords);
        for (int l = 0; l < 3; ++l) next = resolve(block, next, program[kOnes + l], added_[l].data());
        if (!columns_.empty()) resolve(block, next, uint32_t(columns_.size()), columns_.data());
        return {{added_[0].data(), added_[1].data(), added_[2].data(), int(program[kOnes]), int(program[kTwos]),
                 int(program[kFours])},
                columns_.data(),
                int(program[kTop])};
    }

private:
    uint64_t* joined() const { return reinterpret_cast<uint64_t*>(joined_.get()); }
    const uint64_t* plane(const uint64_t* block, uint32_t address) const {
        return address & 1 ? joined() + (address - 1) : block + address;
    }
    const uint32_t* resolve(const uint64_t* block, const uint32_t* addresses, uint32_t n, const uint64_t** to) const {
        for (uint32_t k = 0; k < n; ++k) to[k] = plane(block, addresses[k]);
        return addresses + n;
    }

    // Joins the planes of an attribute, unless an earlier query did so.
    void join_attribute(const uint64_t* block, const uint32_t* attribute, const uint32_t* joins, int n_words) {
        const uint32_t slot = attribute[kSlot];
        const uint64_t wanted = n_blocks_ << 32 | attribute[kCode];
        if (joined_for_[slot] == wanted) return;
        joined_for_[slot] = wanted;
        run_joins(block, joins, attribute[slot < counted_ ? kJoins : kDistanceJoins],
                  joined() + size_t(attribute[kFirst]) * kBlockWords, n_words);
    }

    [[gnu::noinline]] void run_joins(const uint64_t* block, const uint32_t* joins, uint32_t n_joins, uint64_t* to,
                                     int n_words) const {
        for (uint32_t k = 0; k < n_joins; ++k, to += kBlockWords) {
            const int n = int(*joins >> 1), some = std::min(n, kJoined);
            const bool all = *joins++ & 1;
            const uint64_t* first = plane(block, joins[0]);
            const auto join_some = [&](const uint32_t* more, int count, const uint64_t* from) {
                with_constant<1, kJoined - 1>(count, [&]<int N>() {
                    if (all) join<N>(block, from, more, to, n_words, [](auto a, auto b) { return a & b; });
                    else join<N>(block, from, more, to, n_words, [](auto a, auto b) { return a | b; });
                });
            };
            join_some(joins + 1, some - 1, first);
            for (int l = some; l < n; ++l) join_some(joins + l, 1, to);
            joins += n;
        }
    }

    // A plane and N more. Their number is a template parameter, so that the loop over them is unrolled.
    template <int N, class F>
    [[gnu::always_inline]] void join(const uint64_t* block, const uint64_t* first, const uint32_t* more, uint64_t* to,
                                     int n_words, F f) const {
        const uint64_t* from[N];
        for (int k = 0; k < N; ++k) from[k] = plane(block, more[k]);
        const auto join_vector = [&](int w) {
            auto rows = W::load(first + w);
            for (int k = 0; k < N; ++k) rows = f(rows, W::load(from[k] + w));
            store(to + w, rows);
        };
        if (n_words == kBlockWords)  // the most common number, for which the loop is unrolled
            for (int w = 0; w < kBlockWords; w += W::kWords) join_vector(w);
        else
            for (int w = 0; w < n_words; w += W::kWords) join_vector(w);
    }

    static constexpr int kJoined = 6;

    uint32_t counted_;                                   // slots of attributes whose columns are found
    std::array<std::vector<const uint64_t*>, 3> added_;  // planes that count 1, 2 and 4
    std::vector<const uint64_t*> columns_;
    std::unique_ptr<typename W::Vec[]> joined_;  // vectors begin at a line of the cache
    std::vector<uint64_t> joined_for_;           // of every slot: the block and the code
    uint64_t n_blocks_ = 0;                      // that were begun
};

}  // namespace
}  // namespace localbayes
