// Absent values: values of a query that do not occur in a class.
#pragma once
#include "blocks.hpp"
#include "places.hpp"
#include "vectors.hpp"

namespace localbayes {
namespace {

// Counts, for every class, the values of a query that do not occur in it. Whether a plane has rows of each class is
// found out when it is first needed; of a value of several digits the first one is asked.
class Absence {
public:
    explicit Absence(const Batch& b)
        : m_(b.m), r_(b.n_classes), room_(padded(r_, kBytes) / kBytes), segments_(b.segments) {
        for (const Segment& s : segments_)
            planes_.push_back({std::vector<char>(s.n_planes), std::vector<Bytes>(s.n_planes * room_)});
    }

    // out has room for a multiple of 32 classes.
    void count(const Places& places, int64_t query, uint8_t* out) {
        const uint32_t* place = places.of(0, query);
        for (size_t k = 0; k < room_; ++k) {
            Bytes sum{};
            for (int i = 0; i < m_; ++i) {
                Bytes absent = of(0, place[i] / kBlockWords)[k];
                for (size_t part = 1; part < segments_.size(); ++part)
                    absent &= of(part, places.of(part, query)[i] / kBlockWords)[k];
                sum -= absent;
            }
            std::memcpy(out + k * kBytes, &sum, kBytes);
        }
    }

private:
    static constexpr int kBytes = 32;
    using Bytes = uint8_t __attribute__((vector_size(kBytes)));  // of classes: all ones where there is no row
    struct Planes {
        std::vector<char> known;
        std::vector<Bytes> absent;
    };

    const Bytes* of(size_t part, size_t plane) {
        const Segment& s = segments_[part];
        Planes& planes = planes_[part];
        Bytes* absent = &planes.absent[plane * room_];
        if (planes.known[plane]) return absent;
        planes.known[plane] = true;
        for (int y = 0; y < r_; ++y)
            absent[y / kBytes][y % kBytes] = occurs(s, plane, s.class_start[y], s.class_start[y + 1]) ? 0 : 255;
        return absent;
    }

    // Whether a plane has one of the rows [begin, end).
    static bool occurs(const Segment& s, size_t plane, int64_t begin, int64_t end) {
        if (begin == end) return false;
        const uint64_t* words = s.words + plane * kBlockWords;
        const auto word = [&](int64_t w) { return words[w / kBlockWords * s.block_words() + w % kBlockWords]; };
        const int64_t first = begin / 64, last = (end - 1) / 64;
        const uint64_t not_before = ~uint64_t{0} << begin % 64, not_after = ~uint64_t{0} >> (63 - (end - 1) % 64);
        if (first == last) return (word(first) & not_before & not_after) != 0;
        if ((word(first) & not_before) != 0) return true;
        for (int64_t w = first + 1; w < last; ++w)
            if (word(w) != 0) return true;
        return (word(last) & not_after) != 0;
    }

    int m_, r_;
    size_t room_;
    const std::vector<Segment>& segments_;
    std::vector<Planes> planes_;
};

}  // namespace
}  // namespace localbayes
