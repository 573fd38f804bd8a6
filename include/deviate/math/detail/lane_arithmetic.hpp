// SPDX-License-Identifier: Apache-2.0
/// \file lane_arithmetic.hpp
/// \brief What exp, exp2 and log share: a product that never fuses, a polynomial, the conversion from and to float
///   lanes.
#pragma once

#include <deviate/config.hpp>
#include <deviate/number/lanes.hpp>

#include <cstdint>
#include <type_traits>

namespace deviate::math::detail {

/// \brief Lanes of C: a plain C or a pack of C.
template <class L, class C>
concept lanes_over = std::is_same_v<lane_value<L>, C>;

/// \brief a·b, rounded, and out of reach of contraction in device code whatever `-fmad` says.
///
/// A fused multiply-add needs a product, so it is enough to protect products. On the host the flag
/// `-ffp-contract=off` is a usage requirement of the library.
template <lanes_over<double> L>
DEVIATE_HD L product(const L& a, const L& b) {
#if DEVIATE_ON_DEVICE
  if constexpr (lane_width<L> == 1)
    return __dmul_rn(a, b);
  else
    return a * b;
#else
  return a * b;
#endif
}
template <lanes_over<double> L>
DEVIATE_HD L product(double a, const L& b) requires(lane_width<L> > 1) {
  return product(broadcast<L>(a), b);
}

/// \brief The constant c in every lane of the unsigned integers that hold the bits of L.
template <lanes_over<double> L>
DEVIATE_HD auto broadcast_bits(std::uint64_t c) {
  return broadcast<decltype(bits(L{}))>(c);
}

/// \brief c0 + x(c1 + x(c2 + …)), evaluated from the innermost parenthesis.
template <lanes_over<double> L>
DEVIATE_HD L horner(const L&, double c0) {
  return broadcast<L>(c0);
}
template <lanes_over<double> L, class... Cs>
DEVIATE_HD L horner(const L& x, double c0, Cs... more) {
  return broadcast<L>(c0) + product(x, horner(x, more...));
}

/// \brief The same polynomial by fused multiply-adds.
template <lanes_over<double> L>
DEVIATE_HD L fused_horner(const L&, double c0) {
  return broadcast<L>(c0);
}
template <lanes_over<double> L, class... Cs>
DEVIATE_HD L fused_horner(const L& x, double c0, Cs... more) {
  return multiply_add(x, fused_horner(x, more...), broadcast<L>(c0));
}

/// \brief high + low rounded to odd, for finite |high| ≥ |low|: a second rounding, to at most 51 bits, then gives what
/// one rounding gives.
///
/// Fast2Sum (T. J. Dekker, 1971) gives the error; an even significand moves by one towards it. Elsewhere unspecified.
template <lanes_over<double> L>
DEVIATE_HD L sum_to_odd(const L& high, const L& low) {
  const L nearest = high + low;
  const L error = low - (nearest - high);
  const auto u = bits(nearest);
  const auto even = ~u & broadcast_bits<L>(1);
  const auto opposite = (bits(error) ^ u) >> 63;
  const auto step = even - ((even & opposite) << 1);
  return from_bits(u + select(error == broadcast<L>(0.0), broadcast_bits<L>(0), step));
}

/// \brief The quiet NaN with a positive sign and no payload where x is NaN, else y.
///
/// Which NaN an operation returns differs between machines; a chosen one keeps the bits equal.
template <class L>
DEVIATE_HD L canonical_nan_where_nan(const L& x, const L& y) {
  if constexpr (lanes_over<L, float>)
    return select(x != x, broadcast<L>(from_bits(std::uint32_t{0x7fc00000})), y);
  else
    return select(x != x, broadcast<L>(from_bits(std::uint64_t{0x7ff8000000000000})), y);
}

/// \brief The double lanes y rounded once to float, with the canonical NaN.
template <lanes_over<double> D>
DEVIATE_HD auto narrow(const D& y) {
  const auto rounded = convert_lanes<float>(y);
  return canonical_nan_where_nan(rounded, rounded);
}

}  // namespace deviate::math::detail
