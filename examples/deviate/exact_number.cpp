// SPDX-License-Identifier: Apache-2.0
#include "deviate/exact_number.hpp"

#include <deviate/deviation/ulp.hpp>
#include <deviate/number/exact.hpp>
#include <deviate/number/rounding.hpp>

#include "deviate/io/file_error.hpp"
#include "deviate/usage_error.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace deviate::tool {
namespace {

using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;

constexpr int largest_exponent = 10'000;  // of ten or two: far beyond every format, and quick to compute with
constexpr std::size_t most_digits = 10'000;

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw usage_error(in_quotes(text) + " is not a number to round: " + why);
}

cpp_rational power(unsigned base, int exponent) {
  const cpp_int p = boost::multiprecision::pow(cpp_int(base), static_cast<unsigned>(std::abs(exponent)));
  return exponent < 0 ? cpp_rational(1, p) : cpp_rational(p);
}

cpp_rational rational_of(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return cpp_rational(static_cast<std::int64_t>(std::ldexp(fraction, 53))) * power(2, exponent - 53);
}

// The nearest double: 64 leading bits of the quotient, the last of them set if anything follows.
double nearest_double(const cpp_rational& x) {
  if (x == 0) return 0;
  cpp_int numerator = abs(boost::multiprecision::numerator(x));
  cpp_int denominator = boost::multiprecision::denominator(x);
  const int shift = 63 - static_cast<int>(msb(numerator)) + static_cast<int>(msb(denominator));
  (shift >= 0 ? numerator : denominator) <<= static_cast<unsigned>(std::abs(shift));
  cpp_int quotient, remainder;
  divide_qr(numerator, denominator, quotient, remainder);
  const std::uint64_t leading = quotient.convert_to<std::uint64_t>() | (remainder != 0 ? 1 : 0);
  const double magnitude = std::ldexp(static_cast<double>(leading), -shift);
  return x < 0 ? -magnitude : magnitude;
}

// Digits of a base with at most one point among them, as an integer and the number of digits behind the point.
struct digits_read {
  std::string digits;
  int behind_point = 0;
  std::size_t length = 0;
};
digits_read read_digits(std::string_view text, bool hexadecimal) {
  digits_read read;
  bool point = false;
  for (const char c : text) {
    const bool is_digit = (c >= '0' && c <= '9') || (hexadecimal && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
    if (!is_digit && (c != '.' || point)) break;
    if (c == '.')
      point = true;
    else
      read.digits += c;
    if (point && c != '.') ++read.behind_point;
    ++read.length;
  }
  return read;
}

int read_exponent(const std::string& text, std::string_view rest, char letter) {
  if (rest.empty()) return 0;
  int exponent = 0;
  if ((rest.front() | 0x20) != letter) refuse(text, "give a decimal or hexadecimal number, inf or nan");
  rest.remove_prefix(1);
  if (rest.starts_with('+')) rest.remove_prefix(rest.size() > 1 && rest[1] == '-' ? 0 : 1);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), exponent);
  if (end != rest.data() + rest.size() || error == std::errc::invalid_argument)
    refuse(text, "its exponent is not a whole number");
  if (error != std::errc() || std::abs(exponent) > largest_exponent)
    refuse(text, "its exponent must be between -" + std::to_string(largest_exponent) + " and " +
                     std::to_string(largest_exponent));
  return exponent;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

}  // namespace

exact_number::exact_number(const std::string& text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  const std::string word = lower_case(rest);
  if (word == "inf" || word == "infinity" || word == "nan") {
    nearest_ = word == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    if (negative) nearest_ = -nearest_;
    return;
  }

  const bool hexadecimal = word.starts_with("0x");
  if (hexadecimal) rest.remove_prefix(2);
  const digits_read read = read_digits(rest, hexadecimal);
  if (read.digits.empty()) refuse(text, "give a decimal or hexadecimal number, inf or nan");
  if (read.digits.size() > most_digits) refuse(text, "it has more than " + std::to_string(most_digits) + " digits");
  const int exponent = read_exponent(text, rest.substr(read.length), hexadecimal ? 'p' : 'e');

  const std::size_t first = read.digits.find_first_not_of('0');  // a leading 0 would mean octal
  const std::string digits = first == std::string::npos ? "0" : read.digits.substr(first);
  exact_ = cpp_rational(cpp_int((hexadecimal ? "0x" : "") + digits)) *
           power(hexadecimal ? 2 : 10, exponent - (hexadecimal ? 4 : 1) * read.behind_point);
  if (negative) *exact_ = -*exact_;
  nearest_ = std::strtod(text.c_str(), nullptr);
}

double exact_number::rounded(const format& f) const {
  if (!exact_ || f == binary64) return round_to(nearest_, rounding_constants<double>(f));
  // Beyond the largest double every other format has overflowed long ago, by the rule for finite numbers.
  const double bounded = std::isinf(nearest_) ? std::copysign(std::numeric_limits<double>::max(), nearest_) : nearest_;
  const int direction = (*exact_ - rational_of(bounded)).sign();
  double odd = bounded;
  if (bounded == 0 && direction != 0) {
    odd = direction * std::numeric_limits<double>::denorm_min();
  } else if (direction != 0) {
    odd = deviate::detail::to_odd(bounded, direction);
  }
  return round_to(odd, rounding_constants<double>(f));
}

double exact_number::error_in_ulps(double value, const format& f) const {
  if (!exact_ || !std::isfinite(value)) {
    const double exact = exact_ ? 0 : nearest_;
    return value == exact ? 0 : value - exact;  // equal infinities differ by nothing
  }
  return nearest_double((rational_of(value) - *exact_) / rational_of(ulp(value, f)));
}

}  // namespace deviate::tool
