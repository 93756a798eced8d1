// The Python face of the match counts.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>

#include "arrays.hpp"

using namespace localbayes;

namespace {

template <class T>
T array_of(nb::handle object) {
    T array;
    if (!nb::try_cast<T>(object, array)) throw nb::type_error("an array of the training rows has the wrong type");
    return array;
}

// Rows of one part as Python has them: words, class starts, sizes, weights or None and, if they are given, by_value,
// the starts of runs and their factors. With runs, the weights are those of rows that have weights of their own.
struct SegmentArrays {
    explicit SegmentArrays(nb::handle part)
        : words(array_of<In<uint64_t, 1>>(part[0])), start(array_of<In<int64_t, 1>>(part[1])),
          sizes(array_of<In<uint32_t, 1>>(part[2])), weights(array_of<std::optional<In<double, 1>>>(part[3])) {
        const size_t n = nb::len(part);
        if (n > 4) by_value = array_of<std::optional<In<uint8_t, 1>>>(part[4]);
        if (n > 6) {
            run_start = array_of<std::optional<In<int64_t, 1>>>(part[5]);
            run_factor = array_of<std::optional<In<double, 1>>>(part[6]);
        }
    }
    Segment view(bool may_miss) const {
        expect(!by_value || by_value->size() == sizes.size(), "by_value needs an entry for every attribute");
        Segment s(sizes.data(), int(sizes.size()), may_miss, by_value ? by_value->data() : nullptr);
        s.words = words.data();
        s.class_start = start.data();
        return s;
    }
    // Once the classes are known to fit.
    void set_runs(Segment& s, int n_classes) const {
        if (run_start) {
            expect(run_factor && run_start->size() == run_factor->size() + 1, "a run needs a start and a factor");
            s.set_runs({run_start->data(), run_factor->data(), weights ? weights->data() : nullptr, run_factor->size(),
                        weights ? weights->size() : 0},
                       n_classes);
        } else if (weights) s.set_weights(weights->data(), n_classes);
    }

    In<uint64_t, 1> words;
    In<int64_t, 1> start;
    In<uint32_t, 1> sizes;
    std::optional<In<double, 1>> weights;
    std::optional<In<uint8_t, 1>> by_value;
    std::optional<In<int64_t, 1>> run_start;
    std::optional<In<double, 1>> run_factor;
};

// A batch of queries over training rows. It borrows the arrays of the rows and the distance, which Python keeps alive.
class MatchCounts {
public:
    template <class Code>
    MatchCounts(nb::sequence parts, In<Code, 2> table, int n_classes, bool may_miss, std::optional<In<int64_t, 1>> own,
                std::optional<In<double, 1>> own_weight, const Distance* distance, bool ignore_unseen,
                std::optional<bool> weighted)
        : codes_(table.size()), own_(own), own_weight_(own_weight), batch_{segments_,
                                                                           codes_.data(),
                                                                           own ? own->data() : nullptr,
                                                                           own_weight ? own_weight->data() : nullptr,
                                                                           int64_t(table.shape(0)),
                                                                           int(table.shape(1)),
                                                                           n_classes,
                                                                           false,
                                                                           distance} {
        for (nb::handle part : parts) arrays_.emplace_back(part);
        expect(!arrays_.empty() && n_classes >= 1 && (!distance || distance->m() == batch_.m));
        batch_.weighted = weighted.value_or(arrays_[0].weights.has_value());
        for (const SegmentArrays& part : arrays_) {
            segments_.push_back(part.view(may_miss));
            check(part);
            part.set_runs(segments_.back(), n_classes);
        }
        localbayes::expect(
            (!own || own->size() == table.shape(0)) && (!own_weight || own_weight->size() == table.shape(0)),
            "a class and a weight are needed for every query");
        for (size_t q = 0; own && q < own->size(); ++q)
            localbayes::expect(uint64_t(own->data()[q]) < r(), "the class of a query's own row is no class");
        constexpr Code kTop = std::numeric_limits<Code>::max();
        const Code missing = may_miss ? kTop - 1 : kTop;
        std::transform(table.data(), table.data() + table.size(), codes_.begin(), [=](Code c) {
            return c == kTop ? kUnseen : c == missing ? kMissing : c;
        });
        if (!distance) return;
        mark_unseen(ignore_unseen);
        for (const Segment& s : segments_) recipes_.emplace_back(*distance, s, codes_.data(), batch_.n_queries);
        batch_.recipes = recipes_.data();
    }
    MatchCounts(const MatchCounts&) = delete;

    // V and C come as integers, or as double where rows have weights.
    nb::object distance_counts() {
        without_gil([&] { totals(); });
        const size_t distances = size_t(batch_.n_distances()), room = batch_.class_room();
        const auto out = [&]<class T>(T) {
            auto array = make<T, 3>({n(), r(), distances});
            T* to = array.data();
            for (const double* V = V_.data(); V < V_.data() + V_.size(); V += distances * room)
                for (size_t y = 0, n_classes = r(); y < n_classes; ++y, to += distances)
                    for (size_t d = 0; d < distances; ++d) to[d] = T(V[d * room + y]);
            return nb::cast(array);
        };
        return batch_.weighted ? out(double{}) : out(int64_t{});
    }
    nb::object match_counts() {
        auto C = make<double, 4>({n(), r(), size_t(batch_.n_distances()), size_t(batch_.columns())});
        without_gil([&] { current_isa->match_counts(batch_, totals().data(), C.data()); });
        if (batch_.weighted) return nb::cast(C);
        auto whole = make<int64_t, 4>({n(), r(), size_t(batch_.n_distances()), size_t(batch_.columns())});
        std::copy_n(C.data(), C.size(), whole.data());
        return nb::cast(whole);
    }
    auto weighted_sums(In<double, 3> weights) {
        expect(weights.shape(0) == n() && weights.shape(1) == r() && weights.shape(2) == size_t(batch_.n_distances()));
        auto S = make<double, 2>({n(), r()});
        auto T = make<double, 3>({n(), r(), size_t(batch_.columns())});
        without_gil([&] { current_isa->weighted_sums(batch_, totals().data(), weights.data(), S.data(), T.data()); });
        return std::tuple(S, T);
    }
    auto cell_sums(In<double, 1> kappas) {
        const size_t n_kappas = kappas.size();
        auto gamma = make<double, 3>({n_kappas, n(), r()});
        auto rho = make<double, 2>({n_kappas, n()});
        auto S = make<double, 3>({n_kappas, n(), r()});
        auto T = make<double, 4>({n_kappas, n(), r(), size_t(batch_.columns())});
        const CellSums sums{gamma.data(), rho.data(), S.data(), T.data()};
        if (n_kappas > 0) without_gil([&] { current_isa->cell_sums(batch_, kappas.data(), int(n_kappas), sums); });
        return std::tuple(gamma, rho, S, T);
    }
    auto cell_features(In<double, 1> kappas, In<double, 1> sizes, In<double, 1> units, double alpha) {
        expect(sizes.size() == size_t(batch_.m) && units.size() == size_t(batch_.m));
        const size_t n_kappas = kappas.size();
        auto out = make<double, 4>({n_kappas, n(), r(), size_t(1 + batch_.m)});
        const Smoothing smoothing{alpha, sizes.data(), units.data()};
        if (n_kappas > 0)
            without_gil(
                [&] { current_isa->cell_features(batch_, kappas.data(), int(n_kappas), smoothing, out.data()); });
        return out;
    }
    auto exponent_scores(In<double, 1> kappas, In<double, 1> sizes, In<double, 1> units, double alpha, In<double, 2> w,
                         In<double, 2> bias, In<double, 1> shares, In<double, 1> prior, double prior_share,
                         int first_rest, bool prunes) {
        const size_t n_kappas = kappas.size(), m = size_t(batch_.m);
        expect(n_kappas > 0 && sizes.size() == m && units.size() == m && w.shape(0) == n_kappas &&
               w.shape(1) == 1 + m && bias.shape(0) == n_kappas && bias.shape(1) == r() && shares.size() == n_kappas &&
               prior.size() == r() && first_rest > 0 && first_rest <= batch_.m);
        auto out = make<double, 2>({n(), r()});
        const Smoothing smoothing{alpha, sizes.data(), units.data()};
        const ExponentTable table{kappas.data(), w.data(),    bias.data(),   shares.data(),
                                  prior.data(),  prior_share, int(n_kappas), int(r())};
        without_gil([&] { current_isa->exponent_scores(batch_, smoothing, table, first_rest, prunes, out.data()); });
        return out;
    }
    auto log_joint(In<double, 3> weights, In<double, 1> sizes, double alpha, double margin) {
        expect(weights.shape(0) == n() && weights.shape(1) == r() && weights.shape(2) == size_t(batch_.n_distances()));
        expect(sizes.size() == size_t(batch_.m));
        auto out = make<double, 2>({n(), r()});
        without_gil([&] {
            current_isa->log_joint(batch_, totals().data(), weights.data(), {alpha, sizes.data()}, margin, out.data());
        });
        return out;
    }
    auto cell_log_joint(In<double, 1> kappas, In<double, 1> sizes, double alpha, double margin) {
        expect(sizes.size() == size_t(batch_.m));
        const size_t n_kappas = kappas.size();
        auto out = make<double, 3>({n_kappas, n(), r()});
        const Laplace laplace{alpha, sizes.data()};
        if (n_kappas > 0)
            without_gil([&] {
                current_isa->cell_log_joint(batch_, kappas.data(), int(n_kappas), laplace, margin, out.data());
            });
        return out;
    }

private:
    // What does not fit together is refused rather than read. That the planes are rows is left to check_rows, which
    // looks at all of them.
    void check(const SegmentArrays& part) const {
        const Segment& s = segments_.back();
        bool fits = s.columns.size() == size_t(batch_.m) && part.start.size() == r() + 1 && s.class_start[0] == 0;
        for (size_t y = 0; fits && y < r(); ++y) fits = s.class_start[y] <= s.class_start[y + 1];
        const int64_t n = fits ? s.class_start[r()] : 0;
        expect(fits && part.words.size() == s.words_needed(n));
        if (!part.run_start)
            expect(part.weights.has_value() == batch_.weighted && (!part.weights || part.weights->size() == size_t(n)));
    }
    // A code that the distance does not know is a value never seen, which has no part in the distance if that is asked
    // for.
    void mark_unseen(bool ignore) {
        for (size_t k = 0; k < codes_.size(); ++k)
            if (codes_[k] != kMissing && codes_[k] >= batch_.distance->size(int(k % size_t(batch_.m))))
                codes_[k] = ignore ? kMissing : kUnseen;
    }
    static void expect(bool fits) {
        localbayes::expect(fits, "the training rows do not fit the queries, or their arrays each other");
    }
    const std::vector<double>& totals() {
        if (V_.empty() && n() > 0) {
            V_.resize(n() * batch_.V_size());
            current_isa->distance_counts(batch_, V_.data());
        }
        return V_;
    }
    size_t n() const { return size_t(batch_.n_queries); }
    size_t r() const { return size_t(batch_.n_classes); }

    std::vector<SegmentArrays> arrays_;
    std::vector<Segment> segments_;
    std::vector<Recipes> recipes_;
    std::vector<uint32_t> codes_;
    std::optional<In<int64_t, 1>> own_;
    std::optional<In<double, 1>> own_weight_;
    Batch batch_;
    std::vector<double> V_;
};

auto log_joint_of_sums(In<uint32_t, 2> codes, In<double, 2> S, In<double, 3> T, In<double, 1> sizes, double alpha) {
    const size_t n = S.shape(0), r = S.shape(1), m = codes.shape(1), columns = T.shape(2);
    if (codes.shape(0) != n || T.shape(0) != n || T.shape(1) != r || sizes.size() != m ||
        (columns != m && columns != 2 * m))
        throw std::invalid_argument("the sums do not fit the queries");
    auto out = make<double, 2>({n, r});
    nb::gil_scoped_release release;
    current_isa->log_joint_of_sums({int64_t(n), int(r), int(m), int(columns)}, codes.data(), S.data(), T.data(),
                                   {alpha, sizes.data()}, out.data());
    return out;
}

auto solve(In<double, 3> V, double kappa) {
    const size_t n = V.shape(0), r = V.shape(1), distances = V.shape(2);
    expect(r >= 1 && distances >= 1 && distances <= size_t(std::numeric_limits<int>::max()),
           "counts need a class and a distance at least");
    auto gamma = make<double, 2>({n, r});
    auto rho = make<double, 1>({n});
    auto weights = make<double, 3>({n, r, distances});
    {
        nb::gil_scoped_release release;
        current_isa->cell_weights(V.data(), n, int(r), int(distances), kappa, gamma.data(), rho.data(), weights.data());
    }
    return std::tuple(gamma, rho, weights);
}

template <class Code>
void bind_count(nb::class_<MatchCounts>& c) {
    c.def(nb::init<nb::sequence, In<Code, 2>, int, bool, std::optional<In<int64_t, 1>>, std::optional<In<double, 1>>,
                   const Distance*, bool, std::optional<bool>>(),
          nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(),
          nb::arg("distance").none() = nb::none(), nb::arg("ignore_unseen") = false,
          nb::arg("weighted").none() = nb::none(), nb::keep_alive<1, 8>());
}

void make_distance(Distance* self, In<uint32_t, 1> sizes, In<uint8_t, 1> d, In<uint8_t, 1> s,
                   std::optional<In<uint8_t, 1>> nominal) {
    expect(!nominal || nominal->size() == sizes.size(), "nominal needs an entry for every attribute");
    new (self) Distance(
        {sizes.data(), d.data(), s.data(), nominal ? nominal->data() : nullptr, sizes.size(), d.size(), s.size()});
}

}  // namespace

void bind_match(nb::module_& m) {
    nb::class_<Distance>(m, "Distance")
        .def("__init__", &make_distance, nb::arg("sizes"), nb::arg("d"), nb::arg("s"),
             nb::arg("nominal").none() = nb::none())
        .def_prop_ro("n_distances", &Distance::n_distances);
    nb::class_<MatchCounts> counts(m, "MatchCounts");
    bind_count<uint8_t>(counts);
    bind_count<uint16_t>(counts);
    bind_count<uint32_t>(counts);
    counts.def("distance_counts", &MatchCounts::distance_counts)
        .def("match_counts", &MatchCounts::match_counts)
        .def("weighted_sums", &MatchCounts::weighted_sums)
        .def("cell_sums", &MatchCounts::cell_sums)
        .def("cell_features", &MatchCounts::cell_features)
        .def("exponent_scores", &MatchCounts::exponent_scores)
        .def("log_joint", &MatchCounts::log_joint)
        .def("cell_log_joint", &MatchCounts::cell_log_joint);
    m.def("log_joint_of_sums", &log_joint_of_sums);
    m.def("cell_weights", &solve);
}
