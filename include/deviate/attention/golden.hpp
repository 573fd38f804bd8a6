// SPDX-License-Identifier: Apache-2.0
/// \file golden.hpp
/// \brief The reference: three-pass softmax in a wide scalar, in a text of its own, tiled so that memory is O(N · d).
// host only
#pragma once

#include <deviate/attention/forward.hpp>
#include <vector>

namespace deviate {

namespace detail {

/// One query row: scores of all its keys, their maximum, their exponentials and sum, then the weighted values.
///
/// Nothing here is shared with the tile steps: no recipe, no rounding, no online rescaling, so that the two can be
/// compared.
/// \tparam Real double, double_double or a Boost number
template <class Real, class T>
void golden_row(const bound_problem& p, std::int64_t batch, std::int64_t query, tensor_view<const T> q,
                const Real* keys, const Real* values, std::int64_t d, std::int64_t d_v, Real* score, Real* out,
                Real& lse) {
  const key_range seen = p.keys(batch, query);
  std::vector<Real> row(static_cast<std::size_t>(d));
  for (std::int64_t c = 0; c < d; ++c) row[static_cast<std::size_t>(c)] = Real(element(q(0, 0, query, c)).value);
  for (std::int64_t j = seen.begin; j < seen.end; ++j) score[j] = Real(0);
  for (std::int64_t c = 0; c < d; ++c)
    for (std::int64_t j = seen.begin; j < seen.end; ++j)
      score[j] = score[j] + row[static_cast<std::size_t>(c)] * keys[c * p.n_key + j];
  const Real scale(p.scale);
  Real most(0);
  bool empty = true;
  for (std::int64_t j = seen.begin; j < seen.end; ++j) {
    score[j] = score[j] * scale;
    if (!p.visible(batch, j)) continue;
    if (empty || most < score[j] || score[j] != score[j]) most = score[j];
    empty = false;
    if (most != most) break;
  }
  for (std::int64_t c = 0; c < d_v; ++c) out[c] = Real(0);
  // As in Flash and Baseline, a row whose scores are all −∞ takes nothing.
  if (empty || most == minus_infinity<Real>()) {
    lse = minus_infinity<Real>();
    return;
  }
  Real sum(0);
  for (std::int64_t j = seen.begin; j < seen.end; ++j) {
    if (!p.visible(batch, j)) continue;
    const Real weight = math::exp(Real(score[j] - most));
    sum = sum + weight;
    for (std::int64_t c = 0; c < d_v; ++c) out[c] = out[c] + weight * values[j * d_v + c];
  }
  for (std::int64_t c = 0; c < d_v; ++c) out[c] = out[c] / sum;
  lse = most + math::log(sum);
}

}  // namespace detail

/// \brief The reference output of an attention problem: Baseline Attention in a wide scalar.
/// \tparam Real scalar of the computation and of the result: double, double_double, or a Boost number to prove that
/// double is enough
/// \param q queries, as for `flash_forward`; give rounded inputs for the golden "on rounded inputs"
/// \param k keys, likewise
/// \param v values, likewise
/// \param p scale and masks
/// \param who number of threads, and a callback for progress in heads
/// \param rows query rows to compute, each at most once, e.g. a sample for a slow `Real`; empty for all. Other rows of
/// the result are 0.
/// \return O and LSE in `Real`
/// \throws contract_violation as `flash_forward`, or if a row is not one of q
///
/// Accuracy in double: the sums run in key order, so relative errors stay near d · 2^−53 for scores and N · 2^−53 for
/// sums; tests/attention/golden.cpp holds O to 1e−14 of 50-digit arithmetic. Memory O(N · d) plus one row of N scores
/// per worker.
template <scalar_with_exp Real = double, class Q, class K, class V>
attention_result<Real> golden(const Q& q, const K& k, const V& v, const problem& p = {}, const workers& who = {},
                              std::span<const std::int64_t> rows = {}) {
  static_assert(scalar_with_log<Real>, "the golden's scalar has no log");
  using T = detail::viewed_element<Q>;
  const tensor_view<const T> qv = detail::as_view(q), kv = detail::as_view(k), vv = detail::as_view(v);
  const detail::bound_problem bound = detail::bind(qv.shape(), kv.shape(), vv.shape(), p);
  for (const std::int64_t row : rows)
    expects(row >= 0 && row < qv.rows(),
            "golden: row " + std::to_string(row) + " is not in 0 … " + std::to_string(qv.rows() - 1));
  attention_result<Real> result;
  result.output = tensor<Real>({qv.batch(), qv.heads(), qv.rows(), vv.columns()}, Real(0));
  result.log_sum_exp = tensor<Real>({qv.batch(), qv.heads(), qv.rows(), 1}, Real(0));
  const std::int64_t n_key = kv.rows(), d = qv.columns(), d_v = vv.columns();
  const std::int64_t n_rows = rows.empty() ? qv.rows() : static_cast<std::int64_t>(rows.size());
  std::vector<Real> keys(static_cast<std::size_t>(d * n_key)), values(static_cast<std::size_t>(n_key * d_v));
  std::int64_t heads_done = 0;
  workers quiet = who;
  quiet.progress = nullptr;
  for (std::int64_t b = 0; b < qv.batch(); ++b)
    for (std::int64_t kh = 0; kh < kv.heads(); ++kh) {
      for (std::int64_t j = 0; j < n_key; ++j) {
        for (std::int64_t c = 0; c < d; ++c)
          keys[std::size_t(c * n_key + j)] = Real(detail::element(kv(b, kh, j, c)).value);
        for (std::int64_t c = 0; c < d_v; ++c)
          values[std::size_t(j * d_v + c)] = Real(detail::element(vv(b, kh, j, c)).value);
      }
      for (std::int64_t h = kh * bound.group; h < (kh + 1) * bound.group; ++h) {
        constexpr std::int64_t rows_at_once = 16;
        parallel_for(quiet, (n_rows + rows_at_once - 1) / rows_at_once, [&](std::int64_t block, arena&) {
          std::vector<Real> score(static_cast<std::size_t>(n_key));
          for (std::int64_t i = block * rows_at_once; i < n_rows && i < (block + 1) * rows_at_once; ++i) {
            const std::int64_t query = rows.empty() ? i : rows[std::size_t(i)];
            detail::golden_row(bound, b, query, qv.head(b, h), keys.data(), values.data(), d, d_v, score.data(),
                               &result.output(b, h, query, 0), result.log_sum_exp(b, h, query, 0));
          }
        });
        ++heads_done;
        if (who.progress) who.progress(heads_done, qv.batch() * qv.heads());
      }
    }
  return result;
}

}  // namespace deviate
