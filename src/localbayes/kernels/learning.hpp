// What the local Bayes classifier learns from: plain views of arrays.
#pragma once
#include <cstdint>

namespace localbayes {

// Features [row][class][feature] of rows whose classes are known, see exponent_fit.hpp.
struct FeatureRows {
    const float* features;
    const int64_t* truth;
    const double* weights;
    int64_t n;
    int n_classes, n_features;
};

// What exponents are drawn to: a prior [feature] times the best of some powers.
struct ExponentSearch {
    const double *prior, *powers;
    int n_powers;
    double ridge;
};

// Exponents and biases, with the penalised loss that they reach.
struct ExponentFit {
    double *w, *b;  // [feature], [class]
    double loss, penalty;
};

// Rows that look for rows of their class, see neighbourhood.hpp. `room` is the number of rows, padded to 64.
struct Neighbours {
    const float* apart;      // [vector][room]: how far a value of a column is from that of every row
    const uint32_t* picks;   // [query][column]: the vector of the query's value
    const float* log_mass;   // [room]: log of the weight of a row
    const float* own_mass;   // [query]: the same of the query's own row
    const int64_t* own;      // [query]: that row
    const int32_t* classes;  // [room]: classes of the rows
    const int32_t* truth;    // [query]
    const double* weights;   // [query]
    int64_t n_queries, room;
    int m;
};

}  // namespace localbayes
