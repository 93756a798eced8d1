// Whether arrays are rows as the kernel trusts them.
#include <stdexcept>
#include <string>

#include "layout.hpp"

namespace localbayes {
namespace {

void expect(bool fits, const std::string& message) {
    if (!fits) throw std::invalid_argument("damaged training rows: " + message);
}

using Rows = uint64_t[kBlockWords];  // a bit for every row of a block

bool any(const Rows& rows) {
    uint64_t all = 0;
    for (const uint64_t word : rows) all |= word;
    return all != 0;
}

// Rows that have one of the n planes, added to `some`; those that have two, added to `many`.
void gather(const uint64_t* plane, uint32_t n, Rows& some, Rows& many) {
    for (uint32_t p = 0; p < n; ++p, plane += kBlockWords)
        for (int w = 0; w < kBlockWords; ++w) {
            many[w] |= some[w] & plane[w];
            some[w] |= plane[w];
        }
}

// Whether every row of a block has one value of an attribute, or none where it may have none; `valid` are its rows.
bool has_one_value(const Column& c, const uint64_t* block, const Rows& valid, bool may_have_none) {
    Rows bad{}, known{}, equal;  // equal: all higher digits are those of the last code
    std::copy_n(valid, kBlockWords, equal);
    for (uint32_t digit = c.n_digits; digit-- > 0;) {
        const uint64_t* planes = block + size_t(c.first_plane + 4 * digit) * kBlockWords;
        const uint32_t n = c.planes(digit), last = (c.n_codes - 1) >> 2 * digit & c.mask;
        Rows some{};
        gather(planes, n, some, bad);
        for (int w = 0; w < kBlockWords; ++w) {
            for (uint32_t p = last + 1; p < n; ++p) bad[w] |= equal[w] & planes[p * kBlockWords + w];
            equal[w] &= planes[last * kBlockWords + w];
            if (digit + 1 < c.n_digits) bad[w] |= some[w] ^ known[w];  // all digits or none
            known[w] = some[w];
        }
    }
    for (int w = 0; w < kBlockWords; ++w) bad[w] |= may_have_none ? known[w] & ~valid[w] : known[w] ^ valid[w];
    return !any(bad);
}

}  // namespace

void check_rows(const Segment& s, size_t n_words, size_t n_starts) {
    for (size_t i = 0; i < s.columns.size(); ++i)
        expect(s.columns[i].n_codes > s.may_miss, "attribute " + std::to_string(i) + " has no values");
    expect(n_starts >= 1 && s.class_start[0] == 0, "the classes do not begin with row 0");
    for (size_t y = 1; y < n_starts; ++y)
        expect(s.class_start[y - 1] <= s.class_start[y], "class " + std::to_string(y - 1) + " ends before it begins");
    const int64_t n = s.class_start[n_starts - 1];
    expect(n_words == s.words_needed(n), std::to_string(n_words) + " words do not fit " + std::to_string(n) + " rows");
    for (int64_t first = 0; first < n; first += kBlockRows) {
        const uint64_t* block = s.block(first / kBlockRows);
        Rows valid{}, zeros;
        for (int64_t w = 0; w < kBlockWords && first + 64 * w < n; ++w)
            valid[w] = n - first - 64 * w >= 64 ? ~uint64_t{0} : (uint64_t{1} << (n - first - 64 * w)) - 1;
        std::copy_n(block, kBlockWords, zeros);
        expect(!any(zeros), "the plane of zeros is not zero");
        for (size_t i = 0; i < s.columns.size(); ++i)
            expect(has_one_value(s.columns[i], block, valid, !s.may_miss),
                   "a row from " + std::to_string(first) + " on does not have one value of attribute " +
                       std::to_string(i));
    }
}

}  // namespace localbayes
