// SPDX-License-Identifier: Apache-2.0
/// \file limits.hpp
/// \brief std::numeric_limits of emulated numbers, every member from the format.
#pragma once

#include <deviate/number/emulated.hpp>
#include <deviate/number/rounding.hpp>

#include <limits>

namespace deviate::detail {

/// The decimal figures of p significand bits: no power of ten is a power of two, so both roundings are strict.
constexpr int digits10_of(int precision) { return (precision - 1) * 30103 / 100000; }
constexpr int max_digits10_of(int precision) { return 2 + precision * 30103 / 100000; }

/// The largest n with 10^n ≤ x, for x ≥ 1, and the smallest n with x ≤ 10^n, for 0 < x ≤ 1.
constexpr int power_of_ten_below(double x) {
  int n = 0;
  for (double power = 10; n < 308 && power <= x; ++n) power *= n < 307 ? 10 : 1;  // 10^308 is the last double
  return n;
}
constexpr int power_of_ten_above(double x) {
  int n = 0;
  for (double power = 10; n < 307 && 1 / power >= x; ++n) power *= 10;
  return -n;
}

constexpr std::float_round_style round_style_of(rounding_mode mode) {
  switch (mode) {
    case rounding_mode::nearest_even:
    case rounding_mode::nearest_away: return std::round_to_nearest;
    case rounding_mode::toward_zero: return std::round_toward_zero;
    case rounding_mode::upward: return std::round_toward_infinity;
    case rounding_mode::downward: return std::round_toward_neg_infinity;
    default: return std::round_indeterminate;
  }
}

/// The numbers and the rounding of an interchange format of IEEE 754-2019 (bf16 and TF32 are none).
constexpr bool is_ieee_interchange(const format& f) {
  return ((f.exponent_bits == 5 && f.fraction_bits == 10) || (f.exponent_bits == 8 && f.fraction_bits == 23)) &&
         f.specials == special_values::ieee && f.overflow == overflow_rule::infinity && f.bias_offset == 0 &&
         f.subnormals == subnormal_rule::gradual && f.rounding != rounding_mode::to_odd;
}

}  // namespace deviate::detail

/// \brief Limits of an emulated number.
///
/// Decided cases. A format without infinity (or NaN) has `has_infinity` (`has_quiet_NaN`) false; `infinity()` is then
/// what an infinite double becomes in it, and `quiet_NaN()` the NaN that the carrier keeps. IEEE-style formats that
/// saturate have an infinity all the same, whatever overflow gives. `is_iec559` says that numbers
/// and results are IEEE's: binary16 and binary32 alone; flags and signaling NaNs are not emulated. `round_error()` is
/// 1/2 to nearest and 1 in other modes. Where subnormals are flushed, a constant below the smallest normal number
/// (`epsilon()` or `round_error()` of formats of 2 exponent bits) is that number. tests/number/limits.cpp holds them to
/// ml_dtypes and to the lists of codes.
/// \tparam F the format
template <deviate::format F>
class std::numeric_limits<deviate::emulated<F>> {
  using number = deviate::emulated<F>;
  using carrier = typename number::carrier_type;
  static constexpr bool to_nearest = deviate::is_nearest(F.rounding);
  static constexpr number member(double x) noexcept {
    return number::from_carrier(carrier(x < F.min_positive() ? F.min_positive() : x));
  }

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = F.has_infinity(), has_quiet_NaN = F.has_nan(), has_signaling_NaN = false;
  static constexpr std::float_denorm_style has_denorm =
      F.subnormals == deviate::subnormal_rule::gradual ? std::denorm_present : std::denorm_absent;
  static constexpr bool has_denorm_loss = false;
  static constexpr std::float_round_style round_style = deviate::detail::round_style_of(F.rounding);
  static constexpr bool is_iec559 = deviate::detail::is_ieee_interchange(F);
  static constexpr bool is_bounded = true, is_modulo = false, traps = false, tinyness_before = false;
  static constexpr int digits = F.precision(), radix = 2;
  static constexpr int digits10 = deviate::detail::digits10_of(digits);
  static constexpr int max_digits10 = deviate::detail::max_digits10_of(digits);
  static constexpr int min_exponent = F.min_exponent() + 1, max_exponent = F.max_exponent() + 1;
  static constexpr int min_exponent10 = deviate::detail::power_of_ten_above(F.min_normal());
  static constexpr int max_exponent10 = deviate::detail::power_of_ten_below(F.max_finite());

  static constexpr number min() noexcept { return member(F.min_normal()); }
  static constexpr number max() noexcept { return number::from_carrier(carrier(F.max_finite())); }
  static constexpr number lowest() noexcept { return number::from_carrier(carrier(-F.max_finite())); }
  static constexpr number epsilon() noexcept { return member(F.epsilon()); }
  static constexpr number round_error() noexcept { return member(to_nearest ? 0.5 : 1.0); }
  static constexpr number denorm_min() noexcept { return member(F.min_positive()); }
  static constexpr number infinity() noexcept {
    return number::from_carrier(has_infinity ? std::numeric_limits<carrier>::infinity()
                                             : deviate::rounding_constants<carrier>(F).from_infinity);
  }
  static constexpr number quiet_NaN() noexcept {
    return number::from_carrier(std::numeric_limits<carrier>::quiet_NaN());
  }
  static constexpr number signaling_NaN() noexcept { return quiet_NaN(); }
};
