// SPDX-License-Identifier: Apache-2.0
/// \file compensated_sum.hpp
/// \brief The sum that metrics are made of: in double, compensated, in the order of its calls.
#pragma once

#include <cmath>

namespace deviate::detail {

/// \brief A compensated sum: what each addition loses is summed beside it and added at the end.
///
/// Error at most u·|sum| + n²u²·Σ|x|, u = 2^-53. Same bits for the same calls; it never asks which operand is larger.
/// Reference: T. Ogita, S. M. Rump, S. Oishi, "Accurate Sum and Dot Product", 2005, algorithm 4.4 and corollary 4.5.
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
