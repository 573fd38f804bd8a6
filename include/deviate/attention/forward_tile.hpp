// SPDX-License-Identifier: Apache-2.0
/// \file forward_tile.hpp
/// \brief The tile steps that every forward algorithm is made of, over any recipe, team and fragment.
#pragma once

#include <cstdint>
#include <deviate/attention/problem.hpp>
#include <deviate/attention/recipe.hpp>
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

/// What a row sees of the present key tile.
enum class row_view : std::uint8_t { nothing, some, all };

/// One query tile of one head: its buffers and the steps over them.
///
/// Shapes (rows × columns, row-major; rows and columns padded to the register tile):
///   query [rows × d], key [d × keys], value [keys × d_v], score and probability [rows × keys], output state [rows ×
///   d_v].
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
        scale_(scale_scalar(problem.scale)) {
    query_ = team.template shared<carrier<site::input>>(std::size_t(padded_rows_) * std::size_t(d_));
    key_ = team.template shared<carrier<site::input>>(std::size_t(d_) * std::size_t(key_stride_));
    value_ = team.template shared<carrier<site::input>>(std::size_t(max_keys) * std::size_t(d_v_));
    score_ = team.template shared<carrier<site::score>>(std::size_t(padded_rows_) * std::size_t(key_stride_));
    probability_ =
        team.template shared<carrier<site::probability>>(std::size_t(padded_rows_) * std::size_t(key_stride_));
    operand_ =
        team.template shared<carrier<site::probability_operand>>(std::size_t(padded_rows_) * std::size_t(key_stride_));
    view_ = team.template shared<row_view>(std::size_t(padded_rows_));
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
      if (row < rows_)
        load_row(at.input, 0, q_, query_index(row), query_ + row * d_, d_, 1);
      else
        for (int c = 0; c < d_; ++c) query_[row * d_ + c] = carrier<site::input>(0);
    });
  }

  /// key[d × n] ← Kᵀ and value[n × d_v] ← V of keys first … first + n − 1, rounded at `input`; padding is 0.
  DEVIATE_BLOCK void load_keys(std::int64_t first, int n) {
    first_key_ = first;
    n_ = n;
    for_each(team_, key_stride_, [&](int key) {
      if (key < n) {
        load_row(at.key_input, 1, k_, first + key, key_ + key, d_, key_stride_);
        load_row(at.key_input, 2, v_, first + key, value_ + key * d_v_, d_v_, 1);
      } else {
        for (int c = 0; c < d_; ++c) key_[c * key_stride_ + key] = carrier<site::input>(0);
      }
    });
  }

  /// score[rows × n] ← scale · Q Kᵀ; the sum over d in its declared order. Then −∞ where a row does not see a key.
  DEVIATE_BLOCK void scores() {
    const int columns = rounded_up(n_, W * F), column_blocks = columns / (W * F);
    for_each(team_, padded_rows_ / R * column_blocks, [&](int block) {
      const int row = block / column_blocks * R, column = block % column_blocks * W * F;
      typename Recipe::template accumulation<site::score>::template accumulator<score_sum_site, W> sum[R][F];
      for (int c = 0; c < d_; ++c) {
        fragment<scalar<site::input>, W> key[F];
        DEVIATE_UNROLL
        for (int f = 0; f < F; ++f) key[f] = load<scalar<site::input>, W>(key_ + c * key_stride_ + column + f * W);
        DEVIATE_UNROLL
        for (int r = 0; r < R; ++r) {
          const auto query = fill<scalar<site::input>, W>(query_[(row + r) * d_ + c]);
          DEVIATE_UNROLL
          for (int f = 0; f < F; ++f) {
            const std::int64_t i = query_index(row + r), j = first_key_ + column + f * W;
            sum[r][f].push(at.score_sum.here(i, j, c), at.score_product.here(i, j, c).multiply(query, key[f]));
          }
        }
      }
      const auto scale = fill<scale_scalar, W>(scale_);
      for (int r = 0; r < R; ++r)
        for (int f = 0; f < F; ++f) {
          const std::int64_t i = query_index(row + r), j = first_key_ + column + f * W;
          store(score_ + (row + r) * key_stride_ + column + f * W,
                at.score.here(i, j, 0).multiply(sum[r][f].total(at.score_sum.after(i, j, 0)), scale));
        }
    });
    for_each(team_, padded_rows_, [&](int row) { hide(row, columns); });
  }

  /// Largest visible score of a row, −∞ if there is none.
  DEVIATE_BLOCK carrier<site::score> largest_score(int row) const {
    using L = lanes<carrier<site::score>, W>;
    const carrier<site::score>* s = score_ + row * key_stride_;
    L most = broadcast<L>(minus_infinity<carrier<site::score>>());
    for (int c = 0; c < n_; c += W) most = maximum(most, load<scalar<site::score>, W>(s + c).value);
    if constexpr (W == 1) {
      return most;
    } else {
      carrier<site::score> m = most[0];
      for (int i = 1; i < W; ++i) m = maximum(m, most[i]);
      return m;
    }
  }

  /// probability[row] ← exp(S − m), 0 where a key is not seen; its sum in the declared order is returned.
  DEVIATE_BLOCK fragment<scalar<site::row_sum_partial>, 1> probabilities(int row,
                                                                         const fragment<scalar<site::row_max>, 1>& m) {
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
      sum.push(at.row_sum_inside.here(i, first_key_ + c, 0), p, n_ - c);
      store(probability_ + row * key_stride_ + c, p);
    }
    // A key that is seen but scores −∞ has no weight, and its V is left out like a hidden one's.
    if (any(weightless)) view_[row] = row_view::some;
    return at.row_sum_partial.here(i, 0, first_key_).round(sum.total(at.row_sum_inside.after(i, 0, first_key_)));
  }

  /// operand[row] ← f(P, site) for the operations of `probability_operand`: P rounded there, or P ÷ l.
  template <class Function>
  DEVIATE_BLOCK void operands(int row, Function f) {
    for (int c = 0; c < n_; c += W)
      store(operand_ + row * key_stride_ + c,
            f(load<scalar<site::probability>, W>(probability_ + row * key_stride_ + c),
              at.probability_operand.here(query_index(row), first_key_ + c, 0)));
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
      if (plain)
        weighted_values<false>(row, column, use);
      else
        weighted_values<true>(row, column, use);
    });
  }

 private:
  /// to[0], to[step], … to[(columns − 1)·step] ← one row of a tensor, rounded at `input`; columns beyond its own are 0.
  /// `which` tells Q, K and V apart.
  DEVIATE_BLOCK void load_row(const located_site<scalar<site::input>>& input, int which,
                              const tensor_view<const Element>& from, std::int64_t row, carrier<site::input>* to,
                              int columns, int step) {
    int c = 0;
    if constexpr (W > 1 && is_native<Element>) {
      if (from.stride().columns == 1) {
        const Element* start = &from(0, 0, row, 0);
        for (; c + W <= from.columns(); c += W) {
          const auto x = input.here(row, c, which).round(load<Element, W>(start + c));
          if (step == 1)
            store(to + c, x);
          else
            for (int i = 0; i < W; ++i) to[(c + i) * step] = x.value[i];
        }
      }
    }
    for (; c < columns; ++c)
      to[c * step] = c < from.columns() ? input.here(row, c, which).round(element(from(0, 0, row, c))).value
                                        : carrier<site::input>(0);
  }

  /// Writes −∞ over the scores that a row must not see, and notes what it sees.
  DEVIATE_BLOCK void hide(int row, int columns) {
    carrier<site::score>* s = score_ + row * key_stride_;
    const auto unseen = minus_infinity<carrier<site::score>>();
    int begin = 0, end = 0;
    if (row < rows_) {
      const key_range r = problem_.keys(batch_, first_query_ + row);
      begin = int(r.begin <= first_key_ ? 0 : r.begin - first_key_ < n_ ? r.begin - first_key_ : n_);
      end = int(r.end <= first_key_ ? 0 : r.end - first_key_ < n_ ? r.end - first_key_ : n_);
    }
    for (int c = 0; c < begin; ++c) s[c] = unseen;
    for (int c = end > begin ? end : begin; c < columns; ++c) s[c] = unseen;
    int seen = end > begin ? end - begin : 0;
    if (problem_.key_visible != nullptr)
      for (int c = begin; c < end; ++c)
        if (!problem_.visible(batch_, first_key_ + c)) {
          s[c] = unseen;
          --seen;
        }
    view_[row] = seen == 0 ? row_view::nothing : seen == n_ ? row_view::all : row_view::some;
  }

  template <bool Checked, class Use>
  DEVIATE_BLOCK void weighted_values(int row, int column, Use& use) {
    using terms = fragment<scalar<site::value_product>, W>;
    typename Recipe::template accumulation<site::value_partial>::template accumulator<value_sum_site, W> sum[R][F];
    for (int key = 0; key < n_; ++key) {
      fragment<scalar<site::input>, W> value[F];
      DEVIATE_UNROLL
      for (int f = 0; f < F; ++f) value[f] = load<scalar<site::input>, W>(value_ + key * d_v_ + column + f * W);
      DEVIATE_UNROLL
      for (int r = 0; r < R; ++r) {
        const int cell = (row + r) * key_stride_ + key;
        if constexpr (Checked) {
          if (score_[cell] == minus_infinity<carrier<site::score>>()) {
            for (int f = 0; f < F; ++f)
              sum[r][f].push(at.value_sum.here(query_index(row + r), column + f * W, first_key_ + key),
                             terms(fill<scalar<site::value_product>, W>(carrier<site::value_product>(0))));
            continue;
          }
        }
        const auto p = fill<scalar<site::probability_operand>, W>(operand_[cell]);
        DEVIATE_UNROLL
        for (int f = 0; f < F; ++f) {
          const std::int64_t i = query_index(row + r), j = column + f * W, k = first_key_ + key;
          sum[r][f].push(at.value_sum.here(i, j, k), at.value_product.here(i, j, k).multiply(p, value[f]));
        }
      }
    }
    for (int r = 0; r < R; ++r)
      if (!Checked || view_[row + r] != row_view::nothing)
        for (int f = 0; f < F; ++f) {
          const std::int64_t i = query_index(row + r), j = column + f * W;
          use(row + r, column + f * W,
              at.value_partial.here(i, j, first_key_).round(sum[r][f].total(at.value_sum.after(i, j, first_key_))));
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
  int rows_, padded_rows_, d_, d_v_, key_stride_, n_ = 0;
  scale_scalar scale_;
  carrier<site::input>*query_, *key_, *value_;
  carrier<site::score>* score_;
  carrier<site::probability>* probability_;
  carrier<site::probability_operand>* operand_;
  row_view* view_;
};

}  // namespace deviate::detail
