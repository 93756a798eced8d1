// Pair counts: how often two attribute values occur together in each class.
//
// A slot is one value of one attribute; each attribute has one more for "a value never seen", whose counts are zero.
// The slots of an attribute are the rows of a matrix whose columns are the slots of all attributes before it. A cell
// holds one count per class. Counts are turned into probabilities when they are read: a table of logarithms would take
// twice the memory and be slower, since fetching cells is what costs.
//     pair_formulas.hpp  what a query asks of the counts
//     arcs.hpp           what reads the whole table: information and scores of pairs of attributes
#pragma once
#include <concepts>
#include <cstdint>

namespace localbayes {

// The counts, and n rows of m values to count or to score. The cell of attributes i < j of a row is at row[j] +
// column[i]; column[i] is also where tables of r numbers per slot have those of the value of attribute i.
template <class Count>
struct Pairs {
    Count* counts;
    const int64_t *row, *column;
    int64_t n;
    int m, r;

    Pairs from(int64_t k) const { return {counts, row + k * m, column + k * m, n - k, m, r}; }
};

// Attributes from begin to end - 1.
struct Span {
    int begin, end;
};

// Adds a weight to a count, or takes it away again; false if a whole number does not fit. It then wraps around, so that
// taking it away restores the count.
template <bool kTakeAway, class Count>
bool add_to(Count& count, Count weight) {
    if constexpr (!std::integral<Count>) return count += weight, true;
    else if constexpr (kTakeAway) return !__builtin_sub_overflow(count, weight, &count);
    else return !__builtin_add_overflow(count, weight, &count);
}

// Adds rows to a table of r counts per slot. If a count does not fit all are restored, and the answer is false.
template <class Count, bool kTakeAway = false>
bool count_values(const Pairs<Count>& values, const int64_t* classes, const Count* weights) {
    bool fits = true;
    for (int64_t k = 0; k < values.n; ++k)
        for (int i = 0; i < values.m; ++i)
            fits &= add_to<kTakeAway>(values.counts[values.from(k).column[i] + classes[k]], weights[k]);
    if constexpr (!kTakeAway)
        if (!fits) count_values<Count, true>(values, classes, weights);
    return fits;
}

// Adds rows, attribute by attribute, so that the part of the table in use stays in cache. Values never seen are counted
// like others: the caller takes them out again. If a count does not fit all are restored, and the answer is false.
template <class Count, bool kTakeAway = false>
bool count_pairs(const Pairs<Count>& pairs, const int64_t* classes, const Count* weights) {
    bool fits = true;
    for (int j = 1; j < pairs.m; ++j)
        for (int64_t k = 0; k < pairs.n; ++k) {
            const Pairs<Count> rows = pairs.from(k);
            Count* cells = rows.counts + rows.row[j] + classes[k];
            const Count weight = weights[k];
            for (int i = 0; i < j; ++i) fits &= add_to<kTakeAway>(cells[rows.column[i]], weight);
        }
    if constexpr (!kTakeAway)
        if (!fits) count_pairs<Count, true>(pairs, classes, weights);
    return fits;
}

}  // namespace localbayes
