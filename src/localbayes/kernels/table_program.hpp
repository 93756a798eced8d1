// What to do with a block for one query under a distance by tables, written down once and done for every block.
#pragma once
#include <array>
#include <bit>

#include "batch.hpp"

namespace localbayes {
namespace {

// A program is a row of numbers: a head, then one for every attribute whose planes must be joined, then the joins of
// these, then addresses. An address is the place of a plane in the block, in words, or, if it is odd, 1 + the place of
// a plane that was joined. The joins of an attribute that distances need come first. A join is its number of planes,
// doubled, plus one if their AND is wanted and not their OR, and the addresses of the planes. The addresses are planes
// that count 1, 2 and 4, then the columns of C.
enum ProgramHead : uint32_t {
    kAttributes,  // that have joins
    kNear,        // of them, the first so many have all joins that distances need
    kJoinsSize,   // numbers that the joins of all of them take
    kOnes,        // planes that count 1, 2 and 4; a multiple of eight, four and two
    kTwos,
    kFours,
    kTop,
    kHeadSize,
};
enum AttributeHead : uint32_t {
    kSlot,  // where planes joined for this code are kept
    kCode,
    kFirst,          // place of the first of them
    kDistanceJoins,  // joins that distances need
    kJoins,          // all joins
    kJoinsBegin,     // where they begin
    kAttributeSize,
};

// Where joined planes are kept. Queries that have the same value of an attribute join the same planes: what was joined
// for one query of a block serves the others. There are so many slots for an attribute, and a code may take one of
// them.
struct JoinSlots {
    static constexpr uint32_t kWays = 8;

    explicit JoinSlots(const Batch& b) {
        for (int i = 0; b.distance && i <= b.m; ++i) {
            first.push_back(n);
            if (i == b.m) break;
            const uint32_t digits = std::bit_width(unsigned(b.distance->most(i))) + b.distance->n_digits(i);
            n += kWays * (b.distance->nominal(i) ? 3 : digits + 1);  // and one of rows that lack the value
        }
    }
    uint32_t place(int i, uint32_t code) const { return first[i] + code % kWays * ((first[i + 1] - first[i]) / kWays); }

    uint32_t n = 0;  // planes
    std::vector<uint32_t> first;
};

class ProgramWriter {
public:
    explicit ProgramWriter(const Batch& b) : b_(b), slots_(b) {}

    void write(const Segment& s, const Recipes& recipes, const uint32_t* codes, std::vector<uint32_t>& out) {
        head_ = {};
        attributes_.clear();
        joins_.clear();
        for (auto& planes : added_) planes.clear();
        columns_.assign(b_.raw_columns(), 0);
        for (int i = 0; i < b_.m; ++i) write_attribute(s, recipes, codes[i], i);
        for (int l = 0; l < 3; ++l) {
            added_[l].resize(padded(int(added_[l].size()), 8 >> l));
            head_[kOnes + l] = uint32_t(added_[l].size());
        }
        head_[kJoinsSize] = uint32_t(joins_.size());
        out.insert(out.end(), head_.begin(), head_.end());
        for (const auto* part : {&attributes_, &joins_, &added_[0], &added_[1], &added_[2], &columns_})
            out.insert(out.end(), part->begin(), part->end());
    }

private:
    void write_attribute(const Segment& s, const Recipes& recipes, uint32_t code, int i) {
        const bool known = code != kMissing, nominal = b_.distance->nominal(i);
        attribute_ = {uint32_t(i) * JoinSlots::kWays + code % JoinSlots::kWays,
                      code,
                      slots_.place(i, code),
                      0,
                      0,
                      uint32_t(joins_.size())};
        value_ = missing_ = kNotYet;
        if (known) {
            head_[kTop] += uint32_t(b_.distance->most(i));
            nominal ? near_nominal(s, code, i) : near_recipe(recipes, code, i);
        }
        attribute_[kDistanceJoins] = attribute_[kJoins];
        if (b_.may_miss()) columns_[b_.n_hits() + i] = missing(s, i);
        if (known) nominal ? count_nominal(s, code, i) : count_recipe(recipes, code, i);
        if (attribute_[kJoins] == 0) return;
        attributes_.insert(attributes_.end(), attribute_.begin(), attribute_.end());
        ++head_[kAttributes];
        if (attribute_[kDistanceJoins] > 0) head_[kNear] = head_[kAttributes];
    }

    uint32_t join(const uint32_t* addresses, size_t n, bool all = false) {
        if (n == 1) return addresses[0];
        joins_.push_back(uint32_t(2 * n + all));
        joins_.insert(joins_.end(), addresses, addresses + n);
        return 1 + kBlockWords * (attribute_[kFirst] + attribute_[kJoins]++);
    }
    // Rows that have a value, or lack it.
    uint32_t value(const Segment& s, uint32_t code, int i) { return once(value_, s.columns[i], code); }
    uint32_t missing(const Segment& s, int i) { return once(missing_, s.columns[i], s.missing(i)); }
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
    const JoinSlots slots_;
    std::array<uint32_t, kHeadSize> head_;
    std::array<uint32_t, kAttributeSize> attribute_;
    uint32_t value_, missing_;  // of the attribute: rows that have the query's value, and rows that lack it
    std::vector<uint32_t> attributes_, joins_, columns_;
    std::array<std::vector<uint32_t>, 3> added_;
};

}  // namespace
}  // namespace localbayes
