// SPDX-License-Identifier: Apache-2.0
/// \file forward_tile.hpp
/// \brief The tile steps that every forward algorithm is made of, over any recipe, team and fragment.
#pragma once

#include <cstdint>
#include <deviate/attention/problem.hpp>
#include <deviate/attention/recipe.hpp>
#include <deviate/number/bounded.hpp>
#include <deviate/number/switched.hpp>
#include <deviate/number/transpose.hpp>
#include <deviate/team/team.hpp>
#include <deviate/tensor/view.hpp>
#include <limits>

namespace deviate::detail {

/// An element of a user's tensor as a fragment: native, emulated or software.
template <class T>
DEVIATE_HD fragment<T, 1> element(const T& x) {
  if constexpr (requires { x.carrier(); })
    return {x.carrier()};
  else
    return {x};
}

template <class C>
inline constexpr bool is_native = std::is_same_v<C, float> || std::is_same_v<C, double>;

template <class C>
DEVIATE_HD C minus_infinity() {
  return C(-std::numeric_limits<double>::infinity());
}

/// A mask of lanes of one carrier, for lanes of another.
template <class C, class From, class M>
DEVIATE_HD auto mask_for(const M& m) {
  if constexpr (lane_width<M> == 1 || sizeof(C) == sizeof(From))
    return m;
  else
    return convert_lanes<same_size_integer<C>>(m);
}

constexpr int rounded_up(std::int64_t n, int multiple) { return int((n + multiple - 1) / multiple * multiple); }

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

/// What a row sees of the present key tile.
enum class row_view : std::uint8_t { nothing, some, all };

/// One query tile of one head: its buffers and the steps over them.
///
/// Shapes (rows × columns, row-major; rows and columns padded to the register tile):
///   key [d × keys], value [keys × d_v], score and probability [rows × keys], output state [rows × d_v];
///   query [rows × d] and probability operand [rows × keys] in panels of R rows, in which W columns of each row lie
///   together: what a register tile reads then has constant distances.
/// \tparam Element element type of Q, K, V as given
template <class Team, class Recipe, class Element>
class forward_tile {
 public:
  template <site S>
  using scalar = typename Recipe::template scalar<S>;
  template <site S>
  using carrier = carrier_of<scalar<S>>;

  static constexpr int W = Recipe::has_software ? 1 : Team::tile::width;
  static constexpr int R = Recipe::has_software ? 1 : Team::tile::rows;
  static constexpr int F = Recipe::has_software ? 1 : Team::tile::columns;
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
      : team_(team),
        at(sites),
        problem_(problem),
        batch_(batch),
        q_(q),
        k_(k),
        v_(v),
        first_query_(first_query),
        rows_(rows),
        padded_rows_(rounded_up(rows, R)),
        d_(int(q.columns())),
        d_v_(rounded_up(v.columns(), W * F)),
        key_stride_(rounded_up(max_keys, W * F)),
        query_stride_(rounded_up(d_, W)),
        scale_(scale_scalar(problem.scale)) {
    query_ = team.template shared<carrier<site::input>>(std::size_t(padded_rows_) * std::size_t(query_stride_));
    key_ = team.template shared<carrier<site::input>>(std::size_t(d_) * std::size_t(key_stride_));
    value_ = team.template shared<carrier<site::input>>(std::size_t(max_keys) * std::size_t(d_v_));
    score_ = team.template shared<carrier<site::score>>(std::size_t(padded_rows_) * std::size_t(key_stride_));
    probability_ =
        team.template shared<carrier<site::probability>>(std::size_t(padded_rows_) * std::size_t(key_stride_));
    operand_ =
        team.template shared<carrier<site::probability_operand>>(std::size_t(padded_rows_) * std::size_t(key_stride_));
    view_ = team.template shared<row_view>(std::size_t(padded_rows_));
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

  DEVIATE_BLOCK int rows() const { return rows_; }
  DEVIATE_BLOCK int padded_rows() const { return padded_rows_; }
  DEVIATE_BLOCK int d_v() const { return int(v_.columns()); }
  DEVIATE_BLOCK int padded_d_v() const { return d_v_; }
  /// Query of a row.
  DEVIATE_BLOCK std::int64_t query_index(int row) const { return first_query_ + row; }
  /// First key of the present key tile: its name as a step.
  DEVIATE_BLOCK std::int64_t first_key() const { return first_key_; }
  /// The row takes nothing from this tile, although it sees keys of it: all its scores are −∞.
  DEVIATE_BLOCK void skip(int row) { view_[row] = row_view::nothing; }

  DEVIATE_BLOCK bool takes_nothing(int row) const { return view_[row] == row_view::nothing; }

  /// Keys that any row of the tile sees.
  DEVIATE_BLOCK key_range keys() const {
    key_range all{problem_.n_key, 0};
    for (int row = 0; row < rows_; ++row) {
      const key_range r = problem_.keys(batch_, first_query_ + row);
      if (r.begin == r.end) continue;
      if (r.begin < all.begin) all.begin = r.begin;
      if (r.end > all.end) all.end = r.end;
    }
    return all.begin < all.end ? all : key_range{0, 0};
  }

  /// query[rows × d] ← Q, rounded at `input`; padding rows are 0.
  DEVIATE_BLOCK void load_queries() {
    for_each(team_, padded_rows_, [&](int row) {
      for (int c = 0; c < query_stride_; c += W)
        store(query_ + in_panel(row, c, query_stride_), row < rows_
                                                            ? input(at.input, 0, q_, query_index(row), c)
                                                            : fill<scalar<site::input>, W>(carrier<site::input>(0)));
    });
  }

  /// key[d × n] ← Kᵀ and value[n × d_v] ← V of keys first … first + n − 1, rounded at `input`; padding is 0.
  DEVIATE_BLOCK void load_keys(std::int64_t first, int n) {
    first_key_ = first;
    n_ = n;
    for_each(team_, n, [&](int key) {
      for (int c = 0; c < d_v_; c += W) store(value_ + key * d_v_ + c, input(at.key_input, 2, v_, first + key, c));
    });
    for_each(team_, rounded_up(n, W * F) / W, [&](int block) {
      for (int c = 0; c < query_stride_; c += W) load_transposed(block * W, c);
    });
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
  /// Where a panel of R rows and `columns` columns holds an element.
  static DEVIATE_HD unsigned in_panel(int row, int column, int columns) {
    const unsigned r = unsigned(row), c = unsigned(column);
    return r / R * R * unsigned(columns) + c / W * (R * W) + r % R * W + c % W;
  }

  /// W elements of a row of a tensor, rounded at `input`; beyond its last column they are 0. `which` tells Q, K and V
  /// apart.
  DEVIATE_BLOCK fragment<scalar<site::input>, W> input(const located_site<scalar<site::input>>& site, int which,
                                                       const tensor_view<const Element>& from, std::int64_t row,
                                                       int column) const {
    if constexpr (W == 1) {
      return column < from.columns() ? site.here(row, column, which).round(element(from(0, 0, row, column)))
                                     : fill<scalar<site::input>, 1>(carrier<site::input>(0));
    } else {
      if constexpr (is_native<Element>)
        if (from.stride().columns == 1 && column + W <= from.columns())
          return site.here(row, column, which).round(load<Element, W>(&from(0, 0, row, column)));
      auto x = fill<scalar<site::input>, W>(carrier<site::input>(0));
      for (int i = 0; i < W && column + i < from.columns(); ++i)
        x.value.set(i, site.here(row, column + i, which).round(element(from(0, 0, row, column + i))).value);
      return x;
    }
  }

  /// key[column … column + W − 1][key … key + W − 1] ← Kᵀ; keys beyond the last of the tile are 0.
  DEVIATE_BLOCK void load_transposed(int key, int column) {
    const auto row = [&](int i) {
      return key + i < n_ ? input(at.key_input, 1, k_, first_key_ + key + i, column)
                          : fill<scalar<site::input>, W>(carrier<site::input>(0));
    };
    carrier<site::input>* to = key_ + column * key_stride_ + key;
    const int columns = d_ - column < W ? d_ - column : W;
    if constexpr (W == 1) {
      *to = row(0).value;
    } else if constexpr (transposes_in_registers<carrier<site::input>, W>) {
      pack<carrier<site::input>, W> square[W];
      DEVIATE_UNROLL
      for (int i = 0; i < W; ++i) square[i] = row(i).value;
      transpose(square);
      for (int c = 0; c < columns; ++c) std::memcpy(to + c * key_stride_, &square[c], sizeof square[c]);
    } else {
      for (int i = 0; i < W; ++i) {
        const auto x = row(i);
        for (int c = 0; c < columns; ++c) to[c * key_stride_ + i] = x.value[c];
      }
    }
  }

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

  /// True if no row of a register tile sees any key of the present tile.
  DEVIATE_BLOCK bool nothing_seen(int first_row) const {
    bool nothing = true;
    for (int r = 0; r < R; ++r) nothing = nothing && view_[first_row + r] == row_view::nothing;
    return nothing;
  }

  /// The part of the tile that the mask's band and the key length leave to a row, as columns of the tile.
  DEVIATE_BLOCK key_range seen_columns(int row) const {
    if (row >= rows_) return {0, 0};
    const key_range r = problem_.keys(batch_, first_query_ + row);
    const auto column = [&](std::int64_t key) {
      return key <= first_key_ ? 0 : key - first_key_ < n_ ? key - first_key_ : n_;
    };
    const key_range columns{column(r.begin), column(r.end)};
    return columns.begin < columns.end ? columns : key_range{0, 0};
  }

  /// Notes what a row sees of the tile.
  DEVIATE_BLOCK void look(int row) {
    const key_range r = seen_columns(row);
    std::int64_t seen = r.end - r.begin;
    if (problem_.key_visible != nullptr)
      for (std::int64_t c = r.begin; c < r.end; ++c) seen -= !problem_.visible(batch_, first_key_ + c);
    view_[row] = seen == 0 ? row_view::nothing : seen == n_ ? row_view::all : row_view::some;
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

  Team& team_;

 public:
  const forward_sites<Recipe>& at;

 private:
  const bound_problem& problem_;
  std::int64_t batch_;
  tensor_view<const Element> q_, k_, v_;
  std::int64_t first_query_, first_key_ = 0;
  int rows_, padded_rows_, d_, d_v_, key_stride_, query_stride_, n_ = 0;
  scale_scalar scale_;
  carrier<site::input>*query_, *key_, *value_;
  carrier<site::score>* score_;
  carrier<site::probability>* probability_;
  carrier<site::probability_operand>* operand_;
  row_view* view_;
  bool scores_in_bounds_ = false;
  magnitudes operand_bounds_{};
  carrier<site::row_sum_partial>* total_;
};

}  // namespace deviate::detail
