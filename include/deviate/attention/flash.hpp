// SPDX-License-Identifier: Apache-2.0
/// \file flash.hpp
/// \brief Flash Attention forward: the online softmax over key tiles, in its two published orders.
#pragma once

#include <deviate/attention/forward_tile.hpp>
#include <deviate/attention/result.hpp>
#include <deviate/attention/schedule.hpp>

namespace deviate {

namespace detail {

/// The running state of a query tile between key tiles: m, l, O, and what the last tile does to them.
template <class Recipe>
struct running_state {
  template <site S>
  using carrier = carrier_of<typename Recipe::template scalar<S>>;

  template <class Team>
  DEVIATE_BLOCK running_state(Team& team, int rows, int d_v)
      : row_max(team.template shared<carrier<site::row_max>>(std::size_t(rows))),
        row_sum(team.template shared<carrier<site::row_sum>>(std::size_t(rows))),
        earlier_sum(team.template shared<carrier<site::row_sum>>(std::size_t(rows))),
        alpha(team.template shared<carrier<site::rescale_factor>>(std::size_t(rows))),
        beta(team.template shared<carrier<site::rescale_factor>>(std::size_t(rows))),
        output(team.template shared<carrier<site::output_state>>(std::size_t(rows) * std::size_t(d_v))),
        rescales(team.template shared<std::int32_t>(std::size_t(rows))) {
    for_each(team, rows, [&](int row) {
      row_max[row] = minus_infinity<carrier<site::row_max>>();
      row_sum[row] = carrier<site::row_sum>(0);
      alpha[row] = beta[row] = carrier<site::rescale_factor>(1);
      for (int c = 0; c < d_v; ++c) output[row * d_v + c] = carrier<site::output_state>(0);
      rescales[row] = 0;
    });
  }

  DEVIATE_BLOCK bool started(int row) const { return row_max[row] != minus_infinity<carrier<site::row_max>>(); }

  carrier<site::row_max>* row_max;       ///< m
  carrier<site::row_sum>* row_sum;       ///< l
  carrier<site::row_sum>* earlier_sum;   ///< l before this tile
  carrier<site::rescale_factor>* alpha;  ///< exp(m_old − m_new)
  carrier<site::rescale_factor>* beta;   ///< exp(m_tile − m_new), where the tile has a maximum of its own
  carrier<site::output_state>* output;   ///< O
  std::int32_t* rescales;
};

/// One value of a site's scalar.
template <class Recipe, site S>
using row_fragment = fragment<typename Recipe::template scalar<S>, 1>;

template <int W, class S>
DEVIATE_HD fragment<S, W> spread(const fragment<S, 1>& x) {
  return fill<S, W>(x.value);
}

/// x, times a factor whose value is exactly 1: a number that keeps a record takes part of the factor's.
template <class Factor, class X, int W>
DEVIATE_HD fragment<X, W> by_one(const fragment<Factor, W>& factor, const fragment<X, W>& x) {
  if constexpr (keeps_record<Factor> && keeps_record<X>)
    return {times_one(factor.value, x.value)};
  else
    return x;
}

/// use(factor · x) rounded at `site`, or use(x) where the factor is exactly 1: no operation, no rounding.
template <class Site, class Factor, class X, int W, class Use>
DEVIATE_HD void scaled_by(const Site& site, const fragment<Factor, W>& factor, const fragment<X, W>& x, Use use) {
  bool is_one;
  if constexpr (W == 1)
    is_one = factor.value == carrier_of<Factor>(1);
  else
    is_one = factor.value[0] == carrier_of<Factor>(1);
  if (is_one)
    use(by_one(factor, x));
  else
    use(site.multiply(factor, x));
}

/// x ÷ l in the recipe's way, rounded at `site`; the reciprocal is a row's own, rounded at `normalizer`.
template <class Recipe, class Normalizer, class Site, class X, class L, int W>
DEVIATE_HD auto normalized_by([[maybe_unused]] const Normalizer& normalizer, const Site& site, const fragment<X, W>& x,
                              const fragment<L, 1>& l) {
  if constexpr (Recipe::how_divided == division::direct)
    return site.divide(x, spread<W>(l));
  else
    return site.multiply(x, spread<W>(normalizer.divide(fragment<L, 1>{carrier_of<L>(1)}, l)));
}

/// Where a row's rescale factors of a key tile stand: apart from its probabilities, which have step 0.
constexpr place rescale_place(std::int64_t row, std::int64_t first_key, int which = 0) {
  return {row, which, first_key + 1};
}

/// exp(m_from − m_to); exactly 1 where they are equal or nothing has been summed yet.
template <class Sites, class M>
DEVIATE_HD auto rescaling(const Sites& at, const place& where, const M& from, const M& to, bool started) {
  using factor = typename decltype(at.rescale_factor)::scalar_type;
  const carrier_of<factor> one(1);
  if (!started) return fragment<factor, 1>{one};
  if (from.value == to.value) {
    if constexpr (keeps_record<factor>)
      return fragment<factor, 1>{exp_of_equals(one, from.value, to.value)};
    else
      return fragment<factor, 1>{one};
  }
  return at.exp(at.rescale_factor, where, from, to);
}

/// The running maximum after a tile: the larger of m and the tile's own, or m where that is larger by no more than the
/// threshold.
template <class M>
DEVIATE_HD fragment<M, 1> grown(const fragment<M, 1>& m, const fragment<M, 1>& of_tile, bool started,
                                double threshold) {
  if (threshold > 0 && started && static_cast<double>(of_tile.value) - static_cast<double>(m.value) <= threshold)
    return m;
  return {maximum(m.value, of_tile.value)};
}

/// Sets m to the maximum of the scores of the present tile and all before.
template <class Team, class Tile, class Recipe>
DEVIATE_BLOCK void look_for_maximum(Team& team, Tile& tile, running_state<Recipe>& state) {
  for_each(team, tile.padded_rows(), [&](int row) {
    const auto tile_max = tile.largest_score(row);
    if (tile_max == minus_infinity<decltype(tile_max)>()) return;
    const auto m_tile = tile.at.row_max.here(tile.query_index(row), 0, tile.first_key())
                            .round(row_fragment<Recipe, site::score>{tile_max});
    state.row_max[row] = maximum(state.row_max[row], m_tile.value);
  });
}

/// One key tile in the order of FlashAttention-2: probabilities against the new maximum, O not normalised.
///
///     m_new = max(m, row_max(S));  alpha = exp(m − m_new);  P = exp(S − m_new)
///     l = alpha · l + row_total(P);  O = alpha · O + P · V
template <class Team, class Tile, class Recipe>
DEVIATE_BLOCK void flash2_tile(Team& team, Tile& tile, running_state<Recipe>& state, double threshold) {
  const auto& at = tile.at;
  for_each(team, tile.padded_rows(), [&](int row) {
    const auto tile_max = tile.largest_score(row);
    if (tile_max == minus_infinity<decltype(tile_max)>()) return tile.skip(row);
    const row_fragment<Recipe, site::row_max> m{state.row_max[row]};
    const std::int64_t i = tile.query_index(row), t = tile.first_key();
    const auto m_tile = at.row_max.here(i, 0, t).round(row_fragment<Recipe, site::score>{tile_max});
    const auto m_new = grown(m, m_tile, state.started(row), threshold);
    if (state.started(row) && m.value != m_new.value) ++state.rescales[row];
    state.alpha[row] = rescaling(at, rescale_place(i, t), m, m_new, state.started(row)).value;
    state.row_max[row] = m_new.value;
  });
  for_each(team, tile.padded_rows(), [&](int row) {
    if (!tile.takes_nothing(row)) tile.weights(row, row_fragment<Recipe, site::row_max>{state.row_max[row]});
  });
  tile.totals([&](int row, const auto& total) {
    const std::int64_t i = tile.query_index(row), t = tile.first_key();
    const row_fragment<Recipe, site::rescale_factor> alpha{state.alpha[row]};
    const row_fragment<Recipe, site::row_sum> l{state.row_sum[row]};
    scaled_by(at.rescaled_sum.here(i, 0, t), alpha, l,
              [&](const auto& earlier) { state.row_sum[row] = at.row_sum.here(i, 0, t).add(earlier, total).value; });
  });
  tile.values([&](int row, int column, const auto& product) {
    using O = typename Recipe::template scalar<site::output_state>;
    constexpr int W = std::decay_t<decltype(product)>::width;
    auto* kept = state.output + row * tile.padded_d_v() + column;
    const row_fragment<Recipe, site::rescale_factor> alpha{state.alpha[row]};
    const std::int64_t i = tile.query_index(row), t = tile.first_key();
    scaled_by(at.rescaled_output.here(i, column, t), spread<W>(alpha), load<O, W>(kept),
              [&](const auto& earlier) { store(kept, at.output_state.here(i, column, t).add(earlier, product)); });
  });
}

/// One key tile in the order of FlashAttention (1), Algorithm 1, lines 9–13: probabilities against the tile's own
/// maximum, O normalised after every tile.
///
///     P = exp(S − m_tile);  m_new = max(m, m_tile);  alpha = exp(m − m_new);  beta = exp(m_tile − m_new)
///     l_new = alpha · l + beta · row_total(P);  O = (alpha · l · O + beta · P · V) / l_new
template <class Team, class Tile, class Recipe>
DEVIATE_BLOCK void flash1_tile(Team& team, Tile& tile, running_state<Recipe>& state, row_maximum which) {
  const auto& at = tile.at;
  for_each(team, tile.padded_rows(), [&](int row) {
    const auto tile_max = tile.largest_score(row);
    if (tile_max == minus_infinity<decltype(tile_max)>()) return tile.skip(row);
    const row_fragment<Recipe, site::row_max> m{state.row_max[row]};
    const std::int64_t i = tile.query_index(row), t = tile.first_key();
    const auto m_tile =
        which == row_maximum::known ? m : at.row_max.here(i, 0, t).round(row_fragment<Recipe, site::score>{tile_max});
    const decltype(m) m_new{maximum(m.value, m_tile.value)};
    tile.weights(row, m_tile);
    const auto alpha = rescaling(at, rescale_place(i, t), m, m_new, state.started(row));
    const auto beta = rescaling(at, rescale_place(i, t, 1), decltype(m){m_tile.value}, m_new, true);
    if (state.started(row) && m.value != m_new.value) ++state.rescales[row];
    state.alpha[row] = alpha.value;
    state.beta[row] = beta.value;
    state.row_max[row] = m_new.value;
  });
  tile.totals([&](int row, const auto& total) {
    const std::int64_t i = tile.query_index(row), t = tile.first_key();
    const row_fragment<Recipe, site::rescale_factor> alpha{state.alpha[row]}, beta{state.beta[row]};
    const row_fragment<Recipe, site::row_sum> l{state.row_sum[row]};
    state.earlier_sum[row] = l.value;
    const auto& rescaled_sum = at.rescaled_sum.here(i, 0, t);
    scaled_by(rescaled_sum, alpha, l, [&](const auto& earlier) {
      scaled_by(rescaled_sum, beta, total,
                [&](const auto& now) { state.row_sum[row] = at.row_sum.here(i, 0, t).add(earlier, now).value; });
    });
  });
  tile.values([&](int row, int column, const auto& product) {
    using O = typename Recipe::template scalar<site::output_state>;
    using factor = typename Recipe::template scalar<site::rescale_factor>;
    using L = typename Recipe::template scalar<site::row_sum>;
    constexpr int W = std::decay_t<decltype(product)>::width;
    auto* kept = state.output + row * tile.padded_d_v() + column;
    const fragment<factor, 1> alpha{state.alpha[row]}, beta{state.beta[row]};
    const fragment<L, 1> l{state.earlier_sum[row]}, l_new{state.row_sum[row]};
    const std::int64_t i = tile.query_index(row), t = tile.first_key();
    const auto& rescaled_output = at.rescaled_output.here(i, column, t);
    const auto& output_state = at.output_state.here(i, column, t);
    scaled_by(at.rescaled_sum.here(i, 0, t), alpha, l, [&](const auto& weight) {
      const auto old = rescaled_output.multiply(spread<W>(weight), load<O, W>(kept));
      scaled_by(rescaled_output, spread<W>(beta), product, [&](const auto& fresh) {
        store(kept,
              normalized_by<Recipe>(at.normalizer.here(i, 0, t), output_state, output_state.add(old, fresh), l_new));
      });
    });
  });
}

/// A whole query tile: every key tile in the schedule's order, then the division, O and LSE.
template <class Team, class Recipe, class Element, class Out, class Lse>
DEVIATE_BLOCK void flash_block(Team& team, const forward_sites<Recipe>& at, const bound_problem& problem,
                               const schedule& plan, std::int64_t batch, tensor_view<const Element> q,
                               tensor_view<const Element> k, tensor_view<const Element> v, std::int64_t first_query,
                               int rows, tensor_view<Out> output, tensor_view<Lse> log_sum_exp,
                               tensor_view<std::int32_t> rescales) {
  constexpr bool every_tile = Recipe::when_normalized == normalization::every_tile;
  const std::int64_t tile_key = plan.tile_key < k.rows() ? plan.tile_key : (k.rows() > 0 ? k.rows() : 1);
  forward_tile<Team, Recipe, Element> tile(team, at, problem, batch, q, k, v, first_query, rows, tile_key);
  running_state<Recipe> state(team, tile.padded_rows(), tile.padded_d_v());
  tile.load_queries();
  const key_range seen = tile.keys();
  const std::int64_t first = seen.begin / plan.tile_key,
                     last = seen.end == 0 ? first : (seen.end - 1) / plan.tile_key + 1;
  const auto score_tile = [&](std::int64_t i) {
    const std::int64_t t = plan.order == key_order::ascending ? i : last - 1 - (i - first);
    const std::int64_t begin = t * plan.tile_key, left = k.rows() - begin;
    tile.load_keys(begin, int(left < tile_key ? left : tile_key));
    tile.scores();
  };
  if (plan.maximum == row_maximum::known)
    for (std::int64_t i = first; i < last; ++i) {
      score_tile(i);
      look_for_maximum(team, tile, state);
    }
  for (std::int64_t i = first; i < last; ++i) {
    score_tile(i);
    if constexpr (every_tile)
      flash1_tile(team, tile, state, plan.maximum);
    else
      flash2_tile(team, tile, state, plan.rescale_threshold);
  }
  for_each(team, rows, [&](int row) {
    const std::int64_t i = first_query + row;
    const bool empty = !state.started(row);
    const row_fragment<Recipe, site::row_sum> l{state.row_sum[row]};
    for (int c = 0; c < tile.d_v(); ++c) {
      const row_fragment<Recipe, site::output_state> o{state.output[row * tile.padded_d_v() + c]};
      if constexpr (every_tile)
        output(0, 0, i, c) = at.output.here(i, c, 0).round(o).value;
      else
        output(0, 0, i, c) =
            empty ? Out(0) : normalized_by<Recipe>(at.normalizer.here(i, 0, 0), at.output.here(i, c, 0), o, l).value;
    }
    if (log_sum_exp.data() != nullptr) {
      const auto& lse = at.log_sum_exp.here(i, 0, 0);
      const row_fragment<Recipe, site::row_max> m{state.row_max[row]};
      log_sum_exp(0, 0, i, 0) = empty ? minus_infinity<Lse>() : lse.add(m, lse.log(l)).value;
    }
    if (rescales.data() != nullptr) rescales(0, 0, i, 0) = state.rescales[row];
  });
}

}  // namespace detail
}  // namespace deviate
