// Where the planes of the queries' values are.
#pragma once
#include "batch.hpp"

namespace localbayes {
namespace {

// Per segment, query and attribute: where in a block the plane of the query's value begins (its first digit's). A value
// that no row of the segment has is at the plane of zeros.
class Places {
public:
    explicit Places(const Batch& b) : m_(b.m), segments_(b.segments.data()) {
        for (const Segment& s : b.segments) {
            uint32_t* place = places_.emplace_back(b.n_queries * m_).data();
            const uint32_t* code = b.codes;
            for (int64_t q = 0; q < b.n_queries; ++q)
                for (const Column& c : s.columns) {
                    *place++ = *code < c.n_codes - s.may_miss ? c.plane(*code, 0) * kBlockWords : 0;
                    ++code;
                }
        }
    }
    const uint32_t* of(size_t part, int64_t query) const { return &places_[part][query * m_]; }
    const uint32_t* of(const Segment& s, int64_t query) const { return of(&s - segments_, query); }

private:
    size_t m_;
    const Segment* segments_;
    std::vector<std::vector<uint32_t>> places_;
};

}  // namespace
}  // namespace localbayes
