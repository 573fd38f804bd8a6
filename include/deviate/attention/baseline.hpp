// SPDX-License-Identifier: Apache-2.0
/// \file baseline.hpp
/// \brief Baseline Attention: scores, softmax and P·V one after the other over whole rows, as frameworks do it.
#pragma once

#include <deviate/attention/flash.hpp>

namespace deviate::detail {

/// A query tile of Baseline Attention; the scores of its rows are materialised whole.
///
///     S = scale · Q Kᵀ;  m = row_max(S);  P = exp(S − m);  l = row_total(P);  O = (P / l) · V
template <class Team, class Recipe, class Element, class Out, class Lse>
DEVIATE_BLOCK void baseline_block(Team& team, const forward_sites<Recipe>& at, const bound_problem& problem,
                                  std::int64_t batch, tensor_view<const Element> q, tensor_view<const Element> k,
                                  tensor_view<const Element> v, std::int64_t first_query, int rows,
                                  tensor_view<Out> output, tensor_view<Lse> log_sum_exp,
                                  tensor_view<std::int32_t> rescales) {
  forward_tile<Team, Recipe, Element> tile(team, at, problem, batch, q, k, v, first_query, rows, k.rows());
  auto* row_max = team.template shared<carrier_of<typename Recipe::template scalar<site::row_max>>>(
      std::size_t(tile.padded_rows()));
  tile.load_queries();
  tile.load_keys(0, int(k.rows()));
  tile.scores();
  for_each(team, tile.padded_rows(), [&](int row) {
    if (row >= rows) return;
    const std::int64_t i = first_query + row;
    for (std::int64_t c = 0; c < v.columns(); ++c) output(0, 0, i, c) = Out(0);
    if (rescales.data() != nullptr) rescales(0, 0, i, 0) = 0;
    const auto largest = tile.largest_score(row);
    const bool empty = largest == minus_infinity<std::decay_t<decltype(largest)>>();
    if (log_sum_exp.data() != nullptr && empty) log_sum_exp(0, 0, i, 0) = minus_infinity<Lse>();
    if (empty) return tile.skip(row);
    const auto m = at.row_max.here(i, 0, 0).round(row_fragment<Recipe, site::score>{largest});
    row_max[row] = m.value;
    tile.probabilities(row, m, [&](int c, const auto& p) { tile.keep_probability(row, c, p); });
  });
  tile.totals([&](int row, const auto& total) {
    if (row >= rows) return;
    const std::int64_t i = first_query + row;
    const row_fragment<Recipe, site::row_max> m{row_max[row]};
    const auto l = at.row_sum.here(i, 0, 0).round(total);
    tile.kept_probabilities(row, [&](int c, const auto& p) {
      tile.set_operand(row, c,
                       normalized_by<Recipe>(at.normalizer.here(i, 0, 0), at.probability_operand.here(i, c, 0), p, l));
    });
    if (log_sum_exp.data() != nullptr) {
      const auto& lse = at.log_sum_exp.here(i, 0, 0);
      log_sum_exp(0, 0, i, 0) = lse.add(m, lse.log(l)).value;
    }
  });
  tile.values([&](int row, int column, const auto& product) {
    if (row >= rows) return;
    constexpr int W = std::decay_t<decltype(product)>::width;
    const auto o = at.output.here(first_query + row, column, 0).round(product);
    for (int c = 0; c < W && column + c < tile.d_v(); ++c) {
      if constexpr (W == 1)
        output(0, 0, first_query + row, column) = o.value;
      else
        output(0, 0, first_query + row, column + c) = o.value[c];
    }
  });
}

}  // namespace deviate::detail
