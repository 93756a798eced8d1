// The planes of a query's values in one block, for a distance by tables.
#pragma once
#include "planes.hpp"

namespace localbayes {
namespace {

template <class W>
class TablePlanes {
public:
    explicit TablePlanes(const Batch& b) : b_(b), columns_(b.raw_columns()), scratch_(scratch_size(b)) {
        for (auto& planes : added_) planes.resize(b.distance ? 3 * b.m + 8 : 0);
    }

    // The first n_vectors vectors of a block of segment s.
    Selection find(const Segment& s, const uint64_t* block, const uint32_t* codes, int n_vectors) {
        const Distance& distance = *b_.distance;
        const Recipes& recipes = b_.recipes[&s - b_.segments.data()];
        n_words_ = n_vectors * W::kWords;
        used_ = 0;
        n_added_ = {};
        std::fill(columns_.begin(), columns_.end(), block);
        int top = 0;
        for (int i = 0; i < b_.m; ++i) {
            if (b_.may_miss()) {
                const uint64_t* missing = join_digits(s.columns[i], block, s.missing(i), n_words_, scratch());
                columns_[b_.n_hits() + i] = keep(missing);
            }
            if (codes[i] == kMissing) continue;
            top += distance.most(i);
            if (distance.nominal(i)) add_nominal(s, block, codes[i], i);
            else add_recipe(recipes, block, codes[i], i);
        }
        const auto fill_up = [&](int l) {
            const int n = padded(n_added_[l], 8 >> l);
            std::fill(added_[l].begin() + n_added_[l], added_[l].begin() + n, block);
            return n;
        };
        const int ones = fill_up(0), twos = fill_up(1), fours = fill_up(2);
        return {{added_[0].data(), added_[1].data(), added_[2].data(), ones, twos, fours}, columns_.data(), top};
    }

private:
    // Per attribute an expression for each of up to six digits, or the planes of a nominal attribute, and the plane of
    // missing values.
    static size_t scratch_size(const Batch& b) { return b.distance ? size_t(7) * b.m * kBlockWords : 0; }
    uint64_t* scratch() { return &scratch_[used_ * kBlockWords]; }
    const uint64_t* keep(const uint64_t* plane) {
        used_ += plane == scratch();
        return plane;
    }

    void add_recipe(const Recipes& recipes, const uint64_t* block, uint32_t code, int i) {
        const auto [begin, end] = recipes.of(i, code);
        for (const Expression* e = begin; e < end; ++e) {
            const uint64_t* plane = join(block, recipes.planes(*e), int(e->n));
            add(plane, e->nearness);
            count(plane, e->agreement, i);
        }
    }

    // Rows that have the query's value are at distance zero, and so are those that lack it.
    void add_nominal(const Segment& s, const uint64_t* block, uint32_t code, int i) {
        const Distance& distance = *b_.distance;
        const uint64_t* hit = block;
        if (code < s.n_values(i)) {
            hit = keep(join_digits(s.columns[i], block, code, n_words_, scratch()));
            count(hit, distance.s(i, 0, 0), i);
        }
        if (b_.may_miss()) {
            const uint64_t* missing = columns_[b_.n_hits() + i];
            uint64_t* to = scratch();
            for (int w = 0; w < n_words_; ++w) to[w] = hit[w] | missing[w];
            hit = keep(to);
        }
        add(hit, distance.most(i));
    }

    // The OR of n planes: the only one itself, or what is written to scratch. A few planes are joined at a time, so
    // that the loop over them is unrolled.
    const uint64_t* join(const uint64_t* block, const uint32_t* places, int n) {
        if (n == 1) return block + places[0];
        uint64_t* to = scratch();
        const int first = std::min(n, kJoined);
        with_constant<2, kJoined>(first, [&]<int N>() { join_some<N>(block, places, to, block + places[0]); });
        for (int k = first; k < n; ++k) join_some<1>(block, places + k, to, to);
        return keep(to);
    }

    // to = start OR N planes.
    template <int N>
    void join_some(const uint64_t* block, const uint32_t* places, uint64_t* to, const uint64_t* start) const {
        for (int w = 0; w < n_words_; w += W::kWords) {
            auto rows = W::load(start + w);
            for (int k = 0; k < N; ++k) rows |= W::load(block + places[k] + w);
            store(to + w, rows);
        }
    }

    void add(const uint64_t* plane, int nearness) {
        for (int l = 0; l < 3; ++l)
            if (nearness >> l & 1) added_[l][n_added_[l]++] = plane;
    }
    void count(const uint64_t* plane, int agreement, int i) {
        const uint64_t** column = &columns_[b_.distance->first_hit(i)];
        for (int l = 0; l < 3; ++l)
            if (agreement >> l & 1) column[l] = plane;
    }

    static constexpr int kJoined = 5;

    const Batch b_;
    int n_words_ = 0;
    size_t used_ = 0;
    std::array<std::vector<const uint64_t*>, 3> added_;  // planes that count 1, 2 and 4
    std::array<int, 3> n_added_;
    std::vector<const uint64_t*> columns_;
    std::vector<uint64_t> scratch_;
};

}  // namespace
}  // namespace localbayes
