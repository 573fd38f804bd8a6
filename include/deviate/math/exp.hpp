// SPDX-License-Identifier: Apache-2.0
/// \file exp.hpp
/// \brief exp and exp2, with the same bits on every host and device, for one lane and for many.
///
/// The body uses additions, subtractions, products and integer operations only, each IEEE and none fused, and selects
/// instead of branching; so every lane of every width has the bits of the plain call.
#pragma once

#include <deviate/config.hpp>
#include <deviate/math/detail/lane_arithmetic.hpp>
#include <deviate/math/detail/own_function.hpp>
#include <deviate/math/detail/power.hpp>
#include <deviate/number/lanes.hpp>

#include <cstdint>

namespace deviate::math {

/// \brief e^x.
/// \tparam L lanes of double: `double` or `pack<double, W>`
/// \param x any value
/// \return e^x rounded to double. exp(±0) = 1, exp(−∞) = +0, exp(+∞) = +∞, exp(NaN) = the positive quiet NaN without
///   payload. Above 709.7827… +∞; below −708.3964… subnormal, rounded once; below −745.1332… +0. No flag is promised.
///
/// Accuracy: 0.63 ulp at most (subnormal results included, in units of 2^−1074). Rounded once to FP32, TF32, FP16 or
/// BF16 the result is the correctly rounded one for all 2^32 floats. Held by tests/math/exp.cpp.
/// Runs on host and device. All widths, compilers and flags give the same bits, held by the hash in the test; a device
/// does the same IEEE operations.
/// Reference: argument reduction of W. J. Cody and W. Waite, Software Manual for the Elementary Functions (1980), ch.
/// 6; sums by T. J. Dekker (1971), Fast2Sum. Coefficients: tests/math/coefficients.py.
template <detail::lanes_over<double> L>
DEVIATE_HD L exp(const L& x) {
  using detail::product;
  // Below this e^x rounds to zero; unbounded, n would leave its range. Large x need no such care: they are replaced at
  // the end.
  const L lowest = broadcast<L>(-746.0);
  const L y = select(x < lowest, lowest, x);
  const L magic = broadcast<L>(detail::round_to_integer);
  const L shifted = product(y, broadcast<L>(0x1.71547652b82fep+0)) + magic;
  const auto n = bits(shifted) - bits(magic);
  const L multiple = shifted - magic;
  // ln 2 = the first 42 bits + the rest: the first product and difference are exact.
  const L coarse = y - product(multiple, broadcast<L>(0x1.62e42fefa3800p-1));
  const L fine = product(multiple, broadcast<L>(0x1.ef35793c76730p-45));
  const L r = coarse - fine;
  const L c = (coarse - r) - fine;
  const L result = detail::round_to_nearest(detail::exp_of_reduced(r, c, n, y < broadcast<L>(-0x1.6232bdd7abcd2p+9)));
  const L infinity = broadcast<L>(from_bits(std::uint64_t{0x7ff0000000000000}));
  return detail::canonical_nan_where_nan(x, select(x > broadcast<L>(0x1.62e42fefa39efp+9), infinity, result));
}

/// \brief 2^x.
/// \tparam L lanes of double: `double` or `pack<double, W>`
/// \param x any value
/// \return 2^x rounded to double, exact for integers. exp2(±0) = 1, exp2(−∞) = +0, exp2(+∞) = +∞, exp2(NaN) = the
///   positive quiet NaN without payload. From 1024 on +∞; below −1022 subnormal, rounded once; from −1075 down +0.
///
/// Accuracy: 0.63 ulp at most (subnormal results included, in units of 2^−1074). Rounded once to FP32 the result is the
/// correctly rounded one for all 2^32 floats but 0x1.853a6ep-9 and −0x1.e7526ep-6, where even the nearest double is a
/// midpoint of floats; rounded once to TF32, FP16 or BF16, for all 2^32. The overload for float has no exception. Held
/// by tests/math/exp.cpp.
/// Runs on host and device. All widths, compilers and flags give the same bits, held by the hash in the test; a device
/// does the same IEEE operations.
/// Reference: as for exp; the product with ln 2 is split as in T. J. Dekker (1971).
template <detail::lanes_over<double> L>
DEVIATE_HD L exp2(const L& x) {
  return detail::exp2_of_special(x, detail::round_to_nearest(detail::exp2_unrounded(detail::bounded_for_exp2(x))));
}

/// \brief 2^x, rounded to odd: for a second rounding, to a format of at most 51 bits.
/// \tparam L lanes of double: `double` or `pack<double, W>`
/// \return as exp2, but where the two parts that the algorithm ends with do not add up to a double, the neighbour of
///   their sum, above or below, whose last bit is one. Rounded once more, to FP32, the result is correct for every
///   float x (held by tests/math/exp.cpp over all 2^32).
///
/// Reference: S. Boldo and G. Melquiond, Emulation of FMA and correctly rounded sums (2008), for rounding to odd.
template <detail::lanes_over<double> L>
DEVIATE_HD L exp2_to_odd(const L& x) {
  return detail::exp2_of_special(x, detail::round_to_odd(detail::exp2_unrounded(detail::bounded_for_exp2(x))));
}

/// \brief e^x for lanes of double that hold floats: what exp gives, or so near it that one rounding to a format of at most
/// 24 bits that float can hold gives the same number in every mode. For all 2^32 floats: tests/math/exp.cpp.
/// \tparam L lanes of double
/// \return special cases as for exp, but that below −104 and above 89, where every such format rounds to the same
///   numbers, the result is e^−104 and e^89
template <detail::lanes_over<double> L>
DEVIATE_HD L exp_of_float(const L& x) {
#if DEVIATE_NATIVE_FMA
  const L lowest = broadcast<L>(-104.0), highest = broadcast<L>(89.0);
  const L result = detail::exp_for_float(select(x < lowest, lowest, select(x > highest, highest, x)));
  const L infinity = broadcast<L>(from_bits(std::uint64_t{0x7ff0000000000000}));
  const L finite = select(x > broadcast<L>(0x1.62e42fefa39efp+9), infinity, result);
  return detail::canonical_nan_where_nan(x, select(x < broadcast<L>(-1e300), broadcast<L>(0.0), finite));
#else
  return exp(x);
#endif
}

/// \brief e^x for lanes of float: computed in double and rounded once.
/// \tparam L lanes of float: `float` or `pack<float, W>`
/// \return the correctly rounded e^x for every float (held by tests/math/exp.cpp over all 2^32); special cases and bits
///   as for lanes of double, the NaN being 0x7fc00000
template <detail::lanes_over<float> L>
DEVIATE_HD L exp(const L& x) {
#if DEVIATE_NATIVE_FMA
  // Below the range e^x rounds to zero, above it to infinity.
  const L lowest = broadcast<L>(-104.0f), highest = broadcast<L>(89.0f);
  const L bounded = select(x < lowest, lowest, select(x > highest, highest, x));
  const L result = convert_lanes<float>(detail::exp_for_float(convert_lanes<double>(bounded)));
  return select(x != x, broadcast<L>(from_bits(std::uint32_t{0x7fc00000})), result);
#else
  return detail::narrow(exp(convert_lanes<double>(x)));
#endif
}

/// \brief 2^x for lanes of float: computed in double, to odd, and rounded once.
/// \tparam L lanes of float: `float` or `pack<float, W>`
/// \return the correctly rounded 2^x for every float (held by tests/math/exp.cpp over all 2^32); special cases and bits
///   as for lanes of double, the NaN being 0x7fc00000
template <detail::lanes_over<float> L>
DEVIATE_HD L exp2(const L& x) {
  return detail::narrow(exp2_to_odd(convert_lanes<double>(x)));
}

/// \brief e^x by the function that the number type T brings along, found by argument-dependent lookup.
/// \tparam T a number type with an exp beside it, such as Boost.Multiprecision's; never a built-in type
/// \return what that function returns: its accuracy, special cases and bits, and it runs where that function does
template <detail::brings_exp T>
DEVIATE_HD T exp(const T& x) {
  return detail::own::call_exp(x);
}

/// \brief 2^x by the function that the number type T brings along, or exp(x·log 2) by its exp and log where it has
///   none.
/// \tparam T a number type with an exp2, or an exp and a log, beside it; never a built-in type
/// \return what those functions return: their accuracy, special cases and bits, and it runs where they do
template <detail::brings_exp2 T>
DEVIATE_HD T exp2(const T& x) {
  return detail::own::call_exp2(x);
}

}  // namespace deviate::math
