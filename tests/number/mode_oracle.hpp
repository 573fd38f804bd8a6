// SPDX-License-Identifier: Apache-2.0
/// \file mode_oracle.hpp
/// \brief Exact results by MPFR, rounded to a format in any mode by integer arithmetic on 62 leading bits and a sticky
/// bit.
#pragma once

#include "number/oracle.hpp"

#if defined(DEVIATE_TEST_MPFR)

namespace oracle {

using deviate::rounding_mode;
inline constexpr rounding_mode every_mode[] = {rounding_mode::nearest_even, rounding_mode::nearest_away,
                                               rounding_mode::toward_zero,  rounding_mode::upward,
                                               rounding_mode::downward,     rounding_mode::to_odd};

/// \brief One exact result, computed once and then rounded to any number of formats and modes of at most 60 bits.
class exact_result {
 public:
  void value(double x) {
    mpfr_set_d(a_, x, MPFR_RNDN);
    take(mpfr_set(result_, a_, MPFR_RNDZ));
    zero_downward_ = zero_;
  }
  /// \brief A number of at most 62 bits, or one truncated to them: `ternary` is MPFR's.
  void value_of(mpfr_srcptr x, int ternary) {
    mpfr_set(result_, x, MPFR_RNDZ);
    take(ternary);
    zero_downward_ = zero_;
  }
  void apply(operation op, double a, double b = 0) {
    mpfr_set_d(a_, a, MPFR_RNDN);
    mpfr_set_d(b_, b, MPFR_RNDN);
    take(compute(op, result_, a_, b_, MPFR_RNDZ));
    if (kind_ != zero) return;
    compute(op, result_, a_, b_, MPFR_RNDD);
    zero_downward_ = mpfr_signbit(result_) ? -0.0 : 0.0;
  }
  void fma(double a, double b, double c) {
    mpfr_set_d(a_, a, MPFR_RNDN);
    mpfr_set_d(b_, b, MPFR_RNDN);
    mpfr_set_d(c_, c, MPFR_RNDN);
    take(mpfr_fma(result_, a_, b_, c_, MPFR_RNDZ));
    if (kind_ != zero) return;
    mpfr_fma(result_, a_, b_, c_, MPFR_RNDD);
    zero_downward_ = mpfr_signbit(result_) ? -0.0 : 0.0;
  }

  /// \brief Rounded once to the numbers of `of` in a mode.
  double rounded(const limits& of, rounding_mode mode) const {
    const double sign = negative_ ? -1 : 1;
    if (kind_ == nan) return not_a_number;
    if (kind_ == infinity) return sign * of.from_infinity;
    const double nothing = of.one_zero ? 0.0 : sign * 0.0;
    if (kind_ == zero) return of.one_zero ? 0.0 : mode == rounding_mode::downward ? zero_downward_ : zero_;
    if (of.flush && exponent_ < of.min_exponent) return nothing;
    const long quantum = std::max(exponent_, of.min_exponent) - of.f.fraction_bits, dropped = quantum - exponent_ + 61;
    std::uint64_t units = dropped > 63 ? 0 : significand_ >> dropped;
    const std::uint64_t half = dropped > 63 ? 0 : std::uint64_t(1) << (dropped - 1);
    const std::uint64_t rest = dropped > 63 ? significand_ : significand_ & (2 * half - 1);
    const bool inexact = rest != 0 || sticky_;
    const bool tie = dropped <= 62 && rest == half && !sticky_, above = dropped <= 62 && !tie && rest >= half;
    switch (mode) {
      case rounding_mode::nearest_even: units += above || (tie && units % 2 == 1); break;
      case rounding_mode::nearest_away: units += above || tie; break;
      case rounding_mode::upward: units += inexact && !negative_; break;
      case rounding_mode::downward: units += inexact && negative_; break;
      case rounding_mode::to_odd: units |= std::uint64_t(inexact); break;
      default: break;
    }
    const double magnitude = std::ldexp(double(units), int(quantum));
    if (magnitude == 0) return nothing;
    if (magnitude <= of.largest) return sign * magnitude;
    // IEEE 754-2019, 7.4.
    const bool stays = mode == rounding_mode::toward_zero || mode == rounding_mode::to_odd ||
                       (mode == rounding_mode::upward && negative_) || (mode == rounding_mode::downward && !negative_);
    return sign * (stays ? of.largest : of.overflowed);
  }

 private:
  void take(int ternary) {
    negative_ = mpfr_signbit(result_) != 0;
    kind_ = mpfr_nan_p(result_) ? nan : mpfr_inf_p(result_) ? infinity : mpfr_zero_p(result_) ? zero : finite;
    zero_ = negative_ ? -0.0 : 0.0;
    if (kind_ != finite) return;
    sticky_ = ternary != 0;
    exponent_ = long(mpfr_get_exp(result_)) - 1;
    mpfr_abs(result_, result_, MPFR_RNDZ);
    mpfr_mul_2si(result_, result_, 61 - exponent_, MPFR_RNDZ);
    significand_ = mpfr_get_uj(result_, MPFR_RNDZ);
  }

  enum { finite, zero, infinity, nan } kind_ = zero;
  bool negative_ = false, sticky_ = false;
  double zero_ = 0, zero_downward_ = 0;
  long exponent_ = 0;
  std::uint64_t significand_ = 0;  // 62 bits
  real result_{62}, a_, b_, c_;
};

}  // namespace oracle

#endif
