// SPDX-License-Identifier: Apache-2.0
/// \file exact_number.hpp
/// \brief A number as its text says it, without any rounding, and its one rounding to a format.
#pragma once

#include <deviate/number/format.hpp>

#include <boost/multiprecision/cpp_int.hpp>

#include <optional>
#include <string>

namespace deviate::tool {

/// \brief A decimal or hexadecimal number, exactly, or an infinity or NaN.
///
/// Decimal text that passes through double on its way to a format can be rounded twice: 1.01171875 and a digit far behind
/// it is the midpoint of two bf16 numbers as a double, and is not.
class exact_number {
 public:
  /// \param text as 0.1, -2.5e-3, 0x1.8p-3, inf or nan
  /// \throws usage_error if it is not a number, or too long to be computed with exactly
  explicit exact_number(const std::string& text);

  /// \brief The number rounded once, to nearest even, with the format's own overflow.
  double rounded(const format& f) const;
  /// \brief (value − exact) in ulps of the format at `value`, rounded once; an infinity or NaN where either is.
  double error_in_ulps(double value, const format& f) const;

 private:
  using rational = boost::multiprecision::cpp_rational;

  double nearest_ = 0;             // binary64, to nearest even
  std::optional<rational> exact_;  // nothing for infinities and NaN
};

}  // namespace deviate::tool
