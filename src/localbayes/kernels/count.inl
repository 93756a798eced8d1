// The counting templates, compiled once per instruction set; see match.hpp for the layout.
// The including file defines `Word`: a vector of kWords 64-bit words and its popcount.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "match.hpp"

namespace {

using namespace localbayes;
using Vec = Word::Vec;

constexpr int kBlockVecs = kBlockWords / Word::kWords;
constexpr int kVecRows = 64 * Word::kWords;
constexpr int kMaxDigits = 17;
constexpr int kQueriesPerPass = 64;

// Rows [begin, end) of one block, all of one class.
struct Piece {
    const Segment& segment;
    const uint64_t* planes;
    int begin, end;
};

// Per query and for one class: V and C.
template <class Count>
struct Tally {
    Count* total;
    Count* rows;
    int width;
};

// --- wide classes: bit planes --------------------------------------------------------------------

class PlaneCounter {
public:
    explicit PlaneCounter(int m, bool may_miss)
        : m_(m), may_miss_(may_miss), width_(may_miss ? 2 * m : m), digits_(digits(m + 1, false)),
          rows_(size_t(width_) * kBlockVecs), miss_(size_t(m + 8) * kBlockVecs),
          distance_(size_t(kMaxDigits) * kBlockVecs), masks_(size_t(kMaxDigits + 1) * kBlockVecs) {}

    void count(const Piece& piece, const uint32_t* query, const Tally<int32_t>& tally) {
        first_ = piece.begin / kVecRows;
        n_ = (piece.end + kVecRows - 1) / kVecRows - first_;
        compare(piece, query);
        for (int v = 0; v < n_; ++v) add_up(v);
        Vec* all = &masks_[size_t(digits_) * kBlockVecs];
        for (int v = 0; v < n_; ++v) all[v] = inside(piece, first_ + v);
        descend(digits_, 0, tally);
    }

private:
    // rows_[i] = rows that agree with the query on i (then: rows whose value of i is known);
    // miss_[i] = rows that disagree.
    void compare(const Piece& piece, const uint32_t* query) {
        const Segment& s = piece.segment;
        for (int i = 0; i < m_; ++i) {
            Vec* hit = &rows_[size_t(i) * kBlockVecs];
            Vec* miss = &miss_[size_t(i) * kBlockVecs];
            const bool seen = query[i] < s.sizes[i];
            if (seen) equal(piece, i, query[i], hit);
            else std::fill_n(hit, n_, Vec{});
            if (!may_miss_) {
                for (int v = 0; v < n_; ++v) miss[v] = ~hit[v];
                continue;
            }
            Vec* known = &rows_[size_t(m_ + i) * kBlockVecs];
            equal(piece, i, s.sizes[i], known);
            const Vec compared = query[i] == kMissing ? Vec{} : ~Vec{};
            for (int v = 0; v < n_; ++v) {
                known[v] = ~known[v];
                miss[v] = known[v] & ~hit[v] & compared;
            }
        }
    }

    void equal(const Piece& piece, int i, uint32_t code, Vec* out) const {
        const int first = piece.segment.first_plane[i], count = piece.segment.first_plane[i + 1] - first;
        std::fill_n(out, n_, ~Vec{});
        for (int b = 0; b < count; ++b) {
            const uint64_t* plane = piece.planes + size_t(first + b) * kBlockWords + first_ * Word::kWords;
            const Vec flip = (code >> b & 1) ? Vec{} : ~Vec{};
            for (int v = 0; v < n_; ++v) out[v] &= Word::load(plane + v * Word::kWords) ^ flip;
        }
    }

    static Vec full_add(Vec& sum, Vec a, Vec b) {
        const Vec half = sum ^ a, carry = (sum & a) | (half & b);
        sum = half ^ b;
        return carry;
    }

    // distance_ = vertical sum of miss_ over the attributes, eight at a time.
    void add_up(int v) {
        Vec sum[kMaxDigits + 3] = {};
        for (int i = 0; i < m_; i += 8) {
            const Vec* a = &miss_[size_t(i) * kBlockVecs + v];
            constexpr int s = kBlockVecs;
            const Vec t0 = full_add(sum[0], a[0], a[s]), t1 = full_add(sum[0], a[2 * s], a[3 * s]);
            const Vec t2 = full_add(sum[0], a[4 * s], a[5 * s]), t3 = full_add(sum[0], a[6 * s], a[7 * s]);
            const Vec u0 = full_add(sum[1], t0, t1), u1 = full_add(sum[1], t2, t3);
            Vec carry = full_add(sum[2], u0, u1);
            for (int l = 3; l < digits_; ++l) {
                const Vec up = sum[l] & carry;
                sum[l] ^= carry;
                carry = up;
            }
        }
        for (int l = 0; l < digits_; ++l) distance_[size_t(l) * kBlockVecs + v] = sum[l];
    }

    static Vec inside(const Piece& piece, int v) {
        uint64_t word[Word::kWords];
        for (int k = 0; k < Word::kWords; ++k) {
            const int row = v * kVecRows + 64 * k;
            const int lo = std::clamp(piece.begin - row, 0, 64), hi = std::clamp(piece.end - row, 0, 64);
            const uint64_t below_hi = hi == 64 ? ~uint64_t{0} : (uint64_t{1} << hi) - 1;
            word[k] = lo == 64 ? 0 : below_hi & (~uint64_t{0} << lo);
        }
        return Word::load(word);
    }

    // Split the rows of masks_[level] by the next lower digit of their distance; a leaf is one distance.
    void descend(int level, int distance, const Tally<int32_t>& tally) {
        const Vec* mask = &masks_[size_t(level) * kBlockVecs];
        Vec any{};
        for (int v = 0; v < n_; ++v) any |= mask[v];
        if (Word::is_zero(any)) return;
        if (level == 0) return leaf(mask, distance, tally);
        const Vec* digit = &distance_[size_t(level - 1) * kBlockVecs];
        Vec* next = &masks_[size_t(level - 1) * kBlockVecs];
        for (int v = 0; v < n_; ++v) next[v] = mask[v] & ~digit[v];
        descend(level - 1, distance, tally);
        for (int v = 0; v < n_; ++v) next[v] = mask[v] & digit[v];
        descend(level - 1, distance | 1 << (level - 1), tally);
    }

    void leaf(const Vec* mask, int distance, const Tally<int32_t>& tally) const {
        Vec live[kBlockVecs];
        int at[kBlockVecs], n_live = 0;
        typename Word::Sum total{};
        for (int v = 0; v < n_; ++v) {
            if (Word::is_zero(mask[v])) continue;
            live[n_live] = mask[v];
            at[n_live++] = v;
            Word::add_popcount(total, mask[v]);
        }
        tally.total[distance] += Word::value(total);
        int32_t* out = tally.rows + size_t(distance) * width_;
        for (int i = 0; i < width_; ++i) {
            const Vec* row = &rows_[size_t(i) * kBlockVecs];
            typename Word::Sum sum{};
            for (int v = 0; v < n_live; ++v) Word::add_popcount(sum, live[v] & row[at[v]]);
            out[i] += Word::value(sum);
        }
    }

    int m_;
    bool may_miss_;
    int width_, digits_, first_ = 0, n_ = 0;
    std::vector<Vec> rows_, miss_, distance_, masks_;
};

// --- decoding ------------------------------------------------------------------------------------

// Codes of a piece, row after row; `stride` columns a row.
template <class Code>
void decode(const Piece& piece, int m, int stride, Code* out) {
    for (int i = 0; i < m; ++i) {
        const int first = piece.segment.first_plane[i], last = piece.segment.first_plane[i + 1];
        for (int row = piece.begin; row < piece.end; ++row) {
            uint32_t code = 0;
            for (int p = first; p < last; ++p) {
                const uint64_t word = piece.planes[size_t(p) * kBlockWords + row / 64];
                code |= uint32_t(word >> (row % 64) & 1) << (p - first);
            }
            out[size_t(row - piece.begin) * stride + i] = Code(code);
        }
    }
}

// --- small classes, many attributes: bytes -------------------------------------------------------

using Bytes = Word::Bytes;  // 32 of them
constexpr int kBytes = 32;
constexpr uint8_t kRowPadding = 0xFF, kQueryPadding = 0xFE;  // never equal, and above every code used here
constexpr uint32_t kMaxByteSize = 0xFD;

class RowCounter {
public:
    explicit RowCounter(int m)
        : m_(m), chunks_((m + kBytes - 1) / kBytes), stride_(chunks_ * kBytes),
          rows_(size_t(kBlockRows) * stride_, kRowPadding), query_(stride_), sums_(size_t(m + 1) * chunks_),
          filled_(m + 1) {}

    void load(const Piece& piece) {
        n_rows_ = piece.end - piece.begin;
        decode(piece, m_, stride_, rows_.data());
    }

    void count(const uint32_t* query, const Tally<int32_t>& tally) {
        std::fill(query_.begin(), query_.end(), kQueryPadding);
        for (int i = 0; i < m_; ++i) query_[i] = query[i] > kMaxByteSize ? kQueryPadding : uint8_t(query[i]);
        switch (chunks_) {
            case 1: return pass<1>(tally);
            case 2: return pass<2>(tally);
            case 3: return pass<3>(tally);
            default: return pass<0>(tally);
        }
    }

private:
    template <int kChunks>
    void pass(const Tally<int32_t>& tally) {
        const int chunks = kChunks ? kChunks : chunks_;
        const uint8_t* row = rows_.data();
        for (int r = 0; r < n_rows_; ++r, row += stride_) {
            int agree = 0;
            for (int c = 0; c < chunks; ++c)
                agree += Word::count_equal(Word::load_bytes(row + c * kBytes), Word::load_bytes(&query_[c * kBytes]));
            const int distance = m_ - agree;
            Bytes* sum = &sums_[size_t(distance) * chunks];
            for (int c = 0; c < chunks; ++c)  // equal bytes compare as -1
                sum[c] -= Word::load_bytes(row + c * kBytes) == Word::load_bytes(&query_[c * kBytes]);
            if (++filled_[distance] == 255) empty(distance, tally);
        }
        for (int d = 0; d <= m_; ++d)
            if (filled_[d]) empty(d, tally);
    }

    void empty(int distance, const Tally<int32_t>& tally) {
        tally.total[distance] += filled_[distance];
        filled_[distance] = 0;
        uint8_t* sum = reinterpret_cast<uint8_t*>(&sums_[size_t(distance) * chunks_]);
        int32_t* out = tally.rows + size_t(distance) * tally.width;
        for (int i = 0; i < m_; ++i) out[i] += sum[i];
        std::memset(sum, 0, stride_);
    }

    int m_, chunks_, stride_, n_rows_ = 0;
    std::vector<uint8_t> rows_, query_;
    std::vector<Bytes> sums_;
    std::vector<int> filled_;
};

// --- weighted rows: plain sums in double ---------------------------------------------------------

class WeightedCounter {
public:
    WeightedCounter(int m, bool may_miss) : m_(m), may_miss_(may_miss), rows_(size_t(kBlockRows) * m) {}

    void load(const Piece& piece, const double* weights) {
        n_rows_ = piece.end - piece.begin;
        sizes_ = piece.segment.sizes.data();
        weights_ = weights;
        decode(piece, m_, m_, rows_.data());
    }

    void count(const uint32_t* query, const Tally<double>& tally) const {
        for (int r = 0; r < n_rows_; ++r) {
            const uint32_t* row = &rows_[size_t(r) * m_];
            int distance = 0;
            for (int i = 0; i < m_; ++i) distance += compared(row, query, i) && row[i] != query[i];
            tally.total[distance] += weights_[r];
            double* out = tally.rows + size_t(distance) * tally.width;
            for (int i = 0; i < m_; ++i) {
                const bool known = !may_miss_ || row[i] != sizes_[i];
                if (known && row[i] == query[i]) out[i] += weights_[r];
                if (may_miss_ && known) out[m_ + i] += weights_[r];
            }
        }
    }

private:
    bool compared(const uint32_t* row, const uint32_t* query, int i) const {
        return !may_miss_ || (row[i] != sizes_[i] && query[i] != kMissing);
    }

    int m_;
    bool may_miss_;
    int n_rows_ = 0;
    const uint32_t* sizes_ = nullptr;
    const double* weights_ = nullptr;
    std::vector<uint32_t> rows_;
};

// --- the passes ----------------------------------------------------------------------------------

// Calls f(piece, weights of its rows) for the rows of class y.
template <class F>
void for_each_piece(const Segment& s, int y, F f) {
    const size_t block_size = size_t(s.first_plane.back()) * kBlockWords;
    for (int64_t a = s.class_start[y], end = s.class_start[y + 1]; a < end;) {
        const int64_t block = a / kBlockRows, b = std::min(end, (block + 1) * kBlockRows);
        f(Piece{s, s.words + block * block_size, int(a - block * kBlockRows), int(b - block * kBlockRows)},
          s.weights ? s.weights + a : nullptr);
        a = b;
    }
}

// Which layout is cheaper for n rows of a class: bytes cost per row and chunk of 32 attributes,
// planes per distance that occurs, attribute and vector (ratios measured in benchmarks/).
bool prefer_bytes(const Segment& s, int m, int64_t n) {
    if (s.may_miss) return false;
    for (const uint32_t size : s.sizes)
        if (size > kMaxByteSize) return false;
    const double bytes = double(n) * (Word::kByteRow + Word::kByteChunk * ((m + kBytes - 1) / kBytes));
    const double distances = std::min<double>(n, 3.0 + 1.8 * std::sqrt(double(m)));
    const double vectors = double(n) / kVecRows + 1;
    const double planes = distances * m * (Word::kLeaf + Word::kPopcount * vectors);
    return bytes < planes;
}

template <class Count, class CountPiece>
void count_all(const std::vector<Segment>& segments, const Batch& batch, Cells<Count>& out, CountPiece count_piece) {
    const int m = batch.m, width = out.width;
    const size_t tally_size = size_t(m + 1) * width;
    const int64_t per_pass = std::min<int64_t>(kQueriesPerPass, std::max<int64_t>(batch.n_queries, 1));
    std::vector<Count> totals(per_pass * (m + 1)), rows(per_pass * tally_size);
    for (int64_t first = 0; first < batch.n_queries; first += per_pass) {
        const int n = int(std::min(per_pass, batch.n_queries - first));
        const auto tally = [&](int q) { return Tally<Count>{&totals[q * (m + 1)], &rows[q * tally_size], width}; };
        for (int y = 0; y < batch.n_classes; ++y) {
            for (const Segment& s : segments) count_piece(s, y, batch.codes + first * m, n, tally);
            for (int q = 0; q < n; ++q) {
                const Tally<Count> t = tally(q);
                const int64_t query = first + q;
                if (batch.own && batch.own[query] == y) {
                    const Count w = batch.own_weight ? Count(batch.own_weight[query]) : Count(1);
                    t.total[0] -= w;
                    for (int i = 0; i < width; ++i)
                        if (batch.codes[query * m + i % m] != kMissing) t.rows[i] -= w;
                }
                for (int d = 0; d <= m; ++d) {
                    if (t.total[d] == Count{}) continue;
                    out.distance.push_back(d);
                    out.total.push_back(t.total[d]);
                    Count* row = t.rows + size_t(d) * width;
                    out.rows.insert(out.rows.end(), row, row + width);
                    std::fill_n(row, width, Count{});
                    t.total[d] = Count{};
                }
                out.start.push_back(int64_t(out.distance.size()));
            }
        }
    }
    out.per_pass = per_pass;
}

void count(const std::vector<Segment>& segments, const Batch& batch, Cells<int32_t>& out) {
    const bool may_miss = out.width > batch.m;
    PlaneCounter planes(batch.m, may_miss);
    RowCounter bytes(batch.m);
    count_all(segments, batch, out, [&](const Segment& s, int y, const uint32_t* codes, int n, const auto& tally) {
        const bool use_bytes = prefer_bytes(s, batch.m, s.class_start[y + 1] - s.class_start[y]);
        for_each_piece(s, y, [&](const Piece& piece, const double*) {
            if (use_bytes) bytes.load(piece);
            for (int q = 0; q < n; ++q) {
                const uint32_t* query = codes + size_t(q) * batch.m;
                use_bytes ? bytes.count(query, tally(q)) : planes.count(piece, query, tally(q));
            }
        });
    });
}

void count_weighted(const std::vector<Segment>& segments, const Batch& batch, Cells<double>& out) {
    WeightedCounter counter(batch.m, out.width > batch.m);
    count_all(segments, batch, out, [&](const Segment& s, int y, const uint32_t* codes, int n, const auto& tally) {
        for_each_piece(s, y, [&](const Piece& piece, const double* weights) {
            counter.load(piece, weights);
            for (int q = 0; q < n; ++q) counter.count(codes + size_t(q) * batch.m, tally(q));
        });
    });
}

}  // namespace
