// SPDX-License-Identifier: Apache-2.0
/// \file exp2_table.hpp
/// \brief exp2 by a table and a short polynomial, and a model of the device's approximate exp2.
#pragma once

#include <deviate/config.hpp>
#include <deviate/math/detail/fused.hpp>
#include <deviate/number/lanes.hpp>

#include <cstdint>

namespace deviate::math {

namespace detail {

/// \brief 2^(i/2^Bits) for i = 0 … 2^Bits − 1, each rounded to float.
template <int Bits>
struct powers_of_two {
  float value[1 << Bits]{};

  DEVIATE_HD constexpr powers_of_two() {
    for (int i = 0; i < 1 << Bits; ++i) {
      // The Taylor series: 24 terms of an argument below ln 2 leave less than a unit of double.
      const double x = double(i) / double(1 << Bits) * 0x1.62e42fefa39efp-1;
      double sum = 1;
      for (int n = 24; n >= 1; --n) sum = 1 + x * sum / n;
      value[i] = float(sum);
    }
  }
};

/// \brief 2^(i/2^Bits) of a lane.
template <int Bits>
DEVIATE_HD float power_of_two(std::uint32_t i) {
  constexpr powers_of_two<Bits> table;
  return table.value[i];
}

/// \brief x = n + i/2^Bits + f with |f| ≤ 2^−(Bits + 1), exactly.
template <class L>
struct table_argument {
  float_bits<L> n;  ///< in two's complement
  L power;          ///< 2^(i/2^Bits), from the table
  L f;
};

/// \brief Splits |x| < 160.
template <int Bits, lanes_over<float> L>
DEVIATE_HD table_argument<L> split_for_table(const L& x) {
  using B = float_bits<L>;
  const L magic = broadcast<L>(round_float_to_integer / float(1 << Bits));
  const L shifted = x + magic;
  const B k = bits(shifted) - bits(magic);
  const B i = k & broadcast_word<B>((1u << Bits) - 1);
  const B n = ((k + broadcast_word<B>(256u << Bits)) >> Bits) - broadcast_word<B>(256);
  return {n, per_lane([](std::uint32_t entry) DEVIATE_HD_LAMBDA { return power_of_two<Bits>(entry); }, i),
          x - (shifted - magic)};
}

/// \brief power·2^f for a small f, by the terms of its series up to Degree.
template <int Degree, lanes_over<float> L>
DEVIATE_HD L with_remainder(const L& power, const L& f) {
  const L log2 = broadcast<L>(0x1.62e430p-1f);
  if constexpr (Degree == 1)
    return fused(power, fused(f, log2, broadcast<L>(0.0f)), power);
  else
    return fused(power, fused(f, fused(f, broadcast<L>(0x1.ebfbe0p-3f), log2), broadcast<L>(0.0f)), power);
}

}  // namespace detail

/// \brief 2^x from a table of 2^Bits powers of two and a remainder of degree 1 or 2.
/// \tparam Bits the table has 2^Bits floats, 1 to 10
/// \tparam Degree 1: power·(1 + f·ln 2); 2: and the square of f
/// \tparam L lanes of float: `float` or `pack<float, W>`
/// \param x any value
/// \return 2^x, exact for integers; exp2(−∞) = +0, exp2(+∞) = +∞, exp2(NaN) = the positive quiet NaN without payload;
///   overflow to +∞, subnormal results kept
///
/// Accuracy: at most exp2_table_ulp<Bits, Degree> ulp over all 2^32 floats (subnormal results included, in units of
/// 2^−149): 1.48 for 64 entries and degree 2. Held by tests/math/exp2_table.cpp, with the bits, which are the same on
/// every host and device.
/// Reference: P. T. P. Tang, Table-driven implementation of the exponential function (1989).
template <int Bits, int Degree = 2, detail::lanes_over<float> L>
DEVIATE_HD L exp2_table(const L& x) {
  static_assert(Bits >= 1 && Bits <= 10, "a table has 2 to 1024 entries");
  static_assert(Degree == 1 || Degree == 2, "the remainder is linear or quadratic");
  const auto split = detail::split_for_table<Bits>(detail::between(x, -151.0f, 129.0f));
  const L p = detail::with_remainder<Degree>(split.power, split.f);
  return detail::canonical_nan_where_nan(x, detail::scaled(p, split.n));
}

/// \brief Bound of the error of exp2_table in ulp: 1.03 for the roundings, and the first term left out of the series.
template <int Bits, int Degree>
inline constexpr double exp2_table_ulp = [] {
  const double largest = 0x1.62e42fefa39efp-1 / double(2 << Bits);
  return 1.03 + 0x1p24 * largest * largest * (Degree == 1 ? 0.5 * (1 + largest) : largest / 6 * (1 + largest));
}();

/// \brief 2^x as an approximate unit of a GPU gives it: a *model* of `ex2.approx.ftz.f32`, to be trusted to its tolerance
/// and not to its bits.
///
/// The unit takes its argument in fixed point, looks up a table and evaluates a quadratic (S. F. Oberman and M. Siu,
/// 2005); so does this, with 64 entries and 24 fraction bits. Subnormal arguments and results become zero.
/// \tparam L lanes of float: `float` or `pack<float, W>`
/// \param x any value
/// \return 2^x; 1 for |x| < 2^−25, +0 below −126 and for −∞, +∞ from 128 on, the positive quiet NaN without payload for
///   NaN
///
/// Accuracy: 2 ulp at most over all floats whose 2^x is 2^−126 or more, as the vendor documents for the instruction. Held
/// by tests/math/exp2_table.cpp, with the bits of the model, which are the same on every host and device.
template <detail::lanes_over<float> L>
DEVIATE_HD L exp2_approx(const L& x) {
  const auto split = detail::split_for_table<6>(detail::between(x, -127.0f, 129.0f));
  const L fixed_point = broadcast<L>(0.75f);
  const L f = (split.f + fixed_point) - fixed_point;
  const L p = detail::with_remainder<2>(split.power, f);
  const L flushed = select(x < broadcast<L>(-126.0f), broadcast<L>(0.0f), detail::scaled(p, split.n));
  return detail::canonical_nan_where_nan(x, flushed);
}

}  // namespace deviate::math
