// The Python face of the pair counts. Arrays may come from a file: every offset is checked before it is used.
#include <limits>

#include "arcs.hpp"
#include "arrays.hpp"

using namespace localbayes;

namespace {

template <class T>
using Array = nb::ndarray<T, nb::c_contig, nb::device::cpu>;
using Offsets = Array<const int64_t>;
using Numbers = Array<const double>;
const auto kAsIs = nb::arg().noconvert();  // an array is not converted: results would go to the copy

// A number, or an array of one.
template <class T>
T number(nb::handle object) {
    T value;
    if (nb::try_cast<T>(object, value, false)) return value;
    Array<const T> array;
    if (nb::try_cast<Array<const T>>(object, array, false) && array.size() == 1) return *array.data();
    return nb::cast<T>(object);
}

bool all_within(const int64_t* values, size_t n, int64_t below) {
    bool within = true;
    for (size_t k = 0; k < n; ++k) within &= uint64_t(values[k]) < uint64_t(below);
    return within;
}

// Counts and offsets that fit each other.
template <class Count>
struct Checked {
    Checked(const Array<Count>& counts, const Offsets& row, const Offsets& column) {
        expect(counts.ndim() == 2 && counts.shape(1) >= 1, "counts must be a table with a column for every class");
        expect(row.ndim() == 2 && column.ndim() == 2 && row.shape(0) == column.shape(0) &&
                   row.shape(1) == column.shape(1) && row.shape(1) <= size_t(std::numeric_limits<int>::max()),
               "offsets of rows and columns must be tables of the same shape");
        pairs = {counts.data(),         row.data(),        column.data(),
                 int64_t(row.shape(0)), int(row.shape(1)), int(counts.shape(1))};
        size = int64_t(counts.size());
        expect(are_offsets(column) && (row.data() == column.data() || are_offsets(row)),
               "an offset is negative or too large");
    }

    // The cells of all pairs of attributes are in the table.
    void expect_cells() const {
        const std::vector<int64_t> row = largest(pairs.row), column = largest(pairs.column);
        int64_t before = 0;
        bool fits = true;
        for (int j = 1; j < pairs.m; ++j) {
            before = std::max(before, column[j - 1]);
            fits &= pairs.n == 0 || row[j] + before + pairs.r <= size;
        }
        expect(fits, "an offset is outside the table of pair counts");
    }
    // A table with r numbers per slot has those of all slots.
    void expect_slots(int64_t table_size) const {
        int64_t most = 0;
        for (int64_t k = 0; k < pairs.n * pairs.m; ++k) most = std::max(most, pairs.column[k]);
        expect(pairs.n == 0 || pairs.m == 0 || most + pairs.r <= table_size, "an offset is outside its table");
    }
    void expect_rows(const Offsets& classes, size_t n_weights) const {
        expect(classes.size() == size_t(pairs.n) && n_weights == size_t(pairs.n),
               "a class and a weight are needed for every row");
        expect(all_within(classes.data(), classes.size(), pairs.r), "a class is outside the table of counts");
    }
    void expect_result(size_t out) const {
        expect(out == size_t(pairs.m) * size_t(pairs.n) * size_t(pairs.r), "the result has the wrong size");
    }

    Pairs<Count> pairs;
    int64_t size = 0;

private:
    // None has a bit that is 2^60 or more: sums of offsets do not overflow.
    static bool are_offsets(const Offsets& offsets) {
        uint64_t bits = 0;
        for (size_t k = 0; k < offsets.size(); ++k) bits |= uint64_t(offsets.data()[k]);
        return bits >> 60 == 0;
    }
    // The largest offset of every attribute.
    std::vector<int64_t> largest(const int64_t* offsets) const {
        std::vector<int64_t> most(pairs.m);
        for (int64_t k = 0; k < pairs.n; ++k)
            for (int i = 0; i < pairs.m; ++i) most[i] = std::max(most[i], offsets[k * pairs.m + i]);
        return most;
    }
};

template <class Count, bool (*kernel)(const Pairs<Count>&, const int64_t*, const Count*)>
void count(Array<Count> counts, Offsets row, Offsets column, Offsets classes, Array<const Count> weights) {
    const Checked<Count> checked(counts, row, column);
    kernel == count_values<Count> ? checked.expect_slots(checked.size) : checked.expect_cells();
    checked.expect_rows(classes, weights.size());
    bool fits;
    without_gil([&] { fits = kernel(checked.pairs, classes.data(), weights.data()); });
    expect(fits, "a count would exceed the largest number of its type; nothing was added");
}

void sum(Array<const double> table, Offsets row, Offsets column, Numbers start, Array<double> out) {
    const Checked<const double> checked(table, row, column);
    checked.expect_slots(checked.size);
    expect(start.size() == size_t(checked.pairs.r), "start must have a number for every class");
    expect(out.size() == size_t(checked.pairs.n * checked.pairs.r), "the result has the wrong size");
    without_gil([&] { current_isa->sum_values(checked.pairs, start.data(), out.data()); });
}

template <class Count>
const PairFormulas<Count>& formulas() {
    if constexpr (std::integral<Count>) return current_isa->whole;
    else return current_isa->weighted;
}

template <class Count>
void multiply(Array<const Count> counts, Offsets row, Offsets column, Numbers pseudo, Numbers start, Offsets span,
              Array<double> out) {
    const Checked<const Count> checked(counts, row, column);
    checked.expect_cells();
    checked.expect_slots(int64_t(start.size()));
    checked.expect_result(out.size());
    const int m = checked.pairs.m;
    expect(pseudo.size() == size_t(m), "a pseudo-count is needed for every attribute");
    expect(span.size() == 2 && 0 <= span.data()[0] && span.data()[0] <= span.data()[1] && span.data()[1] <= m,
           "the span must be two numbers from 0 to the number of attributes");
    const Span attributes{int(span.data()[0]), int(span.data()[1])};
    without_gil(
        [&] { formulas<Count>().multiply_counts(checked.pairs, pseudo.data(), start.data(), attributes, out.data()); });
}

template <class Count>
void mix(Array<const Count> counts, Offsets row, Offsets column, Numbers pseudo, Numbers weight, Numbers alone,
         Numbers scale, Array<double> out) {
    const Checked<const Count> checked(counts, row, column);
    checked.expect_cells();
    checked.expect_slots(int64_t(std::min(alone.size(), scale.size())));
    checked.expect_result(out.size());
    const size_t m = size_t(checked.pairs.m);
    expect(pseudo.size() == m && weight.size() == m * m, "pseudo-counts or weights do not fit the attributes");
    without_gil([&] {
        formulas<Count>().mix_counts(checked.pairs, pseudo.data(), weight.data(), alone.data(), scale.data(),
                                     out.data());
    });
}

// The whole table: one row that names all slots, in steps of r; no count is negative.
template <class Count>
WholeTable<Count> whole_table(const Array<const Count>& counts, const Offsets& row, const Offsets& column,
                              const Offsets& first, size_t out) {
    const Pairs<const Count> pairs = Checked<const Count>(counts, row, column).pairs;
    expect(pairs.n == 1 && first.size() >= 1, "the whole table is one row of all slots");
    const WholeTable<Count> table{pairs, first.data(), int(first.size()) - 1};
    const int m = table.n_attributes;
    bool fits = table.first[0] == 0 && table.first[m] == pairs.m && out == size_t(m) * size_t(m);
    for (int i = 0; i < m; ++i) fits &= table.first[i] < table.first[i + 1];
    expect(fits, "the first slots of the attributes must begin with 0, increase and end with the number of slots");
    for (int64_t slot = 0; slot < pairs.m; ++slot) fits &= pairs.column[slot] == slot * pairs.r;
    for (int j = 0; j < m; ++j)  // rows of an attribute follow each other, and end within the table
        for (int64_t slot = table.first[j]; slot < table.first[j + 1]; ++slot) {
            const int64_t width = table.first[j] * pairs.r;
            fits &= slot == table.first[j] || pairs.row[slot] == pairs.row[slot - 1] + width;
            fits &= pairs.row[slot] + width <= int64_t(counts.size());
        }
    expect(fits, "the offsets of the slots do not fit the table of pair counts");
    Count least = 0;
    for (size_t k = 0; k < counts.size(); ++k) least = std::min(least, counts.data()[k]);
    expect(least >= 0, "a pair count is negative");
    return table;
}

template <class Count>
void information(Array<const Count> counts, Offsets row, Offsets column, Offsets first, nb::object n_rows,
                 nb::object negligible, Array<double> out) {
    const WholeTable<Count> table = whole_table<Count>(counts, row, column, first, out.size());
    const double n = number<double>(n_rows), least = number<double>(negligible);
    without_gil([&] { conditional_information(table, n, least, out.data()); });
}

template <class Count>
void arcs(Array<const Count> counts, Offsets row, Offsets column, Offsets first, Offsets kind, Numbers own,
          Numbers totals, Numbers empty, Numbers log_gammas, nb::object table_size, nb::object alpha,
          Array<double> out) {
    const WholeTable<Count> table = whole_table<Count>(counts, row, column, first, out.size());
    const ArcTerms terms{kind.data(),          own.data(),        totals.data(),
                         empty.data(),         log_gammas.data(), number<int64_t>(table_size),
                         number<double>(alpha)};
    const size_t m = size_t(table.n_attributes), r = size_t(table.pairs.r), n_slots = size_t(table.pairs.m);
    const size_t per_kind = (n_slots + 1) * r;
    expect(kind.size() == m && own.size() == n_slots * r && empty.size() == 2 * m && totals.size() % per_kind == 0,
           "the terms do not fit the table of pair counts");
    expect(all_within(kind.data(), m, int64_t(totals.size() / per_kind)), "a kind is outside the totals");
    expect(terms.table_size >= 0 && size_t(terms.table_size) <= log_gammas.size(),
           "the table of log Gamma is smaller than its size");
    without_gil([&] { arc_scores(table, terms, out.data()); });
}

template <class F>
void define(nb::module_& m, const char* name, F f) {
    [&]<class... A>(void (*)(A...)) { m.def(name, f, (void(sizeof(A)), kAsIs)...); }(f);
}

template <class Count>
void bind_formulas(nb::module_& m) {
    define(m, "count_pairs", count<Count, count_pairs<Count>>);
    define(m, "multiply_counts", multiply<Count>);
    define(m, "mix_counts", mix<Count>);
    define(m, "conditional_information", information<Count>);
    define(m, "arc_scores", arcs<Count>);
}

}  // namespace

void bind_pairs(nb::module_& m) {
    define(m, "count_values", count<int64_t, count_values<int64_t>>);
    define(m, "count_values", count<double, count_values<double>>);
    define(m, "sum_values", sum);
    bind_formulas<int32_t>(m);
    bind_formulas<double>(m);
}
