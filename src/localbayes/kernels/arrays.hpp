// NumPy arrays as the bindings take and make them.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>

#include "isa.hpp"

namespace localbayes {

namespace nb = nanobind;

template <class T, int kDims>
using In = nb::ndarray<const T, nb::ndim<kDims>, nb::c_contig, nb::device::cpu>;
template <class T, int kDims>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<kDims>>;

// A new array of NumPy. It begins where a line of the cache does: vectors of 64 bytes that lie across two take longer.
constexpr std::align_val_t kLine{64};

template <class T, int kDims>
Out<T, kDims> make(std::initializer_list<size_t> shape) {
    size_t size = 1;
    for (size_t s : shape) size *= s;
    T* data = new (kLine) T[std::max<size_t>(size, 1)];
    nb::capsule owner(data, [](void* p) noexcept { ::operator delete[](p, kLine); });
    return Out<T, kDims>(data, shape, owner);
}

// What does not fit together is refused rather than read: a ValueError in Python.
inline void expect(bool fits, const char* message) {
    if (!fits) throw std::invalid_argument(message);
}

template <class F>
void without_gil(F f) {
    nb::gil_scoped_release release;
    f();
}

// The instruction set in use.
extern const Isa* current_isa;

}  // namespace localbayes
