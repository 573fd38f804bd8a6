// SPDX-License-Identifier: Apache-2.0
/// \file text.hpp
/// \brief Numbers as text and back: the shortest decimal that reads back to the same number, and exact reading.
// host only
#pragma once

#include <deviate/number/detail/decimal.hpp>
#include <deviate/number/double_double.hpp>
#include <deviate/number/emulated.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace deviate {

namespace detail {

/// digits d₁d₂d₃… and e as d₁.d₂d₃…·10^e: fixed or scientific, whichever is shorter; fixed if equal.
inline std::string decimal_text(const std::string& digits, int e) {
  const int n = int(digits.size()), magnitude = e < 0 ? -e : e;
  const std::string exponent = std::to_string(magnitude);
  std::string scientific = digits.substr(0, 1);
  if (n > 1) scientific += '.' + digits.substr(1);
  scientific += std::string(e < 0 ? "e-" : "e+") + (magnitude < 10 ? "0" : "") + exponent;
  const int fixed_length = e < 0 ? n + 1 - e : e + 1 >= n ? e + 1 : n + 1;
  if (fixed_length > int(scientific.size())) return scientific;
  if (e < 0) return "0." + std::string(std::size_t(-e - 1), '0') + digits;
  if (e + 1 >= n) return digits + std::string(std::size_t(e + 1 - n), '0');
  return digits.substr(0, std::size_t(e + 1)) + '.' + digits.substr(std::size_t(e + 1));
}

/// The shortest text of a finite magnitude of F, given its exact digits; `sign` since directed modes know it.
template <format F>
std::string shortest_text(double x, double sign) {
  // Saturation would let anything beyond the largest number stand for it.
  constexpr format reading = [] {
    format f = F;
    f.overflow = overflow_rule::nan;
    return f;
  }();
  constexpr double spacing = format::scaled(1, F.max_exponent() - F.fraction_bits);
  // An emulated number has at most 26 bits above 2^−1050: 767 digits are all there can be.
  char exact[800];
  const auto written = std::to_chars(exact, exact + sizeof exact, x, std::chars_format::scientific, 766);
  std::string digits(1, exact[0]);
  const char* mark = exact + 2;
  for (; *mark != 'e'; ++mark) digits += *mark;
  int exponent = 0;
  std::from_chars(mark + (mark[1] == '+' ? 2 : 1), written.ptr, exponent);
  digits.erase(digits.find_last_not_of('0') + 1);

  const auto reads_back = [&](const std::string& d, int e) {
    const std::string text = (sign < 0 ? "-" : "") + d + 'e' + std::to_string(e - int(d.size()) + 1);
    const double read = read_to_odd(read_number(text.data(), text.data() + text.size(), false));
    const double distance = sign * read - F.max_finite();
    return double(round_to<reading>(read)) == sign * x && distance < spacing && sign * read < largest_double;
  };
  for (std::size_t n = 1; n < digits.size(); ++n) {
    const std::string below = digits.substr(0, n);
    std::string above = below;
    int above_exponent = exponent;
    std::size_t i = n;
    while (i > 0 && above[i - 1] == '9') above[--i] = '0';
    if (i > 0) {
      ++above[i - 1];
    } else {
      above = '1' + above.substr(0, n - 1);
      ++above_exponent;
    }
    const bool tie = digits[n] == '5' && digits.size() == n + 1;
    const bool nearer_above = tie ? (below[n - 1] - '0') % 2 != 0 : digits[n] >= '5';
    for (const bool take_above : {nearer_above, !nearer_above}) {
      std::string d = take_above ? above : below;
      const int e = take_above ? above_exponent : exponent;
      if (!reads_back(d, e)) continue;
      d.erase(d.find_last_not_of('0') + 1);
      return decimal_text(d, e);
    }
  }
  return decimal_text(digits, exponent);
}

}  // namespace detail

/// \brief The shortest decimal text that reads back to x, and of several of that length the nearest one.
///
/// Fixed or scientific as is shorter: 0.1, 65500 (the largest fp16), 9e-41. "nan", "inf", "-inf" and "-0" for those.
/// Reading rounds in the mode of F, so the text is the shortest for that mode; to odd it may be as long as the exact
/// value. tests/number/stream.cpp searches for shorter ones with MPFR.
/// \return locale-independent text that `from_text`, a stream's `>>` and a literal read as x
template <format F>
std::string to_string(const emulated<F>& x) {
  const double v = double(x);
  if (v != v) return "nan";
  const bool negative = (bits(v) >> 63) != 0;
  std::string sign = negative ? "-" : "";
  if (v == 0) return sign + "0";
  if (!detail::is_finite(v)) return sign + "inf";
  return sign + detail::shortest_text<F>(std::fabs(v), negative ? -1.0 : 1.0);
}

/// \brief `to_string(x)` into [first, last), as std::to_chars does.
/// \return the end of the text; `errc::value_too_large` and last if it does not fit
template <format F>
std::to_chars_result to_chars(char* first, char* last, const emulated<F>& x) {
  const std::string text = to_string(x);
  if (std::size_t(last - first) < text.size()) return {last, std::errc::value_too_large};
  return {first + text.copy(first, text.size()), std::errc{}};
}

/// \brief Reads the longest prefix that is a number: decimal, hexadecimal with 0x, inf, infinity or nan in any case,
/// each with a sign or without.
/// \param first,last the text; no space is skipped
/// \param x receives the exact value of the text rounded once, in the format's mode: beyond the largest number what the
///   format's overflow rule says, which is no error here
/// \return the end of what was read; `errc::invalid_argument` and first if nothing was, x then being unchanged
template <format F>
std::from_chars_result from_chars(const char* first, const char* last, emulated<F>& x) {
  const detail::text_value value = detail::read_number(first, last, false);
  if (value.what == detail::text_value::kind::none) return {first, std::errc::invalid_argument};
  x = emulated<F>(detail::read_to_odd(value));
  return {value.end, std::errc{}};
}
/// \brief The same for double_double: the nearest double, and the double nearest to the rest. The 33 digits that a
/// stream writes read back to within 10^−32 of the number; `to_string(x, 50)` to the same number unless its parts lie
/// further apart than those of a number of 106 bits.
inline std::from_chars_result from_chars(const char* first, const char* last, double_double& x) {
  const detail::text_value value = detail::read_number(first, last, false);
  if (value.what == detail::text_value::kind::none) return {first, std::errc::invalid_argument};
  x = detail::read_double_double(value);
  return {value.end, std::errc{}};
}

/// \brief The number that the whole text stands for, rounded once; nothing if it is no number.
/// \tparam T an emulated number or double_double
template <class T>
std::optional<T> from_text(std::string_view text) {
  T x{};
  const auto [end, error] = from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return x;
}

}  // namespace deviate
