// SPDX-License-Identifier: Apache-2.0
/// \file log.hpp
/// \brief The natural logarithm, with the same bits on every host and device, for one lane and for many.
///
/// The body uses additions, subtractions, products, one division and integer operations only, each IEEE and none fused,
/// and selects instead of branching; so every lane of every width has the bits of the plain call.
#pragma once

#include <deviate/config.hpp>
#include <deviate/math/detail/lane_arithmetic.hpp>
#include <deviate/math/detail/own_function.hpp>
#include <deviate/number/lanes.hpp>

#include <cstdint>

namespace deviate::math {

namespace detail {

/// \brief high + low, not yet rounded.
template <class L>
struct unrounded_logarithm {
  L high;
  L low;
};

/// \brief k·ln 2 + log(1 + f) for √½ − 1 ≤ f < √2 − 1 and an integer |k| ≤ 1100.
///
/// log(1 + f) = f − f²/2 + s(f²/2 + R), with s = f/(2 + f) and R = s²·p(s²): relative error below 2^−60.7. The leading
/// terms k·ln 2, f and f²/2 are summed without error; the last is below 0.03 and may be rounded.
template <lanes_over<double> L>
DEVIATE_HD unrounded_logarithm<L> log_of_reduced(const L& k, const L& f) {
  const L half = broadcast<L>(0.5);
  // f²/2 as high + low: f_high has 26 bits, so that its square is exact.
  const L split = broadcast<L>(0x1.8p25);
  const L f_high = (f + split) - split;
  const L f_low = f - f_high;
  const L half_square_high = product(half, product(f_high, f_high));
  const L half_square_low = product(half, product(f_low, f + f_high));
  const L half_square = half_square_high + half_square_low;

  const L s = f / (broadcast<L>(2.0) + f);
  const L z = product(s, s);
  const L p = horner(z, 0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476ccbp-2, 0x1.c71c7201592a1p-3,
                     0x1.745cf9048617ap-3, 0x1.3b1c355c3560fp-3, 0x1.0fbe95aaf31a8p-3, 0x1.0c039e172b8dfp-3);
  const L last = product(s, half_square + product(z, p));

  // ln 2 = the first 42 bits + the rest: the first product is exact. Both sums are Fast2Sum: |coarse| ≥ |f|, or coarse
  // is 0.
  const L coarse = product(k, broadcast<L>(0x1.62e42fefa3800p-1));
  const L fine = product(k, broadcast<L>(0x1.ef35793c76730p-45));
  const L sum = coarse + f;
  const L sum_error = f - (sum - coarse);
  const L high = sum - half_square_high;
  const L high_error = (sum - high) - half_square_high;
  return {high, ((sum_error + high_error) + (fine - half_square_low)) + last};
}

/// \brief log x for 0 < x < ∞. Any other x gives an unspecified value.
template <lanes_over<double> L>
DEVIATE_HD unrounded_logarithm<L> log_unrounded(const L& x) {
  // x = 2^k·m with √½ ≤ m < √2, cut at the bits of √½ from below; a subnormal x is made normal first.
  const auto root_half = broadcast_bits<L>(0x3fe6a09e00000000);
  const auto to_one = broadcast_bits<L>(0x3ff0000000000000 - 0x3fe6a09e00000000);
  const auto fraction = broadcast_bits<L>(0x000fffffffffffff);
  const auto below_normal = x < broadcast<L>(0x1p-1022);
  const L normal = select(below_normal, product(x, broadcast<L>(0x1p54)), x);
  const auto u = bits(normal) + to_one;
  const L m = from_bits((u & fraction) + root_half);
  // The biased exponent becomes a double by way of the fraction bits of 2^52.
  const L biased = from_bits((u >> 52) | bits(broadcast<L>(0x1p52)));
  const L k = biased - select(below_normal, broadcast<L>(0x1p52 + 1023 + 54), broadcast<L>(0x1p52 + 1023));
  return log_of_reduced(k, m - broadcast<L>(1.0));
}

/// \brief The result of log for x, given that of the range in which there is something to compute.
template <lanes_over<double> L>
DEVIATE_HD L log_of_special(const L& x, const L& inside) {
  const L zero = broadcast<L>(0.0);
  const L infinity = broadcast<L>(from_bits(std::uint64_t{0x7ff0000000000000}));
  const L not_a_number = broadcast<L>(from_bits(std::uint64_t{0x7ff8000000000000}));
  const L of_positive = select(x == infinity, infinity, inside);
  const L of_number = select(x == zero, -infinity, select(x < zero, not_a_number, of_positive));
  return canonical_nan_where_nan(x, of_number);
}

}  // namespace detail

/// \brief The natural logarithm of x.
/// \tparam L lanes of double: `double` or `pack<double, W>`
/// \param x any value
/// \return log x rounded to double. log(1) = +0, log(±0) = −∞, log(+∞) = +∞; of a negative number and of NaN, the
///   positive quiet NaN without payload. Subnormal arguments are numbers like any other. No flag is promised.
///
/// Accuracy: 0.65 ulp at most. Rounded once to FP32 the result is the correctly rounded one for all 2^32 floats but
/// five, 0x1.827a74p-7, 0x1.2f1fd6p+3, 0x1.bacb4ap+25, 0x1.b121a6p+76 and 0x1.6351d8p+95, where even the nearest double
/// is a midpoint of floats; rounded once to TF32, FP16 or BF16, for all 2^32. The overload for float has no exception.
/// Held by tests/math/log.cpp.
/// Runs on host and device. All widths, compilers and flags give the same bits, held by the hash in the test; a device
/// does the same IEEE operations.
/// Reference: the expansion in f/(2 + f), as in W. J. Cody and W. Waite, Software Manual for the Elementary Functions
/// (1980), ch. 5; sums and splitting by T. J. Dekker (1971). Coefficients: tests/math/coefficients.py.
template <detail::lanes_over<double> L>
DEVIATE_HD L log(const L& x) {
  const auto logarithm = detail::log_unrounded(x);
  return detail::log_of_special(x, logarithm.high + logarithm.low);
}

/// \brief The natural logarithm of x, rounded to odd: for a second rounding, to a format of at most 51 bits.
/// \tparam L lanes of double: `double` or `pack<double, W>`
/// \return as log, but where the two parts that the algorithm ends with do not add up to a double, the neighbour of
///   their sum, above or below, whose last bit is one. Rounded once more, to FP32, the result is correct for every
///   float x (held by tests/math/log.cpp over all 2^32).
///
/// Reference: S. Boldo and G. Melquiond, Emulation of FMA and correctly rounded sums (2008), for rounding to odd.
template <detail::lanes_over<double> L>
DEVIATE_HD L log_to_odd(const L& x) {
  const auto logarithm = detail::log_unrounded(x);
  return detail::log_of_special(x, detail::sum_to_odd(logarithm.high, logarithm.low));
}

/// \brief The natural logarithm for lanes of float: computed in double, to odd, and rounded once.
/// \tparam L lanes of float: `float` or `pack<float, W>`
/// \return the correctly rounded log x for every float (held by tests/math/log.cpp over all 2^32); special cases and
///   bits as for lanes of double, the NaN being 0x7fc00000
template <detail::lanes_over<float> L>
DEVIATE_HD L log(const L& x) {
  return detail::narrow(log_to_odd(convert_lanes<double>(x)));
}

/// \brief log x by the function that the number type T brings along, found by argument-dependent lookup.
/// \tparam T a number type with a log beside it, such as Boost.Multiprecision's; never a built-in type
/// \return what that function returns: its accuracy, special cases and bits, and it runs where that function does
template <detail::brings_log T>
DEVIATE_HD T log(const T& x) {
  return detail::own::call_log(x);
}

}  // namespace deviate::math
