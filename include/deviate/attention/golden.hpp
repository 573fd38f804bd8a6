// SPDX-License-Identifier: Apache-2.0
/// \file golden.hpp
/// \brief The reference: three-pass softmax in a wide scalar, in a text of its own, with a proved error bound.
// host only
#pragma once

#include <algorithm>
#include <deviate/attention/forward.hpp>
#include <deviate/attention/golden_block.hpp>
#include <deviate/attention/golden_plain.hpp>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace deviate {

/// \brief A golden output, and how far it may lie from the exact one.
///
/// Exact is the softmax in real numbers of the inputs as they stand in `Real`, with the scale as a double. A bound is
/// +∞ where nothing is proved: the row holds NaN or an infinity, or its scores may overflow.
/// \tparam Real scalar of the computation
template <class Real>
struct golden_result : attention_result<Real> {
  /// \brief [batch, query heads, n_query, 1]: bound of |O − exact O| for every column of a row. Empty unless
  /// `golden_accuracy_of<Real>::known`.
  tensor<double> output_bound;
  /// \brief Likewise of |LSE − exact LSE|; 0 where both are −∞.
  tensor<double> log_sum_exp_bound;
};

namespace detail {

/// Rows of a head in double, by blocks.
template <class View, class Write>
void golden_rows(const golden_head& head, const View& q, std::span<const std::int64_t> rows, const workers& who,
                 Write write) {
  const std::int64_t at_once = golden_block::rows_of(head.n), n = std::int64_t(rows.size());
  const std::int64_t blocks = (n + at_once - 1) / at_once;
  parallel_for(who, blocks, [&](std::int64_t i, arena& scratch) {
    // Longest first: under a causal mask the last rows see the most keys.
    const std::int64_t first = (blocks - 1 - i) * at_once;
    const auto mine = rows.subspan(std::size_t(first), std::size_t(std::min(at_once, n - first)));
    scratch.reset();
    golden_block block(scratch, head, q, mine);
    block.run();
    for (std::size_t r = 0; r < mine.size(); ++r)
      write(mine[r],
            [&](double* out, double& lse, golden_row_bound& bound) { lse = block.finish(int(r), out, bound); });
  });
}

/// Rows of a head in a software scalar, one by one.
template <class Real, class View, class Write>
void golden_rows(const golden_plain_head<Real>& head, const View& q, std::span<const std::int64_t> rows,
                 const workers& who, Write write) {
  constexpr std::int64_t at_once = 4;
  const std::int64_t n = std::int64_t(rows.size());
  parallel_for(who, (n + at_once - 1) / at_once, [&](std::int64_t block, arena&) {
    std::vector<Real> score(static_cast<std::size_t>(head.problem.n_key));
    for (std::int64_t i = block * at_once; i < std::min(n, (block + 1) * at_once); ++i)
      write(rows[std::size_t(i)], [&](Real* out, Real& lse, golden_row_bound& bound) {
        bound = golden_row(head, rows[std::size_t(i)], q, score.data(), out, lse);
      });
  });
}

}  // namespace detail

/// \brief The reference output of an attention problem: Baseline Attention in a wide scalar.
/// \tparam Real scalar of the computation and of the result: double; double_double, to study formats as wide as double;
/// or a Boost number, to check either
/// \param q queries, as for `flash_forward`; give rounded inputs for the golden "on rounded inputs"
/// \param k keys, likewise
/// \param v values, likewise
/// \param p scale and masks
/// \param who number of threads, and a callback for progress in heads
/// \param rows query rows to compute, each at most once, e.g. a sample for a slow `Real`; empty for all. Other rows of
/// the result are 0.
/// \return O and LSE in `Real`, and a proved bound on the error of every row
/// \throws contract_violation as `flash_forward`, or if a row is not one of q
///
/// Accuracy: as `output_bound` and `log_sum_exp_bound` say of each row; the derivation is in the README of this folder,
/// and tests/attention/golden_bound.cpp holds it against 50 digits.
/// Order, in double: a score is one chain of fused multiply-adds over d; weighted values are such a chain over each tile
/// of 128 keys, and tiles are added in key order; weights are summed in 8 interleaved lanes. Same bits for any number of
/// threads, any choice of rows, every compiler and vector width; without a fused instruction it is slow. Other scalars:
/// one product and one sum at a time, in key order. Memory O(N · d) plus some rows of N scores per worker.
template <scalar_with_exp Real = double, class Q, class K, class V>
golden_result<Real> golden(const Q& q, const K& k, const V& v, const problem& p = {}, const workers& who = {},
                           std::span<const std::int64_t> rows = {}) {
  static_assert(scalar_with_log<Real>, "the golden's scalar has no log");
  using T = detail::viewed_element<Q>;
  constexpr bool known = golden_accuracy_of<Real>::known;
  const tensor_view<const T> qv = detail::as_view(q), kv = detail::as_view(k), vv = detail::as_view(v);
  const detail::bound_problem bound = detail::bind(qv.shape(), kv.shape(), vv.shape(), p);
  for (const std::int64_t row : rows)
    expects(row >= 0 && row < qv.rows(),
            "golden: row " + std::to_string(row) + " is not in 0 … " + std::to_string(qv.rows() - 1));
  golden_result<Real> result;
  result.output = tensor<Real>({qv.batch(), qv.heads(), qv.rows(), vv.columns()}, Real(0));
  result.log_sum_exp = tensor<Real>({qv.batch(), qv.heads(), qv.rows(), 1}, Real(0));
  if (known) result.output_bound = result.log_sum_exp_bound = tensor<double>({qv.batch(), qv.heads(), qv.rows(), 1}, 0);
  std::vector<std::int64_t> every;
  if (rows.empty()) {
    every.resize(std::size_t(qv.rows()));
    std::iota(every.begin(), every.end(), std::int64_t(0));
    rows = every;
  }
  std::int64_t heads_done = 0;
  workers quiet = who;
  quiet.progress = nullptr;
  const auto query_heads = [&](const auto& head, std::int64_t b, std::int64_t kh) {
    for (std::int64_t h = kh * bound.group; h < (kh + 1) * bound.group; ++h) {
      detail::golden_rows(head, qv.head(b, h), rows, quiet, [&](std::int64_t row, auto compute) {
        detail::golden_row_bound error;
        compute(&result.output(b, h, row, 0), result.log_sum_exp(b, h, row, 0), error);
        if (known) {
          result.output_bound(b, h, row, 0) = error.output;
          result.log_sum_exp_bound(b, h, row, 0) = error.log_sum_exp;
        }
      });
      ++heads_done;
      if (who.progress) who.progress(heads_done, qv.batch() * qv.heads());
    }
  };
  arena packed;
  for (std::int64_t b = 0; b < qv.batch(); ++b)
    for (std::int64_t kh = 0; kh < kv.heads(); ++kh) {
      if constexpr (std::is_same_v<Real, double>) {
        packed.reset();
        query_heads(detail::golden_head(packed, bound, b, kv.head(b, kh), vv.head(b, kh)), b, kh);
      } else {
        query_heads(detail::golden_plain_head<Real>(bound, b, kv.head(b, kh), vv.head(b, kh)), b, kh);
      }
    }
  return result;
}

}  // namespace deviate
