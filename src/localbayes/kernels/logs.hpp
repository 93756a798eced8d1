// Logarithms and powers of vectors of numbers, by formulas that give the same bits on every instruction set.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "vectors.hpp"

namespace localbayes {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr double kLog2 = 0.6931471805599453;

// Positive numbers, one or several, as mantissa * 2^exponent with a mantissa from 1 to 2, so that products far outside
// the range of double have a logarithm. The exponent is a double, too: adding 2^52 puts a whole number into the low
// bits. The twin is std::frexp, whose mantissa is half of this one.
template <class Sets>
struct Parts {
    using Bits = std::conditional_t<std::is_same_v<Sets, double>, int64_t, decltype(Sets{} < Sets{})>;
    explicit Parts(Sets x)
        : mantissa(std::bit_cast<Sets>((std::bit_cast<Bits>(x) & 0xFFFFFFFFFFFFF) | std::bit_cast<int64_t>(1.0))),
          exponent(std::bit_cast<Sets>(std::bit_cast<Bits>(x) >> 52 | std::bit_cast<int64_t>(0x1p52)) -
                   (0x1p52 + 1023)) {}
    Sets mantissa, exponent;
};

// The natural logarithm of a mantissa, by the series of the inverse hyperbolic tangent. The twin is std::log.
template <class Sets>
Sets log_of_mantissa(Sets x) {
    const auto large = x > 1.4142135623730951;
    const Sets y = large ? 0.5 * x : x, s = (y - 1) / (y + 1), square = s * s, fourth = square * square;
    Sets even = 2. / 21 + Sets{}, odd = 2. / 19 + Sets{};
    for (int k = 17; k > 1; k -= 4) {
        even = even * fourth + 2. / k;
        odd = odd * fourth + 2. / (k - 2);
    }
    return s * (even * fourth + 2 + odd * square) + (large ? kLog2 + Sets{} : Sets{});
}

// No less than the natural logarithm, and at most kLogAbove more.
constexpr double kLogAbove = 1e-4;
inline Four log_above(Four x) {
    const Parts<Four> of(x > 1e-300 ? x : 1e-300 + Four{});
    const Four t = of.mantissa - 1;
    const Four part = 1.44149241 + t * (-0.706486449 + t * (0.409470299 + t * (-0.187488605 + t * 0.0430049578)));
    return x > 0 ? kLog2 * (of.exponent + t * part + 4e-5) : kNever + Four{};
}

// e to the power of x <= 0, to one in a thousand.
inline Four exp_about(Four x) {
    const Four power = x > -690 ? x * (1 / kLog2) : -1000 + Four{};
    const Four shifted = power + 0x1.8p52, part = power - (shifted - 0x1.8p52);  // the lowest bits are the whole part
    const Four whole = std::bit_cast<Four>((std::bit_cast<FourBits>(shifted) + 1023) << 52);
    return whole * (1 + part * (0.6931 + part * (0.2402 + part * 0.0555)));
}

}  // namespace
}  // namespace localbayes
