// A hash table of rows.
#include "repeats.hpp"

#include <algorithm>
#include <cstring>

namespace localbayes {
namespace {

constexpr uint32_t kSample = 15;  // one hash in so many and one is looked at first
constexpr int kAhead = 32;        // rows whose slots in the table are fetched before they are looked up
constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15u;

uint32_t hash(const char* row, size_t n_bytes, int64_t y) {
    uint64_t h = uint64_t(y + 1) * kMultiplier;
    const auto mix = [&](uint64_t word) {
        h = (h ^ word) * kMultiplier;
        h ^= h >> 29;
    };
    size_t at = 0;
    for (; at + 8 <= n_bytes; at += 8) {
        uint64_t word;
        std::memcpy(&word, row + at, 8);
        mix(word);
    }
    uint64_t rest = 0;
    std::memcpy(&rest, row + at, n_bytes - at);
    mix(rest);
    return uint32_t(h >> 32);
}

// Slots of cells by the hash of their rows: open addressing, at most half full. An entry holds the hash and the number
// of the cell plus one.
class Slots {
public:
    void prefetch(uint32_t hash) const { __builtin_prefetch(&entries_[hash & mask()]); }

    // The cell with this hash for which `same` holds, or a new one.
    template <class Same>
    uint32_t find(uint32_t hash, uint32_t n_cells, Same same) {
        if (2 * size_t(n_cells) >= entries_.size()) grow();
        size_t at = hash & mask();
        for (; entries_[at] != 0; at = (at + 1) & mask())
            if (uint32_t(entries_[at] >> 32) == hash && same(uint32_t(entries_[at]) - 1))
                return uint32_t(entries_[at]) - 1;
        entries_[at] = uint64_t(hash) << 32 | (n_cells + 1);
        return n_cells;
    }

private:
    size_t mask() const { return entries_.size() - 1; }
    void grow() {
        std::vector<uint64_t> before(4 * entries_.size());
        std::swap(before, entries_);
        for (const uint64_t entry : before) {
            size_t at = entry >> 32 & mask();
            while (entry != 0 && entries_[at] != 0) at = (at + 1) & mask();
            if (entry != 0) entries_[at] = entry;
        }
    }

    std::vector<uint64_t> entries_ = std::vector<uint64_t>(1 << 12);
};

// Whether the share of different rows among those of few hashes is not far above `share`.
template <class Code>
bool looks_repeated(const Code* codes, const int64_t* classes, int64_t n, size_t m, double share) {
    std::vector<uint32_t> hashes;
    for (int64_t k = 0; k < n; ++k) {
        const uint32_t h = hash(reinterpret_cast<const char*>(codes + k * m), m * sizeof(Code), classes[k]);
        if ((h & kSample) == 0) hashes.push_back(h);
    }
    std::sort(hashes.begin(), hashes.end());
    const auto different = std::unique(hashes.begin(), hashes.end()) - hashes.begin();
    return double(different) <= (share + 0.1) * double(hashes.size()) + 16;
}

}  // namespace

template <class Code>
bool find_repeats(const Code* codes, const int64_t* classes, int64_t n, size_t m, int64_t most, uint32_t* cells,
                  std::vector<int64_t>& first) {
    const size_t n_bytes = m * sizeof(Code);
    const auto row = [&](int64_t k) { return reinterpret_cast<const char*>(codes + k * m); };
    // All rows of a cell have one hash: cells of few hashes tell what share of the rows is different, in little memory.
    // Where that is clearly more than asked for, the others need not be looked up.
    if (!looks_repeated(codes, classes, n, m, double(most) / double(n))) return false;
    Slots slots;
    first.clear();
    for (int64_t begin = 0; begin < n; begin += kAhead) {
        uint32_t hashes[kAhead];
        const int64_t end = std::min(n, begin + kAhead);
        for (int64_t k = begin; k < end; ++k) {
            hashes[k - begin] = hash(row(k), n_bytes, classes[k]);
            slots.prefetch(hashes[k - begin]);
        }
        for (int64_t k = begin; k < end; ++k) {
            const auto same = [&](uint32_t cell) {
                return classes[first[cell]] == classes[k] && std::memcmp(row(first[cell]), row(k), n_bytes) == 0;
            };
            cells[k] = slots.find(hashes[k - begin], uint32_t(first.size()), same);
            if (cells[k] == first.size()) first.push_back(k);
        }
        if (int64_t(first.size()) > most) return false;
    }
    return true;
}

template bool find_repeats(const uint8_t*, const int64_t*, int64_t, size_t, int64_t, uint32_t*, std::vector<int64_t>&);
template bool find_repeats(const uint16_t*, const int64_t*, int64_t, size_t, int64_t, uint32_t*, std::vector<int64_t>&);
template bool find_repeats(const uint32_t*, const int64_t*, int64_t, size_t, int64_t, uint32_t*, std::vector<int64_t>&);

}  // namespace localbayes
