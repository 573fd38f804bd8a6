// SPDX-License-Identifier: Apache-2.0
/// \file tolerance.hpp
/// \brief Which difference is acceptable: tolerances that a perfect kernel passes, and the rule of two baselines.
#pragma once

#include <deviate/contract.hpp>
#include <deviate/deviation/detail/number_text.hpp>
#include <deviate/deviation/detail/read_view.hpp>
#include <deviate/deviation/ulp.hpp>
#include <deviate/number/format.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace deviate {

/// \brief A bound on |got − golden|: atol + rtol·|golden|.
struct tolerance {
  double atol = 0;      ///< absolute part
  double rtol = 0;      ///< part relative to golden
  std::string because;  ///< where the two numbers come from, for people
};

/// \brief The smallest tolerance that does not fail a perfect kernel, one that only rounds the right result once.
///
/// rtol is the unit roundoff, 2^-(fraction_bits + 1): 2^-8 for bf16, 2^-11 for fp16. atol is half an output ulp at
/// max|O|, and the smallest normal number where subnormals are flushed. Each of the two alone passes correctly rounded
/// results (rtol alone: normal ones), so their sum leaves the kernel's own arithmetic about as much again.
/// If max|O| rounds beyond the largest finite number, no finite bound holds, and atol is +infinity.
/// \param output format in which the output is stored
/// \param largest_output max|O| of the golden output
/// \throws contract_violation if `largest_output` is negative, infinite or NaN
inline tolerance recommended_tolerance(const format& output, double largest_output) {
  expects(largest_output >= 0 && std::isfinite(largest_output),
          "recommended_tolerance: largest_output = " + detail::number_text(largest_output) +
              " must be a finite number, 0 or more");
  const double half_ulp = ulp(largest_output, output) / 2;
  const std::string where = "half an output ulp at max|O| = " + detail::number_text(largest_output) + " is " +
                            detail::number_text(half_ulp) + "; unit roundoff 2^-" + std::to_string(output.precision());
  const double roundoff = output.epsilon() / 2;
  const double end = output.max_finite();
  if (largest_output > end && largest_output - end >= ulp(end, output) / 2)
    return {std::numeric_limits<double>::infinity(), roundoff,
            "max|O| = " + detail::number_text(largest_output) + " is beyond the largest number of the output format, " +
                detail::number_text(end) + ": no finite bound holds"};
  if (output.subnormals == subnormal_rule::flush && output.min_normal() > half_ulp)
    return {output.min_normal(), roundoff,
            where + "; results below " + detail::number_text(output.min_normal()) +
                ", the smallest normal number, are flushed to zero"};
  return {half_ulp, roundoff, where};
}

/// \brief What \ref within found.
struct tolerance_check {
  std::int64_t compared = 0;  ///< elements looked at
  std::int64_t failing = 0;   ///< of these, the ones outside the tolerance
  /// Largest |got − golden| − (atol + rtol·|golden|): above 0, how far the worst element is off; below, the room left.
  /// NaN if there is a NaN mismatch, +infinity for an infinity mismatch, −infinity if nothing was compared.
  double worst_excess = -std::numeric_limits<double>::infinity();

  /// \brief failing / compared, 0 if nothing was compared.
  double share() const { return compared > 0 ? double(failing) / double(compared) : 0; }
  /// \brief True if something was compared and nothing failed.
  bool passed() const { return compared > 0 && failing == 0; }
};

/// \brief Checks |got − golden| ≤ atol + rtol·|golden| for every element.
///
/// NaN on one side fails, on both sides too unless `both_nan_equal`. Equal infinities pass, any other infinity fails,
/// whatever the tolerance.
/// \param got the computed values, [batch, heads, rows, columns]: a tensor or a view
/// \param golden the reference values, in the same shape
/// \param atol absolute part, 0 or more
/// \param rtol part relative to golden, 0 or more
/// \param both_nan_equal true if NaN on both sides passes
/// \throws contract_violation if the shapes differ, or a tolerance is negative or NaN
template <readable_tensor Got, readable_tensor Golden>
tolerance_check within(const Got& got, const Golden& golden, double atol, double rtol, bool both_nan_equal = false) {
  const auto computed = detail::read_view(got);
  const auto reference = detail::read_view(golden);
  const extents& shape = computed.shape();
  detail::expects_same_shape("within", shape, reference.shape());
  expects(atol >= 0, "within: atol = " + detail::number_text(atol) + " must be 0 or more");
  expects(rtol >= 0 && std::isfinite(rtol),
          "within: rtol = " + detail::number_text(rtol) + " must be finite, 0 or more");

  const auto excess = [&](double a, double b) {
    if (std::isnan(a) && std::isnan(b) && both_nan_equal) return -atol;
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
    if (a == b) return -(atol + (std::isinf(b) ? 0 : rtol * std::fabs(b)));
    if (std::isinf(a) || std::isinf(b)) return std::numeric_limits<double>::infinity();
    return std::fabs(a - b) - (atol + rtol * std::fabs(b));
  };
  tolerance_check check;
  for (std::int64_t b = 0; b < shape.batch; ++b)
    for (std::int64_t h = 0; h < shape.heads; ++h)
      for (std::int64_t r = 0; r < shape.rows; ++r)
        for (std::int64_t c = 0; c < shape.columns; ++c) {
          const double e =
              excess(static_cast<double>(computed(b, h, r, c)), static_cast<double>(reference(b, h, r, c)));
          ++check.compared;
          check.failing += !(e <= 0);
          // Written so that a NaN, once there, stays.
          if (std::isnan(e) || e > check.worst_excess) check.worst_excess = e;
        }
  return check;
}

/// \copybrief within
/// With the bounds of a \ref tolerance.
template <readable_tensor Got, readable_tensor Golden>
tolerance_check within(const Got& got, const Golden& golden, const tolerance& allowed, bool both_nan_equal = false) {
  return within(got, golden, allowed.atol, allowed.rtol, both_nan_equal);
}

/// \brief Two deviations side by side: of the kernel that is judged, and of the plain computation in the same format.
struct baseline_verdict {
  double fused = 0;     ///< max|fused − ref|
  double naive = 0;     ///< max|naive − ref|
  double ratio = 0;     ///< fused / naive; 0 if both are 0
  double floor = 0;     ///< one output ulp at max|ref|
  double allowed = 0;   ///< factor·naive + floor
  bool passed = false;  ///< fused ≤ allowed; false for NaN
};

/// \brief The rule of kernel maintainers: |fused − ref| ≤ factor·|naive − ref| + floor.
///
/// The floor is one output ulp at max|ref|, because the naive error can be 0 (with a single key P is 1 and the naive
/// gradient of V is exact), and a factor of nothing allows nothing. A naive deviation that is NaN or infinite excuses
/// nothing: then only the floor is allowed.
/// \param fused_max_abs max|fused − ref|, e.g. `max_abs` of a deviation; NaN fails
/// \param naive_max_abs max|naive − ref|, of the materialised computation in the same format
/// \param output format in which both outputs are stored
/// \param largest_output max|ref|
/// \param factor how many times the naive deviation is accepted
/// \throws contract_violation if `largest_output` or `factor` is negative, infinite or NaN
inline baseline_verdict compare_with_baseline(double fused_max_abs, double naive_max_abs, const format& output,
                                              double largest_output, double factor = 2) {
  expects(largest_output >= 0 && std::isfinite(largest_output),
          "compare_with_baseline: largest_output = " + detail::number_text(largest_output) +
              " must be a finite number, 0 or more");
  expects(factor >= 0 && std::isfinite(factor),
          "compare_with_baseline: factor = " + detail::number_text(factor) + " must be a finite number, 0 or more");
  baseline_verdict v;
  v.fused = fused_max_abs;
  v.naive = naive_max_abs;
  v.ratio = fused_max_abs == 0 && naive_max_abs == 0 ? 0 : fused_max_abs / naive_max_abs;
  v.floor = ulp(largest_output, output);
  v.allowed = (std::isfinite(naive_max_abs) ? factor * naive_max_abs : 0) + v.floor;
  v.passed = v.fused <= v.allowed;
  return v;
}

}  // namespace deviate
