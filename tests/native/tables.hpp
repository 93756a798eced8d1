// Tables made by chance and the same counts by plain loops over rows: what the kernel is compared with.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "isa.hpp"
#include "plain.hpp"

namespace native {

using localbayes::kMissing;
using localbayes::kUnseen;

// The same numbers on every machine (splitmix64).
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next() {
        uint64_t z = state_ += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    int64_t below(int64_t n) { return int64_t(next() % uint64_t(n)); }
    int64_t from_to(int64_t low, int64_t high) { return low + below(high - low + 1); }
    bool one_in(int64_t n) { return below(n) == 0; }

private:
    uint64_t state_;
};

struct Shape {
    int m = 1, n_classes = 1;
    int64_t n_rows = 0, n_queries = 1;
    int n_segments = 1;
    uint32_t max_size = 2;
    bool may_miss = false, weighted = false, own = false;
    bool runs = false;    // of rows of one weight, if rows are weighted
    bool tables = false;  // a distance by tables rather than Hamming's
    int cap = 0;          // of a distance by rank for all attributes; 0: tables made by chance, some nominal
};

// Rows that were added together, in the order in which they came and packed.
struct Part {
    std::vector<uint32_t> sizes, codes;
    std::vector<int64_t> classes, order, class_start;
    std::vector<double> weights, sorted_weights;
    std::vector<int64_t> run_start;
    std::vector<double> run_factor, loose;
    std::vector<uint64_t> words;
};

// Tables of distances and agreements as they are given to a Distance.
struct Tables {
    std::vector<uint32_t> sizes;
    std::vector<uint8_t> d, s, nominal;

    localbayes::Distance distance() const {
        return localbayes::Distance(
            {sizes.data(), d.data(), s.data(), nominal.data(), sizes.size(), d.size(), s.size()});
    }
};

struct Table {
    Shape shape;
    std::vector<Part> parts;
    std::vector<localbayes::Segment> segments;   // views of the parts
    std::vector<localbayes::Distance> distance;  // one, or none: Hamming's
    std::vector<localbayes::Recipes> recipes;
    std::vector<uint32_t> queries;
    std::vector<int64_t> own;  // class of the query's own row
    std::vector<double> own_weight;
    std::vector<std::pair<int, int64_t>> own_row;  // its part and number

    localbayes::Batch batch() const {
        return {segments,
                queries.data(),
                shape.own ? own.data() : nullptr,
                shape.own && shape.weighted ? own_weight.data() : nullptr,
                shape.n_queries,
                shape.m,
                shape.n_classes,
                shape.weighted,
                distance.data(),
                recipes.data()};
    }
    int columns() const { return shape.may_miss ? 2 * shape.m : shape.m; }
};

template <class Code>
void pack_as(const localbayes::Segment& segment, Part& part) {
    const std::vector<Code> codes(part.codes.begin(), part.codes.end());
    localbayes::pack(segment, codes.data(), part.order.data(), int64_t(part.order.size()), part.words.data());
}

// Rows of one class and weight are a run; some of them keep weights of their own.
inline void make_runs(Part& part, Random& random) {
    const size_t n = part.order.size();
    for (size_t k = 0, next; k < n; k = next) {
        const auto other = [&](size_t row) {
            return part.classes[part.order[row]] != part.classes[part.order[k]] ||
                   part.sorted_weights[row] != part.sorted_weights[k];
        };
        for (next = k + 1; next < n && !other(next);) ++next;
        const bool loose = part.sorted_weights[k] == 0 || random.one_in(3);
        part.run_start.push_back(int64_t(k));
        part.run_factor.push_back(loose ? 0 : part.sorted_weights[k]);
        if (loose) part.loose.insert(part.loose.end(), next - k, part.sorted_weights[k]);
    }
    part.run_start.push_back(int64_t(n));
}

inline Part make_part(const Shape& shape, const std::vector<uint32_t>& sizes, int64_t n, Random& random) {
    Part part;
    part.sizes = sizes;
    const int64_t favourite = random.below(shape.n_classes);  // makes classes of very different sizes
    for (int64_t k = 0; k < n; ++k) {
        part.classes.push_back(random.one_in(3) ? favourite : random.below(shape.n_classes));
        part.weights.push_back(double(random.from_to(0, shape.runs ? 4 : 24)) / 8);  // eighths add up without rounding
        for (int i = 0; i < shape.m; ++i) {
            const bool missing = shape.may_miss && random.one_in(6);
            // Half of the cells hold the first values, so that rows agree on many attributes.
            const int64_t common = std::min<int64_t>(2, sizes[i]);
            part.codes.push_back(missing ? sizes[i] : uint32_t(random.below(random.one_in(2) ? common : sizes[i])));
        }
    }
    part.order.resize(n);
    std::iota(part.order.begin(), part.order.end(), 0);
    const auto place = [&](int64_t k) { return std::pair(part.classes[k], shape.runs ? part.weights[k] : 0); };
    std::stable_sort(part.order.begin(), part.order.end(), [&](int64_t a, int64_t b) { return place(a) < place(b); });
    part.class_start.assign(shape.n_classes + 1, 0);
    for (const int64_t y : part.classes) ++part.class_start[y + 1];
    std::partial_sum(part.class_start.begin(), part.class_start.end(), part.class_start.begin());
    for (const int64_t k : part.order) part.sorted_weights.push_back(part.weights[k]);
    if (shape.runs) make_runs(part, random);
    return part;
}

inline void make_query(Table& table, Random& random) {
    const Shape& shape = table.shape;
    int at = int(random.below(table.parts.size()));
    if (table.parts[at].classes.empty()) at = 0;
    const Part& part = table.parts[at];
    const int64_t n = int64_t(part.classes.size()), row = n ? random.below(n) : 0;
    table.own.push_back(n ? part.classes[row] : 0);
    table.own_weight.push_back(n ? part.weights[row] : 0);
    table.own_row.emplace_back(at, row);
    const std::vector<uint32_t>& sizes = table.parts.back().sizes;
    for (int i = 0; i < shape.m; ++i) {
        uint32_t code = uint32_t(random.below(sizes[i]));
        if (n && (shape.own || random.one_in(2))) {
            code = part.codes[row * shape.m + i];
            if (shape.may_miss && code == part.sizes[i]) code = kMissing;
        }
        if (random.one_in(12) && !(shape.own && code == kMissing)) code = kUnseen;
        if (!shape.own && shape.may_miss && random.one_in(8)) code = kMissing;
        table.queries.push_back(code);
    }
}

inline Tables make_tables(const Shape& shape, const std::vector<uint32_t>& sizes, Random& random) {
    Tables tables{sizes, {}, {}, {}};
    for (const uint32_t q : sizes) {
        const bool nominal = q > 300 || (shape.cap == 0 && random.one_in(4)),
                   by_rank = shape.cap > 0 || random.one_in(2);
        const int64_t cap = shape.cap > 0 ? shape.cap : random.from_to(1, 7);
        tables.nominal.push_back(nominal);
        for (int64_t k = 0; k < (nominal ? 2 : int64_t(q) * q); ++k) {
            const int64_t apart = nominal ? k : std::abs(k % q - k / q);
            const int64_t d = by_rank ? std::min(apart, cap) : apart == 0 ? 0 : random.below(8);
            const int64_t s = nominal && k == 1 ? 0 : by_rank ? cap - d : random.below(8);
            tables.d.push_back(uint8_t(d));
            tables.s.push_back(uint8_t(s));
        }
    }
    return tables;
}

inline Table make_table(const Shape& shape, Random& random) {
    Table table;
    table.shape = shape;
    std::vector<uint32_t> sizes;
    for (int i = 0; i < shape.m; ++i)
        sizes.push_back(uint32_t(random.from_to(1, random.one_in(4) ? shape.max_size : std::min(shape.max_size, 12u))));
    for (int s = 0; s < shape.n_segments; ++s) {
        const int64_t n = s == 0 ? shape.n_rows : random.below(shape.n_rows / (1 << s) + 1);
        table.parts.push_back(make_part(shape, sizes, n, random));
        if (random.one_in(2)) sizes[random.below(shape.m)] += uint32_t(random.from_to(1, 5));  // domains may grow
    }
    std::vector<uint8_t> by_value(shape.m);
    if (shape.tables) {
        const Tables tables = make_tables(shape, sizes, random);
        table.distance.push_back(tables.distance());
        for (int i = 0; i < shape.m; ++i) by_value[i] = !tables.nominal[i];
    }
    for (Part& part : table.parts) {
        localbayes::Segment& segment =
            table.segments.emplace_back(part.sizes.data(), shape.m, shape.may_miss, by_value.data());
        part.words.assign(segment.words_needed(int64_t(part.order.size())), 0);
        const uint32_t largest = *std::max_element(part.sizes.begin(), part.sizes.end());
        if (largest < 255) pack_as<uint8_t>(segment, part);
        else if (largest < 65535) pack_as<uint16_t>(segment, part);
        else pack_as<uint32_t>(segment, part);
        segment.words = part.words.data();
        segment.class_start = part.class_start.data();
        if (shape.weighted && shape.runs)
            segment.set_runs({part.run_start.data(), part.run_factor.data(), part.loose.data(), part.run_factor.size(),
                              part.loose.size()},
                             shape.n_classes);
        else if (shape.weighted) segment.set_weights(part.sorted_weights.data(), shape.n_classes);
    }
    for (int64_t q = 0; q < shape.n_queries; ++q) make_query(table, random);
    for (const localbayes::Segment& segment : table.segments)
        if (shape.tables) table.recipes.emplace_back(table.distance[0], segment, table.queries.data(), shape.n_queries);
    return table;
}

// The training rows of a query as the plain loops take them: all but its own row, with kMissing for values they lack.
struct PlainRows {
    PlainRows(const Table& table, int64_t q) {
        const size_t m = table.shape.m;
        for (size_t p = 0; p < table.parts.size(); ++p) {
            const Part& part = table.parts[p];
            std::vector<uint32_t>& codes = codes_.emplace_back(part.codes);
            for (size_t k = 0; k < codes.size(); ++k)
                if (codes[k] >= part.sizes[k % m]) codes[k] = kMissing;
            for (size_t k = 0; k < part.classes.size(); ++k)
                if (!table.shape.own || table.own_row[q] != std::pair(int(p), int64_t(k)))
                    rows.push_back({&codes[k * m], part.classes[k], table.shape.weighted ? part.weights[k] : 1.0});
        }
    }

    std::vector<localbayes::plain::Row> rows;

private:
    std::vector<std::vector<uint32_t>> codes_;
};

}  // namespace native
