// SPDX-License-Identifier: Apache-2.0
/// \file summary.hpp
/// \brief What a comparison says: every metric of a set of elements, side by side, and the choices it depends on.
#pragma once

#include <deviate/deviation/ulp.hpp>
#include <deviate/number/format.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace deviate {

/// \brief Choices of a comparison.
struct deviation_options {
  /// Format in which ulps are counted and saturation is judged: that of the output, not of the golden.
  format ulp_format = binary32;
  /// Rows that take part, nonzero = valid: [batch × rows], one mask for all heads, or [batch × heads × rows]. Empty: all
  /// rows. Padded query rows are 0 in one implementation and arbitrary in another, so they need this mask.
  std::span<const std::uint8_t> valid_rows = {};
  /// True: NaN on both sides is an agreement, with difference 0. False: it is a mismatch like NaN on one side.
  bool both_nan_equal = false;
  /// True: the Wasserstein distances are computed. They sort all values; the other metrics only pass over them.
  bool wasserstein = true;
  /// True: the report has a summary for each row position.
  bool per_row = false;
};

/// \brief An element and its two values. Indices are −1 where no element was compared.
struct element_location {
  std::int64_t batch = -1;                                   ///< index along the first dimension
  std::int64_t head = -1;                                    ///< index along the second
  std::int64_t row = -1;                                     ///< index along the third
  std::int64_t column = -1;                                  ///< index along the last
  double got = std::numeric_limits<double>::quiet_NaN();     ///< the computed value
  double golden = std::numeric_limits<double>::quiet_NaN();  ///< the reference value
};

/// \brief Every metric of one set of elements: a whole tensor, a head, or a row position.
///
/// *Maxima are over all compared elements and cannot hide one*: a NaN mismatch makes them NaN, else an infinity mismatch
/// makes them +infinity. Equal infinities differ by 0. *Means, sums and distributions are over finite pairs*, those with
/// both values finite; the counts say how many were left out. Where no element is left (none compared, or none finite),
/// these metrics are NaN, never a reassuring 0.
///
/// Below, a is the computed value ("got"), b the golden one, d = a − b, n the number of finite pairs. Sums are
/// compensated, in double, in the order batch, head, row, column: the same bits for every thread count.
/// Rows that are 0 on both sides add nothing to the relative metrics; they do count in n.
struct deviation_summary {
  /// \name Size of the difference
  /// @{
  double max_abs = undefined;   ///< largest |d| over all compared elements; NaN or +infinity as told above
  double mean_abs = undefined;  ///< Σ|d| / n
  double std_abs = undefined;   ///< standard deviation of |d| within this set (divisor n)
  double rmse = undefined;      ///< √(Σd² / n)
  /// @}

  /// \name Relative to golden: 0/0 is 0, x/0 is +infinity
  /// @{
  double relative_l1 = undefined;  ///< Σ|d| / Σ|b|
  double relative_l2 = undefined;  ///< √Σd² / √Σb², Frobenius
  double norm_ratio = undefined;   ///< √Σa² / √Σb²; 1 if both are 0
  double cosine = undefined;       ///< Σab / (√Σa² √Σb²); 1 if both norms are 0, 0 if one is
  /// @}

  /// \name Signed bias
  /// @{
  double bias = undefined;  ///< Σd / n
  /// Half width of the 95 % confidence interval of `bias`: 1.96·s/√n, s with divisor n − 1; +infinity for n = 1. It
  /// assumes independent errors. Errors of one attention row share its weights, so the true interval may be wider.
  double bias_ci95 = undefined;
  /// @}

  /// \name Ulps of golden in the stated format: |d| / ulp(b)
  /// @{
  double max_ulp = undefined;   ///< over all compared elements, as `max_abs`
  double mean_ulp = undefined;  ///< over finite pairs
  ulp_histogram ulps;           ///< over finite pairs
  /// @}

  /// \name Distance of the two distributions of values, wherever the values stand: NaN if switched off
  /// @{
  double wasserstein_1 = undefined;  ///< W_1 of the values of got and of golden, over finite pairs
  double wasserstein_2 = undefined;  ///< W_2 of the same
  /// @}

  /// \name Counts of elements
  /// @{
  std::int64_t compared = 0;      ///< elements of valid rows
  std::int64_t finite_pairs = 0;  ///< both values finite: the n above
  /// Same bits as doubles: +0 and −0 are not identical, though they differ by 0. NaN on both sides counts if that is
  /// declared equal. From a golden wider than double an identical element may differ, by what rounding it takes off.
  std::int64_t identical = 0;
  std::int64_t nan_in_got = 0;           ///< NaN in got only
  std::int64_t nan_in_golden = 0;        ///< NaN in golden only: the reference is at fault
  std::int64_t nan_in_both = 0;          ///< NaN on both sides
  std::int64_t infinity_mismatches = 0;  ///< no NaN, an infinity on one side, or of opposite signs
  std::int64_t infinities_equal = 0;     ///< the same infinity on both sides
  std::int64_t saturated = 0;        ///< got is ± the format's largest finite number, to which golden does not round
  std::int64_t flushed_to_zero = 0;  ///< got is 0, golden is a number other than 0
  /// @}

  /// First element with the largest |d|; NaN counts as larger than infinity.
  element_location worst;

  /// \brief identical / compared.
  double identical_share() const { return compared > 0 ? double(identical) / double(compared) : undefined; }
  /// \brief True if the confidence interval of the bias excludes 0.
  bool is_biased() const { return std::fabs(bias) > bias_ci95; }
  /// \brief −20·log10(relative_l2). Three significand bits are 18.06 dB: fp16 against bf16 differ by this on any data
  /// that neither over- nor underflows, whatever computes it.
  double signal_to_noise_db() const { return -20 * std::log10(relative_l2); }

 private:
  static constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace deviate
