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
using Split = Word::Split;  // a vector in the form in which its bits are counted

constexpr int kVecRows = 64 * Word::kWords;
constexpr int kMaxDigits = 20;
constexpr int kQueriesPerPass = 64, kTallyBytes = 16 << 20;

// Rows [begin, end) of one block, all of one class.
struct Piece {
    const Segment& segment;
    const uint64_t* planes;
    int begin, end;
};

// Rows of counts are padded to a multiple of four columns.
constexpr int padded(int width) { return (width + 3) / 4 * 4; }

// Per query and for one class: V, and C unless rows is null.
template <class Count>
struct Tally {
    Count* total;
    Count* rows;
    int width;
};

// --- wide classes: bit planes --------------------------------------------------------------------

// Works on tiles of up to Word::kTile vectors; their number is a template parameter, so that every
// loop over the vectors of a tile is unrolled.
class PlaneCounter {
public:
    PlaneCounter(int m, int width, bool may_miss)
        : m_(m), width_(width), may_miss_(may_miss), digits_(digits(m + 1, false)),
          rows_(size_t(width) * kTile), miss_(size_t(m + 7) / 8 * 8 * kTile) {}

    // What a batch of queries asks of a segment: per attribute whether its value exists at all, per
    // plane the word that turns a digit into "agrees with the query's digit".
    class Queries {
    public:
        Queries(const std::vector<Segment>& segments, const Batch& batch) : m_(batch.m) {
            for (const Segment& s : segments) {
                stride_.push_back(m_ + s.first_plane.back());
                std::vector<uint64_t>& words = words_.emplace_back(batch.n_queries * stride_.back());
                for (int64_t q = 0; q < batch.n_queries; ++q)
                    prepare(s, batch.codes + q * m_, &words[q * stride_.back()]);
            }
        }
        const uint64_t* words(size_t segment, int64_t query) const {
            return &words_[segment][query * stride_[segment]];
        }

    private:
        void prepare(const Segment& s, const uint32_t* codes, uint64_t* word) const {
            for (int i = 0; i < m_; ++i) {
                word[i] = codes[i] < s.sizes[i] ? ~uint64_t{0} : 0;
                for (int p = s.first_plane[i], b = 0; p < s.first_plane[i + 1]; ++p, ++b)
                    word[m_ + p] = uint64_t(codes[i] >> b & 1) - 1;
            }
        }

        int m_;
        std::vector<size_t> stride_;
        std::vector<std::vector<uint64_t>> words_;
    };

    void count(const Piece& piece, const uint32_t* codes, const uint64_t* words, const Tally<int32_t>& tally) {
        const int end = (piece.end + kVecRows - 1) / kVecRows;
        const Query query{codes, words, words + m_};
        for (int v = piece.begin / kVecRows; v < end; v += kTile)
            dispatch<1>(std::min(kTile, end - v), piece, v, query, tally);
    }

private:
    static constexpr int kTile = Word::kTile;
    struct Query {
        const uint32_t* codes;
        const uint64_t *exists, *flips;
    };

    template <int N>
    void dispatch(int n, const Piece& piece, int first, Query query, const Tally<int32_t>& tally) {
        if (n == N) return tile<N>(piece, first, query, tally);
        if constexpr (N < kTile) dispatch<N + 1>(n, piece, first, query, tally);
    }

    template <int N>
    void tile(const Piece& piece, int first, Query query, const Tally<int32_t>& tally) {
        compare<N>(piece, first, query, tally.rows != nullptr);
        Vec distance[kMaxDigits][N], mask[N];
        for (int v = 0; v < N; ++v) {
            add_up<N>(v, distance);
            mask[v] = inside(piece, first + v);
        }
        descend<N>(distance, digits_, mask, 0, tally);
    }

    // rows_[i] = rows that agree with the query on i (from m on: rows whose value is known),
    // miss_[i] = rows that disagree.
    template <int N>
    void compare(const Piece& piece, int first, Query query, bool rows) {
        const Segment& s = piece.segment;
        const uint64_t* planes = piece.planes + first * Word::kWords;
        for (int i = 0; i < m_; ++i) {
            const int p = s.first_plane[i], n = s.first_plane[i + 1] - p;
            const uint64_t* plane = planes + size_t(p) * kBlockWords;
            Vec hit[N];
            std::fill_n(hit, N, Word::broadcast(query.exists[i]));
            agree<N>(plane, query.flips + p, n, hit);
            for (int v = 0; v < N; ++v) {
                if (rows) rows_[size_t(i) * kTile + v] = Word::split(hit[v]);
                miss_[size_t(i) * kTile + v] = ~hit[v];
            }
            if (may_miss_) find_known<N>(plane, s.sizes[i], n, i, query.codes[i] != kMissing);
        }
    }

    template <int N>
    void find_known(const uint64_t* plane, uint32_t missing, int n, int i, bool compared) {
        uint64_t flips[32];
        for (int b = 0; b < n; ++b) flips[b] = uint64_t(missing >> b & 1) - 1;
        Vec unknown[N];
        std::fill_n(unknown, N, ~Vec{});
        agree<N>(plane, flips, n, unknown);
        for (int v = 0; v < N; ++v) {
            rows_[size_t(m_ + i) * kTile + v] = Word::split(~unknown[v]);
            miss_[size_t(i) * kTile + v] &= compared ? ~unknown[v] : Vec{};
        }
    }

    template <int N>
    static void agree(const uint64_t* plane, const uint64_t* flips, int n, Vec* rows) {
        for (int b = 0; b < n; ++b, plane += kBlockWords) {
            const Vec flip = Word::broadcast(flips[b]);
            for (int v = 0; v < N; ++v) rows[v] &= Word::load(plane + v * Word::kWords) ^ flip;
        }
    }

    // Digits of the number of attributes on which a row disagrees, added eight at a time.
    template <int N>
    void add_up(int v, Vec (*distance)[N]) const {
        Vec ones{}, twos{}, fours{};
        for (int l = 3; l < digits_; ++l) distance[l][v] = Vec{};
        for (int i = 0; i < m_; i += 8) {
            const Vec* a = &miss_[size_t(i) * kTile + v];
            const Vec t0 = full_add(ones, a[0], a[kTile]), t1 = full_add(ones, a[2 * kTile], a[3 * kTile]);
            const Vec t2 = full_add(ones, a[4 * kTile], a[5 * kTile]), t3 = full_add(ones, a[6 * kTile], a[7 * kTile]);
            const Vec u0 = full_add(twos, t0, t1), u1 = full_add(twos, t2, t3);
            Vec carry = full_add(fours, u0, u1);
            for (int l = 3; l < digits_; ++l) {
                const Vec up = distance[l][v] & carry;
                distance[l][v] ^= carry;
                carry = up;
            }
        }
        distance[0][v] = ones;
        distance[1][v] = twos;
        distance[2][v] = fours;
    }

    static Vec full_add(Vec& sum, Vec a, Vec b) {
        const Vec half = sum ^ a, carry = (sum & a) | (half & b);
        sum = half ^ b;
        return carry;
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

    // Split the rows of a mask by the next lower digit of their distance; a leaf is one distance.
    template <int N>
    void descend(const Vec (*distance)[N], int level, const Vec* mask, int at, const Tally<int32_t>& tally) {
        if (level == 0) return leaf<N>(mask, at, tally);
        Vec zero[N], one[N], any_zero{}, any_one{};
        for (int v = 0; v < N; ++v) {
            zero[v] = mask[v] & ~distance[level - 1][v];
            one[v] = mask[v] & distance[level - 1][v];
            any_zero |= zero[v];
            any_one |= one[v];
        }
        if (!Word::is_zero(any_zero)) descend<N>(distance, level - 1, zero, at, tally);
        if (!Word::is_zero(any_one)) descend<N>(distance, level - 1, one, at | 1 << (level - 1), tally);
    }

    template <int N>
    void leaf(const Vec* mask, int distance, const Tally<int32_t>& tally) const {
        if (!tally.rows) {
            typename Word::Sum all{};
            for (int v = 0; v < N; ++v) Word::add_popcount(all, Word::split(mask[v]), Word::split(mask[v]));
            tally.total[distance] += Word::value(all);
            return;
        }
        Split live[N];
        int at[N], n = 0;
        for (int v = 0; v < N; ++v) {
            live[n] = Word::split(mask[v]);
            at[n] = v;
            n += !Word::is_zero(mask[v]);
        }
        count_live<1, N>(n, live, at, tally.total + distance, tally.rows + size_t(distance) * width_);
    }

    template <int K, int N>
    void count_live(int n, const Split* live, const int* at, int32_t* total, int32_t* out) const {
        if (n != K) {
            if constexpr (K < N) count_live<K + 1, N>(n, live, at, total, out);
            return;
        }
        typename Word::Sum all{};
        for (int v = 0; v < K; ++v) Word::add_popcount(all, live[v], live[v]);
        *total += Word::value(all);
        for (int i = 0; i < width_; i += 4) {  // the width is a multiple of four
            typename Word::Sum sum[4] = {};
            for (int k = 0; k < 4; ++k)
                for (int v = 0; v < K; ++v)
                    Word::add_popcount(sum[k], live[v], rows_[size_t(i + k) * kTile + at[v]]);
            Word::add_values(out + i, sum);
        }
    }

    int m_, width_;
    bool may_miss_;
    int digits_;
    std::vector<Split> rows_;
    std::vector<Vec> miss_;
};

// --- decoding ------------------------------------------------------------------------------------

// Codes of a piece, row after row; `stride` columns a row.
template <class Code>
void decode(const Piece& piece, int m, int stride, Code* out) {
    for (int row = piece.begin; row < piece.end;) {
        const int shift = row % 64, n = std::min(64 - shift, piece.end - row);
        for (int i = 0; i < m; ++i) {
            uint32_t codes[64] = {};
            const int first = piece.segment.first_plane[i], last = piece.segment.first_plane[i + 1];
            for (int p = first; p < last; ++p) {
                const uint64_t word = piece.planes[size_t(p) * kBlockWords + row / 64] >> shift;
                for (int k = 0; k < 64; ++k) codes[k] |= uint32_t(word >> k & 1) << (p - first);
            }
            for (int k = 0; k < n; ++k) out[size_t(k) * stride + i] = Code(codes[k]);
        }
        out += size_t(n) * stride;
        row += n;
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
            case 1: return tally.rows ? pass<1>(tally) : distances<1>(tally);
            case 2: return tally.rows ? pass<2>(tally) : distances<2>(tally);
            case 3: return tally.rows ? pass<3>(tally) : distances<3>(tally);
            default: return tally.rows ? pass<0>(tally) : distances<0>(tally);
        }
    }

private:
    int distance(const uint8_t* row, int chunks) const {
        int agree = 0;
        for (int c = 0; c < chunks; ++c)
            agree += Word::count_equal(Word::load_bytes(row + c * kBytes), Word::load_bytes(&query_[c * kBytes]));
        return m_ - agree;
    }

    template <int kChunks>
    void distances(const Tally<int32_t>& tally) const {
        const int chunks = kChunks ? kChunks : chunks_;
        const uint8_t* row = rows_.data();
        for (int r = 0; r < n_rows_; ++r, row += chunks * kBytes) ++tally.total[distance(row, chunks)];
    }

    template <int kChunks>
    void pass(const Tally<int32_t>& tally) {
        const int chunks = kChunks ? kChunks : chunks_;
        const uint8_t* row = rows_.data();
        for (int r = 0; r < n_rows_; ++r, row += chunks * kBytes) {
            const int distance = this->distance(row, chunks);
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
            if (!tally.rows) continue;
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
// planes per attribute and vector, and for C per distance that occurs (ratios measured).
bool prefer_bytes(const Segment& s, int m, int64_t n, bool rows) {
    if (s.may_miss) return false;
    for (const uint32_t size : s.sizes)
        if (size > kMaxByteSize) return false;
    const double chunks = (m + kBytes - 1) / kBytes, vectors = double(n) / kVecRows + 1;
    const double distances = std::min<double>(n, 3.0 + 1.8 * std::sqrt(double(m)));
    const double bytes = double(n) * (Word::kByteRow + Word::kByteChunk * chunks);
    const double planes = vectors * (16 * m + 30 * distances) + rows * distances * m * (5 + 6 * vectors);
    return bytes < Word::kPlanesPerByte * planes;
}

// Leave-one-out: the query's own row agrees with it on all that is known.
template <class Count>
void take_out(const Batch& batch, int64_t query, int columns, const Tally<Count>& t) {
    const Count w = batch.own_weight ? Count(batch.own_weight[query]) : Count(1);
    t.total[0] -= w;
    for (int i = 0; t.rows && i < columns; ++i)
        if (batch.codes[query * batch.m + i % batch.m] != kMissing) t.rows[i] -= w;
}

// Runs the passes: count_segment(segment, class, queries, tallies) adds up, the sink takes the sums.
template <class Count, class CountSegment>
void count_all(const std::vector<Segment>& segments, const Batch& batch, const Order& order, Sink<Count>& sink,
               CountSegment count_segment) {
    const int m = batch.m, columns = segments[0].may_miss ? 2 * m : m, width = padded(columns);
    const size_t tally_size = order.rows ? size_t(m + 1) * width : 0;
    const int64_t fitting = std::max<int64_t>(1, kTallyBytes / int64_t(sizeof(Count) * tally_size + 1));
    const int64_t per_pass = std::clamp<int64_t>(batch.n_queries, 1, std::min<int64_t>(kQueriesPerPass, fitting));
    std::vector<Count> totals(per_pass * (m + 1)), rows(per_pass * tally_size);
    std::vector<Tally<Count>> tallies;
    std::vector<int64_t> queries;
    for (int64_t first = 0; first < batch.n_queries; first += per_pass)
        for (int y = 0; y < batch.n_classes; ++y) {
            queries.clear();
            tallies.clear();
            for (int64_t q = first; q < std::min(first + per_pass, batch.n_queries); ++q) {
                if (order.wanted && !order.wanted[q * batch.n_classes + y]) continue;
                const size_t k = queries.size();
                queries.push_back(q);
                tallies.push_back({&totals[k * (m + 1)], order.rows ? &rows[k * tally_size] : nullptr, width});
            }
            if (queries.empty()) continue;
            for (const Segment& s : segments) count_segment(s, y, queries, tallies);
            for (size_t k = 0; k < queries.size(); ++k) {
                const Tally<Count>& t = tallies[k];
                if (batch.own && batch.own[queries[k]] == y) take_out(batch, queries[k], columns, t);
                sink.take(queries[k], y, t.total, t.rows, width);
                for (int d = 0; d <= m; ++d) {
                    if (t.rows && t.total[d] != Count{}) std::fill_n(t.rows + size_t(d) * width, width, Count{});
                    t.total[d] = Count{};
                }
            }
        }
}

void count(const std::vector<Segment>& segments, const Batch& batch, const Order& order, Sink<int32_t>& sink) {
    const int m = batch.m;
    const bool may_miss = segments[0].may_miss;
    PlaneCounter planes(m, padded(may_miss ? 2 * m : m), may_miss);
    PlaneCounter::Queries prepared(segments, batch);
    RowCounter bytes(m);
    count_all(segments, batch, order, sink,
              [&](const Segment& s, int y, const std::vector<int64_t>& queries, const auto& tallies) {
        const bool use_bytes = prefer_bytes(s, m, s.class_start[y + 1] - s.class_start[y], order.rows);
        const size_t segment = &s - segments.data();
        for_each_piece(s, y, [&](const Piece& piece, const double*) {
            if (use_bytes) bytes.load(piece);
            for (size_t k = 0; k < queries.size(); ++k) {
                const uint32_t* codes = batch.codes + queries[k] * m;
                if (use_bytes) bytes.count(codes, tallies[k]);
                else planes.count(piece, codes, prepared.words(segment, queries[k]), tallies[k]);
            }
        });
    });
}

void count_weighted(const std::vector<Segment>& segments, const Batch& batch, const Order& order, Sink<double>& sink) {
    WeightedCounter counter(batch.m, segments[0].may_miss);
    count_all(segments, batch, order, sink,
              [&](const Segment& s, int y, const std::vector<int64_t>& queries, const auto& tallies) {
        for_each_piece(s, y, [&](const Piece& piece, const double* weights) {
            counter.load(piece, weights);
            for (size_t k = 0; k < queries.size(); ++k) counter.count(batch.codes + queries[k] * batch.m, tallies[k]);
        });
    });
}

}  // namespace
