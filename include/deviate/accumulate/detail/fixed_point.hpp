// SPDX-License-Identifier: Apache-2.0
// A sum of doubles without any rounding, as an integer long enough for all of them.
#pragma once

#include <cstdint>
#include <deviate/number/exact.hpp>
#include <limits>

namespace deviate::accumulate::detail {

/// Σ of doubles as Σ digit[i]·2^(32 i − 1088), the digits signed and larger than 32 bits until they are asked for
/// (U. Kulisch, "Computer Arithmetic and Validity", 2008: the long accumulator; carries are deferred).
/// A digit takes less than 2^32 from each term: 2^31 terms fit.
class fixed_point {
 public:
  DEVIATE_HD void add(double x) {
    const std::uint64_t u = bits(x);
    const int field = int(u >> 52 & 0x7ff);
    if (field == 0x7ff) {
      special_ |= x != x ? not_a_number : x > 0 ? plus_infinity : minus_infinity;
      return;
    }
    const std::uint64_t fraction = u & ((std::uint64_t(1) << 52) - 1);
    const std::uint64_t significand = field == 0 ? fraction : fraction | std::uint64_t(1) << 52;
    // The last bit's weight is 2^(field − 1075); subnormals have that of field 1.
    const int place = (field == 0 ? 1 : field) - 1075 + 1088, digit = place >> 5, shift = place & 31;
    const std::uint64_t low = significand << shift;
    const std::int64_t part[3] = {std::int64_t(low & 0xffffffff), std::int64_t(low >> 32),
                                  std::int64_t(shift == 0 ? 0 : significand >> (64 - shift))};
    for (int i = 0; i < 3; ++i) digit_[digit + i] += (u >> 63) != 0 ? -part[i] : part[i];
  }

  /// The sum as a double to odd: rounding it again, to up to 51 bits, is one rounding.
  DEVIATE_HD double to_odd() const { return rounded<true>(); }
  /// The nearest double, ties to even.
  DEVIATE_HD double to_nearest() const { return rounded<false>(); }

 private:
  static constexpr int plus_infinity = 1, minus_infinity = 2, not_a_number = 4;
  static constexpr int digits = 68;

  template <bool Odd>
  DEVIATE_HD double rounded() const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (special_ == plus_infinity) return infinity;
    if (special_ == minus_infinity) return -infinity;
    if (special_ != 0) return std::numeric_limits<double>::quiet_NaN();

    // Proper digits, two's complement first, then sign and magnitude.
    std::uint32_t d[digits];
    std::int64_t carry = 0;
    for (int i = 0; i < digits; ++i) {
      carry += digit_[i];
      d[i] = std::uint32_t(carry);
      carry >>= 32;
    }
    const bool negative = carry < 0;
    if (negative) {
      std::uint64_t borrow = 1;
      for (int i = 0; i < digits; ++i) {
        borrow += std::uint32_t(~d[i]);
        d[i] = std::uint32_t(borrow);
        borrow >>= 32;
      }
    }
    int top = digits - 1;
    while (top >= 0 && d[top] == 0) --top;
    if (top < 0) return 0;
    int first = 32 * top;  // place of the first one
    for (std::uint32_t rest = d[top]; rest > 1; rest >>= 1) ++first;

    // Place p has weight 2^(p − 1088). The last kept bit: 52 below the first, or the subnormals' 2^−1074.
    const int last = first - 52 > 14 ? first - 52 : 14;
    std::uint64_t kept = 0;
    for (int p = first; p >= last; --p) kept = kept << 1 | bit(d, p);
    bool half = last > 0 && bit(d, last - 1), rest = false;
    for (int p = 0; p < last - 1; ++p) rest = rest || bit(d, p);
    if (Odd ? half || rest : false) kept |= 1;
    if (!Odd && half && (rest || (kept & 1) != 0)) ++kept;
    // The integer's carry runs on into the exponent, as in the format itself.
    const std::uint64_t field = std::uint64_t(last - 13);
    const std::uint64_t code = kept < std::uint64_t(1) << 52 ? kept : kept + ((field - 1) << 52);
    constexpr std::uint64_t infinite = std::uint64_t(0x7ff) << 52;
    // A finite sum beyond the largest double is to odd the largest double, whose last bit is one.
    const double magnitude = code >= infinite ? (Odd ? std::numeric_limits<double>::max() : infinity) : from_bits(code);
    return negative ? -magnitude : magnitude;
  }
  static DEVIATE_HD std::uint64_t bit(const std::uint32_t (&d)[digits], int place) {
    return d[place >> 5] >> (place & 31) & 1;
  }

  std::int64_t digit_[digits] = {};
  int special_ = 0;
};

}  // namespace deviate::accumulate::detail
