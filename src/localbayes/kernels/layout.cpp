// Packing rows into bit planes and back.
#include "layout.hpp"

#include <stdexcept>
#include <string>

namespace localbayes {

// Codes from here on have a meaning of their own, and the first word of a plane in a block is a number of 32 bits.
constexpr uint32_t kMostValues = 0xFFFFFFFDu;
constexpr size_t kMostPlanesOfAll = (size_t{1} << 32) / kBlockWords - 1;

Segment::Segment(const uint32_t* sizes, int m, bool may_miss_, const uint8_t* by_value) : may_miss(may_miss_) {
    for (int i = 0; i < m; ++i) {
        Column c{sizes[i] + may_miss, uint32_t(n_planes), 1, ~0u};
        if (c.n_codes > kMostPlanes && !(by_value && by_value[i])) {
            c.mask = 3;
            while (uint64_t{1} << 2 * c.n_digits < c.n_codes) ++c.n_digits;
            wide.push_back(i);
        }
        n_planes += c.n_planes();
        if (sizes[i] >= kMostValues || n_planes > kMostPlanesOfAll)
            throw std::invalid_argument("attribute " + std::to_string(i) +
                                        " has too many values: " + std::to_string(sizes[i]));
        columns.push_back(c);
    }
}

void Segment::set_weights(const double* weights, int n_classes) {
    runs.clear();
    first_run.clear();
    for (int y = 0; y < n_classes; ++y) {
        first_run.push_back(runs.size());
        runs.push_back(
            {class_start[y], 0, weights + class_start[y], class_start[y + 1] - class_start[y] >= kManyLoose});
    }
    runs.push_back({class_start[n_classes], 0, nullptr});
}

void Segment::set_runs(const RunArrays& arrays, int n_classes) {
    const auto expect = [](bool fits) {
        if (!fits) throw std::invalid_argument("damaged training rows: the runs of equal weight do not fit the rows");
    };
    expect(arrays.start[0] == 0 && arrays.start[arrays.n_runs] == class_start[n_classes]);
    runs.clear();
    first_run.clear();
    size_t n_loose = 0;
    for (size_t k = 0; k < arrays.n_runs; ++k) {
        const int64_t start = arrays.start[k], n = arrays.start[k + 1] - start;
        const bool loose = arrays.factor[k] == 0;
        expect(start >= 0 && n > 0 && n <= class_start[n_classes] && (!loose || size_t(n) <= arrays.n_loose - n_loose));
        runs.push_back({start, arrays.factor[k], loose ? arrays.loose + n_loose : nullptr, n >= kManyLoose});
        n_loose += loose ? size_t(n) : 0;
    }
    expect(n_loose == arrays.n_loose);
    runs.push_back({class_start[n_classes], 0, nullptr});
    size_t run = 0;
    for (int y = 0; y < n_classes; ++y) {
        while (runs[run].start < class_start[y]) ++run;
        expect(runs[run].start == class_start[y] || class_start[y] == class_start[y + 1]);
        first_run.push_back(run);
    }
}

template <class Code>
void pack(const Segment& s, const Code* codes, const int64_t* order, int64_t n, uint64_t* words) {
    const size_t m = s.columns.size();
    std::vector<uint64_t> planes(s.n_planes);  // one word of every plane
    for (int64_t first = 0; first < n; first += 64) {
        std::fill(planes.begin(), planes.end(), 0);
        for (int64_t k = first; k < std::min(first + 64, n); ++k) {
            const Code* row = codes + order[k] * m;
            const uint64_t bit = uint64_t{1} << k % 64;
            for (const Column& c : s.columns) {  // neighbours in this loop write to different words
                uint32_t code = *row++;
                if (code >= c.n_codes) {
                    if (!s.may_miss) continue;
                    code = c.n_codes - 1;
                }
                planes[c.first_plane + (code & c.mask)] |= bit;
                for (uint32_t digit = 1; digit < c.n_digits; ++digit) planes[c.plane(code, digit)] |= bit;
            }
        }
        uint64_t* word = words + first / kBlockRows * s.n_planes * kBlockWords + first % kBlockRows / 64;
        for (size_t p = 0; p < s.n_planes; ++p) word[p * kBlockWords] = planes[p];
    }
}

template void pack(const Segment&, const uint8_t*, const int64_t*, int64_t, uint64_t*);
template void pack(const Segment&, const uint16_t*, const int64_t*, int64_t, uint64_t*);
template void pack(const Segment&, const uint32_t*, const int64_t*, int64_t, uint64_t*);

void unpack(const Segment& s, const int64_t* rows, int64_t n, uint32_t* codes) {
    for (int64_t k = 0; k < n; ++k) {
        const uint64_t* word = s.block(rows[k] / kBlockRows) + rows[k] % kBlockRows / 64;
        const auto has = [&](uint32_t plane) { return word[size_t(plane) * kBlockWords] >> (rows[k] % 64) & 1; };
        for (const Column& c : s.columns) {
            uint32_t code = 0;
            for (uint32_t digit = 0; digit < c.n_digits && code < c.n_codes; ++digit) {
                const uint32_t first = c.first_plane + 4 * digit, planes = c.planes(digit);
                uint32_t value = 0;
                while (value < planes && !has(first + value)) ++value;
                code = value < planes ? code | value << 2 * digit : c.n_codes;  // no plane has a row of a foreign value
            }
            *codes++ = code;
        }
    }
}

}  // namespace localbayes
