// Tables of distances, and which planes they need.
#include "distance.hpp"

#include <limits>
#include <stdexcept>
#include <string>

namespace localbayes {
namespace {

constexpr int kLargest = 7;

void expect(bool fits, size_t i, const char* message) {
    if (!fits) throw std::invalid_argument("distance of attribute " + std::to_string(i) + ": " + message);
}

}  // namespace

Distance::Distance(const DistanceTables& tables) {
    size_t first = 0;
    for (size_t i = 0; i < tables.m; ++i) {
        const uint32_t q = tables.sizes[i];
        Attribute a{q, tables.nominal && tables.nominal[i], 0, 1, n_hits_, first};
        const size_t n = a.nominal ? 2 : size_t(q) * q;
        expect(q >= 1, i, "it must have a value");
        expect(n <= tables.d_size - first && n <= tables.s_size - first, i, "the tables are too small");
        const uint8_t *d = tables.d + first, *s = tables.s + first;
        int most_agreement = 0;
        for (size_t k = 0; k < n; ++k) {
            a.most = std::max<int>(a.most, d[k]);
            most_agreement = std::max<int>(most_agreement, s[k]);
        }
        expect(a.most <= kLargest && most_agreement <= kLargest, i, "its numbers must be 0 to 7");
        for (size_t k = 0; k < n; ++k) {
            const bool same = a.nominal ? k == 0 : k % q == k / q;
            expect(!same || d[k] == 0, i, "a value must be at distance 0 of itself");
            far_is_unlike_ &= d[k] < a.most || s[k] == 0;
        }
        expect(!a.nominal || s[1] == 0, i, "different values of a nominal attribute must agree by 0");
        a.n_digits = std::max(1, int(std::bit_width(unsigned(most_agreement))));
        n_hits_ += a.n_digits;
        n_distances_ += a.most;
        first += n;
        attributes_.push_back(a);
    }
    if (first != tables.d_size || first != tables.s_size)
        throw std::invalid_argument("distance: the tables must have " + std::to_string(first) + " numbers, got " +
                                    std::to_string(tables.d_size) + " and " + std::to_string(tables.s_size));
    d_.assign(tables.d, tables.d + first);
    s_.assign(tables.s, tables.s + first);
}

Recipes::Recipes(const Distance& distance, const Segment& s, const uint32_t* codes, int64_t n_queries) {
    std::vector<char> occurs;
    for (int i = 0; i < distance.m(); ++i) {
        start_.push_back(first_.size());
        unseen_.push_back(distance.nominal(i) ? 0 : distance.size(i));
        if (distance.nominal(i)) continue;
        expect(s.columns[i].n_digits == 1, size_t(i), "its rows must be packed by value");
        expect(s.n_values(i) <= distance.size(i), size_t(i), "rows have more values than the table");
        occurs.assign(size_t(distance.size(i)) + 1, 0);
        for (int64_t q = 0; q < n_queries; ++q) occurs[std::min(codes[q * distance.m() + i], distance.size(i))] = 1;
        for (uint32_t v = 0; v <= distance.size(i); ++v) {
            first_.push_back(uint32_t(expressions_.size()));
            if (occurs[v]) add(distance, s, i, v);
        }
        first_.push_back(uint32_t(expressions_.size()));
    }
    expressions_.push_back({});
}

// The digits of one query value. Digits that need the same planes share an expression.
void Recipes::add(const Distance& distance, const Segment& s, int i, uint32_t v) {
    const bool seen = v < distance.size(i);
    const size_t before = expressions_.size();
    const auto digit = [&](bool agreement, int l) {
        std::vector<uint32_t> planes;
        for (uint32_t u = 0; u < s.n_values(i) && seen; ++u) {
            const int number = agreement ? distance.s(i, v, u) : distance.most(i) - distance.d(i, v, u);
            if (number >> l & 1) planes.push_back(s.columns[i].plane(u, 0) * kBlockWords);
        }
        if (!agreement && s.may_miss && distance.most(i) >> l & 1)  // a row that lacks the value is at distance 0
            planes.push_back(s.columns[i].plane(s.missing(i), 0) * kBlockWords);
        if (planes.empty()) return;
        const auto same = [&](const Expression& e) {
            return std::equal(planes.begin(), planes.end(), planes_.begin() + e.first, planes_.begin() + e.first + e.n);
        };
        auto found = std::find_if(expressions_.begin() + before, expressions_.end(), same);
        if (found == expressions_.end()) {
            expressions_.push_back({uint32_t(planes_.size()), uint32_t(planes.size()), 0, 0});
            planes_.insert(planes_.end(), planes.begin(), planes.end());
            found = expressions_.end() - 1;
        }
        (agreement ? found->agreement : found->nearness) |= uint8_t(1 << l);
    };
    for (const bool agreement : {false, true})
        for (int l = 0; l < 3; ++l) digit(agreement, l);
}

}  // namespace localbayes
