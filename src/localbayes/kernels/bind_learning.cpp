// The Python face of what the local Bayes classifier learns.
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"

using namespace localbayes;

namespace {

template <class T>
bool all_below(const T* values, size_t n, uint64_t limit) {
    return std::all_of(values, values + n, [=](T value) { return uint64_t(value) < limit; });
}

// Exponents and biases, the penalised loss and the penalty. They begin at `w` and `b` if it `starts`.
auto fit_exponents(In<float, 3> features, In<int64_t, 1> truth, In<double, 1> weights, In<double, 1> prior,
                   In<double, 1> powers, double ridge, In<double, 1> w, In<double, 1> b, bool starts) {
    const size_t n = features.shape(0), r = features.shape(1), p = features.shape(2);
    expect(n > 0 && r > 0 && p > 0 && truth.size() == n && weights.size() == n && prior.size() == p &&
               powers.size() > 0 && w.size() == p && b.size() == r,
           "features do not fit the classes, the weights or the exponents");
    expect(all_below(truth.data(), n, r), "the class of a row is no class");
    auto found_w = make<double, 1>({p}), found_b = make<double, 1>({r});
    std::copy_n(w.data(), p, found_w.data());
    std::copy_n(b.data(), r, found_b.data());
    ExponentFit fit{found_w.data(), found_b.data(), 0, 0};
    const FeatureRows rows{features.data(), truth.data(), weights.data(), int64_t(n), int(r), int(p)};
    const ExponentSearch search{prior.data(), powers.data(), int(powers.size()), ridge};
    without_gil([&] { current_isa->fit_exponents(rows, search, starts, fit); });
    return std::tuple(found_w, found_b, fit.loss, fit.penalty);
}

// The loss and its slope [column]. Rows are padded to a multiple of 64.
auto neighbour_loss(In<float, 2> apart, In<uint32_t, 2> picks, In<float, 1> log_mass, In<float, 1> own_mass,
                    In<int64_t, 1> own, In<int32_t, 1> classes, In<int32_t, 1> truth, In<double, 1> weights,
                    In<double, 1> column_weights, bool wants_slope) {
    const size_t n = picks.shape(0), m = picks.shape(1), room = log_mass.size();
    expect(room > 0 && room % 64 == 0 && apart.shape(1) == room && classes.size() == room && own_mass.size() == n &&
               own.size() == n && truth.size() == n && weights.size() == n && column_weights.size() == m,
           "the arrays of rows and queries do not fit each other");
    expect(all_below(picks.data(), n * m, apart.shape(0)) && all_below(own.data(), n, room),
           "a query picks what is not there");
    auto slope = make<double, 1>({m});
    double loss = 0;
    const Neighbours neighbours{apart.data(), picks.data(),   log_mass.data(), own_mass.data(),
                                own.data(),   classes.data(), truth.data(),    weights.data(),
                                int64_t(n),   int64_t(room),  int(m)};
    without_gil([&] {
        loss = current_isa->neighbour_loss(neighbours, column_weights.data(), wants_slope ? slope.data() : nullptr);
    });
    return std::tuple(loss, slope);
}

}  // namespace

void bind_learning(nb::module_& m) {
    m.def("fit_exponents", &fit_exponents);
    m.def("neighbour_loss", &neighbour_loss);
}
