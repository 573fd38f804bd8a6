// SPDX-License-Identifier: Apache-2.0
/// \file decimal.hpp
/// \brief The value of a decimal or hexadecimal text, exactly, and its nearest numbers; at compile time too.
#pragma once

#include <deviate/number/detail/natural.hpp>
#include <deviate/number/double_double.hpp>
#include <deviate/number/format.hpp>

#include <bit>
#include <cstdint>
#include <limits>

namespace deviate::detail {

/// \brief ±(numerator / denominator + less than one unit of what was read) · 2^power, or infinity, NaN or no number.
struct text_value {
  enum class kind { none, finite, infinity, nan } what = kind::none;
  bool negative = false;
  bool more = false;  ///< digits beyond the kept ones are not all zero
  natural numerator{}, denominator{1};
  int power = 0;
  bool too_large = false, too_small = false;  ///< beyond 10^400, below 10^−400
  const char* end = nullptr;
};

constexpr int digit_of(char c, bool hexadecimal) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = char(c | 0x20);
  return hexadecimal && lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}
constexpr bool begins_with(const char* first, const char* last, const char* word) {
  for (; *word != 0; ++word, ++first)
    if (first == last || char(*first | 0x20) != *word) return false;
  return true;
}

/// \brief Reads [sign] digits [. digits] [e exponent], the same with 0x and p, inf, infinity or nan: the longest prefix.
///
/// A double has at most 767 significant decimal digits, so that 800 kept ones and the fact that there are others decide.
/// \param separators true if ' may stand between digits, as in literals
constexpr text_value read_number(const char* first, const char* last, bool separators) {
  text_value r;
  const char* c = first;
  if (c != last && (*c == '-' || *c == '+')) r.negative = *c++ == '-';
  if (begins_with(c, last, "inf")) {
    r.what = text_value::kind::infinity;
    r.end = begins_with(c, last, "infinity") ? c + 8 : c + 3;
    return r;
  }
  if (begins_with(c, last, "nan")) {
    r.what = text_value::kind::nan;
    r.end = c + 3;
    return r;
  }
  const bool hexadecimal = begins_with(c, last, "0x") && last - c > 2 &&
                           (digit_of(c[2], true) >= 0 || (c[2] == '.' && last - c > 3 && digit_of(c[3], true) >= 0));
  if (hexadecimal) c += 2;
  constexpr int most_kept = 800;
  const int base = hexadecimal ? 16 : 10;
  int kept = 0, point = 0;  // digits in the numerator; the power of the base that it is multiplied with
  bool any = false, after_point = false;
  for (; c != last; ++c) {
    if (*c == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (separators && *c == '\'') continue;
    const int digit = digit_of(*c, hexadecimal);
    if (digit < 0) break;
    any = true;
    if (kept == 0 && digit == 0) {
      point -= after_point ? 1 : 0;
    } else if (kept < most_kept) {
      if (kept++ == 0)
        r.numerator = natural(std::uint64_t(digit));
      else
        r.numerator.multiply_add(std::uint32_t(base), std::uint32_t(digit));
      point -= after_point ? 1 : 0;
    } else {
      r.more = r.more || digit != 0;
      point += after_point ? 0 : 1;
    }
  }
  if (!any) return r;
  r.what = text_value::kind::finite;
  r.end = c;
  int exponent = 0;
  if (c != last && char(*c | 0x20) == (hexadecimal ? 'p' : 'e')) {
    const char* e = c + 1;
    const bool below = e != last && *e == '-';
    if (e != last && (*e == '-' || *e == '+')) ++e;
    if (e != last && digit_of(*e, false) >= 0) {
      for (; e != last && (digit_of(*e, false) >= 0 || (separators && *e == '\'')); ++e)
        if (*e != '\'' && exponent < 1000000) exponent = 10 * exponent + digit_of(*e, false);
      if (below) exponent = -exponent;
      r.end = e;
    }
  }
  if (r.numerator.is_zero()) return r;
  if (hexadecimal) {
    r.power = 4 * point + exponent;
    r.too_large = r.numerator.bit_width() + r.power > 1100;
    r.too_small = r.numerator.bit_width() + r.power < -1200;
    return r;
  }
  const int ten = point + exponent;
  r.too_large = kept + ten > 400;
  r.too_small = kept + ten < -400;
  if (r.too_large || r.too_small) return r;
  (ten >= 0 ? r.numerator : r.denominator).multiply_by_power_of_ten(ten >= 0 ? ten : -ten);
  return r;
}

/// \brief The leading 63 or 64 bits of a positive number, q·2^power, and whether more follow.
struct leading_bits {
  std::uint64_t q = 0;
  int power = 0;
  bool more = false;
};
constexpr leading_bits divide(natural n, natural d, int power, bool more) {
  const int shift = 63 - (n.bit_width() - d.bit_width());
  leading_bits r{0, power - shift, more};
  if (shift > 0)
    n.shift_left(shift);
  else
    d.shift_left(-shift);
  d.shift_left(63);
  for (int bit = 0; bit < 64; ++bit) {
    r.q <<= 1;
    if (n.at_least(d)) {
      n.subtract(d);
      r.q |= 1;
    }
    n.shift_left(1);
  }
  r.more = r.more || !n.is_zero();
  return r;
}

/// \brief Units of 2^quantum: the magnitude rounded to odd, or to nearest even, at double's precision and range.
struct double_units {
  std::uint64_t units = 0;
  int quantum = 0;
};
constexpr double_units round_units(const leading_bits& x, bool to_odd) {
  const int exponent = int(std::bit_width(x.q)) - 1 + x.power;
  const int quantum = (exponent > -1022 ? exponent : -1022) - 52, dropped = quantum - x.power;
  if (dropped > 64) return {std::uint64_t(to_odd), quantum};
  std::uint64_t units = dropped == 64 ? 0 : x.q >> dropped;
  const std::uint64_t rest = dropped == 64 ? x.q : x.q & ((std::uint64_t(1) << dropped) - 1);
  const std::uint64_t half = std::uint64_t(1) << (dropped - 1);
  if (to_odd)
    units |= std::uint64_t(rest != 0 || x.more);
  else if (rest > half || (rest == half && (x.more || (units & 1) != 0)))
    ++units;
  return {units, quantum};
}
constexpr double magnitude_of(const double_units& x) {
  double_units u = x;
  if (u.units >> 53 != 0) u = {u.units >> 1, u.quantum + 1};
  if (u.quantum > 1023 - 52) return std::numeric_limits<double>::infinity();
  // The hidden bit counts one in the exponent field.
  return std::bit_cast<double>((std::uint64_t(u.quantum + 1074) << 52) + u.units);
}
constexpr double special_magnitude(const text_value& x) {
  if (x.what == text_value::kind::infinity) return std::numeric_limits<double>::infinity();
  return x.what == text_value::kind::finite ? 0 : std::numeric_limits<double>::quiet_NaN();
}

/// \brief The text's value as a double to odd: rounding that to any format of at most 51 bits is one rounding.
constexpr double read_to_odd(const text_value& x) {
  double r = 0;
  if (x.too_large)
    r = std::numeric_limits<double>::max();
  else if (x.too_small)
    r = std::numeric_limits<double>::denorm_min();
  else if (x.what != text_value::kind::finite || x.numerator.is_zero())
    r = special_magnitude(x);
  else
    r = magnitude_of(round_units(divide(x.numerator, x.denominator, x.power, x.more), true));
  // A finite number is not an infinite one.
  if (x.what == text_value::kind::finite && r > std::numeric_limits<double>::max())
    r = std::numeric_limits<double>::max();
  return x.negative ? -r : r;
}

/// \brief The text's value as double_double: the nearest double, and the double nearest to what is left.
constexpr double_double read_double_double(const text_value& x) {
  const double sign = x.negative ? -1 : 1;
  if (x.too_large) return sign * std::numeric_limits<double>::infinity();
  if (x.too_small) return sign * 0.0;
  if (x.what != text_value::kind::finite || x.numerator.is_zero()) return sign * special_magnitude(x);
  const double_units hi = round_units(divide(x.numerator, x.denominator, x.power, x.more), false);
  const double value = magnitude_of(hi);
  if (value > std::numeric_limits<double>::max()) return sign * value;
  // n/d·2^power − units·2^quantum, over d.
  natural n = x.numerator, taken = x.denominator;
  taken.multiply(hi.units);
  const int power = x.power < hi.quantum ? x.power : hi.quantum;
  n.shift_left(x.power - power);
  taken.shift_left(hi.quantum - power);
  const bool below = !n.at_least(taken);
  natural rest = below ? taken : n;
  rest.subtract(below ? n : taken);
  if (rest.is_zero()) return sign * value;
  const double lo = magnitude_of(round_units(divide(rest, x.denominator, power, x.more), false));
  return double_double::from_parts(sign * value, below ? -sign * lo : sign * lo);
}

/// \brief A double rounded to nearest even in a format at compile time; what overflows becomes NaN.
constexpr double round_literal(double x, const format& to) {
  const std::uint64_t u = std::bit_cast<std::uint64_t>(x), magnitude = u & (~std::uint64_t(0) >> 1);
  const double zero = u == magnitude || !to.has_negative_zero() ? 0.0 : -0.0;
  if (magnitude == 0) return zero;
  const int field = int(magnitude >> 52), power = (field > 0 ? field : 1) - 1075;
  const std::uint64_t significand = (magnitude & ((std::uint64_t(1) << 52) - 1)) | std::uint64_t(field > 0 ? 1 : 0)
                                                                                       << 52;
  const int exponent = int(std::bit_width(significand)) - 1 + power;
  if (to.subnormals == subnormal_rule::flush && exponent < to.min_exponent()) return zero;
  const int quantum = (exponent > to.min_exponent() ? exponent : to.min_exponent()) - to.fraction_bits;
  const int dropped = quantum - power;
  std::uint64_t units = dropped > 62 ? 0 : significand >> dropped;
  if (dropped > 0 && dropped <= 62) {
    const std::uint64_t half = std::uint64_t(1) << (dropped - 1), rest = significand & (2 * half - 1);
    units += rest > half || (rest == half && (units & 1) != 0) ? 1 : 0;
  }
  if (units == 0) return zero;
  const double r = format::scaled(double(units), quantum);
  if (r > to.max_finite()) return std::numeric_limits<double>::quiet_NaN();
  return u == magnitude ? r : -r;
}

}  // namespace deviate::detail
