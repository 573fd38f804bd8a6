// SPDX-License-Identifier: Apache-2.0
/// \file golden_plain.hpp
/// \brief The golden in a software scalar: one row at a time, as the definition says.
// host only
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deviate/attention/forward_tile.hpp>
#include <deviate/attention/golden_bound.hpp>
#include <deviate/attention/problem.hpp>
#include <deviate/math/scalar_with_functions.hpp>
#include <limits>
#include <vector>

namespace deviate::detail {

/// One head of K, transposed, and V in a software scalar.
/// \tparam Real double_double, a Boost number or a tracked one
template <class Real>
class golden_plain_head {
 public:
  static constexpr bool has_bound = golden_accuracy_of<Real>::known;

  template <class View>
  golden_plain_head(const bound_problem& p, std::int64_t batch, const View& k, const View& v)
      : problem(p), batch_index(batch), d(k.columns()), d_v(v.columns()) {
    const std::int64_t n = k.rows();
    keys.resize(std::size_t(d * n));
    values.resize(std::size_t(n * d_v));
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t c = 0; c < d; ++c) keys[std::size_t(c * n + j)] = Real(element(k(0, 0, j, c)).value);
      for (std::int64_t c = 0; c < d_v; ++c) values[std::size_t(j * d_v + c)] = Real(element(v(0, 0, j, c)).value);
    }
    if constexpr (has_bound) {
      key_norm.resize(std::size_t(n));
      value_size.resize(std::size_t(n));
      for (std::int64_t j = 0; j < n; ++j) {
        if (!p.visible(batch, j)) continue;
        const double norm = upper_norm(d, [&](std::int64_t c) { return double(keys[std::size_t(c * n + j)]); });
        double size = 0;
        for (std::int64_t c = 0; c < d_v; ++c) {
          const double x = std::fabs(double(values[std::size_t(j * d_v + c)])) * (1 + 0x1p-50);
          if (!(x <= size)) size = x;
        }
        // A row that gives weight to a key or value that is not finite has no finite output, and no bound.
        key_norm[std::size_t(j)] = std::isfinite(norm) ? norm : 0;
        value_size[std::size_t(j)] = std::isfinite(size) ? size : 0;
        errors.key_norm = std::max(errors.key_norm, key_norm[std::size_t(j)]);
        errors.value_size = std::max(errors.value_size, value_size[std::size_t(j)]);
      }
      errors.set(golden_accuracy_of<Real>::value, p.scale, d, n);
    }
  }

  const bound_problem& problem;
  std::int64_t batch_index, d, d_v;
  std::vector<Real> keys, values;
  std::vector<double> key_norm, value_size;
  golden_errors errors;
};

/// One query row: scores of all its keys, their maximum, their exponentials and sum, then the weighted values.
///
/// Nothing here is shared with the tile steps: no recipe, no rounding, no online rescaling, so that the two can be
/// compared.
/// \return the error bound; 0 where nothing is known of the scalar
template <class Real, class View>
golden_row_bound golden_row(const golden_plain_head<Real>& head, std::int64_t query, const View& q, Real* score,
                            Real* out, Real& lse) {
  constexpr bool has_bound = golden_plain_head<Real>::has_bound;
  const bound_problem& p = head.problem;
  const std::int64_t d_v = head.d_v;
  const key_range seen = p.keys(head.batch_index, query);
  std::vector<Real> row(static_cast<std::size_t>(head.d));
  for (std::int64_t c = 0; c < head.d; ++c) row[static_cast<std::size_t>(c)] = Real(element(q(0, 0, query, c)).value);
  for (std::int64_t j = seen.begin; j < seen.end; ++j) score[j] = Real(0);
  for (std::int64_t c = 0; c < head.d; ++c)
    for (std::int64_t j = seen.begin; j < seen.end; ++j)
      score[j] = score[j] + row[static_cast<std::size_t>(c)] * head.keys[std::size_t(c * p.n_key + j)];
  const Real scale(p.scale), unseen = minus_infinity<Real>();
  Real most(0);
  bool empty = true;
  for (std::int64_t j = seen.begin; j < seen.end; ++j) {
    score[j] = p.visible(head.batch_index, j) ? Real(score[j] * scale) : unseen;
    if (score[j] == unseen) continue;
    if (empty || most < score[j] || score[j] != score[j]) most = score[j];
    empty = false;
    if (most != most) break;
  }
  golden_row_bound bound;
  double exponent_error = 0, norm = 0;
  if constexpr (has_bound) {
    norm = upper_norm(head.d, [&](std::int64_t c) { return double(row[std::size_t(c)]); });
    exponent_error = head.errors.largest_exponent_error(norm);
  }
  for (std::int64_t c = 0; c < d_v; ++c) out[c] = Real(0);
  // As in Flash and Baseline, a row whose scores are all −∞ takes nothing.
  if (empty) {
    lse = unseen;
    if (!std::isfinite(exponent_error)) bound.output = bound.log_sum_exp = exponent_error;
    return bound;
  }
  Real sum(0);
  golden_row_sums sums;
  golden_top_key top;
  for (std::int64_t j = seen.begin; j < seen.end; ++j) {
    if (!p.visible(head.batch_index, j) || score[j] == unseen) continue;
    const Real distance(score[j] - most);
    const Real weight = math::exp(distance);
    sum = sum + weight;
    for (std::int64_t c = 0; c < d_v; ++c) out[c] = out[c] + weight * head.values[std::size_t(j * d_v + c)];
    if constexpr (has_bound) {
      const double far = -std::max(double(distance), golden_errors::lowest), size = head.value_size[std::size_t(j)];
      const double in_exponent = head.errors.exponent_error(norm, head.key_norm[std::size_t(j)], far);
      const double inexact = in_exponent * double(weight);
      if (double(weight) > top.weight) top = {double(weight), in_exponent, size};
      sums.error += inexact;
      sums.value += double(weight) * size;
      sums.value_error += inexact * size;
    }
  }
  for (std::int64_t c = 0; c < d_v; ++c) out[c] = out[c] / sum;
  lse = most + math::log(sum);
  if constexpr (has_bound) {
    double largest = 0;
    for (std::int64_t c = 0; c < d_v; ++c) {
      const double x = std::fabs(double(out[c])) * (1 + 0x1p-50);
      if (!(x <= largest)) largest = std::isnan(x) ? std::numeric_limits<double>::infinity() : x;
    }
    sums.weight = double(sum);
    sums.weight_depth = sums.value_depth = seen.end - seen.begin;
    bound = bound_of_row(head.errors, sums, top, exponent_error, largest, double(lse));
  }
  return bound;
}

}  // namespace deviate::detail
