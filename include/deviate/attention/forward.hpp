// SPDX-License-Identifier: Apache-2.0
/// \file forward.hpp
/// \brief Attention forward on the host: Flash Attention and Baseline Attention under any recipe.
// host only
#pragma once

#include <deviate/attention/baseline.hpp>
#include <deviate/attention/flash.hpp>
#include <deviate/attention/result.hpp>
#include <deviate/team/execution.hpp>
#include <string>
#include <type_traits>

namespace deviate {

namespace detail {

template <class View>
using element_of = typename View::value_type;

/// Anything with a read-only view: a tensor or a view of one.
template <class T>
tensor_view<const T> as_view(const tensor<T>& t) {
  return t.view();
}
template <class T>
tensor_view<const T> as_view(const tensor_view<T>& t) {
  return t;
}
template <class T>
using viewed_element = typename decltype(as_view(std::declval<const T&>()))::value_type;

template <class Recipe>
using result_of = attention_result<carrier_of<typename Recipe::template scalar<site::output>>,
                                   carrier_of<typename Recipe::template scalar<site::log_sum_exp>>>;

/// Rows of a block of work. Workers take several query tiles at once, as long as every worker has some blocks: keys and
/// values are then rounded and laid out once for all of them. The size of a query tile never shows in a bit.
template <class Execution>
std::int64_t rows_of_block(const Execution&, const extents&, std::int64_t tile_query) {
  return tile_query;
}
inline std::int64_t rows_of_block(const workers& who, const extents& q, std::int64_t tile_query) {
  constexpr std::int64_t most_rows = 256, blocks_for_each = 4;
  const std::int64_t share = q.batch * q.heads * q.rows / (blocks_for_each * who.resolved());
  const std::int64_t rows = share < most_rows ? share : most_rows;
  return rows > tile_query ? rows / tile_query * tile_query : tile_query;
}

/// Runs block(team, batch, head, first query, rows) over every query tile of every head.
template <class Execution, class Block>
void run_query_tiles(const Execution& execution, const extents& q, std::int64_t tile_query, Block block) {
  tile_query = rows_of_block(execution, q, tile_query);
  const std::int64_t tiles = (q.rows + tile_query - 1) / tile_query;
  // Longest first: under a causal mask the last tiles see the most keys.
  run_blocks(execution, q.batch * q.heads * tiles, [&](auto& team, std::int64_t i) {
    const std::int64_t head = i % (q.batch * q.heads), tile = tiles - 1 - i / (q.batch * q.heads);
    const std::int64_t first = tile * tile_query, left = q.rows - first;
    block(team, head / q.heads, head % q.heads, first, int(left < tile_query ? left : tile_query));
  });
}

/// Magnitudes of a tensor's elements, looked at once for all tiles.
template <class T>
magnitudes magnitudes_of(const tensor_view<const T>& x) {
  if constexpr (!is_native<T>) {
    return {};
  } else {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    magnitudes m{0, infinite};
    for (std::int64_t b = 0; b < x.batch(); ++b)
      for (std::int64_t h = 0; h < x.heads(); ++h)
        for (std::int64_t i = 0; i < x.rows(); ++i)
          for (std::int64_t c = 0; c < x.columns(); ++c) {
            const double magnitude = std::abs(double(x(b, h, i, c)));
            m.largest = magnitude <= m.largest ? m.largest : magnitude;
            if (magnitude != magnitude) return {};
            if (magnitude < m.smallest && magnitude > 0) m.smallest = magnitude;
          }
    return m;
  }
}

template <class Recipe, class T, class Kernel, class Execution>
result_of<Recipe> forward(const Recipe& r, tensor_view<const T> q, tensor_view<const T> k, tensor_view<const T> v,
                          const problem& p, std::int64_t tile_query, const Execution& execution, Kernel kernel) {
  bound_problem bound = bind(q.shape(), k.shape(), v.shape(), p);
  if constexpr (has_bounded_form<typename Recipe::template scalar<site::score_product>> ||
                has_bounded_form<typename Recipe::template scalar<site::value_product>>) {
    bound.of_query = magnitudes_of(q);
    bound.of_key = magnitudes_of(k);
    bound.of_value = magnitudes_of(v);
  }
  result_of<Recipe> result;
  result.output = decltype(result.output)({q.batch(), q.heads(), q.rows(), v.columns()});
  result.log_sum_exp = decltype(result.log_sum_exp)({q.batch(), q.heads(), q.rows(), 1});
  result.rescales = tensor<std::int32_t>({q.batch(), q.heads(), q.rows(), 1});
  const auto output = result.output.view();
  const auto lse = result.log_sum_exp.view();
  const auto rescales = result.rescales.view();
  const forward_sites<Recipe> sites(r);
  run_query_tiles(execution, q.shape(), tile_query,
                  [&](auto& team, std::int64_t b, std::int64_t h, std::int64_t first, int rows) {
                    const std::int64_t kv = h / bound.group;
                    const auto& at = sites.of_head(b * q.heads() + h, b * k.heads() + kv);
                    kernel(team, at, bound, b, q.head(b, h), k.head(b, kv), v.head(b, kv), first, rows,
                           output.head(b, h), lse.head(b, h), rescales.head(b, h));
                  });
  return result;
}

}  // namespace detail

/// \brief Flash Attention forward: the online softmax over key tiles.
/// \tparam Recipe names a scalar for every site; `normalized<normalization::every_tile>` makes it FlashAttention (1)
/// \param r the recipe; a run-time recipe carries its formats
/// \param q queries [batch, query heads, n_query, d]
/// \param k keys [batch, key heads, n_key, d]; query heads map to key heads in contiguous groups
/// \param v values [batch, key heads, n_key, d_v]
/// \param p scale and masks
/// \param plan tile sizes and key order
/// \param execution who computes: `workers` (all cores), `one_by_one`, `by_threads`; never changes a bit
/// \return O, LSE and the number of rescales of each row
/// \throws contract_violation if shapes do not fit, or an option is out of range
///
/// Memory O(N · d): no N × N matrix. The order of every sum is that of the recipe's accumulation and the plan's key
/// tiles. T. Dao et al., "FlashAttention", 2022, Algorithm 1; T. Dao, "FlashAttention-2", 2023, Algorithm 1.
template <class Recipe, class Q, class K, class V, class Execution = workers>
auto flash_forward(const Recipe& r, const Q& q, const K& k, const V& v, const problem& p = {},
                   const schedule& plan = {}, const Execution& execution = {}) {
  expects(plan.tile_query >= 1 && plan.tile_key >= 1, "flash_forward: tile sizes must be at least 1");
  expects(plan.tile_query <= (1 << 20) && plan.tile_key <= (1 << 30), "flash_forward: tile sizes are too large");
  expects(
      plan.rescale_threshold >= 0 && (plan.rescale_threshold == 0 || Recipe::when_normalized == normalization::once),
      "flash_forward: rescale_threshold must be 0 or more, and 0 where O is normalised after every tile");
  using T = detail::viewed_element<Q>;
  return detail::forward<Recipe, T>(
      r, detail::as_view(q), detail::as_view(k), detail::as_view(v), p, plan.tile_query, execution,
      [&plan](auto& team, const auto& sites, const auto& bound, std::int64_t b, auto... rest) {
        detail::flash_block(team, sites, bound, plan, b, rest...);
      });
}

/// \brief Baseline Attention forward: materialised scores, softmax, P·V.
///
/// Parameters, result and errors as `flash_forward`. P ÷ l is rounded at `probability_operand`, P·V at `value_partial`
/// and `output`; `row_sum` holds the sum over the whole row. Memory O(N) per row of a query tile, times the workers.
template <class Recipe, class Q, class K, class V, class Execution = workers>
auto baseline_forward(const Recipe& r, const Q& q, const K& k, const V& v, const problem& p = {},
                      const Execution& execution = {}) {
  using T = detail::viewed_element<Q>;
  constexpr std::int64_t rows_at_once = 64;
  return detail::forward<Recipe, T>(r, detail::as_view(q), detail::as_view(k), detail::as_view(v), p, rows_at_once,
                                    execution,
                                    [](auto& team, const auto& sites, const auto& bound, std::int64_t b, auto... rest) {
                                      detail::baseline_block(team, sites, bound, b, rest...);
                                    });
}

}  // namespace deviate
