// The Python face of packing.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "repeats.hpp"

using namespace localbayes;

namespace {

using ByValue = std::optional<In<uint8_t, 1>>;

Segment make_segment(const In<uint32_t, 1>& sizes, bool may_miss, const ByValue& by_value) {
    expect(!by_value || by_value->size() == sizes.size(), "by_value needs an entry for every attribute");
    return Segment(sizes.data(), int(sizes.size()), may_miss, by_value ? by_value->data() : nullptr);
}

// Bit planes of the rows codes[order]; a code at or above its column's size stands for "missing".
template <class Code>
Out<uint64_t, 1> pack_rows(In<Code, 2> codes, In<int64_t, 1> order, In<uint32_t, 1> sizes, bool may_miss,
                           ByValue by_value) {
    const Segment s = make_segment(sizes, may_miss, by_value);
    bool fits = codes.shape(1) == sizes.size();
    for (size_t k = 0; k < order.size(); ++k) fits &= uint64_t(order.data()[k]) < codes.shape(0);
    expect(fits, "the order does not fit the rows, or the rows their sizes");
    auto out = make<uint64_t, 1>({s.words_needed(order.shape(0))});
    without_gil([&] {
        std::fill_n(out.data(), out.size(), 0);
        pack(s, codes.data(), order.data(), int64_t(order.shape(0)), out.data());
    });
    return out;
}

Out<uint32_t, 2> unpack_rows(In<uint64_t, 1> words, In<uint32_t, 1> sizes, bool may_miss, In<int64_t, 1> rows,
                             ByValue by_value) {
    Segment s = make_segment(sizes, may_miss, by_value);
    s.words = words.data();
    const uint64_t most = words.size() / s.block_words() * kBlockRows;
    for (size_t k = 0; k < rows.size(); ++k) expect(uint64_t(rows.data()[k]) < most, "there is no such training row");
    auto out = make<uint32_t, 2>({rows.size(), s.columns.size()});
    without_gil([&] { unpack(s, rows.data(), int64_t(rows.size()), out.data()); });
    return out;
}

void check_arrays(In<uint64_t, 1> words, In<int64_t, 1> class_start, In<uint32_t, 1> sizes, bool may_miss,
                  ByValue by_value) {
    Segment s = make_segment(sizes, may_miss, by_value);
    s.words = words.data();
    s.class_start = class_start.data();
    without_gil([&] { check_rows(s, words.size(), class_start.size()); });
}

// The first row of every cell, and the cell of every row; None if there are more than `most` cells.
template <class Code>
nb::object repeats(In<Code, 2> codes, In<int64_t, 1> classes, int64_t most) {
    const size_t n = codes.shape(0);
    expect(classes.size() == n && n < 0xFFFFFFFFu, "a class is needed for every row, and rows below 2^32 - 1");
    auto cells = make<uint32_t, 1>({n});
    std::vector<int64_t> found;
    bool few = false;
    without_gil([&] {
        few = find_repeats(codes.data(), classes.data(), int64_t(n), codes.shape(1), most, cells.data(), found);
    });
    if (!few) return nb::none();
    auto first = make<int64_t, 1>({found.size()});
    std::copy(found.begin(), found.end(), first.data());
    return nb::make_tuple(first, cells);
}

}  // namespace

void bind_rows(nb::module_& m) {
    const auto by_value = nb::arg("by_value").none() = nb::none();
    const auto arg = nb::arg();
    m.def("pack", &pack_rows<uint8_t>, arg, arg, arg, arg, by_value);
    m.def("pack", &pack_rows<uint16_t>, arg, arg, arg, arg, by_value);
    m.def("pack", &pack_rows<uint32_t>, arg, arg, arg, arg, by_value);
    m.def("find_repeats", &repeats<uint8_t>);
    m.def("find_repeats", &repeats<uint16_t>);
    m.def("find_repeats", &repeats<uint32_t>);
    m.def("unpack", &unpack_rows, arg, arg, arg, arg, by_value);
    m.def("check_rows", &check_arrays, nb::arg("words"), nb::arg("class_start"), nb::arg("sizes"), nb::arg("may_miss"),
          by_value);
}
