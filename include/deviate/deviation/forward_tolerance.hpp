// SPDX-License-Identifier: Apache-2.0
/// \file forward_tolerance.hpp
/// \brief Tolerance advice for the output of attention: golden, baseline and perturbed inputs from Q, K and V.
// host only
#pragma once

#include <deviate/attention/forward.hpp>
#include <deviate/attention/golden.hpp>
#include <deviate/attention/switchable.hpp>
#include <deviate/contract.hpp>
#include <deviate/deviation/perturbation.hpp>
#include <deviate/deviation/row_sample.hpp>
#include <deviate/deviation/tolerance_advice.hpp>
#include <deviate/number/stochastic.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace deviate {

/// \brief Tolerance advice for one attention, with the two results it compares.
struct forward_tolerance {
  tensor<double> golden;    ///< [batch, query heads, n_query, d_v], of the inputs rounded to their format
  tensor<double> baseline;  ///< the materialised computation of the same
  tolerance_advice advice;  ///< see \ref advise_tolerance
};

/// \brief Advises on the tolerance of attention's output, with a baseline of the caller's.
///
/// Inputs are rounded to nearest even first, and golden sees them rounded: the tolerance is for a kernel that is given
/// the same numbers. For each draw every element of Q, K and V moves to a neighbour in the input format, up or down;
/// draw i of tensor t has the signs of `stochastic_rounder(seed).stream(i).stream(t)`. Golden is double's: for outputs
/// about as wide as double its own error is not told from a kernel's.
/// \param q queries, k keys, v values: as for `flash_forward`
/// \param k keys
/// \param v values
/// \param p scale and masks
/// \param input format in which the kernel gets Q, K and V
/// \param output format in which it stores O
/// \param run_baseline called as run_baseline(q, k, v) with the rounded inputs as tensor<double>; its output in double
/// \param o factor, draws, seed, threads
/// \return the advice, golden and the baseline; `within(got, r.golden, r.advice.advised)` judges a kernel's output
/// \throws contract_violation as `golden`, or if an option is out of range
template <class Q, class K, class V, class Baseline>
forward_tolerance advise_forward_tolerance(const Q& q, const K& k, const V& v, const problem& p, const format& input,
                                           const format& output, Baseline run_baseline,
                                           const tolerance_advice_options& o = {}) {
  expects(o.draws >= 0, "advise_forward_tolerance: draws must be 0 or more");
  const auto shape = detail::as_view(q).shape();
  const format to_nearest = input.rounded(rounding_mode::nearest_even);
  // A sample of every row is the whole problem, rounded.
  const row_sample all = sample_rows(q, k, v, p, shape.batch * shape.heads * shape.rows, to_nearest);
  const workers who{.count = o.workers};
  forward_tolerance result;
  result.golden = golden(all.q, all.k, all.v, p, who).output;
  result.baseline = run_baseline(all.q, all.k, all.v);
  std::vector<tensor<double>> perturbed;
  for (int i = 0; i < o.draws; ++i) {
    const stochastic_rounder signs = stochastic_rounder(o.seed).stream(std::uint64_t(i));
    perturbed.push_back(golden(moved_by_one_ulp(all.q, to_nearest, signs.stream(0)),
                               moved_by_one_ulp(all.k, to_nearest, signs.stream(1)),
                               moved_by_one_ulp(all.v, to_nearest, signs.stream(2)), p, who)
                            .output);
  }
  result.advice = advise_tolerance(result.golden, result.baseline, perturbed, output, o.factor);
  return result;
}

/// \brief The same with the materialised computation of a recipe, such as `baseline<bf16>{}`, whose sites `input` and
/// `output` name the formats.
///
/// `advise_forward_tolerance(baseline<bf16>{}, q, k, v).advice.advised`
/// \param plain recipe of `baseline_forward`: native, emulated or run-time formats
/// \param q queries, k keys, v values: as for `flash_forward`
/// \param k keys
/// \param v values
/// \param p scale and masks
/// \param o factor, draws, seed, threads
template <class Recipe, class Q, class K, class V>
forward_tolerance advise_forward_tolerance(const Recipe& plain, const Q& q, const K& k, const V& v,
                                           const problem& p = {}, const tolerance_advice_options& o = {}) {
  const recipe_formats formats = formats_of(plain);
  return advise_forward_tolerance(
      q, k, v, p, formats.of_site[int(site::input)], formats.of_site[int(site::output)],
      [&](const tensor<double>& rounded_q, const tensor<double>& rounded_k, const tensor<double>& rounded_v) {
        const auto got =
            baseline_forward(plain, rounded_q, rounded_k, rounded_v, p, workers{.count = o.workers}).output;
        tensor<double> wide(got.shape());
        for (std::size_t i = 0; i < wide.values().size(); ++i) wide.values()[i] = static_cast<double>(got.values()[i]);
        return wide;
      },
      o);
}

}  // namespace deviate
