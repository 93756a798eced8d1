// What to do with a block for one query under a distance by tables, written down once and done for every block.
#pragma once
#include <array>

#include "batch.hpp"

namespace localbayes {
namespace {

// A program is a row of numbers: a head, then joins, then addresses. An address is the place of a plane in the block,
// in words, or, if it is odd, 1 + the place of a plane that was joined. A join is its number of planes, doubled, plus
// one if their AND is wanted and not their OR, and the addresses of the planes. Joins that distances need come first.
// The last addresses are the columns of C.
struct ProgramHead {
    uint32_t n_joins, n_distance_joins, joins_size;
    uint32_t n_added[3];  // planes that count 1, 2 and 4; a multiple of eight, four and two
    uint32_t top;
};
constexpr size_t kHeadSize = sizeof(ProgramHead) / sizeof(uint32_t);

class ProgramWriter {
public:
    explicit ProgramWriter(const Batch& b) : b_(b) {}

    // The most planes that a program joins: up to six digits of an attribute, and one of rows that lack it.
    static size_t most_joins(const Batch& b) { return b.distance ? size_t(7) * b.m : 0; }

    void write(const Segment& s, const Recipes& recipes, const uint32_t* codes, std::vector<uint32_t>& out) {
        head_ = {};
        joins_.clear();
        for (auto& planes : added_) planes.clear();
        columns_.assign(b_.raw_columns(), 0);
        found_.assign(2 * b_.m, kNotYet);
        for (int i = 0; i < b_.m; ++i) {
            if (codes[i] == kMissing) continue;
            head_.top += uint32_t(b_.distance->most(i));
            if (b_.distance->nominal(i)) near_nominal(s, codes[i], i);
            else near_recipe(recipes, codes[i], i);
        }
        head_.n_distance_joins = head_.n_joins;
        for (int i = 0; i < b_.m; ++i) {
            if (b_.may_miss()) columns_[b_.n_hits() + i] = missing(s, i);
            if (codes[i] == kMissing) continue;
            if (b_.distance->nominal(i)) count_nominal(s, codes[i], i);
            else count_recipe(recipes, codes[i], i);
        }
        for (int l = 0; l < 3; ++l) {
            added_[l].resize(padded(int(added_[l].size()), 8 >> l));
            head_.n_added[l] = uint32_t(added_[l].size());
        }
        head_.joins_size = uint32_t(joins_.size());
        const uint32_t* head = reinterpret_cast<const uint32_t*>(&head_);
        out.insert(out.end(), head, head + kHeadSize);
        for (const auto* part : {&joins_, &added_[0], &added_[1], &added_[2], &columns_})
            out.insert(out.end(), part->begin(), part->end());
    }

private:
    uint32_t join(const uint32_t* addresses, size_t n, bool all = false) {
        if (n == 1) return addresses[0];
        joins_.push_back(uint32_t(2 * n + all));
        joins_.insert(joins_.end(), addresses, addresses + n);
        return 1 + kBlockWords * head_.n_joins++;
    }
    // Rows that have a value, or lack it.
    uint32_t value(const Segment& s, uint32_t code, int i) { return once(found_[2 * i], s.columns[i], code); }
    uint32_t missing(const Segment& s, int i) { return once(found_[2 * i + 1], s.columns[i], s.missing(i)); }
    uint32_t once(uint32_t& found, const Column& c, uint32_t code) {
        if (found == kNotYet) found = digits(c, code);
        return found;
    }
    uint32_t digits(const Column& c, uint32_t code) {
        uint32_t planes[kMostCodeDigits];
        for (uint32_t digit = 0; digit < c.n_digits; ++digit) planes[digit] = c.plane(code, digit) * kBlockWords;
        return join(planes, c.n_digits, true);
    }
    void add(uint32_t plane, int nearness) {
        for (int l = 0; l < 3; ++l)
            if (nearness >> l & 1) added_[l].push_back(plane);
    }
    void count(uint32_t plane, int agreement, int i) {
        for (int l = 0; l < 3; ++l)
            if (agreement >> l & 1) columns_[b_.distance->first_hit(i) + l] = plane;
    }

    // Digits of the nearness, which may be digits of the agreement too.
    void near_recipe(const Recipes& recipes, uint32_t code, int i) {
        const auto [begin, end] = recipes.of(i, code);
        for (const Expression* e = begin; e < end; ++e) {
            if (!e->nearness) continue;
            const uint32_t plane = join(recipes.planes(*e), e->n);
            add(plane, e->nearness);
            count(plane, e->agreement, i);
        }
    }
    void count_recipe(const Recipes& recipes, uint32_t code, int i) {
        const auto [begin, end] = recipes.of(i, code);
        for (const Expression* e = begin; e < end; ++e)
            if (!e->nearness) count(join(recipes.planes(*e), e->n), e->agreement, i);
    }

    // Rows that have the query's value are at distance zero, and so are those that lack it.
    void near_nominal(const Segment& s, uint32_t code, int i) {
        const int most = b_.distance->most(i);
        if (most == 0) return;
        uint32_t planes[2], n = 0;
        if (code < s.n_values(i)) planes[n++] = value(s, code, i);
        if (b_.may_miss()) planes[n++] = missing(s, i);
        if (n > 0) add(join(planes, n), most);
    }
    void count_nominal(const Segment& s, uint32_t code, int i) {
        if (code < s.n_values(i)) count(value(s, code, i), b_.distance->s(i, 0, 0), i);
    }

    static constexpr int kMostCodeDigits = 16;
    static constexpr uint32_t kNotYet = ~0u;  // no address ends in that many ones

    const Batch b_;
    ProgramHead head_;
    std::vector<uint32_t> joins_, columns_, found_;  // found: of every attribute, its value and where it is missing
    std::array<std::vector<uint32_t>, 3> added_;
};

}  // namespace
}  // namespace localbayes
