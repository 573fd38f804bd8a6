// SPDX-License-Identifier: Apache-2.0
/// \file power.hpp
/// \brief What exp and exp2 share: a power in two parts, its two ways of rounding, and the polynomial.
#pragma once

#include <deviate/config.hpp>
#include <deviate/math/detail/lane_arithmetic.hpp>
#include <deviate/number/lanes.hpp>

#include <cstdint>

namespace deviate::math::detail {

/// \brief 1.5·2^(52 − b): adding and subtracting it rounds a small number to a multiple of 2^−b, ties to even.
inline constexpr double round_to_integer = 0x1.8p52;
inline constexpr double round_to_26_fraction_bits = 0x1.8p26;

/// \brief (sum + rest)·2^exponent, not yet rounded; sum ≥ |rest|, and the exponent sits where a double has it.
template <class L, class Bits>
struct unrounded_power {
  L sum;
  L rest;
  Bits exponent;
};

/// \brief The power, rounded once to nearest. The exponent is added as an integer: no product that could round again.
template <class L, class Bits>
DEVIATE_HD L round_to_nearest(const unrounded_power<L, Bits>& power) {
  return from_bits(bits(power.sum + power.rest) + power.exponent);
}

/// \brief The power, rounded to odd: a second rounding, to at most 51 bits, then gives what one rounding gives.
template <class L, class Bits>
DEVIATE_HD L round_to_odd(const unrounded_power<L, Bits>& power) {
  return from_bits(bits(sum_to_odd(power.sum, power.rest)) + power.exponent);
}

/// \brief e^(r + c)·2^n for |r| ≤ ln 2 / 2 and |c| ≤ ulp(r)/2.
/// \param n integer exponent in two's complement, ≤ 1024
/// \param subnormal whether the result is below 2^−1022; n ≥ −1100 there
template <lanes_over<double> L, class Bits, class Mask>
DEVIATE_HD unrounded_power<L, Bits> exp_of_reduced(const L& r, const L& c, const Bits& n, const Mask& subnormal) {
  const L zero = broadcast<L>(0.0);
  const L one = broadcast<L>(1.0);
  const L square = product(r, r);
  // e^r = 1 + r + r²(1/2 + r·p(r)): relative error below 2^−59.8. The two halves of p are independent chains.
  const L even = horner(square, 0x1.5555555555556p-3, 0x1.11111111109b5p-7, 0x1.a01a01a7c2efep-13,
                        0x1.71de0db2f6aedp-19, 0x1.af389ecfcb5d9p-26);
  const L odd = horner(square, 0x1.5555555555555p-5, 0x1.6c16c16c167e2p-10, 0x1.a01a01a47a591p-16,
                       0x1.27e4e1f7222b1p-22, 0x1.1f66d948a8484p-29);
  const L p = even + product(r, odd);
  // 1 + r is kept unevaluated as high + low: the rounding of that sum would be half the error otherwise.
  const L high = one + r;
  const L low = r - (high - one);
  const L tail = low + (product(square, broadcast<L>(0.5) + product(r, p)) + product(c, high));
  // A subnormal result is a multiple of 2^−1074, so high + tail has to be rounded to a multiple of 2^(−1074 − n). Added
  // to 2^(−1022 − n) it is, and the fraction bits of the sum are then the bits of the result.
  const L anchor = select(subnormal, from_bits((broadcast_bits<L>(1) - n) << 52), zero);
  const L sum = anchor + high;
  const L rest = (high - (sum - anchor)) + tail;
  const Bits anchored = select(subnormal, broadcast_bits<L>(1), broadcast_bits<L>(0));
  return {sum, rest, (n - anchored) << 52};
}

/// \brief e^y for −104 ≤ y ≤ 89, within 1 ulp, by fused multiply-adds: rounded to FP32 it is the correctly rounded value
/// for every float y of that range. tests/math/exp.cpp tries them all.
template <lanes_over<double> L>
DEVIATE_HD L exp_for_float(const L& y) {
  const L magic = broadcast<L>(round_to_integer);
  const L shifted = multiply_add(y, broadcast<L>(0x1.71547652b82fep+0), magic);
  const L multiple = shifted - magic;
  // ln 2 = the first 42 bits + the rest, as in exp.
  L r = multiply_add(multiple, broadcast<L>(-0x1.62e42fefa3800p-1), y);
  r = multiply_add(multiple, broadcast<L>(-0x1.ef35793c76730p-45), r);
  // Two chains of half the length, in r².
  const L square = product(r, r);
  const L even = fused_horner(square, 0.5, 0x1.5555555555555p-5, 0x1.6c16c16c167e2p-10, 0x1.a01a01a47a591p-16,
                              0x1.27e4e1f7222b1p-22, 0x1.1f66d948a8484p-29);
  const L odd = fused_horner(square, 0x1.5555555555556p-3, 0x1.11111111109b5p-7, 0x1.a01a01a7c2efep-13,
                             0x1.71de0db2f6aedp-19, 0x1.af389ecfcb5d9p-26);
  const L one = broadcast<L>(1.0);
  const L sum = multiply_add(multiply_add(multiply_add(odd, r, even), r, one), r, one);
  // The low bits of `shifted` are the exponent: the bits of the magic number above them leave at the shift.
  return from_bits(bits(sum) + (bits(shifted) << 52));
}

/// \brief 2^y for −1080 ≤ y < 1024. Any other y gives an unspecified value.
template <lanes_over<double> L>
DEVIATE_HD auto exp2_unrounded(const L& y) {
  const L magic = broadcast<L>(round_to_integer);
  const L shifted = y + magic;
  const auto n = bits(shifted) - bits(magic);
  const L f = y - (shifted - magic);
  // f·ln 2 as r + c. The product of the leading 26 bits of both is exact; the other parts are below 2^−27 of a unit.
  const L split = broadcast<L>(round_to_26_fraction_bits);
  const L f_high = (f + split) - split;
  const L f_low = f - f_high;
  const L coarse = product(f_high, broadcast<L>(0x1.62e43p-1));
  const L fine =
      product(f_high, broadcast<L>(-0x1.05c610ca86c39p-29)) + product(f_low, broadcast<L>(0x1.62e42fefa39efp-1));
  const L r = coarse + fine;
  const L c = fine - (r - coarse);
  return exp_of_reduced(r, c, n, y < broadcast<L>(-1022.0));
}

/// \brief The result of exp2 for x, given that of the range in which there is something to compute.
template <lanes_over<double> L>
DEVIATE_HD L exp2_of_special(const L& x, const L& inside) {
  const L infinity = broadcast<L>(from_bits(std::uint64_t{0x7ff0000000000000}));
  return canonical_nan_where_nan(x, select(x >= broadcast<L>(1024.0), infinity, inside));
}

/// \brief max(x, −1080), below which 2^x rounds to zero; unbounded, the integer exponent would leave its range.
template <lanes_over<double> L>
DEVIATE_HD L bounded_for_exp2(const L& x) {
  const L lowest = broadcast<L>(-1080.0);
  return select(x < lowest, lowest, x);
}

}  // namespace deviate::math::detail
