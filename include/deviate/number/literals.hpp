// SPDX-License-Identifier: Apache-2.0
/// \file literals.hpp
/// \brief Literals of the named formats: `using namespace deviate::literals; auto x = 0.1_bf16;`.
#pragma once

#include <deviate/number/detail/decimal.hpp>
#include <deviate/number/double_double.hpp>
#include <deviate/number/named.hpp>

#include <type_traits>

namespace deviate {

namespace detail {
/// Not constexpr: a literal that calls one is refused with its name in the message.
inline void literal_is_beyond_the_largest_number_of_its_format() {}
inline void literal_is_not_a_number() {}

template <class T>
constexpr T literal_of(const char* text) {
  const char* end = text;
  while (*end != 0) ++end;
  // An octal or binary integer would read as a decimal one.
  if (text[0] == '0' && end - text > 1 && text[1] != '.' && (text[1] | 0x20) != 'x' && (text[1] | 0x20) != 'e') {
    bool decimal = false;
    for (const char* c = text; c != end; ++c) decimal = decimal || *c == '.' || *c == 'e' || *c == 'E';
    if (!decimal) literal_is_not_a_number();
  }
  const text_value value = read_number(text, end, true);
  if (value.what != text_value::kind::finite || value.end != end) literal_is_not_a_number();
  if constexpr (std::is_same_v<T, double_double>) {
    const double_double r = read_double_double(value);
    if (r.hi() - r.hi() != 0) literal_is_beyond_the_largest_number_of_its_format();
    return r;
  } else {
    static_assert(T::number_format.rounding == rounding_mode::nearest_even, "literals are rounded to nearest even");
    const double r = round_literal(read_to_odd(value), T::number_format);
    if (r != r) literal_is_beyond_the_largest_number_of_its_format();
    return T::from_carrier(typename T::carrier_type(r));
  }
}
}  // namespace detail

/// \brief The number that the text of a literal stands for, rounded once, at compile time; for literals of one's own:
/// `consteval mine operator""_mine(const char* text) { return deviate::literal<mine>(text); }`.
/// \tparam T an emulated number that rounds to nearest even, or double_double
/// \param text decimal or hexadecimal, with or without a fraction, an exponent and digit separators
/// \return the number of T nearest to the exact value of the text, never by way of double. What rounds beyond the
///   largest number does not compile, saturating formats included; below the smallest it is rounded to it or to zero.
template <class T>
consteval T literal(const char* text) {
  return detail::literal_of<T>(text);
}

/// \brief The suffixes.
namespace literals {

// clang-format off
/// \name Literals
/// @{

/// \brief A number of the format that the suffix names, rounded once from the literal's text.
consteval bf16 operator""_bf16(const char* text) { return literal<bf16>(text); }
consteval fp16 operator""_fp16(const char* text) { return literal<fp16>(text); }
consteval tf32 operator""_tf32(const char* text) { return literal<tf32>(text); }
consteval fp8_e5m2 operator""_e5m2(const char* text) { return literal<fp8_e5m2>(text); }
consteval fp8_e4m3 operator""_e4m3(const char* text) { return literal<fp8_e4m3>(text); }
consteval fp8_e4m3_saturating operator""_e4m3_saturating(const char* text) { return literal<fp8_e4m3_saturating>(text); }
consteval fp8_e4m3_fnuz operator""_e4m3_fnuz(const char* text) { return literal<fp8_e4m3_fnuz>(text); }
consteval fp8_e5m2_fnuz operator""_e5m2_fnuz(const char* text) { return literal<fp8_e5m2_fnuz>(text); }
consteval fp6_e3m2 operator""_e3m2(const char* text) { return literal<fp6_e3m2>(text); }
consteval fp6_e2m3 operator""_e2m3(const char* text) { return literal<fp6_e2m3>(text); }
consteval fp4_e2m1 operator""_e2m1(const char* text) { return literal<fp4_e2m1>(text); }
consteval fp24_e8m15 operator""_e8m15(const char* text) { return literal<fp24_e8m15>(text); }
consteval fp24_e7m16 operator""_e7m16(const char* text) { return literal<fp24_e7m16>(text); }
consteval e8m13 operator""_e8m13(const char* text) { return literal<e8m13>(text); }
consteval double_double operator""_dd(const char* text) { return literal<double_double>(text); }
/// @}
// clang-format on

}  // namespace literals

}  // namespace deviate
