// Pair counts: how often two attribute values occur together in each class, and what the eager
// classifiers ask of them.
//
// A slot is one value of one attribute. Attribute i owns the slots first[i] .. first[i + 1] - 1: one for
// each declared value and a last one for "a value never seen", whose counts stay zero.
//
// Layout. Only pairs of an attribute j with an earlier one i < j are kept. The values of j are the rows of
// a matrix whose columns are all slots before first[j]; a cell holds one count per class, side by side, so
// that a query reads and works on all classes at once:
//
//     attribute j, value 0   │ slot 0: r counts │ slot 1: r counts │ ... │ slot first[j] - 1: r counts │
//     attribute j, value 1   │ ...
//     attribute j, unseen    │ 0 ...
//     attribute j + 1, ...     (longer rows)
//
// start[j] is the cell where the matrix of j begins. The whole table has
//     start[m] = sum_j (q_j + 1) first[j]
// cells of r counts, about half of the square of the number of slots. One row of data adds one to
// m (m - 1) / 2 counts.
//
// A query reads each of its m (m - 1) / 2 cells once and uses it for both attributes. Counts are turned into
// probabilities on the fly: a table of logarithms would take twice the memory and be slower, since fetching
// cells is what costs. Products of sixteen factors cannot leave the range of double (a factor is between
// 2^-60 and 2^60); after that many the exponents are taken out.
#pragma once
#include <cstdint>

namespace localbayes {

struct Slots {
    const int64_t* first;  // m + 1
    const int64_t* start;  // m + 1
    int m, n_classes;

    int64_t unseen(int i) const { return first[i + 1] - 1; }
    int64_t n_values(int i) const { return first[i + 1] - first[i] - 1; }
    // Where the row of a slot of attribute j begins, in counts.
    int64_t row(int j, int64_t slot) const { return (start[j] + (slot - first[j]) * first[j]) * n_classes; }
};

// Rows of data as slots, n x m.
struct Rows {
    const int64_t* slots;
    int64_t n;
};

// Slots of codes, n x m; a code that is no declared value goes to the unseen slot.
template <class Code>
void find_slots(const Slots&, const Code* codes, int64_t n, int64_t* slots);

// Adds rows to counts of values, [slot][class], and of pairs; weights may be null.
template <class Count, class Pair>
void count_rows(const Slots&, Rows, const int64_t* classes, const double* weights, Count* values, Pair* pairs);

// out[q][y] = start[y] + sum_i table[rows[q][i]][y]
void sum_rows(Rows, int m, int n_classes, const double* table, const double* start, double* out);

// One-dependence estimators, out[q][y] = log sum_p base(p, y) prod_{i != p} (n_{p, i, y} + pseudo[i]).
// base is given per slot and class as mantissa * 2^exponent; a mantissa of 0 leaves the superparent out.
template <class Pair>
void sum_superparents(const Slots&, Rows, const Pair* pairs, const double* pseudo, const double* mantissa,
                      const double* exponent, double* out);

// Hidden parents, out[q][y] = prior[y] + sum_i log(alone(i, y) + sum_{j != i} weight[i][j] (n_{i, j, y} + pseudo[i]) scale(j, y));
// alone and scale are given per slot and class.
template <class Pair>
void mix_parents(const Slots&, Rows, const Pair* pairs, const double* pseudo, const double* weight, const double* alone,
                 const double* scale, const double* prior, double* out);

// Conditional mutual information I(i; j | class) in bits, m x m, symmetric, zero on the diagonal. A row that lacks a
// value of i or j adds nothing, nor does a cell where P(i, j, y) P(y) or P(i, y) P(j, y) is below `negligible`.
template <class Pair>
void conditional_information(const Slots&, const Pair* pairs, double n_rows, double negligible, double* out);

// log Gamma(shift + k) for k = 0 .. size - 1; beyond, and for a k that is no integer, it is computed.
struct LogGamma {
    double shift;
    const double* table;
    int64_t size;
};

// gain[child][parent]: what a further parent adds to the log Dirichlet score of a child that has the class as parent.
// `cell` is log Gamma(alpha + k); total[i] is log Gamma(alpha q_i + k).
template <class Count, class Pair>
void parent_gains(const Slots&, const Count* values, const Pair* pairs, const double* class_counts, LogGamma cell,
                  const LogGamma* total, double* gain);

}  // namespace localbayes
