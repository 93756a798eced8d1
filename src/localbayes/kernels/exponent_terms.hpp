// Tighter bounds for terms whose value few rows of a class have.
//
// A term is a nominal attribute that adds nothing to the distance. If n rows of a class have the query's value of it,
// the weight T of these is at most that of the n nearest rows, which V tells, where the first bound took the weight S
// of all rows. Numbers of rows are rounded up to one of a few.
#pragma once
#include "blocks.hpp"
#include "exponent_features.hpp"

namespace localbayes {
namespace {

template <class W>
class TermBounds {
public:
    // Attributes from first_term on that are terms, and whose rows agree as much as those of the first of them. Rows
    // must count once each. There is room for so many kappas.
    TermBounds(const Batch& b, const Smoothing& smoothing, const ExponentTable& table, int first_term, int room)
        : b_(b), alpha_(smoothing.alpha), room_(room), logs_(padded((kLevels + 1) * room, kOctet), 1.0) {
        for (int i = first_term; i < b.m; ++i) {
            if (!b.distance->nominal(i) || b.distance->most(i) > 0) continue;
            const double rate = b.distance->s(i, 0, 0) / smoothing.units[i];
            if (terms_.empty()) rate_ = rate;
            Term term{i, b.distance->size(i), std::vector<double>(room), {}, {}};
            for (int k = 0; k < table.n_kappas; ++k) term.w[k] = table.w[k * (1 + b.m) + 1 + i];
            if (rate == rate_ && *std::max_element(term.w.begin(), term.w.end()) > 0) terms_.push_back(std::move(term));
        }
    }

    // The query whose classes are bounded next.
    void begin(const uint32_t* query) {
        counts_.clear();
        for (Term& term : terms_)
            if (query[term.i] < term.size) counts_.push_back({term.w.data(), of(term, query[term.i])});
    }

    // By kappa: by how much, or a little less, the bound of a class is too large if it took T = S for all terms. V is
    // [distance] with room for all classes; weights are rho gamma^d.
    void excess(int y, const double* V, const double* gamma, const double* rho, const double* S, double* out) {
        for_sets<W>(room_, [&]<class Sets>(Sets, int k) {
            weigh_nearest(V, load<Sets>(gamma + k), load<Sets>(rho + k), load<Sets>(S + k), &logs_[k]);
        });
        for (size_t at = 0; at < logs_.size(); at += kOctet) store(&logs_[at], log_above(load<Octet>(&logs_[at])));
        for_sets<W>(room_, [&]<class Sets>(Sets, int k) {
            Sets sum{};
            const Sets most = load<Sets>(&logs_[kLevels * room_ + k]) - kLogAbove;
            for (const auto& [w, levels] : counts_)
                if (levels[y] < kLevels) sum += load<Sets>(w + k) * (most - load<Sets>(&logs_[levels[y] * room_ + k]));
            store(out + k, sum);
        });
    }

private:
    static constexpr int kRows[] = {0, 1, 2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 48, 64, 85, 113, 150, 200};
    static constexpr int kLevels = int(std::size(kRows)), kFew = kRows[kLevels - 1];

    struct Term {
        int i;
        uint32_t size;
        std::vector<double> w;               // by kappa
        std::vector<uint8_t> known, counts;  // by value; levels [value][class]
    };
    struct Counts {
        const double* w;        // by kappa
        const uint8_t* levels;  // by class: the place in kRows, or kLevels if there are more rows
    };

    // alpha + T for the weight T of the n nearest rows of a class, for every n in kRows, and for all rows.
    template <class Sets>
    void weigh_nearest(const double* V, Sets gamma, Sets weight, Sets S, double* out) const {
        Sets T{};
        double n = 0;
        int d = 0;
        for (const int rows : kRows) {
            for (; d < b_.n_distances() && n + V[d * b_.class_room()] <= rows; ++d, weight *= gamma) {
                T += V[d * b_.class_room()] * weight;
                n += V[d * b_.class_room()];
            }
            const Sets nearest = d < b_.n_distances() ? T + (rows - n) * weight : T;
            store(out, alpha_ + rate_ * (nearest < S ? nearest : S));
            out += room_;
        }
        store(out, alpha_ + rate_ * S);
    }

    // How many rows of every class have a value; found out when it is first asked for.
    const uint8_t* of(Term& term, uint32_t code) {
        const int r = b_.n_classes;
        if (term.known.empty()) {
            term.known.resize(term.size);
            term.counts.resize(size_t(term.size) * r);
        }
        uint8_t* counts = &term.counts[size_t(code) * r];
        if (!term.known[code]) {
            term.known[code] = true;
            for (int y = 0; y < r; ++y) counts[y] = count(term.i, code, y);
        }
        return counts;
    }
    uint8_t count(int i, uint32_t code, int y) const {
        int sum = 0;
        for (const Segment& s : b_.segments) {
            if (code >= s.n_values(i)) continue;
            const Column& column = s.columns[i];
            const int64_t begin = s.class_start[y], end = s.class_start[y + 1];
            for (int64_t row = begin / 64 * 64; row < end && sum <= kFew; row += 64) {
                const uint64_t* word = s.block(row / kBlockRows) + row % kBlockRows / 64;
                uint64_t rows = bits_between(begin - row, end - row);
                for (uint32_t digit = 0; digit < column.n_digits; ++digit)
                    rows &= word[column.plane(code, digit) * kBlockWords];
                sum += std::popcount(rows);
            }
        }
        return uint8_t(std::lower_bound(kRows, kRows + kLevels, sum) - kRows);
    }

    const Batch& b_;
    const double alpha_;
    const int room_;
    double rate_ = 0;  // what a row adds to T / unit
    std::vector<Term> terms_;
    std::vector<Counts> counts_;  // of the query
    std::vector<double> logs_;    // [level, and all rows][kappa]
};

}  // namespace
}  // namespace localbayes
