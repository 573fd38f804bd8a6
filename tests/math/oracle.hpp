// SPDX-License-Identifier: Apache-2.0
/// \file oracle.hpp
/// \brief MPFR as the judge of the functions of math/, and rounding to any format by MPFR.
#pragma once

#include "fixed_inputs.hpp"

#include <doctest/doctest.h>
#include <mpfr.h>

#include <deviate/number/lanes.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace oracle {

/// \brief An MPFR number of 200 bits: its own rounding is far below anything that is asked of it.
class real {
 public:
  real() { mpfr_init2(value_, 200); }
  explicit real(double x) : real() { mpfr_set_d(value_, x, MPFR_RNDN); }
  real(const real&) = delete;
  real& operator=(const real&) = delete;
  ~real() { mpfr_clear(value_); }
  operator mpfr_ptr() { return value_; }
  operator mpfr_srcptr() const { return value_; }

 private:
  mpfr_t value_;
};

/// \brief The parameters of a binary format with infinities and subnormals.
struct binary_format {
  int precision;
  int min_exponent;  // of the smallest normal number
  int max_exponent;  // of the largest finite number
};
inline constexpr binary_format fp16{11, -14, 15};
inline constexpr binary_format bf16{8, -126, 127};
inline constexpr binary_format tf32{11, -126, 127};
inline constexpr binary_format fp32{24, -126, 127};
inline constexpr binary_format fp64{53, -1022, 1023};

/// \brief Exponent of the spacing of the numbers of the format around v ≠ 0.
inline long quantum_exponent(mpfr_srcptr v, const binary_format& format) {
  return std::max<long>(mpfr_get_exp(v) - 1, format.min_exponent) - (format.precision - 1);
}

/// \brief v rounded once to the format, ties to even; the only rounding to formats in these tests.
inline double round_to(mpfr_srcptr v, const binary_format& format) {
  if (!mpfr_regular_p(v)) return mpfr_get_d(v, MPFR_RNDN);
  const long quantum = quantum_exponent(v, format);
  real scaled;
  mpfr_mul_2si(scaled, v, -quantum, MPFR_RNDN);
  mpfr_rint(scaled, scaled, MPFR_RNDN);
  mpfr_mul_2si(scaled, scaled, quantum, MPFR_RNDN);
  if (mpfr_regular_p(scaled) && mpfr_get_exp(scaled) - 1 > format.max_exponent)
    return std::copysign(std::numeric_limits<double>::infinity(), mpfr_get_d(scaled, MPFR_RNDN));
  return mpfr_get_d(scaled, MPFR_RNDN);
}

/// \brief |y − v| in units of the spacing of doubles around v; 0 for equal infinities.
inline double ulp_error(double y, mpfr_srcptr v) {
  if (!mpfr_regular_p(v) || !std::isfinite(y))
    return y == round_to(v, fp64) ? 0 : std::numeric_limits<double>::infinity();
  real difference(y);
  mpfr_sub(difference, difference, v, MPFR_RNDN);
  mpfr_mul_2si(difference, difference, -quantum_exponent(v, fp64), MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference, MPFR_RNDN));
}

/// \brief The largest error of F, in ulp of double, over `count` values drawn by `draw`.
template <class F, class Draw>
double largest_ulp_error(std::uint64_t seed, long count, Draw draw) {
  words random(seed);
  real x;
  real v;
  double largest = 0;
  for (long i = 0; i < count; ++i) {
    const double argument = draw(random);
    mpfr_set_d(x, argument, MPFR_RNDN);
    F::exact(v, x, MPFR_RNDN);
    const double error = ulp_error(F::call(argument), v);
    if (!(error <= largest)) largest = error;
  }
  return largest;
}

/// \brief True if y is v rounded once to the format.
inline bool is_rounded(mpfr_srcptr v, double y, const binary_format& format) {
  const double expected = round_to(v, format);
  return deviate::bits(expected) == deviate::bits(y) || (std::isnan(expected) && std::isnan(y));
}

struct float_sweep {
  std::uint64_t wrong = 0;               // results of the overload for float
  std::uint64_t wrong_from_double[4]{};  // results of the one for double, rounded once: FP32, TF32, FP16, BF16
  std::uint64_t asked = 0;               // inputs that MPFR decided
  std::uint32_t first_wrong = 0;
  std::uint32_t first_wrong_from_double[4]{};
};

/// \brief Compares F at one float with MPFR.
template <class F>
void judge(float x, float y, double z, float_sweep& found) {
  real v{double(x)};
  F::exact(v, v, MPFR_RNDN);
  ++found.asked;
  const bool canonical = y == y || deviate::bits(y) == 0x7fc00000u;
  if (!(canonical && is_rounded(v, double(y), fp32)) && found.wrong++ == 0) found.first_wrong = deviate::bits(x);
  const real ours(z);
  const binary_format formats[] = {fp32, tf32, fp16, bf16};
  for (int i = 0; i < 4; ++i)
    if (!is_rounded(v, round_to(ours, formats[i]), formats[i]) && found.wrong_from_double[i]++ == 0)
      found.first_wrong_from_double[i] = deviate::bits(x);
}

/// \brief Compares F over every `stride`-th bit pattern of float with the correctly rounded result.
///
/// The double result z has an error far below 2^−50 of its value (its own test holds that). MPFR need only decide where
/// that interval around z holds a boundary: between two floats, where its ends round differently, or of a narrower
/// format, all of whose boundaries are floats. Independently of that it decides every `ask`-th pack of 16 inputs.
template <class F>
float_sweep sweep_floats(std::uint32_t stride, std::uint64_t ask) {
  using deviate::bits;
  constexpr int W = 16;
  using D = deviate::pack<double, W>;
  const D distance = deviate::broadcast<D>(0x1p-50);
  const D one = deviate::broadcast<D>(1.0);
  float_sweep found;
  std::uint64_t packs = 0;
  for (std::uint64_t first = 0; first < (std::uint64_t{1} << 32); first += std::uint64_t{W} * stride, ++packs) {
    deviate::pack<std::uint32_t, W> pattern;
    for (int i = 0; i < W; ++i) pattern.set(i, std::uint32_t(first + std::uint64_t(i) * stride));
    const auto x = deviate::from_bits(pattern);
    const auto y = F::call(x);
    const D z = F::call(deviate::convert_lanes<double>(x));
    const D reach = z * distance;
    const auto below = deviate::convert_lanes<float>(z * deviate::broadcast<D>(1 - 0x1p-50));
    const auto above = deviate::convert_lanes<float>(z * deviate::broadcast<D>(1 + 0x1p-50));
    const auto differ = (bits(y) != bits(below)) | (bits(y) != bits(above));
    const D gap = z - deviate::convert_lanes<double>(y);
    // Around 1 every format rounds to 1.
    const auto near_float = (gap * gap < reach * reach) & ((z - one) * (z - one) > distance * distance);
    if (packs % ask != 0 && !deviate::any(differ) && !deviate::any(near_float)) continue;
    for (int i = 0; i < W; ++i)
      if (packs % ask == 0 || differ[i] || near_float[i]) judge<F>(x[i], y[i], z[i], found);
  }
  return found;
}

/// \brief At x even the nearest double is a midpoint of floats, and rounds to the wrong side; the overload for float
///   does not.
///
/// The side on which the exact value lies is lost with the double, so a second rounding goes to the even side.
template <class F>
void check_lost_in_double(float x) {
  real v{double(x)};
  F::exact(v, v, MPFR_RNDN);
  const double z = F::call(double(x));
  CHECK(z == round_to(v, fp64));
  CHECK(double(float(z)) != round_to(v, fp32));
  CHECK(double(F::call(x)) == round_to(v, fp32));
}

/// \brief No result of the float overload is wrong, and of the double one only so many in FP32.
inline void check_sweep(const float_sweep& found, std::uint64_t wrong_from_double_in_fp32) {
  INFO("bits of the first wrong input: ", found.first_wrong);
  CHECK(found.wrong == 0);
  for (int i = 0; i < 4; ++i) {
    INFO("bits of the first input with a wrong double result: ", found.first_wrong_from_double[i]);
    CHECK(found.wrong_from_double[i] == (i == 0 ? wrong_from_double_in_fp32 : 0));
  }
}

/// \brief Number of the 65536 inputs of a 16-bit format for which the double result, rounded to the format, is wrong.
template <class F>
int wrong_in_16_bits(const binary_format& format) {
  const int fraction_bits = format.precision - 1;
  int wrong = 0;
  for (int code = 0; code < 65536; ++code) {
    const int exponent = (code & 0x7fff) >> fraction_bits;
    const int fraction = code & ((1 << fraction_bits) - 1);
    if (exponent == format.max_exponent - format.min_exponent + 2) continue;  // infinities and NaN
    const int significand = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
    const double magnitude = std::ldexp(significand, std::max(exponent, 1) - 1 + format.min_exponent - fraction_bits);
    const double x = code & 0x8000 ? -magnitude : magnitude;
    real v{x};
    F::exact(v, v, MPFR_RNDN);
    const real ours{F::call(x)};
    if (!is_rounded(v, round_to(ours, format), format)) ++wrong;
  }
  return wrong;
}

}  // namespace oracle
