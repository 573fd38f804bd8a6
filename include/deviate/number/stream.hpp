// SPDX-License-Identifier: Apache-2.0
/// \file stream.hpp
/// \brief Emulated numbers and double_double to and from streams, without loss.
// host only
#pragma once

#include <deviate/number/text.hpp>

#include <istream>
#include <ostream>
#include <string>

namespace deviate {

namespace detail {

/// The characters of a number, in the order in which they may come; stops before the first that cannot belong to it.
inline std::string number_token(std::istream& in) {
  std::string token;
  bool hexadecimal = false, exponent = false;
  for (int next = in.peek(); next != std::istream::traits_type::eof(); next = in.peek()) {
    const char c = char(next), lower = char(c | 0x20), previous = token.empty() ? '\0' : char(token.back() | 0x20);
    const bool first = token.empty() || token == "-" || token == "+";
    const bool word = !first && !hexadecimal && (token.find_first_of("nNiI") != std::string::npos);
    const bool sign = c == '+' || c == '-';
    bool belongs = false;
    if (sign)
      belongs = token.empty() || (exponent && previous == (hexadecimal ? 'p' : 'e'));
    else if (word)
      belongs = lower >= 'a' && lower <= 'z';
    else if (digit_of(c, hexadecimal && !exponent) >= 0 || (c == '.' && !exponent))
      belongs = true;
    else if (first)
      belongs = lower == 'n' || lower == 'i';
    else if (!hexadecimal && lower == 'x')
      belongs = hexadecimal = (token == "0" || token == "-0" || token == "+0");
    else if (!exponent && lower == (hexadecimal ? 'p' : 'e'))
      belongs = exponent = true;
    if (!belongs) break;
    token += char(in.get());
  }
  return token;
}

template <class T>
std::istream& read_from(std::istream& in, T& x) {
  const std::istream::sentry ready(in);
  if (!ready) return in;
  const auto value = from_text<T>(number_token(in));
  if (value)
    x = *value;
  else
    in.setstate(std::ios_base::failbit);
  return in;
}

}  // namespace detail

/// \brief Writes `to_string(x)`, the shortest text that reads back; width, fill and alignment are the stream's, its
/// precision, its notation and its locale play no part.
template <format F>
std::ostream& operator<<(std::ostream& out, const emulated<F>& x) {
  return out << to_string(x);
}

/// \brief Reads a number as `from_text` does, after white space. What cannot belong to a number stays in the stream; a
/// text that is none sets failbit and leaves x as it is.
template <format F>
std::istream& operator>>(std::istream& in, emulated<F>& x) {
  return detail::read_from(in, x);
}
/// \brief The same.
inline std::istream& operator>>(std::istream& in, double_double& x) { return detail::read_from(in, x); }

}  // namespace deviate
