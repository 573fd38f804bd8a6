// SPDX-License-Identifier: Apache-2.0
/// \file oracle.hpp
/// \brief What the tests of number/ share: formats judged by MPFR, operands that aim at hard results, and a tally.
///
/// Nothing here uses the library's rounding: a format's limits are derived again from its widths, and MPFR computes.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <deviate/number/format.hpp>
#include <limits>
#include <sstream>
#include <string>
#include <utility>

#if defined(DEVIATE_TEST_MPFR)
#include <mpfr.h>
#endif

namespace oracle {

inline constexpr double infinite = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
inline std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

/// \brief Fixed pseudo-random words (Steele, Lea and Flood, 2014: SplitMix64).
class words {
 public:
  explicit words(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// \brief An integer from low to high, both included.
  long between(long low, long high) { return low + long(next() % std::uint64_t(high - low + 1)); }

 private:
  std::uint64_t state_;
};

/// \brief A format's limits, derived here from its widths and rules.
struct limits {
  deviate::format f;
  long precision = f.fraction_bits + 1;
  long min_exponent = 2 - (1L << (f.exponent_bits - 1)) - f.bias_offset;
  bool has_infinity = f.specials == deviate::special_values::ieee;
  bool has_nan = f.specials != deviate::special_values::finite_only;
  bool one_zero = f.specials == deviate::special_values::negative_zero_nan;
  long max_exponent = (1L << (f.exponent_bits - 1)) - (has_infinity ? 1 : 0) - f.bias_offset;
  long quantum_exponent = min_exponent - f.fraction_bits;
  double largest =
      std::ldexp(std::ldexp(1.0, int(precision)) - (f.specials == deviate::special_values::nan_only ? 2 : 1),
                 int(max_exponent - f.fraction_bits));
  double min_normal = std::ldexp(1.0, int(min_exponent));
  bool flush = f.subnormals == deviate::subnormal_rule::flush;
  double from_infinity = f.overflow == deviate::overflow_rule::saturate                     ? largest
                         : f.overflow == deviate::overflow_rule::nan                        ? not_a_number
                         : has_infinity                                                     ? infinite
                         : has_nan || f.overflow == deviate::overflow_rule::saturate_finite ? not_a_number
                                                                                            : largest;
  double overflowed = f.overflow == deviate::overflow_rule::saturate_finite ? largest : from_infinity;

  explicit limits(const deviate::format& described) : f(described) {}
};

inline std::string name(const deviate::format& f) {
  std::ostringstream text;
  text << "e" << f.exponent_bits << "m" << f.fraction_bits;
  if (f.specials == deviate::special_values::nan_only) text << "fn";
  if (f.specials == deviate::special_values::finite_only) text << "finite";
  if (f.specials == deviate::special_values::negative_zero_nan) text << "fnuz";
  if (f.bias_offset != 0) text << " bias+" << f.bias_offset;
  if (f.overflow == deviate::overflow_rule::nan) text << " nan";
  if (f.overflow == deviate::overflow_rule::saturate) text << " saturating";
  if (f.overflow == deviate::overflow_rule::saturate_finite) text << " saturating finite";
  if (f.subnormals == deviate::subnormal_rule::flush) text << " flushing";
  constexpr const char* modes[] = {"", " away", " toward zero", " upward", " downward", " to odd", " stochastic"};
  text << modes[int(f.rounding)];
  return text.str();
}

/// \brief The number with a code of the format: sign, exponent, fraction from the top, as the specifications tabulate.
inline double decoded(const limits& of, std::uint64_t code) {
  const int m = of.f.fraction_bits;
  const std::uint64_t fraction = code & ((std::uint64_t(1) << m) - 1);
  const std::uint64_t exponents = (std::uint64_t(1) << of.f.exponent_bits) - 1, exponent = (code >> m) & exponents;
  const double sign = (code >> (m + of.f.exponent_bits)) & 1 ? -1.0 : 1.0;
  if (exponent == exponents && of.has_infinity) return fraction == 0 ? sign * infinite : not_a_number;
  if (exponent == exponents && fraction == (std::uint64_t(1) << m) - 1 &&
      of.f.specials == deviate::special_values::nan_only)
    return not_a_number;
  if (of.one_zero && exponent == 0 && fraction == 0 && sign < 0) return not_a_number;
  if (exponent == 0) return sign * std::ldexp(double(fraction), int(of.quantum_exponent));
  return sign * std::ldexp(double(fraction + (std::uint64_t(1) << m)), int(of.quantum_exponent + long(exponent) - 1));
}

/// \brief The code of a number of the format, NaN apart.
inline std::uint64_t encoded(const limits& of, double x) {
  const int m = of.f.fraction_bits;
  const std::uint64_t sign = std::uint64_t(std::signbit(x)) << (m + of.f.exponent_bits);
  if (std::isinf(x)) return sign | ((std::uint64_t(1) << of.f.exponent_bits) - 1) << m;
  const long exponent = x == 0 ? of.min_exponent : std::max(long(std::ilogb(x)), of.min_exponent);
  const auto units = std::uint64_t(std::ldexp(std::fabs(x), int(m - exponent)));
  // The hidden bit of a normal number counts one in the exponent field.
  return sign | ((std::uint64_t(exponent - of.min_exponent) << m) + units);
}

/// \brief True if x is a number of the format (an infinity or NaN where it has them).
inline bool is_member(const limits& of, double x) {
  if (std::isnan(x)) return true;
  if (std::isinf(x)) return of.has_infinity;
  if (x == 0) return !(of.one_zero && std::signbit(x));
  const double magnitude = std::fabs(x);
  if (magnitude > of.largest || (of.flush && magnitude < of.min_normal)) return false;
  const long quantum = std::max(long(std::ilogb(x)), of.min_exponent) - of.f.fraction_bits;
  const double units = std::ldexp(x, int(-quantum));
  return units == std::rint(units);
}

/// \brief Rounds floats by scaling in double and rint, fast enough for all of them. rounding.cpp holds it to MPFR.
/// \pre the format is a subset of binary32
class float_rounder {
 public:
  explicit float_rounder(const deviate::format& f) : of_(f) {
    for (int e = 0; e < 255; ++e) {
      const long quantum = std::max(long(e) - 127, of_.min_exponent) - f.fraction_bits;
      unit_[e] = std::ldexp(1.0, int(quantum));
      per_unit_[e] = std::ldexp(1.0, int(-quantum));
    }
  }
  double operator()(float x) const {
    if (std::isnan(x)) return not_a_number;
    double y = std::fabs(double(x));
    const std::uint32_t e = bits_of(x) >> 23 & 255;
    if (e == 255)
      y = of_.from_infinity;
    else if (of_.flush && y < of_.min_normal)
      y = 0;
    else if ((y = std::rint(y * per_unit_[e]) * unit_[e]) > of_.largest)
      y = of_.overflowed;
    return std::isnan(y) ? y : std::copysign(y, double(x));
  }

 private:
  limits of_;
  double unit_[255], per_unit_[255];
};

enum class operation { add, subtract, multiply, divide, square_root };
inline constexpr operation binary_operations[] = {operation::add, operation::subtract, operation::multiply,
                                                  operation::divide};
inline const char* name(operation op) {
  constexpr const char* names[] = {"+", "-", "*", "/", "sqrt"};
  return names[int(op)];
}

#if defined(DEVIATE_TEST_MPFR)
/// \brief An MPFR number; MPFR's own exponent range holds everything here exactly.
class real {
 public:
  explicit real(long precision = 53) { mpfr_init2(value_, mpfr_prec_t(precision)); }
  real(const real&) = delete;
  real& operator=(const real&) = delete;
  ~real() { mpfr_clear(value_); }
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

/// \brief One operation of MPFR on doubles, into `result` at its own precision. \return MPFR's ternary value
inline int compute(operation op, mpfr_ptr result, mpfr_srcptr a, mpfr_srcptr b, mpfr_rnd_t direction) {
  switch (op) {
    case operation::add: return mpfr_add(result, a, b, direction);
    case operation::subtract: return mpfr_sub(result, a, b, direction);
    case operation::multiply: return mpfr_mul(result, a, b, direction);
    case operation::divide: return mpfr_div(result, a, b, direction);
    default: return mpfr_sqrt(result, a, direction);
  }
}

/// \brief Exact results, rounded once to nearest even in a format.
class judge {
 public:
  explicit judge(const deviate::format& f) : of(f), result_(of.precision) {}

  const limits of;

  double round(double x) {
    mpfr_set_d(a_, x, MPFR_RNDN);
    return settled(mpfr_set(result_, a_, MPFR_RNDN));
  }
  double integer(std::int64_t x) { return settled(mpfr_set_sj(result_, x, MPFR_RNDN)); }
  double integer(std::uint64_t x) { return settled(mpfr_set_uj(result_, x, MPFR_RNDN)); }
  double apply(operation op, double a, double b = 0) {
    mpfr_set_d(a_, a, MPFR_RNDN);
    mpfr_set_d(b_, b, MPFR_RNDN);
    return settled(compute(op, result_, a_, b_, MPFR_RNDN));
  }

 private:
  /// result_ holds `precision` bits with an unbounded exponent: the format's own range is applied here.
  double settled(int ternary) {
    const bool negative = mpfr_signbit(result_) != 0;
    if (mpfr_nan_p(result_)) return not_a_number;
    if (mpfr_inf_p(result_)) return negative ? -of.from_infinity : of.from_infinity;
    if (mpfr_zero_p(result_)) return negative && !of.one_zero ? -0.0 : 0.0;
    if (of.flush) {
      const int order = mpfr_cmpabs_ui_2exp(of.min_exponent);
      const bool rounded_away = negative ? ternary < 0 : ternary > 0;
      if (order < 0 || (order == 0 && rounded_away)) return negative && !of.one_zero ? -0.0 : 0.0;
    }
    const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    // MPFR's significands lie in [1/2, 1): exponents are one larger than IEEE's.
    mpfr_set_emin(of.quantum_exponent + 1);
    mpfr_set_emax(of.max_exponent + 1);
    ternary = mpfr_check_range(result_, ternary, MPFR_RNDN);
    mpfr_subnormalize(result_, ternary, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    const double y = mpfr_get_d(result_, MPFR_RNDN);
    if (std::fabs(y) > of.largest) return negative ? -of.overflowed : of.overflowed;
    return y == 0 && of.one_zero ? 0.0 : y;
  }
  int mpfr_cmpabs_ui_2exp(long exponent) {
    const long own = long(mpfr_get_exp(result_)) - 1;
    if (own != exponent) return own < exponent ? -1 : 1;
    mpfr_set_ui_2exp(power_, 1, exponent, MPFR_RNDN);
    return mpfr_cmpabs(result_, power_);
  }

  real result_, a_, b_, power_{2};
};
#endif

/// \brief Numbers of one format, and pairs of two whose results are hard to round in a third.
class operands {
 public:
  operands(const deviate::format& a, const deviate::format& b, const deviate::format& result, std::uint64_t seed)
      : a_(a), b_(b), result_(result), random_(seed) {}

  /// \brief Random, cancelling, near midpoints, far apart, subnormal, about to overflow or to underflow.
  std::pair<double, double> next(operation op) {
    // Each draw is a statement of its own: the order of arguments differs between compilers, these inputs do not.
    const double a = first();
    if (std::isnan(a) || std::isinf(a) || a == 0) return {a, any(b_)};
    const long exponent = std::ilogb(a);
    const auto way = random_.next() % 8;
    if (way == 0) return {a, any(b_)};
    if (way == 1) {  // cancellation
      const long near = exponent + random_.between(-1, 1);
      return {a, number(b_, near, random_.next())};
    }
    if (way == 2) {  // the second operand decides a tie, or just does not
      const long below = exponent - result_.precision + random_.between(-3, 3);
      return {a, number(b_, below, pattern())};
    }
    if (way == 3) {  // far apart
      const long far = exponent - random_.between(result_.precision, 3 * result_.precision + 60);
      return {a, number(b_, far, pattern())};
    }
    if (way == 4) {
      const double one_end = edge(a_);
      return {one_end, edge(b_)};
    }
    // The result lands where the format of the result ends, above or below, or on its exponent 0.
    const long aims[] = {result_.max_exponent, result_.min_exponent, result_.quantum_exponent, 0};
    const long aim = aims[random_.next() % 4];
    const long target = aim + random_.between(-3, 3);
    if (op == operation::multiply) return {a, number(b_, target - exponent, random_.next())};
    if (op == operation::divide) return {a, number(b_, exponent - target, random_.next())};
    const long top = target + random_.between(-1, 1);
    const double near_end = number(a_, top, pattern());
    const long other = target - random_.between(-1, result_.precision + 2);
    return {near_end, number(b_, other, pattern())};
  }

 private:
  double first() {
    const auto way = random_.next() % 4;
    if (way == 0) return any(a_);
    const long exponent = way == 1   ? random_.between(result_.quantum_exponent, result_.max_exponent)
                          : way == 2 ? random_.between(-8, 8)
                                     : random_.between(a_.quantum_exponent, a_.max_exponent);
    return number(a_, exponent, way == 3 ? random_.next() : pattern());
  }
  double any(const limits& of) { return inside(of, decoded(of, random_.next())); }
  double edge(const limits& of) {
    const double choices[] = {of.largest, of.min_normal, std::ldexp(1.0, int(of.quantum_exponent)), 0.0,
                              1.0,        infinite,      std::nextafter(of.min_normal, 0.0)};
    const double x = choices[random_.next() % 7];
    return inside(of, random_.next() & 1 ? -x : x);
  }
  /// 64 bits of fraction, often with the midpoint of the result's format in them.
  std::uint64_t pattern() {
    const std::uint64_t r = random_.next();
    const int kept = int(std::min(result_.precision - 1, 62L));
    const std::uint64_t top = kept == 0 ? 0 : r >> (64 - kept) << (64 - kept), half = std::uint64_t(1) << (63 - kept);
    switch (random_.next() % 6) {
      case 0: return 0;
      case 1: return ~std::uint64_t(0);
      case 2: return top | half;
      case 3: return (top | half) + (std::uint64_t(1) << random_.between(0, 62 - kept));
      case 4: return (top | half) - (std::uint64_t(1) << random_.between(0, 62 - kept));
      default: return r;
    }
  }
  /// The number with this exponent and these leading fraction bits; 0 and the largest number at the format's ends.
  double number(const limits& of, long exponent, std::uint64_t fraction) {
    const double sign = random_.next() & 1 ? -1.0 : 1.0;
    if (exponent > of.max_exponent) return sign * of.largest;
    if (exponent < of.quantum_exponent) return inside(of, sign * std::ldexp(1.0, int(of.quantum_exponent)));
    const int available = int(std::min(of.precision - 1, exponent - of.quantum_exponent));
    const double units = available == 0 ? 0.0 : double(fraction >> (64 - available));
    return inside(of, sign * std::ldexp(std::ldexp(1.0, available) + units, int(exponent) - available));
  }
  static double inside(const limits& of, double x) {
    if (std::isinf(x)) return of.has_infinity && of.from_infinity == infinite ? x : std::copysign(of.largest, x);
    if (is_member(of, x)) return x;
    if (of.one_zero && x == 0) return 0;
    return std::fabs(x) > of.largest ? std::copysign(of.largest, x) : std::copysign(0.0, of.one_zero ? 1.0 : x);
  }

  limits a_, b_, result_;
  words random_;
};

/// \brief Counts comparisons, and describes the first that fails: a CHECK for each would cost more than the work.
class tally {
 public:
  explicit tally(std::string what) : what_(std::move(what)) {}
  template <class... Inputs>
  void compare(double ours, double right, const Inputs&... inputs) {
    ++compared_;
    if (bits_of(ours) == bits_of(right) || (std::isnan(ours) && std::isnan(right))) return;
    if (wrong_++ != 0) return;
    std::ostringstream text;
    text << std::hexfloat << "ours " << ours << ", right " << right << " for";
    ((text << " " << inputs), ...);
    first_ = text.str();
  }
  /// \brief Also holds the bits of a NaN.
  void compare_bits(float ours, float right, float input) {
    compare(double(ours), double(right), input, bits_of(input));
    if (bits_of(ours) != bits_of(right) && wrong_++ == 0) first_ = "a NaN is not canonical";
  }
  void expect(long at_least = 1) const {
    INFO(what_, ": ", wrong_, " wrong of ", compared_, "; first: ", first_);
    CHECK(wrong_ == 0);
    CHECK(compared_ >= at_least);
  }

 private:
  std::string what_, first_;
  long compared_ = 0, wrong_ = 0;
};

/// \brief f.operator()<F>() for each format F.
template <deviate::format... Formats, class Function>
void for_each_format(Function f) {
  (f.template operator()<Formats>(), ...);
}

}  // namespace oracle
