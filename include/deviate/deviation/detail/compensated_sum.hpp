// SPDX-License-Identifier: Apache-2.0
/// \file compensated_sum.hpp
/// \brief The sum that metrics are made of: in double, compensated, in the order of its calls.
#pragma once

#include <cmath>

namespace deviate::detail {

/// \brief Neumaier's compensated sum: error about one rounding of the result plus n·2^-106 times the sum of magnitudes.
///
/// Reference: A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974, algorithm IV.
class compensated_sum {
 public:
  void add(double x) {
    const double next = sum_ + x;
    // Knuth's two-sum: what the addition lost, exactly, whichever operand is larger, and without a branch to mispredict.
    const double added = next - sum_;
    lost_ += (sum_ - (next - added)) + (x - added);
    sum_ = next;
  }
  /// \brief The sum of everything added. After an overflow the lost part is NaN, and the plain sum is the answer.
  double value() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

}  // namespace deviate::detail
