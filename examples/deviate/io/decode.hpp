// SPDX-License-Identifier: Apache-2.0
/// \file decode.hpp
/// \brief The value of a code of a narrow floating-point format, from the format's definition.
#pragma once

#include <deviate/number/format.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace deviate::tool {

/// \brief The number that a code stands for, exactly.
///
/// From the highest bit down a code holds the sign, the exponent field E and the fraction field F:
/// E = 0 is ±F·2^quantum_exponent (±0 where subnormals are flushed), else ±(2^fraction_bits + F)·2^(E − bias −
/// fraction_bits); the codes that `specials` names are ±infinity and NaN (of the code's sign, quiet, its payload dropped).
/// \param code bits above the format's width are ignored
/// \pre `code_format.width() <= 16`
inline double decode(std::uint32_t code, const format& code_format) {
  const std::uint32_t fraction_ones = (std::uint32_t{1} << code_format.fraction_bits) - 1;
  const std::uint32_t exponent_ones = (std::uint32_t{1} << code_format.exponent_bits) - 1;
  const std::uint32_t fraction = code & fraction_ones;
  const std::uint32_t exponent = (code >> code_format.fraction_bits) & exponent_ones;
  const bool negative = ((code >> (code_format.width() - 1)) & 1) != 0;

  const bool is_infinity = code_format.has_infinity() && exponent == exponent_ones && fraction == 0;
  const bool is_nan =
      exponent == exponent_ones && (code_format.has_infinity() ? fraction != 0 : fraction == fraction_ones);
  double magnitude = 0;
  if (is_nan) {
    magnitude = std::numeric_limits<double>::quiet_NaN();
  } else if (is_infinity) {
    magnitude = std::numeric_limits<double>::infinity();
  } else if (exponent != 0) {
    const int unit_exponent = static_cast<int>(exponent) - code_format.bias() - code_format.fraction_bits;
    magnitude = std::ldexp(static_cast<double>(fraction_ones + 1 + fraction), unit_exponent);
  } else if (code_format.subnormals == subnormal_rule::gradual) {
    magnitude = std::ldexp(static_cast<double>(fraction), code_format.quantum_exponent());
  }
  return std::copysign(magnitude, negative ? -1.0 : 1.0);
}

}  // namespace deviate::tool
