// SPDX-License-Identifier: Apache-2.0
/// \file attribution.hpp
/// \brief Which step is to blame: the error of an attention, shared out over groups of its sites.
///
/// Four views of one error. *Demote*: one group rounds, all else is exact. *Promote*: one group is exact, all else
/// rounds. *Shapley shares*: the mean over all orders in which the groups could be lowered; they sum to the whole error.
/// *First order*: each rounding's own error, carried to the output by the derivatives, in one pass. Where the views
/// disagree, errors of several groups meet in one place, and raising one alone may even make the result worse.
// host only
#pragma once

#include <deviate/deviation/attribution_types.hpp>
#include <deviate/deviation/detail/attribution_runs.hpp>

namespace deviate {

/// \brief Shares out the error of Flash Attention in a recipe over groups of its sites.
///
/// Every subset of up to 10 groups is run over a sample of rows (2^n runs), more groups by sampled orders. Golden is
/// computed on the inputs rounded to the recipe's input format, and so are all runs: rounding the inputs is no part of
/// the error. A group that is not low computes in double, so that the error with no group low is that of double.
/// The same bits for any number of workers.
/// \param low the recipe under study: native, emulated or run-time formats; formats that float holds, or wider ones short
/// of double
/// \param q queries, k keys, v values: as for `flash_forward`
/// \param k keys
/// \param v values
/// \param p scale and masks
/// \param plan tile sizes, key order and maximum
/// \param o groups, rows, what else is wanted
/// \throws contract_violation as `flash_forward`, or if groups overlap or name `input`
template <class Low, class Q, class K, class V>
attribution attribute(const Low& low, const Q& q, const K& k, const V& v, const problem& p = {},
                      const schedule& plan = {}, const attribution_options& o = {}) {
  const recipe_formats formats = formats_of(low);
  const row_sample sample = sample_rows(q, k, v, p, o.rows, formats.of_site[int(site::input)]);
  return detail::attribute<Low>(formats, detail::flash_kernel{plan}, sample, o);
}

/// \brief The same of Baseline Attention, which has no tiles and nothing to rescale.
template <class Low, class Q, class K, class V>
attribution attribute_baseline(const Low& low, const Q& q, const K& k, const V& v, const problem& p = {},
                               const attribution_options& o = {}) {
  const recipe_formats formats = formats_of(low);
  const row_sample sample = sample_rows(q, k, v, p, o.rows, formats.of_site[int(site::input)]);
  return detail::attribute<Low>(formats, detail::baseline_kernel{}, sample, o);
}

}  // namespace deviate
