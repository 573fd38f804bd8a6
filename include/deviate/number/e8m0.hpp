// SPDX-License-Identifier: Apache-2.0
/// \file e8m0.hpp
/// \brief E8M0, the scale of the OCP microscaling formats: a power of two from 2^−127 to 2^127, or NaN.
///
/// It has no sign, no zero and no fraction, so it is no `format`: a type of its own.
#pragma once

#include <bit>
#include <cstdint>
#include <deviate/number/format.hpp>
#include <limits>

namespace deviate {

/// \brief A power of two in 8 bits: code c is 2^(c − 127), code 0xFF is NaN ("OCP Microscaling Formats (MX)
/// Specification", version 1.0, 5.4.1).
class e8m0 {
 public:
  /// \brief 1.
  constexpr e8m0() = default;

  /// \brief The number with a code.
  static DEVIATE_HD constexpr e8m0 from_code(std::uint8_t code) {
    e8m0 r;
    r.code_ = code;
    return r;
  }

  /// \brief A value rounded to a power of two.
  ///
  /// Decided cases: zero of either sign and every positive value below 2^−127 become 2^−127, the nearest there is; a
  /// negative value and NaN become NaN. A finite value beyond 2^127 becomes 2^127, and an infinite one NaN, unless
  /// `overflow` says otherwise: `saturate` gives 2^127 for both, `nan` (and `infinity`, which E8M0 has not) NaN for
  /// both.
  /// \param x any double
  /// \param mode `nearest_even` (of two equally near, the even code) and `nearest_away` measure the distance of the
  /// values, so 1.5 is between 1 and 2; `toward_zero` and `downward` take the floor of the logarithm, as the OCP
  /// specification derives a block's scale; `upward` the ceiling, as NVIDIA's conversions offer; `to_odd` the odd code
  /// \param overflow what lies beyond 2^127
  /// \pre mode is not stochastic
  static DEVIATE_HD constexpr e8m0 round(double x, rounding_mode mode = rounding_mode::nearest_even,
                                         overflow_rule overflow = overflow_rule::saturate_finite) {
    constexpr std::uint64_t one_bit = std::uint64_t{1} << 52, infinity_bits = std::uint64_t{0x7ff} << 52;
    const std::uint64_t u = std::bit_cast<std::uint64_t>(x);
    const bool is_zero = (u << 1) == 0;
    if (!is_zero && u > infinity_bits) return from_code(not_a_number_code);  // negative, or NaN
    if (is_zero) return from_code(0);
    if (u == infinity_bits) return from_code(overflow == overflow_rule::saturate ? largest_code : not_a_number_code);
    const int floor = static_cast<int>(u >> 52) - 1023 + 127;  // the code of the power of two below
    const std::uint64_t rest = u & (one_bit - 1), half = one_bit / 2;
    int code = floor;
    switch (mode) {
      case rounding_mode::nearest_even: code += rest > half || (rest == half && floor % 2 != 0) ? 1 : 0; break;
      case rounding_mode::nearest_away: code += rest >= half ? 1 : 0; break;
      case rounding_mode::upward: code += rest != 0 ? 1 : 0; break;
      case rounding_mode::to_odd: code += rest != 0 && floor % 2 == 0 ? 1 : 0; break;
      default: break;
    }
    if (code < 0) return from_code(0);
    if (code > largest_code) {
      const bool stays = mode == rounding_mode::toward_zero || mode == rounding_mode::downward ||
                         mode == rounding_mode::to_odd || overflow == overflow_rule::saturate ||
                         overflow == overflow_rule::saturate_finite;
      return from_code(stays ? largest_code : not_a_number_code);
    }
    return from_code(static_cast<std::uint8_t>(code));
  }

  /// \brief The code.
  DEVIATE_HD constexpr std::uint8_t code() const { return code_; }
  /// \brief True for the code 0xFF.
  DEVIATE_HD constexpr bool is_nan() const { return code_ == not_a_number_code; }
  /// \brief The value, exactly.
  DEVIATE_HD explicit constexpr operator double() const {
    if (is_nan()) return std::numeric_limits<double>::quiet_NaN();
    return std::bit_cast<double>(static_cast<std::uint64_t>(code_ - 127 + 1023) << 52);
  }
  /// \brief The value, exactly: 2^−127 is a subnormal float.
  DEVIATE_HD explicit constexpr operator float() const { return static_cast<float>(double(*this)); }
  /// \brief Equal codes: NaN is equal to itself, unlike a number's.
  friend constexpr bool operator==(const e8m0&, const e8m0&) = default;

 private:
  static constexpr std::uint8_t largest_code = 254, not_a_number_code = 255;
  std::uint8_t code_ = 127;
};

}  // namespace deviate
