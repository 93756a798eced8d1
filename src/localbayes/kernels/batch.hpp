// What a caller asks for: queries over training rows.
#pragma once
#include "distance.hpp"

namespace localbayes {

// A code of a query that is no value of the column, and one that is not known (where rows may miss values).
constexpr uint32_t kUnseen = 0xFFFFFFFFu, kMissing = 0xFFFFFFFEu;

// Queries over training rows. C has m columns, or 2 m where values may be missing: column m + i then counts the rows
// whose value of attribute i is known.
struct Batch {
    const std::vector<Segment>& segments;
    const uint32_t* codes;     // [query][attribute]
    const int64_t* own;        // class of the query's own row, which is taken out of the counts, or null
    const double* own_weight;  // that row's weight, or null
    int64_t n_queries;
    int m, n_classes;
    bool weighted;
    const Distance* distance = nullptr;  // null: Hamming's
    const Recipes* recipes = nullptr;    // of every segment, if there is a distance
    int first_counted = -1;              // if not negative, only so many attributes are counted in C

    bool may_miss() const { return segments[0].may_miss; }
    int columns() const { return may_miss() ? 2 * m : m; }
    int n_distances() const { return distance ? distance->n_distances() : m + 1; }
    // While C is counted it has a column for every binary digit of the agreement, and then one for every attribute that
    // rows may lack.
    int n_hits() const { return distance ? distance->first_hit(counted()) : m; }
    int counted() const { return first_counted < 0 ? m : first_counted; }
    int raw_columns() const { return n_hits() + (may_miss() ? m : 0); }
    int raw_width() const { return padded(raw_columns(), 4); }
    // V is [query][distance][class], with room for a multiple of four classes.
    size_t class_room() const { return padded(n_classes, 4); }
    size_t V_size() const { return size_t(n_distances()) * class_room(); }
    const uint32_t* query(int64_t q) const { return codes + q * m; }

    Batch part(int64_t first, int64_t n) const {
        Batch b = *this;
        b.codes += first * m;
        if (own) b.own += first;
        if (own_weight) b.own_weight += first;
        b.n_queries = n;
        return b;
    }
};

// Laplace's estimate of a probability: (alpha + count) / (alpha q_i + total).
struct Laplace {
    double alpha;
    const double* sizes;  // q_i
};

// Estimates of the local Bayes classifier: (alpha + T_i / unit_i) / (alpha q_i + S).
struct Smoothing {
    double alpha;
    const double *sizes, *units;  // q_i, and how much agreement is one row
};

// Exponents w [kappa][1 + m] of its factors, biases [kappa][class], the shares of the kappas in the average, and the
// share of the probabilities `prior` [class].
struct ExponentTable {
    const double *kappas, *w, *bias, *shares, *prior;
    double prior_share;
    int n_kappas, n_classes;
};

}  // namespace localbayes
