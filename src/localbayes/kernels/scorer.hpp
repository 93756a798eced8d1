// Scores of naive Bayes from weighted sums.
#pragma once
#include <map>
#include <vector>

#include "batch.hpp"
#include "logs.hpp"

namespace localbayes {
namespace {

// Scores of a query and class from T, S and the prior, for one set of weights or four at once.
class Scorer {
public:
    Scorer(int m, bool may_miss, Laplace laplace)
        : m_(m), may_miss_(may_miss), laplace_(laplace),
          // Factors are multiplied sixteen at a time before the exponent is taken out: for sums of weights up to 1e15
          // that stays in range, unless alpha is so small or large that they are taken one by one.
          group_(laplace.alpha < 1e-3 || laplace.alpha > 1e10 ? 1 : 16) {
        std::map<double, int> columns;
        for (int i = 0; i < m_; ++i) {
            ++columns[laplace.sizes[i]];
            without_.push_back(laplace.alpha * laplace.sizes[i]);
        }
        sizes_.assign(columns.begin(), columns.end());
        for (int i = 0; i < m_; ++i) size_of_.push_back(std::distance(columns.begin(), columns.find(laplace.sizes[i])));
    }

    // (alpha + S_y) / (alpha r + sum S) for all r classes.
    template <class Sets>
    void priors(const double* S, int r, int room, double* prior) const {
        Sets all{};
        for (int y = 0; y < r; ++y) all += load<Sets>(S + y * room);
        for (int y = 0; y < r; ++y)
            store(prior + y * room, (laplace_.alpha + load<Sets>(S + y * room)) / (laplace_.alpha * r + all));
    }

    // Of one query and class, by set of weights; T is [column][set] with `room` sets.
    struct Sums {
        const double *prior, *T, *S;
        int room;
    };

    // log(prior prod_i (alpha + T_i) / (alpha q_i + S)). Where values may be missing, T[m + i] stands for S and a value
    // that the query lacks has no factor. The twin is plain::log_joint.
    template <class Sets>
    Sets log_joint(const Sums& sums, const uint32_t* query) const {
        const auto T = [&](int column) { return load<Sets>(sums.T + column * sums.room); };
        const Sets all = load<Sets>(sums.S);
        Sets above = load<Sets>(sums.prior), number = 1 + Sets{}, power{};
        for (int i = 0; i < m_; i += group_) {
            Sets below = 1 + Sets{};
            for (int j = i; j < std::min(i + group_, m_); ++j) {
                if (may_miss_ && query[j] == kMissing) continue;
                above *= laplace_.alpha + T(j);
                below *= without_[j] + (may_miss_ ? T(m_ + j) : all);
            }
            const Sets ratio = above / below;
            const Parts<Sets> parts(ratio), product(number * parts.mantissa);
            power +=
                ratio > 0 ? parts.exponent + product.exponent : kNever + Sets{};  // there may be nothing to divide by
            number = product.mantissa;
            above = 1 + Sets{};
        }
        return log_of_mantissa(number) + kLog2 * power;
    }

    // The attributes that a query knows: their sizes, and how many attributes have each.
    struct Factors {
        int n;
        std::vector<std::pair<double, int>> sizes;
    };
    Factors factors(const uint32_t* query) const {
        if (!may_miss_) return {m_, {}};
        Factors found{m_, sizes_};
        for (int i = 0; i < m_; ++i)
            if (query[i] == kMissing) --found.n, --found.sizes[size_of_[i]].second;
        std::erase_if(found.sizes, [](const auto& size) { return size.second == 0; });
        return found;
    }

    // What V alone tells of classes or sets: sum_i T_i is `matches` or a little less, and so many T_i are zero because
    // the class lacks the value.
    struct Known {
        Four prior, S, matches, lacking;
    };

    // No less than log_joint. The product of the numerators is largest if all T_i are equal that are not known to be
    // zero. Where values may be missing let D_i be the weight of the rows that differ. A factor is (alpha + K_i - D_i)
    // / (alpha q_i + K_i) for a weight K_i <= S of rows that know the value. It grows with K_i, so S may stand for K_i;
    // T_i is then S - D_i, the weight of rows that agree or lack the value, and the sum of these is what V gives.
    Four bound(const Known& known, const Factors& factors) const {
        const auto& [prior, S, matches, lacking] = known;
        const Four rest = factors.n - lacking, zero = lacking * log_above(laplace_.alpha + Four{});
        const Four some = matches - double(m_ - factors.n) * S;
        const Four sum = !may_miss_ ? matches : some > 0 ? some : Four{};
        Four bound = log_above(prior) + rest * log_above(laplace_.alpha + sum / (rest > 1 ? rest : 1 + Four{}));
        bound += lacking > 0 ? zero : Four{};
        for (const auto& [size, columns] : may_miss_ ? factors.sizes : sizes_)
            bound -= columns * (log_above(laplace_.alpha * size + S) - kLogAbove);
        return bound == bound ? bound : kNever + Four{};
    }

private:
    const int m_;
    const bool may_miss_;
    const Laplace laplace_;
    const int group_;
    std::vector<std::pair<double, int>> sizes_;  // and how many columns have each
    std::vector<ptrdiff_t> size_of_;             // place of a column's size among them
    std::vector<double> without_;                // denominators without a row
};

}  // namespace
}  // namespace localbayes
