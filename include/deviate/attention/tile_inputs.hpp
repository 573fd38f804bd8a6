// SPDX-License-Identifier: Apache-2.0
/// \file tile_inputs.hpp
/// \brief Q, K and V of a query tile and the present key tile, rounded and laid out, and what each row sees of them.
#pragma once

#include <cstdint>
#include <deviate/attention/problem.hpp>
#include <deviate/attention/recipe.hpp>
#include <deviate/number/bounded.hpp>
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

/// What a row sees of the present key tile.
enum class row_view : std::uint8_t { nothing, some, all };

/// The inputs of a query tile.
///
/// Shapes (rows × columns, row-major; rows and columns padded to the register tile): key [d × keys], value [keys × d_v];
/// query [rows × d] in panels of R rows, in which W columns of each row lie together: what a register tile reads then has
/// constant distances.
/// \tparam Element element type of Q, K, V as given
template <class Team, class Recipe, class Element>
class tile_inputs {
 public:
  template <site S>
  using scalar = typename Recipe::template scalar<S>;
  template <site S>
  using carrier = carrier_of<scalar<S>>;

  static constexpr bool one_lane = Recipe::has_software || Recipe::has_observed;
  static constexpr int W = one_lane ? 1 : Team::tile::width;
  static constexpr int R = one_lane ? 1 : Team::tile::rows;
  static constexpr int F = one_lane ? 1 : Team::tile::columns;

  /// \param max_keys keys of the largest key tile
  DEVIATE_BLOCK tile_inputs(Team& team, const forward_sites<Recipe>& sites, const bound_problem& problem,
                            std::int64_t batch, tensor_view<const Element> q, tensor_view<const Element> k,
                            tensor_view<const Element> v, std::int64_t first_query, int rows, std::int64_t max_keys)
      : at(sites),
        team_(team),
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
        query_stride_(rounded_up(d_, W)) {
    query_ = team.template shared<carrier<site::input>>(std::size_t(padded_rows_) * std::size_t(query_stride_));
    key_ = team.template shared<carrier<site::input>>(std::size_t(d_) * std::size_t(key_stride_));
    value_ = team.template shared<carrier<site::input>>(std::size_t(max_keys) * std::size_t(d_v_));
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

  const forward_sites<Recipe>& at;

 protected:
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

  Team& team_;
  const bound_problem& problem_;
  std::int64_t batch_;
  tensor_view<const Element> q_, k_, v_;
  std::int64_t first_query_, first_key_ = 0;
  int rows_, padded_rows_, d_, d_v_, key_stride_, query_stride_, n_ = 0;
  carrier<site::input>*query_, *key_, *value_;
  row_view* view_;
};

}  // namespace deviate::detail
