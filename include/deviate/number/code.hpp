// SPDX-License-Identifier: Apache-2.0
/// \file code.hpp
/// \brief The code of a number of a format, and the number of a code.
///
/// From the highest bit down a code holds the sign, the exponent field E and the fraction field F. E = 0 is
/// ±F·2^quantum_exponent, every other E is ±(2^fraction_bits + F)·2^(E − bias − fraction_bits), but for the codes that
/// the format's `special_values` name.
#pragma once

#include <bit>
#include <cstdint>
#include <deviate/number/format.hpp>
#include <limits>

namespace deviate {

/// \brief The number that a code stands for, exactly.
///
/// A NaN is quiet, of the code's sign (positive where the format has one NaN), its payload dropped. Where the format
/// flushes subnormals, E = 0 is ±0.
/// \param code bits above the format's width are ignored
/// \param of the format: a subset of binary64, of any width up to 64 bits
///
/// Runs on host and device; device code takes a local copy of a named format (`constexpr format f = bf16_format`), since
/// it cannot refer to a namespace's. tests/number/code.cpp holds every code of formats of at most 8 bits to ml_dtypes.
DEVIATE_HD constexpr double decode(std::uint64_t code, const format& of) {
  constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
  const std::uint64_t hidden = std::uint64_t{1} << of.fraction_bits, fraction = code & (hidden - 1);
  const std::uint64_t exponent_ones = (std::uint64_t{1} << of.exponent_bits) - 1;
  const std::uint64_t exponent = (code >> of.fraction_bits) & exponent_ones;
  const std::uint64_t sign = ((code >> (of.width() - 1)) & 1) != 0 ? sign_bit : 0;
  const bool top = exponent == exponent_ones, zero = exponent == 0 && fraction == 0;

  const bool is_infinity = of.has_infinity() && top && fraction == 0;
  const bool is_nan = of.has_infinity()                            ? top && fraction != 0
                      : of.specials == special_values::nan_only    ? top && fraction == hidden - 1
                      : of.specials == special_values::finite_only ? false
                                                                   : zero && sign != 0;
  double magnitude = 0;
  if (is_nan) {
    magnitude = std::numeric_limits<double>::quiet_NaN();
    if (!of.has_negative_zero()) return magnitude;
  } else if (is_infinity) {
    magnitude = std::numeric_limits<double>::infinity();
  } else if (exponent != 0 || of.subnormals == subnormal_rule::gradual) {
    const std::uint64_t units = exponent != 0 ? hidden + fraction : fraction;
    const int unit = of.quantum_exponent() + (exponent != 0 ? static_cast<int>(exponent) - 1 : 0);
    // 2^unit, subnormal or not; the product is exact because double holds every number of the format.
    const std::uint64_t power =
        unit >= -1022 ? static_cast<std::uint64_t>(unit + 1023) << 52 : std::uint64_t{1} << (unit + 1074);
    magnitude = static_cast<double>(units) * std::bit_cast<double>(power);
  }
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) | sign);
}

/// \brief The code of a number of a format: the inverse of `decode`.
///
/// Every NaN has one code: of IEEE formats the positive one whose fraction begins with its only one bit, of `nan_only`
/// formats all ones but the sign, of `negative_zero_nan` formats that of −0. A format without NaN has no code for it:
/// it gets the one of its largest number, as the conversions of CUDA 12 to FP6 and FP4 do.
/// \param member a number of the format, as rounding to it gives: ±0, a finite number, an infinity if it has them, or
/// NaN
/// \param of the format: a subset of binary64, of any width up to 64 bits
DEVIATE_HD constexpr std::uint64_t encode(double member, const format& of) {
  constexpr std::uint64_t infinity_bits = std::uint64_t{0x7ff} << 52;
  const std::uint64_t u = std::bit_cast<std::uint64_t>(member), magnitude = u & (~std::uint64_t{0} >> 1);
  const std::uint64_t hidden = std::uint64_t{1} << of.fraction_bits, sign_bit = std::uint64_t{1} << (of.width() - 1);
  const std::uint64_t exponent_ones = ((std::uint64_t{1} << of.exponent_bits) - 1) << of.fraction_bits;
  if (magnitude > infinity_bits) {
    if (of.has_infinity()) return exponent_ones | hidden >> 1;
    return of.specials == special_values::negative_zero_nan ? sign_bit : exponent_ones | (hidden - 1);
  }
  const std::uint64_t sign = magnitude != u ? sign_bit : 0;
  if (magnitude == infinity_bits) return sign | exponent_ones;
  if (magnitude == 0) return of.has_negative_zero() ? sign : 0;

  const int field = static_cast<int>(magnitude >> 52), binade = (field > 0 ? field : 1) - 1023;
  const std::uint64_t significand =
      (magnitude & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{field > 0} << 52;  // in units of 2^(binade − 52)
  const int exponent = binade > of.min_exponent() ? binade : of.min_exponent();
  const std::uint64_t units = significand >> (exponent - of.fraction_bits - (binade - 52));
  // The hidden bit of a normal number counts one in the exponent field.
  return sign | ((static_cast<std::uint64_t>(exponent - of.min_exponent()) << of.fraction_bits) + units);
}

}  // namespace deviate
