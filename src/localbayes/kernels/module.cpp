// The Python module: NumPy arrays in, NumPy arrays out, the GIL released while counting.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"

namespace nb = nanobind;

const localbayes::Isa* localbayes::current_isa = available_isas().front();

void bind_rows(nb::module_& m);
void bind_match(nb::module_& m);
void bind_pairs(nb::module_& m);
void bind_learning(nb::module_& m);

NB_MODULE(_kernels, m) {
    using namespace localbayes;
    m.def("isas", [] {
        std::vector<std::string> names;
        for (const Isa* isa : available_isas()) names.emplace_back(isa->name);
        return names;
    });
    m.def("isa", [] { return std::string(current_isa->name); });
    m.def("use_isa", [](size_t position) { current_isa = available_isas().at(position); });
    bind_rows(m);
    bind_match(m);
    bind_pairs(m);
    bind_learning(m);
}
