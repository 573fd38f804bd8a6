// SPDX-License-Identifier: Apache-2.0
/// \file encode.hpp
/// \brief The code of a number of a format: the inverse of `decode`, for codes of up to 64 bits.
#pragma once

#include <deviate/number/format.hpp>

#include <cmath>
#include <cstdint>

namespace deviate::tool {

/// \brief The code of a number of a format: sign, exponent field and fraction field from the highest bit down.
///
/// Every NaN has one code, the positive quiet NaN: of IEEE formats the one whose fraction begins with its only one bit, of
/// the others the one of all ones.
/// \param member a number of the format, as rounding to it gives: ±0, a finite number, an infinity if it has them, or NaN
/// \param code_format the format; of any width up to 64 bits
inline std::uint64_t encode(double member, const format& code_format) {
  const int fraction_bits = code_format.fraction_bits;
  const std::uint64_t fraction_ones = (std::uint64_t{1} << fraction_bits) - 1;
  const std::uint64_t exponent_ones = (std::uint64_t{1} << code_format.exponent_bits) - 1;
  const std::uint64_t sign = std::uint64_t{std::signbit(member)} << (code_format.width() - 1);
  if (std::isnan(member)) {
    const std::uint64_t quiet = std::uint64_t{1} << (fraction_bits - 1);
    return exponent_ones << fraction_bits | (code_format.has_infinity() ? quiet : fraction_ones);
  }
  if (std::isinf(member)) return sign | exponent_ones << fraction_bits;

  const double magnitude = std::fabs(member);
  if (magnitude < code_format.min_normal())
    return sign | static_cast<std::uint64_t>(std::ldexp(magnitude, -code_format.quantum_exponent()));
  const int exponent = std::ilogb(magnitude);
  const auto significand = static_cast<std::uint64_t>(std::ldexp(magnitude, fraction_bits - exponent));
  const auto biased = static_cast<std::uint64_t>(exponent + code_format.bias());
  return sign | biased << fraction_bits | (significand & fraction_ones);
}

}  // namespace deviate::tool
