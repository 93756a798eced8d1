// What the kernel computes, in plain loops over rows. The native checks compare every fast function with its twin here.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "batch.hpp"
#include "pairs.hpp"

namespace localbayes::plain {

// A training row; a code is kMissing where the row lacks a value.
struct Row {
    const uint32_t* codes;
    int64_t y;
    double weight;
};

// The distance of a row and a query: a sum over the attributes that both know. A value that was never seen is as far as
// any from all others. Hamming's distance, where there are no tables, is 1 for another value.
inline int distance(const Batch& b, const uint32_t* query, const uint32_t* row) {
    int sum = 0;
    for (int i = 0; i < b.m; ++i) {
        if (query[i] == kMissing || row[i] == kMissing) continue;
        if (!b.distance) sum += query[i] != row[i];
        else sum += query[i] == kUnseen ? b.distance->most(i) : b.distance->d(i, query[i], row[i]);
    }
    return sum;
}

// How much a row agrees with a query on an attribute: 1 for the same value, or what the table says. A column i >= m
// counts whether the row knows attribute i - m.
inline int match(const Batch& b, const uint32_t* query, const uint32_t* row, int i) {
    if (i >= b.m) return row[i - b.m] != kMissing;
    if (query[i] >= kMissing || row[i] == kMissing) return 0;
    return b.distance ? b.distance->s(i, query[i], row[i]) : query[i] == row[i];
}

// Adder: in how many of n planes a row is. Planes that count 2 or 4 are given so many times.
inline int sum_of_planes(const std::vector<const uint64_t*>& planes, int row) {
    int sum = 0;
    for (const uint64_t* plane : planes) sum += int(plane[row / 64] >> row % 64 & 1);
    return sum;
}

// DistanceCounter: V[class][distance] of one query.
inline std::vector<double> distance_counts(const Batch& b, const uint32_t* query, const std::vector<Row>& rows) {
    std::vector<double> V(size_t(b.n_classes) * b.n_distances());
    for (const Row& row : rows) V[row.y * b.n_distances() + distance(b, query, row.codes)] += row.weight;
    return V;
}

// MatchCounter: C[class][distance][column] of one query.
inline std::vector<double> match_counts(const Batch& b, const uint32_t* query, const std::vector<Row>& rows) {
    std::vector<double> C(size_t(b.n_classes) * b.n_distances() * b.columns());
    for (const Row& row : rows) {
        const size_t cell = row.y * b.n_distances() + distance(b, query, row.codes);
        for (int i = 0; i < b.columns(); ++i) C[cell * b.columns() + i] += row.weight * match(b, query, row.codes, i);
    }
    return C;
}

// Weigher: sum_d weights[d] counts[d * stride], which is S for V of a class, and T_i for C of a class and column.
inline double weighted_sum(int n_distances, const double* weights, const double* counts, size_t stride) {
    double sum = 0;
    for (int d = 0; d < n_distances; ++d) sum += weights[d] * counts[d * stride];
    return sum;
}

// GammaSolver: gamma is the root of weighted_sum(power(gamma)) = kappa, if that is between 0 and 1.
inline std::vector<double> powers(int n_distances, double gamma) {
    std::vector<double> weights{1.0};
    while (int(weights.size()) < n_distances) weights.push_back(std::pow(gamma, double(weights.size())));
    return weights;
}

// Scorer: log((alpha + S_y) / (alpha r + sum S) prod_i (alpha + T_i) / (alpha q_i + S_y)) of class y. Where values may
// be missing T[m + i] stands for S_y, and an attribute that the query lacks has no factor.
inline double log_joint(const Batch& b, const uint32_t* query, const double* S, int y, const double* T,
                        const Laplace& laplace) {
    double all = 0;
    for (int other = 0; other < b.n_classes; ++other) all += S[other];
    double score = std::log((laplace.alpha + S[y]) / (laplace.alpha * b.n_classes + all));
    for (int i = 0; i < b.m; ++i)
        if (query[i] != kMissing)
            score += std::log((laplace.alpha + T[i]) /
                              (laplace.alpha * laplace.sizes[i] + (b.may_miss() ? T[b.m + i] : S[y])));
    return std::isnan(score) ? -std::numeric_limits<double>::infinity() : score;
}

// The count of attributes i != j of one row and class.
template <class Count>
double pair_count(const Pairs<const Count>& row, int i, int j, int y) {
    return double(row.counts[row.row[std::max(i, j)] + row.column[std::min(i, j)] + y]);
}

// sum_values: start plus the numbers of a row's slots.
inline double sum_values(const Pairs<const double>& row, const double* start, int y) {
    double sum = start[y];
    for (int i = 0; i < row.m; ++i) sum += row.counts[row.column[i] + y];
    return sum;
}

// multiply_counts: a start of attribute p times the counts of p with the others of a span, each with its pseudo-count.
template <class Count>
double multiply_counts(const Pairs<const Count>& row, const double* pseudo, const double* start, Span span, int p,
                       int y) {
    double product = start[row.column[p] + y];
    for (int i = span.begin; i < span.end; ++i)
        if (i != p) product *= pair_count(row, i, p, y) + pseudo[i];
    return product;
}

// mix_counts: what attribute i has alone plus its counts with the others, weighted and scaled.
template <class Count>
double mix_counts(const Pairs<const Count>& row, const double* pseudo, const double* weight, const double* alone,
                  const double* scale, int i, int y) {
    double sum = alone[row.column[i] + y];
    for (int j = 0; j < row.m; ++j)
        if (j != i) sum += weight[i * row.m + j] * (pair_count(row, i, j, y) + pseudo[i]) * scale[row.column[j] + y];
    return sum;
}

}  // namespace localbayes::plain
