// Where the planes of the queries' values are.
#pragma once
#include "table_program.hpp"

namespace localbayes {
namespace {

// Per segment, query and attribute: where in a block the plane of the query's value begins (its first digit's). A value
// that no row of the segment has is at the plane of zeros. Under a distance by tables: a program, see
// table_program.hpp.
class Places {
public:
    explicit Places(const Batch& b) : m_(b.m), segments_(b.segments.data()) {
        if (b.distance) {
            write_programs(b);
            return;
        }
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
    const uint32_t* of(size_t part, int64_t query) const {
        return &places_[part][starts_.empty() ? query * m_ : starts_[part * n_queries_ + query]];
    }
    const uint32_t* of(const Segment& s, int64_t query) const { return of(&s - segments_, query); }

private:
    void write_programs(const Batch& b) {
        ProgramWriter writer(b);
        n_queries_ = b.n_queries;
        for (const Segment& s : b.segments) {
            const Recipes& recipes = b.recipes[places_.size()];
            std::vector<uint32_t>& programs = places_.emplace_back();
            for (int64_t q = 0; q < b.n_queries; ++q) {
                starts_.push_back(programs.size());
                writer.write(s, recipes, b.query(q), programs);
            }
        }
    }

    size_t m_, n_queries_ = 0;
    const Segment* segments_;
    std::vector<std::vector<uint32_t>> places_;
    std::vector<size_t> starts_;  // of programs, by segment and query
};

}  // namespace
}  // namespace localbayes
