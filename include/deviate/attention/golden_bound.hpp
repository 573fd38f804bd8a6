// SPDX-License-Identifier: Apache-2.0
/// \file golden_bound.hpp
/// \brief A proved bound on the error of a golden row, from quantities that its computation has at hand.
///
/// The derivation, step by step, is in the README of this folder.
// host only
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deviate/number/double_double.hpp>
#include <limits>

namespace deviate {

/// \brief Largest relative error of each operation of a golden's scalar, and what underflow adds.
struct golden_accuracy {
  double add;       ///< of a sum or difference
  double product;   ///< of a product inside a sum; 0 where it is fused with the sum
  double multiply;  ///< of a product on its own
  double divide;    ///< of a quotient
  double exp;       ///< of exp, where its result is normal
  double log;       ///< of log
  double tiny;      ///< absolute error that any operation may have besides, by underflow
};

/// \brief The accuracy of a scalar of which it is proved: double and double_double. `known` is false for any other.
template <class Real>
struct golden_accuracy_of {
  static constexpr bool known = false;  ///< no bound is given
};
/// \brief One rounding each, u = 2^−53; exp and log to 0.63 and 0.65 ulp, an ulp being up to 2u.
template <>
struct golden_accuracy_of<double> {
  static constexpr bool known = true;  ///< a bound is given
  /// \brief The constants.
  static constexpr golden_accuracy value{0x1p-53, 0, 0x1p-53, 0x1p-53, 1.26 * 0x1p-53, 1.3 * 0x1p-53, 0x1p-1074};
};
/// \brief As `double_double` states them for its operations, exp and log.
template <>
struct golden_accuracy_of<double_double> {
  static constexpr bool known = true;  ///< a bound is given
  /// \brief The constants.
  static constexpr golden_accuracy value{3.01 * 0x1p-106, 5 * 0x1p-106, 5 * 0x1p-106, 15.01 * 0x1p-106,
                                         0x1p-103,        0x1p-102,     0x1p-1000};
};

namespace detail {

/// An upper bound of the Euclidean norm of n values at(0) … at(n − 1), without overflow on the way.
template <class At>
double upper_norm(std::int64_t n, At at) {
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = std::fabs(at(i));
    if (!(x <= largest)) largest = x;
    if (!std::isfinite(x)) return std::numeric_limits<double>::infinity();
  }
  if (largest == 0) return 0;
  // Squares are taken of numbers near 1; the power of two rounds nothing that matters to an upper bound.
  const int exponent = std::ilogb(largest);
  const double scale = exponent < -500 || exponent > 500 ? std::ldexp(1.0, std::clamp(-exponent, -1000, 1000)) : 1;
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += (at(i) * scale) * (at(i) * scale);
  return std::sqrt(sum) / scale * (1 + 0x1p-20);
}

/// What the errors of a head's rows are made of. Subnormal constants are formed once: products with them are slow.
struct golden_errors {
  golden_accuracy of{};
  double key_norm = 0;    ///< the largest of any key
  double value_size = 0;  ///< the largest magnitude in V
  double scale = 1;       ///< |scale|
  double per_norm = 0;    ///< |computed − exact score| ≤ per_norm · ‖q‖ ‖k‖ + constant
  double constant = 0;
  double lost = 0;         ///< underflow in the weights of a row
  double lost_value = 0;   ///< the same, times the largest value
  double lost_output = 0;  ///< underflow in the sums and quotients of a row
  /// Below this, every weight is 0 or as small as `tiny`.
  static constexpr double lowest = -746;

  /// \param d terms of a score \param n keys
  void set(const golden_accuracy& a, double the_scale, std::int64_t d, std::int64_t n) {
    of = a;
    scale = std::fabs(the_scale);
    per_norm = scale * (double(d) * a.add + a.product + a.multiply);
    constant = 2 * a.tiny * (scale * double(d) + 1) + a.tiny;
    lost = 4 * double(n) * a.tiny;
    lost_value = lost * value_size;
    lost_output = (2 * double(n) + 4) * a.tiny;
  }
  /// The error in the exponent of a weight whose score lies `distance` from the row's maximum.
  double exponent_error(double query_norm, double norm, double distance) const {
    return per_norm * query_norm * norm + constant + distance * of.add + of.exp;
  }
  /// The largest error in the exponent of any weight of a row.
  double largest_exponent_error(double query_norm) const {
    const double size = query_norm * key_norm;
    if (!(size <= 0x1p900 && size * scale <= 0x1p900)) return std::numeric_limits<double>::infinity();
    return exponent_error(query_norm, key_norm, -lowest);
  }
};

/// What one row sums up besides its output: ŵ are its computed weights, τ the bounds of the errors in their exponents.
struct golden_row_sums {
  double weight = 0;              ///< Σ ŵ
  double error = 0;               ///< Σ ŵ τ
  double value = 0;               ///< Σ ŵ max |v|
  double value_error = 0;         ///< Σ ŵ τ max |v|
  std::int64_t weight_depth = 0;  ///< additions that a weight passes through on its way into the sum
  std::int64_t value_depth = 0;   ///< likewise of a weighted value
};

/// One key of a row, for `bound_of_row`: the one of the largest weight, if it is more than half of the sum.
struct golden_top_key {
  double weight = 0, exponent_error = 0, value_size = 0;
};

struct golden_row_bound {
  double output = 0;
  double log_sum_exp = 0;
};

/// Bound of |O − Ô|, where Ô is the mean of V by the computed weights, if weights err by `error` of their sum.
inline double error_from_weights(double weight, double error, double value_error, double output) {
  if (!(error <= weight / 2)) return std::numeric_limits<double>::infinity();
  return (value_error + output * error) / (weight - error);
}

/// Bounds of |O − computed O|, the largest of the row's columns, and of |LSE − computed LSE|.
/// \param exponent_error the row's `largest_exponent_error`
/// \param output largest |computed O| of the row; \param lse computed LSE
inline golden_row_bound bound_of_row(const golden_errors& e, const golden_row_sums& s, const golden_top_key& top,
                                     double exponent_error, double output, double lse) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!(std::isfinite(output) && std::isfinite(lse) && std::isfinite(exponent_error))) return {infinity, infinity};
  // One percent covers the products of two small terms and the roundings of the bound itself.
  constexpr double slack = 1.01;
  const double weight_sum = double(s.weight_depth) * e.of.add;
  const double value_sum = double(s.value_depth) * e.of.add + e.of.product;
  const double rounding = output * (e.of.divide + weight_sum) + value_sum * s.value / s.weight + e.lost_output;
  const double error = (1 + exponent_error) * s.error + e.lost;
  // O lies among the rows of V, whatever the weights.
  double of_output = output + e.value_size, of_sum = exponent_error;
  if (exponent_error <= 0.5) {
    const double from_weights =
        error_from_weights(s.weight, error, (1 + exponent_error) * s.value_error + e.lost_value, output + rounding);
    of_output = std::min(of_output, rounding + from_weights);
    if (error <= s.weight / 2) of_sum = error / (s.weight - error);
    if (top.weight > 0) {
      // Relative to the top key, which then has no error, every other weight has both errors.
      const auto others = [&](double all_errors, double all, double mine) {
        return (1 + 2 * exponent_error) * (all_errors - top.exponent_error * mine + top.exponent_error * (all - mine) +
                                           0x1p-20 * (all_errors + top.exponent_error * all));
      };
      const double relative = error_from_weights(
          s.weight, others(s.error, s.weight, top.weight) + e.lost,
          others(s.value_error, s.value, top.weight * top.value_size) + e.lost_value, output + rounding);
      of_output = std::min(of_output, rounding + relative);
    }
  }
  return {slack * of_output,
          slack * (of_sum + weight_sum + e.of.log * std::fabs(std::log(s.weight)) + e.of.add * std::fabs(lse))};
}

}  // namespace detail
}  // namespace deviate
