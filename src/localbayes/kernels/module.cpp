// The Python face of the kernels: NumPy arrays in, NumPy arrays out, the GIL released while counting.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "match.hpp"

namespace nb = nanobind;
using namespace localbayes;

void bind_pairs(nb::module_& m);

namespace {

template <class T, int kDims>
using In = nb::ndarray<const T, nb::ndim<kDims>, nb::c_contig, nb::device::cpu>;
template <class T, int kDims>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<kDims>>;

const Isa* current = available_isas().front();

template <class T, int kDims>
Out<T, kDims> make(std::initializer_list<size_t> shape) {
    size_t size = 1;
    for (size_t s : shape) size *= s;
    T* data = new T[std::max<size_t>(size, 1)];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Out<T, kDims>(data, shape, owner);
}

// Bit planes of the rows codes[order]; a code at or above its column's size stands for "missing".
template <class Code>
Out<uint64_t, 1> pack_rows(In<Code, 2> codes, In<int64_t, 1> order, In<uint32_t, 1> sizes, bool may_miss) {
    const Segment s(sizes.data(), int(sizes.shape(0)), may_miss);
    bool fits = codes.shape(1) == sizes.size();
    for (size_t k = 0; k < order.size(); ++k) fits &= uint64_t(order(k)) < codes.shape(0);
    if (!fits) throw std::invalid_argument("the order does not fit the rows, or the rows their sizes");
    auto out = make<uint64_t, 1>({s.words_needed(order.shape(0))});
    nb::gil_scoped_release release;
    std::fill_n(out.data(), out.size(), 0);
    pack(s, codes.data(), order.data(), int64_t(order.shape(0)), out.data());
    return out;
}

Out<uint32_t, 2> unpack_rows(In<uint64_t, 1> words, In<uint32_t, 1> sizes, bool may_miss, In<int64_t, 1> rows) {
    Segment s(sizes.data(), int(sizes.shape(0)), may_miss);
    s.words = words.data();
    for (size_t k = 0; k < rows.size(); ++k)
        if (rows(k) < 0 || s.words_needed(rows(k) + 1) > words.size())
            throw std::invalid_argument("there is no such training row");
    auto out = make<uint32_t, 2>({rows.size(), s.columns.size()});
    nb::gil_scoped_release release;
    unpack(s, rows.data(), int64_t(rows.size()), out.data());
    return out;
}

using SegmentArrays = std::tuple<In<uint64_t, 1>, In<int64_t, 1>, In<uint32_t, 1>, std::optional<In<double, 1>>>;

// A batch of queries over training rows. It borrows the arrays of the rows, which Python keeps alive.
class MatchCounts {
public:
    template <class Code>
    MatchCounts(std::vector<SegmentArrays> parts, In<Code, 2> table, int n_classes, bool may_miss,
                std::optional<In<int64_t, 1>> own, std::optional<In<double, 1>> own_weight)
        : arrays_(std::move(parts)), codes_(table.size()), own_(own), own_weight_(own_weight),
          batch_{segments_, codes_.data(), own ? own->data() : nullptr, own_weight ? own_weight->data() : nullptr,
                 int64_t(table.shape(0)), int(table.shape(1)), n_classes, false} {
        for (const auto& [words, start, sizes, weights] : arrays_) {
            Segment& s = segments_.emplace_back(sizes.data(), int(sizes.shape(0)), may_miss);
            s.words = words.data();
            s.class_start = start.data();
            s.weights = weights ? weights->data() : nullptr;
            batch_.weighted |= weights.has_value();
            check(s, words.size(), start.size(), weights ? weights->size() : 0);
        }
        if ((own && own->size() != table.shape(0)) || (own_weight && own_weight->size() != table.shape(0)))
            throw std::invalid_argument("a class and a weight are needed for every query");
        constexpr Code kTop = std::numeric_limits<Code>::max();
        const Code missing = may_miss ? kTop - 1 : kTop;
        std::transform(table.data(), table.data() + table.size(), codes_.begin(), [=](Code c) {
            return c == kTop ? kUnseen : c == missing ? kMissing : c;
        });
    }
    MatchCounts(const MatchCounts&) = delete;

    // V and C come as integers, or as double where rows have weights.
    nb::object distance_counts() {
        without_gil([&] { totals(); });
        const auto out = [&]<class T>(T) {
            auto array = make<T, 3>({n(), r(), size_t(batch_.m + 1)});
            T* to = array.data();
            for (size_t q = 0; q < n(); ++q)
                for (size_t y = 0; y < r(); ++y)
                    for (int d = 0; d <= batch_.m; ++d) *to++ = T(V_[q * batch_.V_size() + d * batch_.class_room() + y]);
            return nb::cast(array);
        };
        return batch_.weighted ? out(double{}) : out(int64_t{});
    }
    nb::object match_counts() {
        auto C = make<double, 4>({n(), r(), size_t(batch_.m + 1), size_t(batch_.columns())});
        without_gil([&] { current->match_counts(batch_, totals().data(), C.data()); });
        if (batch_.weighted) return nb::cast(C);
        auto whole = make<int64_t, 4>({n(), r(), size_t(batch_.m + 1), size_t(batch_.columns())});
        std::copy_n(C.data(), C.size(), whole.data());
        return nb::cast(whole);
    }
    auto weighted_sums(In<double, 3> weights) {
        expect(weights.shape(0) == n() && weights.shape(1) == r() && weights.shape(2) == size_t(batch_.m + 1));
        auto S = make<double, 2>({n(), r()});
        auto T = make<double, 3>({n(), r(), size_t(batch_.columns())});
        without_gil([&] { current->weighted_sums(batch_, totals().data(), weights.data(), S.data(), T.data()); });
        return std::tuple(S, T);
    }
    auto log_joint(In<double, 3> weights, In<double, 1> sizes, double alpha, double margin) {
        expect(weights.shape(0) == n() && weights.shape(1) == r() && weights.shape(2) == size_t(batch_.m + 1));
        expect(sizes.size() == size_t(batch_.m));
        auto out = make<double, 2>({n(), r()});
        without_gil([&] {
            current->log_joint(batch_, totals().data(), weights.data(), {alpha, sizes.data()}, margin, out.data());
        });
        return out;
    }
    auto cell_log_joint(In<double, 1> kappas, In<double, 1> sizes, double alpha, double margin) {
        expect(sizes.size() == size_t(batch_.m));
        auto out = make<double, 3>({kappas.size(), n(), r()});
        without_gil([&] {
            current->cell_log_joint(batch_, kappas.data(), int(kappas.size()), {alpha, sizes.data()}, margin, out.data());
        });
        return out;
    }

private:
    // Arrays may come from a file: what does not fit together is refused rather than read.
    void check(const Segment& s, size_t words, size_t starts, size_t weights) const {
        bool fits = s.columns.size() == size_t(batch_.m) && starts == r() + 1 && s.class_start[0] == 0;
        for (size_t y = 0; fits && y < r(); ++y) fits = s.class_start[y] <= s.class_start[y + 1];
        const int64_t n = fits ? s.class_start[r()] : 0;
        expect(fits && words == s.words_needed(n) && (!s.weights || weights == size_t(n)));
    }
    static void expect(bool fits) {
        if (!fits) throw std::invalid_argument("the training rows do not fit the queries, or their arrays each other");
    }
    template <class F>
    static void without_gil(F f) {
        nb::gil_scoped_release release;
        f();
    }
    const std::vector<double>& totals() {
        if (V_.empty() && n() > 0) {
            V_.resize(n() * batch_.V_size());
            current->distance_counts(batch_, V_.data());
        }
        return V_;
    }
    size_t n() const { return size_t(batch_.n_queries); }
    size_t r() const { return size_t(batch_.n_classes); }

    std::vector<SegmentArrays> arrays_;
    std::vector<Segment> segments_;
    std::vector<uint32_t> codes_;
    std::optional<In<int64_t, 1>> own_;
    std::optional<In<double, 1>> own_weight_;
    Batch batch_;
    std::vector<double> V_;
};

auto log_joint_of_sums(In<uint32_t, 2> codes, In<double, 2> S, In<double, 3> T, In<double, 1> sizes, double alpha) {
    const size_t n = S.shape(0), r = S.shape(1), m = codes.shape(1), columns = T.shape(2);
    if (codes.shape(0) != n || T.shape(0) != n || T.shape(1) != r || sizes.size() != m || (columns != m && columns != 2 * m))
        throw std::invalid_argument("the sums do not fit the queries");
    auto out = make<double, 2>({n, r});
    nb::gil_scoped_release release;
    current->log_joint_of_sums(codes.data(), S.data(), T.data(), int64_t(n), int(r), int(m), int(columns),
                               {alpha, sizes.data()}, out.data());
    return out;
}

auto solve(In<double, 3> V, double kappa) {
    const size_t n = V.shape(0), r = V.shape(1), distances = V.shape(2);
    auto gamma = make<double, 2>({n, r});
    auto rho = make<double, 1>({n});
    auto weights = make<double, 3>({n, r, distances});
    {
        nb::gil_scoped_release release;
        current->cell_weights(V.data(), n, int(r), int(distances) - 1, kappa, gamma.data(), rho.data(), weights.data());
    }
    return std::tuple(gamma, rho, weights);
}

template <class Code>
void bind_count(nb::class_<MatchCounts>& c) {
    c.def(nb::init<std::vector<SegmentArrays>, In<Code, 2>, int, bool, std::optional<In<int64_t, 1>>,
                   std::optional<In<double, 1>>>(),
          nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
}

}  // namespace

NB_MODULE(_kernels, m) {
    m.def("isas", [] {
        std::vector<std::string> names;
        for (const Isa* isa : available_isas()) names.emplace_back(isa->name);
        return names;
    });
    m.def("isa", [] { return std::string(current->name); });
    m.def("use_isa", [](size_t position) { current = available_isas().at(position); });
    m.def("pack", &pack_rows<uint8_t>);
    m.def("pack", &pack_rows<uint16_t>);
    m.def("pack", &pack_rows<uint32_t>);
    m.def("unpack", &unpack_rows);
    nb::class_<MatchCounts> counts(m, "MatchCounts");
    bind_count<uint8_t>(counts);
    bind_count<uint16_t>(counts);
    bind_count<uint32_t>(counts);
    counts.def("distance_counts", &MatchCounts::distance_counts)
        .def("match_counts", &MatchCounts::match_counts)
        .def("weighted_sums", &MatchCounts::weighted_sums)
        .def("log_joint", &MatchCounts::log_joint)
        .def("cell_log_joint", &MatchCounts::cell_log_joint);
    m.def("log_joint_of_sums", &log_joint_of_sums);
    m.def("cell_weights", &solve);
    bind_pairs(m);
}
