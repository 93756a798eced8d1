// The counting templates, compiled once per instruction set; see match.hpp for the layout.
// The including file defines `Word`: a vector of kWords 64-bit words and its popcount.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "match.hpp"

namespace {

using namespace localbayes;
using Vec = Word::Vec;
using Split = Word::Split;  // a vector in the form in which its bits are counted

constexpr int kVectors = kBlockWords / Word::kWords, kVecRows = 64 * Word::kWords;
constexpr int kMaxDigits = 32;
constexpr int vectors(int rows) { return (rows + kVecRows - 1) / kVecRows; }
constexpr int kSmallPiece = 16;  // rows of a class in a block up to which reading them off is cheaper
constexpr int kQueriesPerPass = 256, kPassBytes = 256 << 10;
constexpr size_t kMany = 16, kCachedWords = 1 << 17;  // queries, and words of rows, from which on blocks are fetched

// How many queries to take at a time if each needs so many bytes.
int64_t fitting(int64_t n, size_t bytes_each) {
    return std::clamp<int64_t>(std::min<int64_t>(n, kPassBytes / int64_t(bytes_each + 1)), 1, kQueriesPerPass);
}

// Bit k of a byte in lane k.
using Lanes = uint32_t __attribute__((vector_size(32)));
constexpr auto kSpread = [] {
    std::array<Lanes, 256> table{};
    for (uint32_t b = 0; b < 256; ++b)
        table[b] = Lanes{b & 1, b >> 1 & 1, b >> 2 & 1, b >> 3 & 1, b >> 4 & 1, b >> 5 & 1, b >> 6 & 1, b >> 7 & 1};
    return table;
}();

// Calls f<n>() for an n from kFirst to kLast, so that loops of that length are unrolled.
template <int kFirst, int kLast, class F>
void with_constant(int n, F f) {
    if (n == kFirst) f.template operator()<kFirst>();
    else if constexpr (kFirst < kLast) with_constant<kFirst + 1, kLast>(n, f);
}

// Eight counts that a word holds, with room for their sums.
using Eight = uint16_t __attribute__((vector_size(16)));
Eight spread(uint64_t word) {
    static_assert(std::endian::native == std::endian::little);
#ifdef __clang__
    return __builtin_convertvector(std::bit_cast<uint8_t __attribute__((vector_size(8)))>(word), Eight);
#else  // GCC makes six instructions of that, and one or two of this
    using Bytes = uint8_t __attribute__((vector_size(16)));
    using Two = uint64_t __attribute__((vector_size(16)));
    constexpr Bytes kZip{0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    return Eight(__builtin_shuffle(Bytes(Two{word, 0}), Bytes{}, kZip));
#endif
}

template <class T, int n>
using Vector __attribute__((vector_size(n * sizeof(T)))) = T;
template <class Values, class T>
Values load(const T* p) {
    Values v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
template <class Values, class T>
void store(T* p, Values v) { std::memcpy(p, &v, sizeof v); }

// Bits [begin, end) of a word, as far as it has them.
uint64_t bits_between(int64_t begin, int64_t end) {
    const int64_t lo = std::clamp<int64_t>(begin, 0, 64), hi = std::clamp<int64_t>(end, 0, 64);
    const uint64_t below_hi = hi == 64 ? ~uint64_t{0} : (uint64_t{1} << hi) - 1;
    return lo == 64 ? 0 : below_hi & (~uint64_t{0} << lo);
}

// Rows [begin, end) of a block, all of class y; their weights, if rows have any.
struct Piece {
    bool small() const { return weights || end - begin <= kSmallPiece; }

    int y, begin, end;
    const double* weights;
};

// Per segment, query and attribute: where in a block the plane of the query's value begins (its first digit's).
class Places {
public:
    explicit Places(const Batch& b) : m_(b.m), segments_(b.segments.data()) {
        for (const Segment& s : b.segments) {
            uint32_t* place = places_.emplace_back(b.n_queries * m_).data();
            const uint32_t* code = b.codes;
            for (int64_t q = 0; q < b.n_queries; ++q)
                for (const Column& c : s.columns) {
                    *place++ = *code < c.n_codes ? c.plane(*code, 0) * kBlockWords : 0;
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

// How many of a query's values no row of a class has. Whether a plane has rows of each class is found out
// when it is first needed; of a value of several digits the first one is asked.
class Absence {
public:
    explicit Absence(const Batch& b)
        : m_(b.m), r_(b.n_classes), room_(padded(r_, kBytes) / kBytes), segments_(b.segments) {
        for (const Segment& s : segments_)
            planes_.push_back({std::vector<char>(s.n_planes), std::vector<Bytes>(s.n_planes * room_)});
    }

    // out has room for a multiple of 32 classes.
    void count(const Places& places, int64_t query, uint8_t* out) {
        const uint32_t* place = places.of(0, query);
        for (size_t k = 0; k < room_; ++k) {
            Bytes sum{};
            for (int i = 0; i < m_; ++i) {
                Bytes absent = of(0, place[i] / kBlockWords)[k];
                for (size_t part = 1; part < segments_.size(); ++part)
                    absent &= of(part, places.of(part, query)[i] / kBlockWords)[k];
                sum -= absent;
            }
            std::memcpy(out + k * kBytes, &sum, kBytes);
        }
    }

private:
    static constexpr int kBytes = 32;
    using Bytes = uint8_t __attribute__((vector_size(kBytes)));  // of classes: all ones where there is no row
    struct Planes {
        std::vector<char> known;
        std::vector<Bytes> absent;
    };

    const Bytes* of(size_t part, size_t plane) {
        const Segment& s = segments_[part];
        Planes& planes = planes_[part];
        Bytes* absent = &planes.absent[plane * room_];
        if (planes.known[plane]) return absent;
        planes.known[plane] = true;
        for (int y = 0; y < r_; ++y) {
            const int64_t begin = s.class_start[y], end = s.class_start[y + 1];
            int64_t row = begin / 64 * 64;
            const auto word = [&] { return s.block(row / kBlockRows)[plane * kBlockWords + row % kBlockRows / 64]; };
            while (row < end && (word() & bits_between(begin - row, end - row)) == 0) row += 64;
            absent[y / kBytes][y % kBytes] = row < end ? 0 : 255;
        }
        return absent;
    }

    int m_, r_;
    size_t room_;
    const std::vector<Segment>& segments_;
    std::vector<Planes> planes_;
};

// One query against one block of rows.
class Sight {
public:
    explicit Sight(const Batch& batch)
        : m_(batch.m), width_(padded(batch.columns(), 4)), class_room_(batch.class_room()), may_miss_(batch.may_miss()),
          n_digits_(std::max(3, int(std::bit_width(unsigned(batch.m))))), hit_(m_), added_(m_ + 8), known_(m_),
          scratch_(size_t(may_miss_ ? 3 : 1) * m_ * kBlockWords), words_(width_), split_(size_t(width_) * kVectors),
          high_(size_t(m_ / 8 + 1) * kVectors) {
        for (int sum = 0; sum <= m_; sum += 8) {
            flips_.push_back(~Vec{});
            for (int l = 3; l < n_digits_; ++l) flips_.push_back(sum >> l & 1 ? Vec{} : ~Vec{});
        }
    }

    // Find the planes of the query's values and add up, for the vectors that hold the first rows of the block.
    void look(const Segment& s, const uint64_t* block, const uint32_t* places, const uint32_t* codes, int rows) {
        n_vectors_ = vectors(rows);
        for (int i = 0; i < m_; ++i) hit_[i] = block + places[i];
        for (const int i : s.wide) {
            const Column& c = s.columns[i];
            if (codes[i] < c.n_codes) hit_[i] = find(c, block, codes[i], &scratch_[size_t(i) * kBlockWords]);
        }
        for (int i = 0; i < m_; ++i) added_[i] = hit_[i];
        std::fill_n(&added_[m_], 8, block);
        for (int i = 0; may_miss_ && i < m_; ++i) find_misses(s, block, codes[i], i);
        with_constant<3, 9>(std::min(n_digits_, 9), [&]<int kDigits>() { add_up<kDigits>(); });
    }

    // V[distance][class] of all classes in the block, which follow each other. For every word and eight sums of
    // agreements there is a line that says how many rows have each; a class adds up the lines of its words. The
    // word in which one class ends and the next begins has a second line, of the rows before that cut.
    void add_distances(const std::vector<Piece>& pieces, double* V) {
        bool any_large = false;
        for (const Piece& p : pieces) {
            any_large |= !p.small();
            if (p.small())
                for_each_row(p, [&](int row, int distance) {
                    V[distance * class_room_ + p.y] += p.weights ? p.weights[row - p.begin] : 1.0;
                });
        }
        if (!any_large) return;
        if (pieces[0].end == kBlockRows) return add_block(V + pieces[0].y);
        for (int group = 0; group <= m_ / 8; ++group) {
            Vec lines[kVectors], any{};
            for (int v = 0; v < n_vectors_; ++v) {
                lines[v] = line(high(group)[v], v);
                any |= lines[v];
            }
            if (Word::is_zero(any)) continue;
            const auto* words = reinterpret_cast<const uint64_t*>(lines);
            const auto before = [&](int row) {
                const auto word = [&](const Vec* planes) { return reinterpret_cast<const uint64_t*>(planes)[row / 64]; };
                const uint64_t mask = row % 64 == 0 ? 0 : word(high(group)) & ~(~uint64_t{0} << row % 64);
                uint64_t counts = 0;
                for (int k = 0; k < 8 && mask != 0; ++k)
                    counts |= uint64_t(std::popcount(mask & word(lowest_[k]))) << 8 * k;
                return counts;
            };
            int cut = -1;
            uint64_t before_cut = 0;
            for (const Piece& p : pieces) {
                if (p.small()) continue;
                if (cut != p.begin) before_cut = before(p.begin);
                Eight rows = -spread(before_cut);
                for (int w = p.begin / 64; w < p.end / 64; ++w) rows += spread(words[w]);
                cut = p.end;
                before_cut = before(cut);
                rows += spread(before_cut);
                int32_t counts[8];
                for (int k = 0; k < 8; ++k) counts[k] = rows[k];
                add_counts(counts, group, V + p.y);
            }
        }
    }

    // C of the piece's class: rows[distance * width + i].
    void add_matches(const Piece& piece, int32_t* rows) {
        if (piece.end - piece.begin <= 64) return add_matches_of_words(piece, rows);
        for (int i = 0; i < (may_miss_ ? 2 * m_ : m_); ++i) {
            const uint64_t* from = i < m_ ? hit_[i] : known_[i - m_];
            Split* to = &split_[size_t(i) * kVectors];
            for (int v = 0; v < n_vectors_; ++v) to[v] = Word::split(Word::load(from + v * Word::kWords));
        }
        for_each_distance(piece.begin, piece.end, [&]<int N>(const Vec (&mask)[N], int first, int distance) {
            if (distance == m_ && !may_miss_) return;  // no row at that distance agrees on anything
            Split live[N];
            const Split* at[N];
            int32_t* row = rows + size_t(distance) * width_;
            int n = 0;
            for (int v = 0; v < N; ++v) n += !Word::is_zero(mask[v]);
            if (n == N) {  // most vectors of a large class: all stay in registers
                for (int v = 0; v < N; ++v) {
                    live[v] = Word::split(mask[v]);
                    at[v] = &split_[first + v];
                }
                return count_live<N>(live, at, row);
            }
            n = 0;
            for (int v = 0; v < N; ++v) {
                live[n] = Word::split(mask[v]);
                at[n] = &split_[first + v];
                n += !Word::is_zero(mask[v]);
            }
            with_constant<1, N>(n, [&]<int K>() { count_live<K>(live, at, row); });
        });
    }
    void add_matches(const Piece& piece, double* rows) {
        for_each_row(piece, [&](int row, int distance) {
            const double weight = piece.weights[row - piece.begin];
            for (int i = 0; i < m_; ++i) {
                if (hit_[i][row / 64] >> row % 64 & 1) rows[size_t(distance) * width_ + i] += weight;
                if (may_miss_ && known_[i][row / 64] >> row % 64 & 1) rows[size_t(distance) * width_ + m_ + i] += weight;
            }
        });
    }

private:
    // Words of the rows that have the code: the value's plane itself, or the AND of its digits' planes.
    const uint64_t* find(const Column& c, const uint64_t* block, uint32_t code, uint64_t* scratch) const {
        const uint64_t* plane = block + size_t(c.plane(code, 0)) * kBlockWords;
        if (c.n_digits == 1) return plane;
        const int n_words = n_vectors_ * Word::kWords;
        std::copy_n(plane, n_words, scratch);
        for (uint32_t digit = 1; digit < c.n_digits; ++digit) {
            plane = block + size_t(c.plane(code, digit)) * kBlockWords;
            for (int w = 0; w < n_words; ++w) scratch[w] &= plane[w];
        }
        return scratch;
    }

    // Where values may be missing, disagreements are added up instead: rows whose value is known and another.
    void find_misses(const Segment& s, const uint64_t* block, uint32_t code, int i) {
        if (s.missing(i) == code) hit_[i] = block;
        uint64_t *known = &scratch_[size_t(m_ + i) * kBlockWords], *miss = known + size_t(m_) * kBlockWords;
        const uint64_t* unknown = find(s.columns[i], block, s.missing(i), known);
        for (int w = 0; w < n_vectors_ * Word::kWords; ++w) {
            known[w] = ~unknown[w];
            miss[w] = code == kMissing ? 0 : known[w] & ~hit_[i][w];
        }
        known_[i] = known;
        added_[i] = miss;
    }

    // Binary digits of the sum of all planes, added eight at a time. Up to eight digits their number is a
    // template parameter, so that they stay in registers.
    template <int kDigits>
    void add_up() {
        const int n_digits = kDigits < 9 ? kDigits : n_digits_;
        for (int v = 0; v < n_vectors_; ++v) {
            Vec ones{}, twos{}, fours{}, more[kDigits < 9 ? kDigits : kMaxDigits] = {};
            for (int i = 0; i < m_; i += 8) {
                const auto a = [&](int k) { return Word::load(added_[i + k] + v * Word::kWords); };
                const Vec t0 = full_add(ones, a(0), a(1)), t1 = full_add(ones, a(2), a(3));
                const Vec t2 = full_add(ones, a(4), a(5)), t3 = full_add(ones, a(6), a(7));
                const Vec u0 = full_add(twos, t0, t1), u1 = full_add(twos, t2, t3);
                Vec carry = full_add(fours, u0, u1);
                for (int l = 3; l < n_digits; ++l) {
                    const Vec up = more[l] & carry;
                    more[l] ^= carry;
                    carry = up;
                }
            }
            digits_[0][v] = ones;
            digits_[1][v] = twos;
            digits_[2][v] = fours;
            for (int low = 0; low < 4; ++low) {
                const Vec pair = (low & 1 ? ones : ~ones) & (low & 2 ? twos : ~twos);
                lowest_[low][v] = pair & ~fours;
                lowest_[low + 4][v] = pair & fours;
            }
            for (int l = 3; l < n_digits; ++l) digits_[l][v] = more[l];
            Vec* high = &high_[v];
            for (const Vec* flip = flips_.data(); flip < flips_.data() + flips_.size(); flip += n_digits - 2, high += kVectors) {
                Vec mask = flip[0];
                for (int l = 3; l < n_digits; ++l) mask &= more[l] ^ flip[l - 2];
                *high = mask;
            }
        }
    }

    static Vec full_add(Vec& sum, Vec a, Vec b) {
        const Vec half = sum ^ a, carry = (sum & a) | (half & b);
        sum = half ^ b;
        return carry;
    }

    int distance(int sum) const { return may_miss_ ? sum : m_ - sum; }

    // Calls f(row, distance), eight rows at a time.
    template <class F>
    void for_each_row(const Piece& piece, F f) const {
        for (int row = piece.begin; row < piece.end;) {
            const int byte = row / 8, end = std::min(piece.end, 8 * byte + 8);
            Lanes sums{};
            for (int l = 0; l < n_digits_; ++l) {
                uint64_t word;
                std::memcpy(&word, reinterpret_cast<const char*>(digits_[l]) + byte / 8 * 8, 8);
                sums |= kSpread[word >> byte % 8 * 8 & 255] << l;
            }
            for (; row < end; ++row) f(row, distance(int(sums[row % 8])));
        }
    }

    // Calls f(masks, first vector, distance) for tiles of vectors and the distances that occur in them. The
    // number of vectors is a template parameter, so that every loop over them is unrolled.
    template <class F>
    void for_each_distance(int begin, int end, F f) {
        for (int v = 0; v < n_vectors_; v += Word::kTile)
            with_constant<1, Word::kTile>(std::min(Word::kTile, n_vectors_ - v),
                                          [&]<int N>() { start<N>(begin, end, v, f); });
    }

    template <int N, class F>
    void start(int begin, int end, int first, F& f) {
        Vec rows[N];
        for (int v = 0; v < N; ++v) rows[v] = inside(begin, end, first + v);
        for (int group = 0; group <= m_ / 8; ++group) {
            Vec some[N];
            for (int v = 0; v < N; ++v) some[v] = rows[v] & high(group)[first + v];
            if (!any(some, N)) continue;
            for (int low = 0; low < 8; ++low) {
                Vec leaf[N];
                for (int v = 0; v < N; ++v) leaf[v] = some[v] & lowest_[low][first + v];
                if (any(leaf, N)) f.template operator()<N>(leaf, first, distance(8 * group + low));
            }
        }
    }

    // V of a whole block of one class.
    void add_block(double* V) const {
        for (int group = 0; group <= m_ / 8; ++group) {
            const Vec* some = high(group);
            if (!any(some, kVectors)) continue;
            int32_t counts[8] = {};
            for (int low = 0; low < 8; low += 4) {
                typename Word::Sum sum[4] = {};
                for (int v = 0; v < kVectors; ++v)
                    for (int k = 0; k < 4; ++k) {
                        const Split rows = Word::split(some[v] & lowest_[low + k][v]);
                        Word::add_popcount(sum[k], rows, rows);
                    }
                Word::add_values(counts + low, sum);
            }
            add_counts(counts, group, V);
        }
    }

    // Add what was counted for the sums of a group to V of one class.
    void add_counts(const int32_t (&counts)[8], int group, double* V) const {
        const ptrdiff_t next = distance(1) < distance(0) ? -ptrdiff_t(class_room_) : ptrdiff_t(class_room_);
        V += distance(8 * group) * class_room_;
        for (int k = 0; k < std::min(8, m_ + 1 - 8 * group); ++k) V[k * next] += counts[k];
    }

    // C of a class of few rows, which spares it the rest of its vectors.
    void add_matches_of_words(const Piece& piece, int32_t* rows) {
        for (int w = piece.begin / 64; w * 64 < piece.end; ++w) {
            const auto word = [&](const Vec* planes) { return reinterpret_cast<const uint64_t*>(planes)[w]; };
            const uint64_t mask = bits_between(piece.begin - 64 * w, piece.end - 64 * w);
            for (int i = 0; i < (may_miss_ ? 2 * m_ : m_); ++i) words_[i] = (i < m_ ? hit_[i] : known_[i - m_])[w];
            for (int group = 0; group <= m_ / 8; ++group) {
                const uint64_t some = mask & word(high(group));
                for (int low = 0; low < 8 && some != 0; ++low) {
                    const uint64_t leaf = some & word(lowest_[low]);
                    if (leaf == 0) continue;
                    int32_t* row = rows + size_t(distance(8 * group + low)) * width_;
                    const uint64_t* words = words_.data();
                    for (int i = 0; i < width_; i += 4) Word::add_popcounts(row + i, leaf, words + i);  // a multiple of four
                }
            }
        }
    }

    // How many rows of each word of the mask have each value of the lowest three digits, a byte for each.
    Vec line(Vec mask, int v) const {
        Vec counts{};
        if (Word::is_zero(mask)) return counts;
        for (int low = 0; low < 8; ++low) counts |= Word::popcounts(mask & lowest_[low][v]) << 8 * low;
        return counts;
    }

    // Rows whose sum is 8 * group to 8 * group + 7.
    const Vec* high(int group) const { return &high_[size_t(group) * kVectors]; }

    // Which rows of a vector are among [begin, end).
    static Vec inside(int begin, int end, int v) {
        if (begin <= v * kVecRows && (v + 1) * kVecRows <= end) return ~Vec{};
        uint64_t word[Word::kWords];
        for (int k = 0; k < Word::kWords; ++k) word[k] = bits_between(begin - v * kVecRows - 64 * k, end - v * kVecRows - 64 * k);
        return Word::load(word);
    }

    static bool any(const Vec* masks, int n) {
        Vec all = masks[0];
        for (int v = 1; v < n; ++v) all |= masks[v];
        return !Word::is_zero(all);
    }

    template <int K>
    [[gnu::always_inline]] void count_live(const Split* live, const Split* const* at, int32_t* out) const {
        for (int i = 0; i < width_; i += 4) {  // the width is a multiple of four
            typename Word::Sum sum[4] = {};
            for (int v = 0; v < K; ++v) {  // a mask serves four columns while it is in registers
                const Split mask = live[v];
                const Split* column = at[v] + size_t(i) * kVectors;
                for (int k = 0; k < 4; ++k) Word::add_popcount(sum[k], mask, column[k * kVectors]);
            }
            Word::add_values(out + i, sum);
        }
    }

    int m_, width_;
    size_t class_room_;
    bool may_miss_;
    int n_digits_, n_vectors_ = 0;
    std::vector<const uint64_t*> hit_, added_, known_;
    std::vector<uint64_t> scratch_, words_;
    std::vector<Split> split_;
    std::vector<Vec> high_, flips_;  // a flip turns the digits of one group into ones
    alignas(64) Vec digits_[kMaxDigits][kVectors], lowest_[8][kVectors];
};

// Many queries ask for all planes of a block, but in no order that the processor could foresee.
[[gnu::noinline]] void fetch(const uint64_t* words, size_t n) {
    asm volatile("");  // GCC leaves out calls of a function that only fetches
    for (size_t word = 0; word < n; word += 8) __builtin_prefetch(words + word);
}

// Calls f(block, pieces) for every block that holds rows of the classes [y, end_y), from the word on in which
// the first of them begins, or a little earlier to end within the block: fewer vectors hold a class then.
template <class F>
void for_each_block(const Segment& s, int y, int end_y, size_t n_queries, F f) {
    std::vector<Piece> pieces;
    for (int64_t row = s.class_start[y], end = s.class_start[end_y]; row < end;) {
        const int64_t block = row / kBlockRows, start = block * kBlockRows, stop = std::min(end, start + kBlockRows);
        for (pieces.clear(); row < stop;) {
            while (s.class_start[y + 1] <= row) ++y;
            const int64_t next = std::min(stop, s.class_start[y + 1]);
            pieces.push_back({y, int(row - start), int(next - start), s.weights ? s.weights + row : nullptr});
            row = next;
        }
        const int first = pieces.front().begin / 64, n_words = vectors(pieces.back().end - 64 * first) * Word::kWords;
        const int skipped = std::min(first, kBlockWords - n_words);
        for (Piece& p : pieces) {
            p.begin -= 64 * skipped;
            p.end -= 64 * skipped;
        }
        if (n_queries >= kMany && s.words_needed(end) > kCachedWords) fetch(s.block(block), s.n_planes * kBlockWords);
        f(s.block(block) + skipped, pieces);
    }
}

// Leave-one-out: the query's own row agrees with it on all that is known and not out of the column's domain.
template <class Count>
Count own_weight(const Batch& b, int64_t q) {
    return b.own_weight ? Count(b.own_weight[q]) : Count(1);
}
int own_distance(const Batch& b, int64_t q) {
    return int(std::count(b.codes + q * b.m, b.codes + (q + 1) * b.m, kUnseen));
}

void count_distances(const Batch& b, const Places& places, double* V) {
    const size_t size = b.V_size();
    std::fill_n(V, b.n_queries * size, 0.0);
    Sight sight(b);
    const int64_t step = fitting(b.n_queries, 8 * size);
    for (int64_t first = 0; first < b.n_queries; first += step)
        for (const Segment& s : b.segments)
            for_each_block(s, 0, b.n_classes, size_t(step), [&](const uint64_t* block, const std::vector<Piece>& pieces) {
                for (int64_t q = first; q < std::min(first + step, b.n_queries); ++q) {
                    sight.look(s, block, places.of(s, q), b.codes + q * b.m, pieces.back().end);
                    sight.add_distances(pieces, V + q * size);
                }
            });
    for (int64_t q = 0; b.own && q < b.n_queries; ++q)
        V[q * size + own_distance(b, q) * b.class_room() + b.own[q]] -= own_weight<double>(b, q);
}

void distance_counts(const Batch& b, double* V) { count_distances(b, Places(b), V); }

using Live = std::vector<int>;  // distances at which a class has rows, increasing

// Counts C of one query and class at a time.
template <class Count>
class Matcher {
public:
    explicit Matcher(const Batch& b)
        : width_(padded(b.columns(), 4)), tally_size_(size_t(b.m + 1) * width_),
          per_pass_(fitting(b.n_queries, sizeof(Count) * tally_size_)), tallies_(per_pass_ * tally_size_), sight_(b) {}

    // Calls f(query, class, rows, stride, live) with rows[d * stride + i] = C for all pairs, or those that are
    // wanted ([query][class]); other distances than those that are live have no rows.
    template <class F>
    void count(const Batch& b, const Places& places, const double* V, const uint8_t* wanted, F f) {
        for (int y = 0; y < b.n_classes; ++y) {
            for (int64_t q = 0; q < b.n_queries; ++q) {
                if (!wanted || wanted[q * b.n_classes + y]) queries_.push_back(q);
                if (queries_.size() == per_pass_) pass(b, places, V, y, f);
            }
            if (!queries_.empty()) pass(b, places, V, y, f);
        }
    }

private:
    template <class F>
    void pass(const Batch& b, const Places& places, const double* V, int y, F& f) {
        for (const Segment& s : b.segments)
            for_each_block(s, y, y + 1, queries_.size(), [&](const uint64_t* block, const std::vector<Piece>& pieces) {
                for (size_t k = 0; k < queries_.size(); ++k) {
                    const int64_t q = queries_[k];
                    sight_.look(s, block, places.of(s, q), b.codes + q * b.m, pieces[0].end);
                    sight_.add_matches(pieces[0], &tallies_[k * tally_size_]);
                }
            });
        for (size_t k = 0; k < queries_.size(); ++k) {
            const int64_t q = queries_[k];
            Count* rows = &tallies_[k * tally_size_];
            Count* own = b.own && b.own[q] == y ? rows + size_t(own_distance(b, q)) * width_ : nullptr;
            if (own) leave_out(b, q, own);
            live_.clear();
            const double* total = V + q * b.V_size() + y;
            const size_t next = b.class_room();
            for (int d = 0; d <= b.m; ++d, total += next)
                if (*total != 0) live_.push_back(d);
            f(q, y, rows, width_, live_);
            if (own) std::fill_n(own, width_, Count{});  // where no other row may be
            for (const int d : live_) std::fill_n(rows + size_t(d) * width_, width_, Count{});
        }
        queries_.clear();
    }

    static void leave_out(const Batch& b, int64_t q, Count* row) {
        for (int i = 0; i < b.columns(); ++i) {
            const uint32_t code = b.codes[q * b.m + i % b.m];
            if (code != kMissing && (code != kUnseen || i >= b.m)) row[i] -= own_weight<Count>(b, q);
        }
    }

    int width_;
    size_t tally_size_, per_pass_;
    std::vector<Count> tallies_;  // zero between passes
    std::vector<int64_t> queries_;
    Live live_;
    Sight sight_;
};

// Calls f(matcher) with one for whole rows or for weighted ones.
template <class F>
void with_matcher(const Batch& b, F f) {
    b.weighted ? f(Matcher<double>(b)) : f(Matcher<int32_t>(b));
}

void match_counts(const Batch& b, const double* V, double* C) {
    const size_t distances = b.m + 1, width = b.columns();
    with_matcher(b, [&](auto matcher) {
        matcher.count(b, Places(b), V, nullptr, [&](int64_t q, int y, const auto* rows, int stride, const auto&) {
            for (size_t d = 0; d < distances; ++d)
                std::copy_n(rows + d * stride, width, C + ((q * b.n_classes + y) * distances + d) * width);
        });
    });
}

}  // namespace
