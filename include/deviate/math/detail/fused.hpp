// SPDX-License-Identifier: Apache-2.0
/// \file fused.hpp
/// \brief A fused multiply-add of float lanes with the same bits on every host and device, and what is built of it.
#pragma once

#include <deviate/config.hpp>
#include <deviate/math/detail/lane_arithmetic.hpp>
#include <deviate/number/exact.hpp>
#include <deviate/number/lanes.hpp>

#include <cmath>
#include <cstdint>

namespace deviate::math::detail {

/// \brief a·b + c without an instruction for it: the product of floats is exact in double, the sum is taken to odd, and
/// the rounding to float is then the only one.
template <lanes_over<float> L>
DEVIATE_HD L fused_in_double(const L& a, const L& b, const L& c) {
  return convert_lanes<float>(
      deviate::detail::add_to_odd(convert_lanes<double>(a) * convert_lanes<double>(b), convert_lanes<double>(c)));
}

/// \brief a·b + c, rounded once to float; subnormal numbers are kept. Which NaN results is unspecified.
template <lanes_over<float> L>
DEVIATE_HD L fused(const L& a, const L& b, const L& c) {
#if DEVIATE_ON_DEVICE
  if constexpr (lane_width<L> == 1)
    return __fmaf_rn(a, b, c);
  else
    return fused_in_double(a, b, c);
#elif defined(__FMA__)
  return per_lane([](float x, float y, float z) { return std::fma(x, y, z); }, a, b, c);
#else
  return fused_in_double(a, b, c);
#endif
}

/// \brief c0 + x(c1 + x(c2 + …)), from the innermost parenthesis, one fused multiply-add for each.
/// \tparam Polynomial has `degree` and the coefficients as `coefficient(n)`
template <class Polynomial, int First = 0, lanes_over<float> L>
DEVIATE_HD L fused_horner(const L& x) {
  constexpr float c = Polynomial::coefficient(First);
  if constexpr (First == Polynomial::degree)
    return broadcast<L>(c);
  else
    return fused(x, fused_horner<Polynomial, First + 1>(x), broadcast<L>(c));
}

/// \brief 1.5·2^23: added to |x| < 2^22, it rounds x to an integer, whose lowest bits are then those of the sum.
inline constexpr float round_float_to_integer = 0x1.8p23f;

/// \brief The integers of a float's size in which lanes of float have their bits.
template <lanes_over<float> L>
using float_bits = decltype(bits(L{}));

/// \brief The unsigned constant c in every lane.
template <class Bits>
DEVIATE_HD Bits broadcast_word(std::uint32_t c) {
  return broadcast<Bits>(c);
}

/// \brief p·2^n for 1/2 ≤ p < 4 and an integer −160 ≤ n ≤ 130 in two's complement, rounded once: the first of two
/// products is exact. Neither is followed by a sum, so none can be contracted.
template <lanes_over<float> L, class Bits>
DEVIATE_HD L scaled(const L& p, const Bits& n) {
  const Bits half = ((n + broadcast_word<Bits>(256)) >> 1) - broadcast_word<Bits>(128);
  const Bits bias = broadcast_word<Bits>(127);
  return (p * from_bits((half + bias) << 23)) * from_bits((n - half + bias) << 23);
}

/// \brief x, held between two bounds beyond which the result is +0 or +∞ anyway; NaN stays.
template <lanes_over<float> L>
DEVIATE_HD L between(const L& x, float lowest, float highest) {
  const L low = broadcast<L>(lowest), high = broadcast<L>(highest);
  const L above = select(x < low, low, x);
  return select(above > high, high, above);
}

}  // namespace deviate::math::detail
