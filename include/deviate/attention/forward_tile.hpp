// SPDX-License-Identifier: Apache-2.0
/// \file forward_tile.hpp
/// \brief The tile steps that every forward algorithm is made of, over any recipe, team and fragment.
#pragma once

#include <cstdint>
#include <deviate/attention/tile_inputs.hpp>
#include <deviate/number/bounded.hpp>
#include <deviate/number/switched.hpp>

namespace deviate::detail {

/// True if products of numbers of A and B, and their sums, may have a bounded form: one format, rounded after each step,
/// one after the other. Run-time formats must be shared besides, which the site knows.
template <int W, class Recipe, site Sum, site Product, site A, site B>
constexpr bool may_be_bounded() {
  using S = typename Recipe::template scalar<Product>;
  if constexpr (W == 1 || !has_bounded_form<S> || !std::is_same_v<inside_sum<Recipe, Sum, Product>, S> ||
                !std::is_same_v<typename Recipe::template accumulation<Sum>, accumulate::sequential<>>) {
    return false;
  } else if constexpr (scalar_traits<S>::is_runtime) {
    return std::is_same_v<typename Recipe::template scalar<A>, S> &&
           std::is_same_v<typename Recipe::template scalar<B>, S>;
  } else {
    return scalar_traits<S>::contains(scalar_traits<typename Recipe::template scalar<A>>::holds) &&
           scalar_traits<S>::contains(scalar_traits<typename Recipe::template scalar<B>>::holds);
  }
}

/// Bounds for such sums at a site.
template <class S>
product_sum_bounds bounds_at(const site_operations<S>& site, std::int64_t terms) {
  if constexpr (scalar_traits<S>::is_runtime)
    return site.rounder().operands_are_members ? product_sum_bounds(site.rounder().float_constants(), double(terms))
                                               : product_sum_bounds();
  else
    return product_sum_bounds(rounding_constants<float>(S::number_format), double(terms));
}

/// One query tile of one head: its buffers and the steps over them.
///
/// Shapes beside those of `tile_inputs`: score and probability [rows × keys], output state [rows × d_v], probability
/// operand [rows × keys] in panels, as the query.
template <class Team, class Recipe, class Element>
class forward_tile : public tile_inputs<Team, Recipe, Element> {
 public:
  using base = tile_inputs<Team, Recipe, Element>;
  using base::at, base::first_key, base::query_index, base::padded_rows, base::W, base::R, base::F;
  template <site S>
  using scalar = typename Recipe::template scalar<S>;
  template <site S>
  using carrier = carrier_of<scalar<S>>;

  /// Operations inside the three sums.
  using score_sum_site = site_operations<inside_sum<Recipe, site::score, site::score_product>>;
  using row_sum_site = site_operations<inside_sum<Recipe, site::row_sum_partial, site::row_sum_partial>>;
  using value_sum_site = site_operations<inside_sum<Recipe, site::value_partial, site::value_product>>;
  /// Sums that are computed in their bounded form where the numbers allow it; the plain text never is.
  static constexpr bool bounded_scores =
      may_be_bounded<W, Recipe, site::score, site::score_product, site::input, site::input>();
  static constexpr bool bounded_values =
      may_be_bounded<W, Recipe, site::value_partial, site::value_product, site::probability_operand, site::input>();
  /// Row sums of R rows are computed together, a row in each lane, where the terms of one row would wait for each other.
  static constexpr bool sums_by_rows =
      R > 1 && (R & (R - 1)) == 0 && !Recipe::has_random &&
      !accumulate::adds_whole_fragments<typename Recipe::template accumulation<site::row_sum_partial>, W>;
  /// The scale's scalar: FP32 or wider, whatever the score is stored in.
  using scale_scalar = wide_scalar<scalar<site::score>>;

  /// \param max_keys keys of the largest key tile
  DEVIATE_BLOCK forward_tile(Team& team, const forward_sites<Recipe>& sites, const bound_problem& problem,
                             std::int64_t batch, tensor_view<const Element> q, tensor_view<const Element> k,
                             tensor_view<const Element> v, std::int64_t first_query, int rows, std::int64_t max_keys)
      : base(team, sites, problem, batch, q, k, v, first_query, rows, max_keys), scale_(scale_scalar(problem.scale)) {
    score_ = team.template shared<carrier<site::score>>(std::size_t(padded_rows_) * std::size_t(key_stride_));
    probability_ =
        team.template shared<carrier<site::probability>>(std::size_t(padded_rows_) * std::size_t(key_stride_));
    operand_ =
        team.template shared<carrier<site::probability_operand>>(std::size_t(padded_rows_) * std::size_t(key_stride_));
    total_ = team.template shared<carrier<site::row_sum_partial>>(std::size_t(padded_rows_));
    if constexpr (bounded_scores) {
      const product_sum_bounds bounds = bounds_at(at.score_product.here(0, 0, 0), d_);
      scores_in_bounds_ = bounds.allow(bounds.rounded(problem.of_query), bounds.rounded(problem.of_key));
    }
    if constexpr (bounded_values) {
      const product_sum_bounds bounds = bounds_at(at.value_product.here(0, 0, 0), max_keys);
      operand_bounds_ = bounds.allowed_with(bounds.rounded(problem.of_value));
    }
  }

  /// score[rows × n] ← scale · Q Kᵀ; the sum over d in its declared order. Then −∞ where a row does not see a key.
  DEVIATE_BLOCK void scores() {
    const int columns = rounded_up(n_, W * F), column_blocks = columns / (W * F);
    for_each(team_, padded_rows_, [&](int row) { look(row); });
    for_each(team_, padded_rows_ / R * column_blocks, [&](int block) {
      const int row = block / column_blocks * R, column = block % column_blocks * W * F;
      if (nothing_seen(row)) return;
      if constexpr (bounded_scores)
        if (scores_in_bounds_) {
          const bounded_site<scalar<site::score_product>> bounded(at.score_product.here(0, 0, 0));
          return score_block(row, column, bounded, bounded);
        }
      if constexpr (std::is_same_v<scalar<site::score_product>, switched> &&
                    std::is_same_v<score_sum_site, site_operations<switched>>)
        return in_position(at.score_product.here(0, 0, 0),
                           [&](const auto& site) { score_block(row, column, site, site); });
      else
        score_block(row, column, at.score_sum, at.score_product);
    });
    for_each(team_, padded_rows_, [&](int row) {
      if (!nothing_seen(row / R * R)) hide(row, columns);
    });
  }

  /// Largest visible score of a row, −∞ if there is none.
  DEVIATE_BLOCK carrier<site::score> largest_score(int row) const {
    using L = lanes<carrier<site::score>, W>;
    if (view_[row] == row_view::nothing) return minus_infinity<carrier<site::score>>();
    const carrier<site::score>* s = score_ + row * key_stride_;
    L most = broadcast<L>(minus_infinity<carrier<site::score>>());
    for (int c = 0; c < n_; c += W) most = maximum(most, load<scalar<site::score>, W>(s + c).value);
    if constexpr (W == 1)
      return most;
    else
      return fold(most, [](const auto& a, const auto& b) DEVIATE_HD_LAMBDA { return maximum(a, b); });
  }

  /// P = exp(S − m), 0 where a key is not seen: keep(column, P) for every fragment. `totals` then has its sums.
  template <class Keep>
  DEVIATE_BLOCK void probabilities(int row, const fragment<scalar<site::row_max>, 1>& m, Keep keep) {
    using P = scalar<site::probability>;
    const auto most = fill<scalar<site::row_max>, W>(m.value);
    const auto hidden = fill<scalar<site::score>, W>(minus_infinity<carrier<site::score>>());
    accumulate::row_accumulator<typename Recipe::template accumulation<site::row_sum_partial>, row_sum_site, W> sum;
    const std::int64_t i = query_index(row);
    auto weightless = hidden.value != hidden.value;
    for (int c = 0; c < n_; c += W) {
      const auto s = load<scalar<site::score>, W>(score_ + row * key_stride_ + c);
      fragment<P, W> p = at.exp(at.probability, place{i, first_key_ + c, 0}, s, most);
      const auto unseen = s.value == hidden.value;
      p.value = select(mask_for<carrier<site::probability>, carrier<site::score>>(unseen),
                       fill<P, W>(carrier<site::probability>(0)).value, p.value);
      weightless = weightless | unseen;
      if constexpr (sums_by_rows)
        store(probability_ + row * key_stride_ + c, p);
      else
        sum.push(at.row_sum_inside.here(i, first_key_ + c, 0), p, n_ - c);
      keep(c, p);
    }
    // A key that is seen but scores −∞ has no weight, and its V is left out like a hidden one's.
    if (any(weightless)) view_[row] = row_view::some;
    if constexpr (!sums_by_rows)
      total_[row] =
          at.row_sum_partial.here(i, 0, first_key_).round(sum.total(at.row_sum_inside.after(i, 0, first_key_))).value;
  }

  /// P = exp(S − m), rounded at `probability_operand` and made the operand. `totals` has the sums of the unrounded P.
  DEVIATE_BLOCK void weights(int row, const fragment<scalar<site::row_max>, 1>& m) {
    probabilities(row, m, [&](int c, const auto& p) {
      set_operand(row, c, at.probability_operand.here(query_index(row), first_key_ + c, 0).round(p));
    });
  }

  /// use(row, sum of P in its declared order), for every row that takes something.
  template <class Use>
  DEVIATE_BLOCK void totals(Use use) {
    const auto give = [&](int row) {
      if (view_[row] != row_view::nothing) use(row, fragment<scalar<site::row_sum_partial>, 1>{total_[row]});
    };
    if constexpr (sums_by_rows) {
      for_each(team_, padded_rows_ / R, [&](int panel) {
        const int row = panel * R;
        if (nothing_seen(row)) return;
        typename Recipe::template accumulation<site::row_sum_partial>::template accumulator<row_sum_site, R> sum;
        for (int c = 0; c < n_; ++c)
          sum.push(at.row_sum_inside.here(0, 0, 0),
                   gather<scalar<site::probability>, R>(probability_ + row * key_stride_ + c, key_stride_));
        const auto rounded = at.row_sum_partial.here(0, 0, 0).round(sum.total(at.row_sum_inside.here(0, 0, 0)));
        store(total_ + row, rounded);
        for (int r = 0; r < R; ++r) give(row + r);
      });
    } else {
      for_each(team_, padded_rows_, give);
    }
  }

  /// operand[row] ← P ÷ l or whatever the algorithm multiplies V with, at columns c … c + W − 1.
  template <class P>
  DEVIATE_BLOCK void set_operand(int row, int c, const P& p) {
    store(operand_ + in_panel(row, c, key_stride_), p);
  }
  /// probability[row] ← P, for algorithms that need it again.
  template <class P>
  DEVIATE_BLOCK void keep_probability(int row, int c, const P& p) {
    store(probability_ + row * key_stride_ + c, p);
  }
  /// use(column, P) for every fragment that was kept.
  template <class Use>
  DEVIATE_BLOCK void kept_probabilities(int row, Use use) const {
    for (int c = 0; c < n_; c += W) use(c, load<scalar<site::probability>, W>(probability_ + row * key_stride_ + c));
  }

  /// use(row, column, fragment) for every fragment of P·V, rounded at `value_partial`; rows that see nothing are left
  /// out. The sum over keys is in its declared order; a term whose key is not seen is +0, whatever V holds.
  template <class Use>
  DEVIATE_BLOCK void values(Use use) {
    const int blocks = d_v_ / (W * F);
    for_each(team_, padded_rows_ / R * blocks, [&](int i) {
      const int row = i / blocks * R, column = i % blocks * W * F;
      bool plain = true, nothing = true;
      for (int r = 0; r < R; ++r) {
        plain = plain && view_[row + r] == row_view::all;
        nothing = nothing && view_[row + r] == row_view::nothing;
      }
      if (nothing) return;
      if constexpr (bounded_values)
        if (plain && values_in_bounds(row)) {
          const bounded_site<scalar<site::value_product>> bounded(at.value_product.here(0, 0, 0));
          return weighted_values<false>(row, column, bounded, bounded, use);
        }
      const auto sum_with = [&](const auto& sum_site, const auto& product_site) {
        if (plain)
          weighted_values<false>(row, column, sum_site, product_site, use);
        else
          weighted_values<true>(row, column, sum_site, product_site, use);
      };
      if constexpr (std::is_same_v<scalar<site::value_product>, switched> &&
                    std::is_same_v<value_sum_site, site_operations<switched>>)
        in_position(at.value_product.here(0, 0, 0), [&](const auto& site) { sum_with(site, site); });
      else
        sum_with(at.value_sum, at.value_product);
    });
  }

 private:
  using base::in_panel, base::look, base::nothing_seen, base::seen_columns;
  using base::team_, base::problem_, base::batch_, base::first_key_, base::padded_rows_, base::d_, base::d_v_, base::n_,
      base::key_stride_, base::query_stride_, base::query_, base::key_, base::value_, base::view_;

  /// Scores of a register tile: `sum_site` and `product_site` compute inside the sums.
  template <class SumSite, class ProductSite>
  DEVIATE_BLOCK void score_block(int row, int column, const SumSite& sum_site, const ProductSite& product_site) {
    typename Recipe::template accumulation<site::score>::template accumulator<
        std::decay_t<decltype(sum_site.here(0, 0, 0))>, W>
        sum[R][F];
    const carrier<site::input>*panel = query_ + row * query_stride_, *keys = key_ + column;
    for (int first = 0; first < d_; first += W, panel += R * W) {
      const int columns_here = d_ - first < W ? d_ - first : W;
      for (int c = 0; c < columns_here; ++c, keys += key_stride_) {
        fragment<scalar<site::input>, W> key[F];
        DEVIATE_UNROLL
        for (int f = 0; f < F; ++f) key[f] = load<scalar<site::input>, W>(keys + f * W);
        DEVIATE_UNROLL
        for (int r = 0; r < R; ++r) {
          const auto query = fill<scalar<site::input>, W>(panel[r * W + c]);
          DEVIATE_UNROLL
          for (int f = 0; f < F; ++f) {
            const std::int64_t i = query_index(row + r), j = first_key_ + column + f * W;
            accumulate::push_product(sum[r][f], sum_site.here(i, j, first + c), product_site.here(i, j, first + c),
                                     query, key[f]);
          }
        }
      }
    }
    const auto scale = fill<scale_scalar, W>(scale_);
    DEVIATE_UNROLL
    for (int r = 0; r < R; ++r) {
      DEVIATE_UNROLL
      for (int f = 0; f < F; ++f) {
        const std::int64_t i = query_index(row + r), j = first_key_ + column + f * W;
        store(score_ + (row + r) * key_stride_ + column + f * W,
              at.score.here(i, j, 0).multiply(sum[r][f].total(sum_site.after(i, j, 0)), scale));
      }
    }
  }

  /// Writes −∞ over the scores that a row must not see, and over the padding.
  DEVIATE_BLOCK void hide(int row, int columns) {
    carrier<site::score>* s = score_ + row * key_stride_;
    const auto unseen = minus_infinity<carrier<site::score>>();
    const key_range r = seen_columns(row);
    for (std::int64_t c = 0; c < r.begin; ++c) s[c] = unseen;
    for (std::int64_t c = r.end; c < columns; ++c) s[c] = unseen;
    if (problem_.key_visible != nullptr)
      for (std::int64_t c = r.begin; c < r.end; ++c)
        if (!problem_.visible(batch_, first_key_ + c)) s[c] = unseen;
  }

  /// True if sums of products of the operands of these rows with V are in bounds.
  DEVIATE_BLOCK bool values_in_bounds(int row) const {
    using L = lanes<carrier<site::probability_operand>, W>;
    const L zero = broadcast<L>(0), largest = broadcast<L>(float(operand_bounds_.largest)),
            smallest = broadcast<L>(float(operand_bounds_.smallest));
    auto outside = zero != zero;
    for (int c = 0; c < n_; c += W)
      for (int r = 0; r < R; ++r) {
        const L p = load<scalar<site::probability_operand>, W>(operand_ + in_panel(row + r, c, key_stride_)).value;
        outside = outside | !(p <= largest) | ((p < smallest) & (p != zero));
      }
    return !any(outside);
  }

  template <bool Checked, class SumSite, class ProductSite, class Use>
  DEVIATE_BLOCK void weighted_values(int row, int column, const SumSite& sum_site, const ProductSite& product_site,
                                     Use& use) {
    using terms = fragment<scalar<site::value_product>, W>;
    typename Recipe::template accumulation<site::value_partial>::template accumulator<
        std::decay_t<decltype(sum_site.here(0, 0, 0))>, W>
        sum[R][F];
    const carrier<site::input>* values = value_ + column;
    for (int first = 0; first < n_; first += W) {
      const carrier<site::probability_operand>* panel = operand_ + in_panel(row, first, key_stride_);
      const int keys = n_ - first < W ? n_ - first : W;
      for (int key = 0; key < keys; ++key, values += d_v_) {
        fragment<scalar<site::input>, W> value[F];
        DEVIATE_UNROLL
        for (int f = 0; f < F; ++f) value[f] = load<scalar<site::input>, W>(values + f * W);
        DEVIATE_UNROLL
        for (int r = 0; r < R; ++r) {
          const std::int64_t i = query_index(row + r), k = first_key_ + first + key;
          if constexpr (Checked) {
            if (score_[(row + r) * key_stride_ + first + key] == minus_infinity<carrier<site::score>>()) {
              for (int f = 0; f < F; ++f)
                sum[r][f].push(sum_site.here(i, column + f * W, k),
                               terms(fill<scalar<site::value_product>, W>(carrier<site::value_product>(0))));
              continue;
            }
          }
          const auto p = fill<scalar<site::probability_operand>, W>(panel[r * W + key]);
          DEVIATE_UNROLL
          for (int f = 0; f < F; ++f) {
            const int j = column + f * W;
            accumulate::push_product(sum[r][f], sum_site.here(i, j, k), product_site.here(i, j, k), p, value[f]);
          }
        }
      }
    }
    DEVIATE_UNROLL
    for (int r = 0; r < R; ++r) {
      if (Checked && view_[row + r] == row_view::nothing) continue;
      DEVIATE_UNROLL
      for (int f = 0; f < F; ++f) {
        const std::int64_t i = query_index(row + r), j = column + f * W;
        use(row + r, column + f * W,
            at.value_partial.here(i, j, first_key_).round(sum[r][f].total(sum_site.after(i, j, first_key_))));
      }
    }
  }

  scale_scalar scale_;
  carrier<site::score>* score_;
  carrier<site::probability>* probability_;
  carrier<site::probability_operand>* operand_;
  bool scores_in_bounds_ = false;
  magnitudes operand_bounds_{};
  carrier<site::row_sum_partial>* total_;
};

}  // namespace deviate::detail
