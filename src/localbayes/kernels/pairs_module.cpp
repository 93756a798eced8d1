// The Python face of the pair counts.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <vector>

#include "pairs.hpp"

namespace nb = nanobind;
using namespace localbayes;

namespace {

template <class T, int kDims>
using In = nb::ndarray<const T, nb::ndim<kDims>, nb::c_contig, nb::device::cpu>;
template <class T, int kDims>
using InOut = nb::ndarray<T, nb::ndim<kDims>, nb::c_contig, nb::device::cpu>;
using Index = In<int64_t, 1>;

Slots view(const Index& first, const Index& start, size_t n_classes) {
    return {first.data(), start.data(), int(first.shape(0)) - 1, int(n_classes)};
}

Rows view(const In<int64_t, 2>& slots) { return {slots.data(), int64_t(slots.shape(0))}; }

LogGamma row(const In<double, 2>& tables, double shift, size_t k) {
    return {shift, tables.data() + k * tables.shape(1), int64_t(tables.shape(1))};
}

template <class Count, class Pair>
void bind(nb::module_& m) {
    m.def("count_rows", [](Index first, Index start, In<int64_t, 2> slots, Index classes,
                           std::optional<In<double, 1>> weights, InOut<Count, 2> values,
                           std::optional<InOut<Pair, 2>> pairs) {
        nb::gil_scoped_release release;
        count_rows(view(first, start, values.shape(1)), view(slots), classes.data(), weights ? weights->data() : nullptr,
                   values.data(), pairs ? pairs->data() : nullptr);
    }, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().noconvert(), nb::arg().noconvert().none());
    m.def("sum_superparents", [](Index first, Index start, In<int64_t, 2> slots, In<Pair, 2> pairs, In<double, 1> pseudo,
                                 In<double, 2> mantissa, In<double, 2> exponent, InOut<double, 2> out) {
        nb::gil_scoped_release release;
        sum_superparents(view(first, start, pairs.shape(1)), view(slots), pairs.data(), pseudo.data(), mantissa.data(),
                         exponent.data(), out.data());
    }, nb::arg(), nb::arg(), nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg(), nb::arg().noconvert());
    m.def("mix_parents", [](Index first, Index start, In<int64_t, 2> slots, In<Pair, 2> pairs, In<double, 1> pseudo,
                            In<double, 2> weight, In<double, 2> alone, In<double, 2> scale, In<double, 1> prior,
                            InOut<double, 2> out) {
        nb::gil_scoped_release release;
        mix_parents(view(first, start, pairs.shape(1)), view(slots), pairs.data(), pseudo.data(), weight.data(),
                    alone.data(), scale.data(), prior.data(), out.data());
    }, nb::arg(), nb::arg(), nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
       nb::arg().noconvert());
    m.def("conditional_information", [](Index first, Index start, In<Pair, 2> pairs, double n_rows, double negligible,
                                        InOut<double, 2> out) {
        nb::gil_scoped_release release;
        conditional_information(view(first, start, pairs.shape(1)), pairs.data(), n_rows, negligible, out.data());
    }, nb::arg(), nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg().noconvert());
    // `tables` holds log Gamma(shifts[k] + n) in row k; the first row is the cells', total[i] the row of attribute i.
    m.def("parent_gains", [](Index first, Index start, In<Count, 2> values, In<Pair, 2> pairs, In<double, 1> class_counts,
                             In<double, 2> tables, In<double, 1> shifts, Index total, InOut<double, 2> gain) {
        nb::gil_scoped_release release;
        std::vector<LogGamma> totals;
        for (size_t i = 0; i < total.shape(0); ++i) totals.push_back(row(tables, shifts(total(i)), size_t(total(i))));
        parent_gains(view(first, start, pairs.shape(1)), values.data(), pairs.data(), class_counts.data(),
                     row(tables, shifts(0), 0), totals.data(), gain.data());
    }, nb::arg(), nb::arg(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
       nb::arg().noconvert());
}

template <class Code>
void bind_slots(nb::module_& m) {
    m.def("find_slots", [](Index first, In<Code, 2> codes, InOut<int64_t, 2> slots) {
        nb::gil_scoped_release release;
        find_slots(view(first, first, 0), codes.data(), int64_t(codes.shape(0)), slots.data());
    }, nb::arg(), nb::arg().noconvert(), nb::arg().noconvert());
}

}  // namespace

void bind_pairs(nb::module_& m) {
    bind_slots<uint8_t>(m);
    bind_slots<uint16_t>(m);
    bind_slots<uint32_t>(m);
    m.def("sum_rows", [](In<int64_t, 2> rows, In<double, 2> table, In<double, 1> start, InOut<double, 2> out) {
        nb::gil_scoped_release release;
        sum_rows(view(rows), int(rows.shape(1)), int(table.shape(1)), table.data(), start.data(), out.data());
    }, nb::arg(), nb::arg(), nb::arg(), nb::arg().noconvert());
    bind<int64_t, int32_t>(m);
    bind<double, double>(m);
}
