// What to do with a block for one query under a distance by tables, written down once and done for every block.
#pragma once
#include <array>
#include <bit>
#include <cstring>

#include "batch.hpp"

namespace localbayes {
namespace {

// A program is a row of numbers: a head, then the attributes whose planes must be joined, then addresses. An address is
// the place of a plane in the block, in words, or, if it is odd, 1 + the place of a plane that was joined. Of an
// attribute there are a head and its joins; those that distances need come first. A join is its number of planes,
// doubled, plus one if their AND is wanted and not their OR, and the addresses of the planes. The last addresses are
// the columns of C.
struct ProgramHead {
    uint32_t n_attributes;  // that have joins
    uint32_t n_near;        // of them, the first so many have all joins that distances need
    uint32_t size;          // of the part of all of them
    uint32_t n_added[3];    // planes that count 1, 2 and 4; a multiple of eight, four and two
    uint32_t top;
};
constexpr size_t kHeadSize = sizeof(ProgramHead) / sizeof(uint32_t);

struct AttributeHead {
    uint32_t slot, code;  // where planes joined for this code are kept
    uint32_t first;       // place of the first of them
    uint32_t n_distance_joins, n_joins, size;
};
constexpr size_t kAttributeSize = sizeof(AttributeHead) / sizeof(uint32_t);

// Where joined planes are kept. Queries that have the same value of an attribute join the same planes: what was joined
// for one query of a block serves the others. There are so many slots for an attribute, and a code may take one of them.
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
        joins_.clear();
        for (auto& planes : added_) planes.clear();
        columns_.assign(b_.raw_columns(), 0);
        for (int i = 0; i < b_.m; ++i) write_attribute(s, recipes, codes[i], i);
        for (int l = 0; l < 3; ++l) {
            added_[l].resize(padded(int(added_[l].size()), 8 >> l));
            head_.n_added[l] = uint32_t(added_[l].size());
        }
        head_.size = uint32_t(joins_.size());
        append(head_, out);
        for (const auto* part : {&joins_, &added_[0], &added_[1], &added_[2], &columns_})
            out.insert(out.end(), part->begin(), part->end());
    }

private:
    template <class Head>
    static void append(const Head& head, std::vector<uint32_t>& out) {
        const uint32_t* words = reinterpret_cast<const uint32_t*>(&head);
        out.insert(out.end(), words, words + sizeof head / sizeof *words);
    }

    void write_attribute(const Segment& s, const Recipes& recipes, uint32_t code, int i) {
        const bool known = code != kMissing, nominal = b_.distance->nominal(i);
        attribute_ = {uint32_t(i) * JoinSlots::kWays + code % JoinSlots::kWays, code, slots_.place(i, code), 0, 0, 0};
        value_ = missing_ = kNotYet;
        const size_t start = joins_.size();
        joins_.resize(start + kAttributeSize);
        if (known) {
            head_.top += uint32_t(b_.distance->most(i));
            nominal ? near_nominal(s, code, i) : near_recipe(recipes, code, i);
        }
        attribute_.n_distance_joins = attribute_.n_joins;
        if (b_.may_miss()) columns_[b_.n_hits() + i] = missing(s, i);
        if (known) nominal ? count_nominal(s, code, i) : count_recipe(recipes, code, i);
        if (attribute_.n_joins == 0) return joins_.resize(start);
        ++head_.n_attributes;
        if (attribute_.n_distance_joins > 0) head_.n_near = head_.n_attributes;
        attribute_.size = uint32_t(joins_.size() - start - kAttributeSize);
        std::memcpy(&joins_[start], &attribute_, sizeof attribute_);
    }

    uint32_t join(const uint32_t* addresses, size_t n, bool all = false) {
        if (n == 1) return addresses[0];
        joins_.push_back(uint32_t(2 * n + all));
        joins_.insert(joins_.end(), addresses, addresses + n);
        return 1 + kBlockWords * (attribute_.first + attribute_.n_joins++);
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
    ProgramHead head_;
    AttributeHead attribute_;
    uint32_t value_, missing_;  // of the attribute: rows that have the query's value, and rows that lack it
    std::vector<uint32_t> joins_, columns_;
    std::array<std::vector<uint32_t>, 3> added_;
};

}  // namespace
}  // namespace localbayes
