// Numbers far outside the range of double: a mantissa and an exponent apart.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

namespace localbayes {

using FourWords = uint64_t __attribute__((vector_size(32)));

// Adding 2^52 puts a whole number into the low bits of a double.
constexpr double kShift = 0x1p52, kBias = 1023;
constexpr uint64_t kMantissaBits = 52;

// A positive number, or four, as mantissa * 2^exponent with a mantissa from 1 to 2. The exponent is a double, too: what
// has no integer instruction of this width on older machines has one for double.
template <class Numbers>
struct Parts {
    using Bits = std::conditional_t<sizeof(Numbers) == sizeof(double), uint64_t, FourWords>;
    explicit Parts(Numbers x)
        : mantissa(std::bit_cast<Numbers>((std::bit_cast<Bits>(x) & 0xFFFFFFFFFFFFF) | std::bit_cast<uint64_t>(1.0))),
          exponent(std::bit_cast<Numbers>(std::bit_cast<Bits>(x) >> kMantissaBits | std::bit_cast<uint64_t>(kShift)) -
                   (kShift + kBias)) {}
    Numbers mantissa, exponent;
};

}  // namespace localbayes
