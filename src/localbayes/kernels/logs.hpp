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

// The natural logarithm of positive numbers. The twin is std::log.
template <class Values>
Values log_of(Values x) {
    const Parts<Values> parts(x);
    return log_of_mantissa(parts.mantissa) + kLog2 * parts.exponent;
}

// No less than the natural logarithm, and at most kLogAbove more.
constexpr double kLogAbove = 1e-4;
template <class Values>
Values log_above(Values x) {
    const Parts<Values> of(x > 1e-300 ? x : 1e-300 + Values{});
    const Values t = of.mantissa - 1;
    const Values part = 1.44149241 + t * (-0.706486449 + t * (0.409470299 + t * (-0.187488605 + t * 0.0430049578)));
    return x > 0 ? kLog2 * (of.exponent + t * part + 4e-5) : kNever + Values{};
}

// e to the power of x <= 0, to the last digits of double or float; far below zero it is some number near zero.
template <class Number>
struct ExpNumbers;
template <>
struct ExpNumbers<double> {
    using Whole = int64_t;
    static constexpr double kShift = 0x1.8p52, kHigh = 0x1.62e42fee00000p-1, kLow = 0x1.a39ef35793c76p-33,
                            kLeast = -700;
    static constexpr int kBias = 1023, kDigits = 52, kTerms = 13;
};
template <>
struct ExpNumbers<float> {
    using Whole = int32_t;
    static constexpr float kShift = 0x1.8p23f, kHigh = 0x1.62e4p-1f, kLow = 0x1.7f7d1cp-20f, kLeast = -87;
    static constexpr int kBias = 127, kDigits = 23, kTerms = 7;
};
template <class Values>
Values exp_of(Values x) {
    using Number = std::remove_reference_t<decltype(x[0])>;
    using N = ExpNumbers<Number>;
    using Wholes = decltype(x < x);
    x = x > N::kLeast ? x : N::kLeast + Values{};
    const Values shifted = x * Number(1 / kLog2) + N::kShift, whole = shifted - N::kShift;
    const Values part = x - whole * N::kHigh - whole * N::kLow;
    Values sum = 1 + Values{};
    for (int k = N::kTerms; k > 0; --k) sum = 1 + sum * part * (Number(1) / Number(k));
    return sum * std::bit_cast<Values>((std::bit_cast<Wholes>(shifted) + N::kBias) << N::kDigits);
}

// e to the power of x <= 0, to one in a thousand.
template <class Lanes>
Lanes exp_about(Lanes x) {
    const Lanes power = x > -690 ? x * (1 / kLog2) : -1000 + Lanes{};
    const Lanes shifted = power + 0x1.8p52, part = power - (shifted - 0x1.8p52);  // the lowest bits are the whole part
    const Lanes whole = std::bit_cast<Lanes>((std::bit_cast<BitsOf<Lanes>>(shifted) + 1023) << 52);
    return whole * (1 + part * (0.6931 + part * (0.2402 + part * 0.0555)));
}

}  // namespace
}  // namespace localbayes
