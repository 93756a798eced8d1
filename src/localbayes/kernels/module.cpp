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

#include "score.hpp"

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
    T* data = new T[std::max<size_t>(size, 1)]();
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Out<T, kDims>(data, shape, owner);
}

// Bit planes of the rows codes[order]; a code at or above its column's size stands for "missing".
template <class Code>
Out<uint64_t, 1> pack_rows(In<Code, 2> codes, In<int64_t, 1> order, In<uint32_t, 1> sizes, bool may_miss) {
    const Segment s(sizes.data(), int(sizes.shape(0)), may_miss);
    auto out = make<uint64_t, 1>({s.words_needed(order.shape(0))});
    nb::gil_scoped_release release;
    pack(s, codes.data(), order.data(), int64_t(order.shape(0)), out.data());
    return out;
}

Out<uint32_t, 2> unpack_rows(In<uint64_t, 1> words, In<uint32_t, 1> sizes, bool may_miss, In<int64_t, 1> rows) {
    Segment s(sizes.data(), int(sizes.shape(0)), may_miss);
    s.words = words.data();
    for (size_t k = 0; k < rows.size(); ++k)
        if (rows(k) < 0 || s.words_needed(rows(k) + 1) > words.size())
            throw std::invalid_argument("there is no such training row");
    auto out = make<uint32_t, 2>({rows.size(), s.sizes.size()});
    nb::gil_scoped_release release;
    unpack(s, rows.data(), int64_t(rows.size()), out.data());
    return out;
}

using SegmentArrays = std::tuple<In<uint64_t, 1>, In<int64_t, 1>, In<uint32_t, 1>, std::optional<In<double, 1>>>;

// A batch of queries over training rows. It borrows the arrays of the rows, which Python keeps alive.
struct MatchCounts {
    std::vector<SegmentArrays> arrays;
    std::vector<Segment> segments;
    std::vector<uint32_t> codes;
    std::optional<In<int64_t, 1>> own;
    std::optional<In<double, 1>> own_weight;
    int64_t n_queries = 0;
    int m = 0, n_classes = 0;
    bool weighted = false;

    template <class Code>
    MatchCounts(std::vector<SegmentArrays> parts, In<Code, 2> table, int n_classes, bool may_miss,
                std::optional<In<int64_t, 1>> own, std::optional<In<double, 1>> own_weight)
        : arrays(std::move(parts)), own(own), own_weight(own_weight), n_queries(table.shape(0)),
          m(int(table.shape(1))), n_classes(n_classes) {
        for (const auto& [words, start, sizes, weights] : arrays) {
            Segment& s = segments.emplace_back(sizes.data(), int(sizes.shape(0)), may_miss);
            s.words = words.data();
            s.class_start = start.data();
            s.weights = weights ? weights->data() : nullptr;
            weighted |= weights.has_value();
            check(s, words.size(), start.size(), weights ? weights->size() : 0);
        }
        if ((own && own->size() != table.shape(0)) || (own_weight && own_weight->size() != table.shape(0)))
            throw std::invalid_argument("a class and a weight are needed for every query");
        constexpr Code kTop = std::numeric_limits<Code>::max();
        for (size_t k = 0; k < table.size(); ++k) {
            const Code c = table.data()[k];
            codes.push_back(c == kTop ? kUnseen : may_miss && c == Code(kTop - 1) ? kMissing : c);
        }
    }

    // Arrays may come from a file: what does not fit together is refused rather than read.
    void check(const Segment& s, size_t words, size_t starts, size_t weights) const {
        bool fits = s.sizes.size() == size_t(m) && starts == size_t(n_classes) + 1 && s.class_start[0] == 0;
        for (int y = 0; fits && y < n_classes; ++y) fits = s.class_start[y] <= s.class_start[y + 1];
        const int64_t n = fits ? s.class_start[n_classes] : 0;
        if (!fits || words != s.words_needed(n) || (s.weights && weights != size_t(n)))
            throw std::invalid_argument("the training rows do not fit the queries, or their arrays each other");
    }

    Counter counter() const {
        return {*current, segments, {codes.data(), own ? own->data() : nullptr,
                own_weight ? own_weight->data() : nullptr, n_queries, m, n_classes}, weighted};
    }
    size_t width() const { return segments[0].may_miss ? 2 * m : m; }
};

// V and C come as integers, or as double where rows have weights.
template <class T>
nb::object totals(const MatchCounts& c) {
    auto out = make<T, 3>({size_t(c.n_queries), size_t(c.n_classes), size_t(c.m + 1)});
    {
        nb::gil_scoped_release release;
        distance_counts(c.counter(), out.data());
    }
    return nb::cast(out);
}

template <class T>
nb::object matches(const MatchCounts& c) {
    auto out = make<T, 4>({size_t(c.n_queries), size_t(c.n_classes), size_t(c.m + 1), c.width()});
    {
        nb::gil_scoped_release release;
        match_counts(c.counter(), out.data());
    }
    return nb::cast(out);
}

auto sums(const MatchCounts& c, In<double, 3> weights) {
    auto S = make<double, 2>({size_t(c.n_queries), size_t(c.n_classes)});
    auto T = make<double, 3>({size_t(c.n_queries), size_t(c.n_classes), c.width()});
    {
        nb::gil_scoped_release release;
        weighted_sums(c.counter(), weights.data(), S.data(), T.data());
    }
    return std::tuple(S, T);
}

auto scores(const MatchCounts& c, In<double, 3> V, In<double, 4> weights, In<double, 1> sizes, double alpha,
            bool best_only) {
    auto out = make<double, 3>({weights.shape(0), size_t(c.n_queries), size_t(c.n_classes)});
    {
        nb::gil_scoped_release release;
        log_joint(c.counter(), V.data(), weights.data(), int(weights.shape(0)), {alpha, sizes.data()}, best_only, out.data());
    }
    return out;
}

auto solve(In<double, 3> V, double kappa) {
    const size_t n = V.shape(0), r = V.shape(1), distances = V.shape(2);
    auto gamma = make<double, 2>({n, r});
    auto rho = make<double, 1>({n});
    auto weights = make<double, 3>({n, r, distances});
    {
        nb::gil_scoped_release release;
        cell_weights(*current, V.data(), n, int(r), int(distances) - 1, kappa, gamma.data(), rho.data(), weights.data());
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
    m.def("use_isa", [](const std::string& name) {
        for (const Isa* isa : available_isas())
            if (isa->name == name) {
                current = isa;
                return;
            }
        throw std::invalid_argument("this machine has no instruction set " + name);
    });
    m.def("pack", &pack_rows<uint8_t>);
    m.def("pack", &pack_rows<uint16_t>);
    m.def("pack", &pack_rows<uint32_t>);
    m.def("unpack", &unpack_rows);
    nb::class_<MatchCounts> counts(m, "MatchCounts");
    bind_count<uint8_t>(counts);
    bind_count<uint16_t>(counts);
    bind_count<uint32_t>(counts);
    counts.def("distance_counts", [](const MatchCounts& c) { return c.weighted ? totals<double>(c) : totals<int64_t>(c); })
        .def("match_counts", [](const MatchCounts& c) { return c.weighted ? matches<double>(c) : matches<int64_t>(c); })
        .def("weighted_sums", &sums)
        .def("log_joint", &scores);
    m.def("cell_weights", &solve);
    bind_pairs(m);
}
