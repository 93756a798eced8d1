// The Python face of the kernels: NumPy arrays in, NumPy arrays out, the GIL released while counting.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
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
    T* data = new T[std::max<size_t>(size, 1)]();
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Out<T, kDims>(data, shape, owner);
}

Segment segment(const uint64_t* words, const int64_t* class_start, const double* weights,
                const In<uint32_t, 1>& sizes, bool may_miss) {
    Segment s{words, class_start, weights, {}, {0}, may_miss};
    for (size_t i = 0; i < sizes.shape(0); ++i) {
        s.sizes.push_back(sizes(i));
        s.first_plane.push_back(s.first_plane.back() + digits(sizes(i), may_miss));
    }
    return s;
}

// Bit planes of the rows codes[order]; a code at or above its column's size stands for "missing".
template <class Code>
Out<uint64_t, 1> pack(In<Code, 2> codes, In<int64_t, 1> order, In<uint32_t, 1> sizes, bool may_miss) {
    const Segment s = segment(nullptr, nullptr, nullptr, sizes, may_miss);
    const size_t n = order.shape(0), m = codes.shape(1), blocks = (n + kBlockRows - 1) / kBlockRows;
    const size_t planes = s.first_plane.back();
    auto out = make<uint64_t, 1>({blocks * planes * kBlockWords});
    nb::gil_scoped_release release;
    for (size_t k = 0; k < n; k += 64) {
        const size_t rows = std::min<size_t>(64, n - k);
        uint64_t* word = out.data() + (k / kBlockRows) * planes * kBlockWords + k % kBlockRows / 64;
        for (size_t row = 0; row < rows; ++row) {
            const Code* code = codes.data() + order(k + row) * m;
            for (size_t i = 0; i < m; ++i) {
                uint32_t value = std::min<uint32_t>(code[i], s.sizes[i]);
                for (int p = s.first_plane[i]; p < s.first_plane[i + 1]; ++p, value >>= 1)
                    word[size_t(p) * kBlockWords] |= uint64_t(value & 1) << row;
            }
        }
    }
    return out;
}

// Codes of the sorted rows [begin, end).
Out<uint32_t, 2> unpack(In<uint64_t, 1> words, In<uint32_t, 1> sizes, bool may_miss, int64_t begin, int64_t end) {
    const Segment s = segment(nullptr, nullptr, nullptr, sizes, may_miss);
    const size_t m = s.sizes.size(), planes = s.first_plane.back();
    auto out = make<uint32_t, 2>({size_t(end - begin), m});
    nb::gil_scoped_release release;
    for (int64_t row = begin; row < end; ++row) {
        const uint64_t* word = words.data() + row / kBlockRows * planes * kBlockWords + row % kBlockRows / 64;
        for (size_t i = 0; i < m; ++i)
            for (int p = s.first_plane[i]; p < s.first_plane[i + 1]; ++p)
                out(row - begin, i) |= uint32_t(word[size_t(p) * kBlockWords] >> (row % 64) & 1) << (p - s.first_plane[i]);
    }
    return out;
}

// Counts of a batch of queries, in integers or, for weighted rows, in double.
struct MatchCounts {
    int m = 0;
    bool weighted = false;
    Cells<int32_t> cells;
    Cells<double> weighted_cells;
    std::vector<uint8_t> known;  // query x attribute, where values may be missing

    template <class F>
    auto visit(F f) const { return weighted ? f(weighted_cells) : f(cells); }
    int64_t n_queries() const { return visit([](const auto& c) { return c.n_queries; }); }
    int n_classes() const { return visit([](const auto& c) { return c.n_classes; }); }
    int width() const { return visit([](const auto& c) { return c.width; }); }
    void weigh(int64_t q, const double* weights, double* S, double* T) const {
        weighted ? current->weigh_weighted(weighted_cells, q, weights, m, S, T)
                 : current->weigh(cells, q, weights, m, S, T);
    }
};

using SegmentArrays = std::tuple<In<uint64_t, 1>, In<int64_t, 1>, In<uint32_t, 1>, std::optional<In<double, 1>>>;

template <class Code>
MatchCounts count(const std::vector<SegmentArrays>& parts, In<Code, 2> codes, int n_classes, bool may_miss,
                  std::optional<In<int64_t, 1>> own, std::optional<In<double, 1>> own_weight) {
    std::vector<Segment> segments;
    MatchCounts out;
    for (const auto& [words, start, sizes, weights] : parts) {
        segments.push_back(segment(words.data(), start.data(), weights ? weights->data() : nullptr, sizes, may_miss));
        out.weighted |= weights.has_value();
    }
    const size_t n = codes.shape(0), m = codes.shape(1);
    out.m = int(m);
    const Batch batch{nullptr, own ? own->data() : nullptr, own_weight ? own_weight->data() : nullptr,
                      int64_t(n), int(m), n_classes};
    nb::gil_scoped_release release;
    constexpr Code kTop = std::numeric_limits<Code>::max();
    std::vector<uint32_t> wide(n * m);
    for (size_t k = 0; k < n * m; ++k) {
        const Code c = codes.data()[k];
        wide[k] = c == kTop ? kUnseen : may_miss && c == Code(kTop - 1) ? kMissing : c;
    }
    if (may_miss)
        for (uint32_t c : wide) out.known.push_back(c != kMissing);
    Batch full = batch;
    full.codes = wide.data();
    const auto prepare = [&](auto& cells) {
        cells.n_classes = n_classes;
        cells.width = int(may_miss ? 2 * m : m);
        cells.n_queries = int64_t(n);
    };
    prepare(out.cells);
    prepare(out.weighted_cells);
    out.weighted ? current->count_weighted(segments, full, out.weighted_cells) : current->count(segments, full, out.cells);
    return out;
}

template <class Count>
nb::object dense_totals(const Cells<Count>& cells, int m) {
    using T = std::conditional_t<std::is_same_v<Count, double>, double, int64_t>;
    const size_t r = cells.n_classes;
    auto out = make<T, 3>({size_t(cells.n_queries), r, size_t(m + 1)});
    for (int64_t q = 0; q < cells.n_queries; ++q)
        cells.for_each(q, [&](int y, int d, Count total, const Count*) { out(q, y, d) = T(total); });
    return nb::cast(out);
}

template <class Count>
nb::object dense_rows(const Cells<Count>& cells, int m) {
    using T = std::conditional_t<std::is_same_v<Count, double>, double, int64_t>;
    auto out = make<T, 4>({size_t(cells.n_queries), size_t(cells.n_classes), size_t(m + 1), size_t(cells.width)});
    for (int64_t q = 0; q < cells.n_queries; ++q)
        cells.for_each(q, [&](int y, int d, Count, const Count* row) {
            for (int i = 0; i < cells.width; ++i) out(q, y, d, i) = T(row[i]);
        });
    return nb::cast(out);
}

auto weighted_sums(const MatchCounts& counts, In<double, 3> weights) {
    const size_t n = counts.n_queries(), r = counts.n_classes(), width = counts.width();
    auto S = make<double, 2>({n, r});
    auto T = make<double, 3>({n, r, width});
    {
        nb::gil_scoped_release release;
        for (size_t q = 0; q < n; ++q) counts.weigh(q, &weights(q, 0, 0), &S(q, 0), T.data() + q * r * width);
    }
    return std::tuple(S, T);
}

// log of (alpha + S_y) / (alpha r + sum S) * prod_i (alpha + T_iy) / (alpha q_i + S_y); with missing
// values the factor of i is taken over the rows where i is known, and left out if the query lacks it.
// Factors are multiplied sixteen at a time between logarithms: far from overflow for any count.
void naive_bayes(const double* S, const double* T, const double* sizes, const uint8_t* known, double alpha,
                 int r, int m, int width, double* out) {
    const int group = alpha < 1e-15 ? 1 : 16;
    double all = 0;
    for (int y = 0; y < r; ++y) all += S[y];
    for (int y = 0; y < r; ++y) {
        const double* t = T + size_t(y) * width;
        double log_joint = std::log((alpha + S[y]) / (alpha * r + all));
        for (int i = 0; i < m; i += group) {
            double above = 1, below = 1;
            for (int k = i; k < std::min(i + group, m); ++k) {
                if (known && !known[k]) continue;
                above *= alpha + t[k];
                below *= alpha * sizes[k] + (known ? t[m + k] : S[y]);
            }
            log_joint += std::log(above / below);
        }
        out[y] = std::isnan(log_joint) ? -std::numeric_limits<double>::infinity() : log_joint;
    }
}

auto log_joint(const MatchCounts& counts, In<double, 3> weights, In<double, 1> sizes, double alpha) {
    const size_t n = counts.n_queries(), r = counts.n_classes(), width = counts.width();
    auto out = make<double, 2>({n, r});
    nb::gil_scoped_release release;
    std::vector<double> S(r), T(r * width);
    for (size_t q = 0; q < n; ++q) {
        counts.weigh(q, &weights(q, 0, 0), S.data(), T.data());
        const uint8_t* known = counts.known.empty() ? nullptr : &counts.known[q * counts.m];
        naive_bayes(S.data(), T.data(), sizes.data(), known, alpha, int(r), counts.m, int(width), &out(q, 0));
    }
    return out;
}

// gamma, the scale rho and the scaled weights rho * gamma^d.
template <class Count>
auto cell_weights(In<Count, 3> totals, double kappa) {
    const size_t n = totals.shape(0), r = totals.shape(1), distances = totals.shape(2);
    auto gamma = make<double, 2>({n, r});
    auto rho = make<double, 1>({n});
    auto weights = make<double, 3>({n, r, distances});
    {
        nb::gil_scoped_release release;
        std::vector<double> v(r * distances);
        for (size_t q = 0; q < n; ++q) {
            std::copy_n(totals.data() + q * v.size(), v.size(), v.data());
            current->solve_gamma(v.data(), int(r), int(distances) - 1, kappa, &gamma(q, 0));
            double* w = weights.data() + q * v.size();
            double sum = 0, square_sum = 0;
            for (size_t y = 0; y < r; ++y) {
                double power = 1;
                for (size_t d = 0; d < distances; ++d, power *= gamma(q, y)) {
                    w[y * distances + d] = power;
                    sum += v[y * distances + d] * power;
                    square_sum += v[y * distances + d] * power * power;
                }
            }
            rho(q) = square_sum > 0 ? sum / square_sum : 1.0;
            for (size_t k = 0; k < v.size(); ++k) w[k] *= rho(q);
        }
    }
    return std::tuple(gamma, rho, weights);
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
    m.def("pack", &pack<uint8_t>);
    m.def("pack", &pack<uint16_t>);
    m.def("pack", &pack<uint32_t>);
    m.def("unpack", &unpack);
    nb::class_<MatchCounts>(m, "MatchCounts")
        .def_prop_ro("distance_counts", [](const MatchCounts& c) {
            return c.visit([&](const auto& cells) { return dense_totals(cells, c.m); });
        })
        .def_prop_ro("match_counts", [](const MatchCounts& c) {
            return c.visit([&](const auto& cells) { return dense_rows(cells, c.m); });
        })
        .def("weighted_sums", &weighted_sums)
        .def("log_joint", &log_joint);
    const auto def_count = [&](auto function) {
        m.def("count", function, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
    };
    def_count(&count<uint8_t>);
    def_count(&count<uint16_t>);
    def_count(&count<uint32_t>);
    m.def("cell_weights", &cell_weights<int64_t>);
    m.def("cell_weights", &cell_weights<double>);
    bind_pairs(m);
}
