// Absent values: values of a query that do not occur in a class.
#pragma once
#include "blocks.hpp"
#include "places.hpp"
#include "vectors.hpp"

namespace localbayes {
namespace {

// The vectors that hold rows of a class, and which rows of the first and the last one are its.
template <class W>
struct ClassVectors {
    ClassVectors(int64_t begin, int64_t end_row)
        : first(begin / kVecRows<W>), end((end_row + kVecRows<W> - 1) / kVecRows<W>),
          in_first(rows_between<W>(begin, end_row, first)), in_last(rows_between<W>(begin, end_row, end - 1)) {}

    int64_t first, end;
    typename W::Vec in_first, in_last;
};

// Counts, for every class, the values of a query that do not occur in it. Whether a class has a value is found out when
// it is first needed. Of a column of very many values the first digit is asked only.
template <class W>
class Absence {
    using Vec = typename W::Vec;

public:
    explicit Absence(const Batch& b)
        : m_(b.m), r_(b.n_classes), room_(padded(r_, kBytes) / kBytes), segments_(b.segments) {
        for (const Segment& s : segments_) {
            Values& values = values_.emplace_back();
            size_t n = s.n_planes;
            values.first.resize(m_);
            for (const int i : s.wide)
                if (s.columns[i].n_codes <= kMostCodes) {
                    values.first[i] = n;
                    n += s.columns[i].n_codes;
                }
            values.known.resize(n);
            values.absent.resize(n * room_ * kBytes);
            for (int y = 0; y < r_; ++y) values.classes.emplace_back(s.class_start[y], s.class_start[y + 1]);
        }
    }

    // out has room for a multiple of 32 classes.
    void count(const Places& places, int64_t query, const uint32_t* codes, uint8_t* out) {
        for (size_t k = 0; k < room_; ++k) {
            Bytes sum{};
            for (int i = 0; i < m_; ++i) {
                const auto absent_of = [&](size_t part) {
                    return load<Bytes>(of(part, i, places.of(part, query)[i], codes[i]) + k * kBytes);
                };
                Bytes absent = absent_of(0);
                for (size_t part = 1; part < segments_.size(); ++part) absent &= absent_of(part);
                sum -= absent;
            }
            std::memcpy(out + k * kBytes, &sum, kBytes);
        }
    }

private:
    static constexpr int kBytes = 32;
    static constexpr uint32_t kMostCodes = 256;
    using Bytes = Vector<uint8_t, kBytes>;
    // Of a segment: planes, then values of columns of several digits.
    struct Values {
        std::vector<size_t> first;  // of every column: where its values begin, or 0
        std::vector<char> known;
        std::vector<uint8_t> absent;  // by class: all ones where there is no row
        std::vector<ClassVectors<W>> classes;
    };

    // A value that no row of the segment has is at place 0.
    const uint8_t* of(size_t part, int i, uint32_t place, uint32_t code) {
        Values& values = values_[part];
        const bool by_code = values.first[i] != 0 && place != 0;
        const size_t at = by_code ? values.first[i] + code : place / kBlockWords;
        uint8_t* absent = &values.absent[at * room_ * kBytes];
        if (values.known[at]) return absent;
        values.known[at] = true;
        const Segment& s = segments_[part];
        planes_.assign(1, place);
        for (uint32_t digit = 1; by_code && digit < s.columns[i].n_digits; ++digit)
            planes_.push_back(s.columns[i].plane(code, digit) * kBlockWords);
        for (int y = 0; y < r_; ++y) absent[y] = occurs(s, values.classes[y]) ? 0 : 255;
        return absent;
    }

    // Whether a row of the class is in all planes. What the rows are decides a branch after some vectors only: no
    // processor foresees it.
    bool occurs(const Segment& s, const ClassVectors<W>& c) const {
        if (c.first == c.end) return false;
        const auto rows = [&](int64_t v) {
            const uint64_t* words = s.block(v / kVectors<W>) + v % kVectors<W> * W::kWords;
            Vec all = W::load(words + planes_[0]);
            for (size_t k = 1; k < planes_.size(); ++k) all &= W::load(words + planes_[k]);
            return all;
        };
        const int64_t last = c.end - 1;
        Vec found = (rows(c.first) & c.in_first) | (rows(last) & c.in_last);
        for (int64_t v = c.first + 1; v < last; ++v) {
            found |= rows(v);
            if (v % kAtOnce == 0 && !W::is_zero(found)) return true;
        }
        return !W::is_zero(found);
    }

    static constexpr int kAtOnce = 128 / W::kWords;  // vectors
    int m_, r_;
    size_t room_;
    const std::vector<Segment>& segments_;
    std::vector<Values> values_;
    std::vector<uint32_t> planes_;  // of the value that is looked for, as places in a block
};

}  // namespace
}  // namespace localbayes
