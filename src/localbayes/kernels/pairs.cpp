// The Python face of the pair counts.
#include "pairs.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;
using namespace localbayes;

namespace {

template <class T>
using Array = nb::ndarray<T, nb::c_contig, nb::device::cpu>;
// No array is converted: results would go to the copy.
template <class T>
const auto kAsIs = nb::arg().noconvert();

// Counts, rows and columns come first, then the arrays of the kernel.
template <class Count, class... T>
void bind(nb::module_& m, const char* name, void (*kernel)(const Pairs<Count>&, T*...)) {
    using Offsets = Array<const int64_t>;
    m.def(name, [kernel](Array<Count> counts, Offsets row, Offsets column, Array<T>... arrays) {
        nb::gil_scoped_release release;
        const int m = int(row.shape(1)), r = int(counts.shape(1));
        kernel({counts.data(), row.data(), column.data(), int64_t(row.shape(0)), m, r}, arrays.data()...);
    }, kAsIs<Count>, kAsIs<Offsets>, kAsIs<Offsets>, kAsIs<T>...);
}

}  // namespace

void bind_pairs(nb::module_& m) {
    bind(m, "count_values", count_values<int64_t>);
    bind(m, "count_values", count_values<double>);
    bind(m, "sum_values", sum_values);
    bind(m, "count_pairs", count_pairs<int32_t>);
    bind(m, "count_pairs", count_pairs<double>);
    bind(m, "multiply_counts", multiply_counts<int32_t>);
    bind(m, "multiply_counts", multiply_counts<double>);
    bind(m, "mix_counts", mix_counts<int32_t>);
    bind(m, "mix_counts", mix_counts<double>);
    bind(m, "conditional_information", conditional_information<int32_t>);
    bind(m, "conditional_information", conditional_information<double>);
    bind(m, "arc_scores", arc_scores<int32_t>);
    bind(m, "arc_scores", arc_scores<double>);
}
