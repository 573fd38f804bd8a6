// SPDX-License-Identifier: Apache-2.0
/// \file golden_block.hpp
/// \brief The golden in double: a block of rows against all keys of a head, with its error bound.
// host only
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deviate/attention/golden_bound.hpp>
#include <deviate/attention/golden_head.hpp>
#include <deviate/math/exp.hpp>
#include <deviate/math/log.hpp>
#include <deviate/number/lanes.hpp>
#include <limits>
#include <span>

namespace deviate::detail {

/// A block of query rows against all keys of a head: scores, then weights and their sums, then weighted values.
///
/// Scores lie tile by tile, [tiles][rows × tile]; a weight takes the place of its score. A key without weight has −0.
template <class Sizes>
class golden_block_of {
 public:
  using sizes = Sizes;
  using golden_head = golden_head_of<Sizes>;
  using lanes8 = pack<double, sizes::sum_lanes>;

  /// Rows that one block takes, so that their scores stay in a cache of about a megabyte.
  static std::int64_t rows_of(std::int64_t n_key) {
    const std::int64_t fitting = sizes::most_scores / std::max<std::int64_t>(n_key, 1) / sizes::rows;
    return std::clamp<std::int64_t>(fitting, 1, sizes::groups) * sizes::rows;
  }

  /// \param queries at most `rows_of` rows of q
  template <class View>
  golden_block_of(arena& memory, const golden_head& head, const View& q, std::span<const std::int64_t> queries)
      : head_(head), count_(int(queries.size())) {
    groups_ = (count_ + sizes::rows - 1) / sizes::rows;
    rows_ = groups_ * sizes::rows;
    columns_ = head.value_panels * sizes::panel;
    query_ = take<double>(memory, rows_ * head.d);
    output_ = take<double>(memory, rows_ * columns_);
    row_ = take<row_state>(memory, rows_);
    std::fill_n(query_, rows_ * head.d, 0.0);
    std::fill_n(output_, rows_ * columns_, 0.0);
    for (int r = 0; r < rows_; ++r) {
      row_[r] = row_state{};
      if (r >= count_) continue;
      double* const to = query_ + r / sizes::rows * sizes::rows * head.d + r % sizes::rows;
      for (std::int64_t c = 0; c < head.d; ++c) to[c * sizes::rows] = double(element(q(0, 0, queries[r], c)).value);
      row_[r].norm = upper_norm(head.d, [&](std::int64_t c) { return to[c * sizes::rows]; });
      row_[r].seen = head.problem.keys(head.batch_index, queries[r]);
    }
    for (int g = 0; g < groups_; ++g) group_[g] = seen_by(g * sizes::rows, sizes::rows);
    block_ = seen_by(0, rows_);
    first_tile_ = block_.begin / sizes::tile;
    tiles_ = block_.end > block_.begin ? (block_.end + sizes::tile - 1) / sizes::tile - first_tile_ : 0;
    score_ = take<double>(memory, tiles_ * rows_ * sizes::tile);
  }

  void run() {
    for (std::int64_t t = 0; t < tiles_; ++t) {
      scores_of(first_tile_ + t);
      for (int r = 0; r < count_; ++r) hide_and_find_maximum(first_tile_ + t, r);
    }
    for (int r = 0; r < count_; ++r) row_[r].set_maximum();
    for (std::int64_t t = 0; t < tiles_; ++t) {
      for (int r = 0; r < count_; ++r) weights_of(first_tile_ + t, r);
      add_values_of(first_tile_ + t);
    }
  }

  /// Writes O of row r, and gives LSE and the bounds.
  double finish(int r, double* out, golden_row_bound& bound) const {
    const row_state& row = row_[r];
    if (row.empty) {
      const bool certain = std::isfinite(head_.errors.largest_exponent_error(row.norm));
      bound.output = bound.log_sum_exp = certain ? 0 : std::numeric_limits<double>::infinity();
      std::fill_n(out, head_.d_v, 0.0);
      return -std::numeric_limits<double>::infinity();
    }
    golden_row_sums s{.weight = total(row.weight),
                      .error = total(row.error),
                      .value = total(row.value),
                      .value_error = total(row.value_error),
                      .weight_depth = sizes::tile / sizes::sum_lanes + tiles_ + 3,
                      .value_depth = sizes::tile + tiles_};
    double largest = 0;
    for (std::int64_t c = 0; c < head_.d_v; ++c) {
      // + 0: a zero has one sign, so hidden keys, whose products are zeros of either, leave no trace.
      out[c] = output_[r * columns_ + c] / s.weight + 0.0;
      if (!(std::fabs(out[c]) <= largest)) largest = std::fabs(out[c]);
      if (std::isnan(out[c])) largest = std::numeric_limits<double>::infinity();
    }
    const double lse = row.most + math::log(s.weight);
    bound = bound_of_row(head_.errors, s, s.weight < 2 ? top_key(r) : golden_top_key{},
                         head_.errors.largest_exponent_error(row.norm), largest, lse);
    return lse;
  }

 private:
  /// The key of the row whose score is the maximum; its weight is 1.
  golden_top_key top_key(int r) const {
    const key_range seen = row_[r].seen;
    for (std::int64_t j = seen.begin; j < seen.end; ++j)
      if (row_scores(j / sizes::tile, r)[j % sizes::tile] == 1)
        return {1, head_.errors.exponent_error(row_[r].norm, *head_.key_norm(j), 0), *head_.value_size(j)};
    return {};
  }

  struct row_state {
    lanes8 highest = broadcast<lanes8>(-std::numeric_limits<double>::infinity());
    lanes8 weight = {}, error = {}, value = {}, value_error = {};
    key_range seen;
    double norm = 0, most = 0;
    bool empty = true;

    /// The maximum of the row; NaN if any score is. A row whose scores are all −∞ takes nothing.
    void set_maximum() {
      most = highest[0];
      for (int i = 1; i < sizes::sum_lanes; ++i) most = maximum(most, highest[i]);
      empty = most == -std::numeric_limits<double>::infinity();
      if (empty) most = 0;
    }
  };

  template <class T>
  static T* take(arena& memory, std::int64_t count) {
    return static_cast<T*>(memory.take(std::size_t(count) * sizeof(T)));
  }
  static lanes8 load8(const double* from) {
    lanes8 x;
    std::memcpy(&x, from, sizeof x);
    return x;
  }
  /// A fixed tree over the lanes: distance 4, 2, 1.
  static double total(const lanes8& x) { return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])); }

  /// Keys that any of these rows sees, widened to whole packs.
  key_range seen_by(int first, int count) const {
    key_range all{std::numeric_limits<std::int64_t>::max(), 0};
    for (int r = first; r < first + count; ++r) {
      if (row_[r].seen.end <= row_[r].seen.begin) continue;
      all.begin = std::min(all.begin, row_[r].seen.begin);
      all.end = std::max(all.end, row_[r].seen.end);
    }
    if (all.end == 0) return {0, 0};
    constexpr std::int64_t whole = sizes::sum_lanes;
    return {all.begin / whole * whole, (all.end + whole - 1) / whole * whole};
  }
  /// The part of a range that lies in a tile.
  static key_range in_tile(const key_range& range, std::int64_t tile) {
    const key_range part{std::max(range.begin, tile * sizes::tile), std::min(range.end, (tile + 1) * sizes::tile)};
    return part.end > part.begin ? part : key_range{part.begin, part.begin};
  }
  double* row_scores(std::int64_t tile, int row) const {
    return score_ + ((tile - first_tile_) * rows_ + row) * sizes::tile;
  }

  void scores_of(std::int64_t tile) {
    const key_range range = in_tile(block_, tile);
    const golden_vector scale = broadcast<golden_vector>(head_.problem.scale);
    for (std::int64_t j = range.begin / sizes::panel * sizes::panel; j < range.end; j += sizes::panel)
      for (int g = 0; g < groups_; ++g) {
        if (j + sizes::panel <= group_[g].begin || j >= group_[g].end) continue;
        double* const to = row_scores(tile, g * sizes::rows) + j % sizes::tile;
        golden_product<sizes::packs>(query_ + g * sizes::rows * head_.d, 1, sizes::rows, head_.keys(j), head_.d,
                                     [&](int r, int f, const golden_vector& sum) DEVIATE_HD_LAMBDA {
                                       const golden_vector score = sum * scale;
                                       std::memcpy(to + r * sizes::tile + f * sizes::width, &score, sizeof score);
                                     });
      }
  }

  void hide_and_find_maximum(std::int64_t tile, int r) {
    const key_range range = in_tile(group_[r / sizes::rows], tile), seen = in_tile(row_[r].seen, tile);
    double* const score = row_scores(tile, r) - tile * sizes::tile;
    constexpr double unseen = -std::numeric_limits<double>::infinity();
    for (std::int64_t j = range.begin; j < std::min(seen.begin, range.end); ++j) score[j] = unseen;
    for (std::int64_t j = std::max(seen.end, range.begin); j < range.end; ++j) score[j] = unseen;
    if (head_.problem.key_visible != nullptr)
      for (std::int64_t j = seen.begin; j < seen.end; ++j)
        if (!head_.problem.visible(head_.batch_index, j)) score[j] = unseen;
    lanes8 highest = row_[r].highest;
    for (std::int64_t j = range.begin; j < range.end; j += sizes::sum_lanes)
      highest = maximum(highest, load8(score + j));
    row_[r].highest = highest;
  }

  /// Scores become weights. Their sum, and the sums of the error bound, grow by those of this tile.
  void weights_of(std::int64_t tile, int r) {
    const key_range range = in_tile(group_[r / sizes::rows], tile);
    double* const score = row_scores(tile, r) - tile * sizes::tile;
    row_state& row = row_[r];
    const golden_errors& e = head_.errors;
    const lanes8 most = broadcast<lanes8>(row.most),
                 unseen = broadcast<lanes8>(-std::numeric_limits<double>::infinity()), none = broadcast<lanes8>(-0.0);
    const lanes8 lowest = broadcast<lanes8>(golden_errors::lowest), per_norm = broadcast<lanes8>(e.per_norm * row.norm);
    const lanes8 constant = broadcast<lanes8>(e.constant + e.of.exp), per_distance = broadcast<lanes8>(e.of.add);
    lanes8 sum{}, error = row.error, value = row.value, value_error = row.value_error;
    for (std::int64_t j = range.begin; j < range.end; j += sizes::sum_lanes) {
      const lanes8 s = load8(score + j), x = s - most;
      const lanes8 bounded = select(x < lowest, lowest, x);
      const lanes8 weight = select(s == unseen, none, math::exp(bounded));
      std::memcpy(score + j, &weight, sizeof weight);
      sum = sum + weight;
      const lanes8 size = load8(head_.value_size(j));
      const lanes8 inexact = (load8(head_.key_norm(j)) * per_norm + (constant - bounded * per_distance)) * weight;
      error = error + inexact;
      value = value + weight * size;
      value_error = value_error + inexact * size;
    }
    row.weight = row.weight + sum;
    row.error = error;
    row.value = value;
    row.value_error = value_error;
  }

  void add_values_of(std::int64_t tile) {
    for (std::int64_t panel = 0; panel < head_.value_panels; ++panel) {
      const std::int64_t columns = std::min<std::int64_t>(sizes::panel, head_.d_v - panel * sizes::panel);
      for (int g = 0; g < groups_; ++g) {
        const key_range range = in_tile(group_[g], tile);
        if (range.end == range.begin) continue;
        if (!head_.has_finite_values(tile))
          add_any_values(tile, panel, g, range);
        else if (columns > 3 * sizes::width)
          add_finite_values<sizes::packs>(tile, panel, g, range);
        else if (columns > sizes::width)
          add_finite_values<sizes::packs == 4 ? 3 : 2>(tile, panel, g, range);
        else
          add_finite_values<1>(tile, panel, g, range);
      }
    }
  }

  template <int F>
  void add_finite_values(std::int64_t tile, std::int64_t panel, int g, const key_range& range) {
    double* const out = output_ + g * sizes::rows * columns_ + panel * sizes::panel;
    golden_product<F>(row_scores(tile, g * sizes::rows) + range.begin % sizes::tile, sizes::tile, 1,
                      head_.values(panel, range.begin), range.end - range.begin,
                      [&](int r, int f, const golden_vector& sum) DEVIATE_HD_LAMBDA {
                        double* const at = out + r * columns_ + f * sizes::width;
                        golden_vector before;
                        std::memcpy(&before, at, sizeof before);
                        before = before + sum;
                        std::memcpy(at, &before, sizeof before);
                      });
  }

  /// The same sums where V holds NaN or infinities: a key without weight takes no part, instead of being multiplied.
  void add_any_values(std::int64_t tile, std::int64_t panel, int g, const key_range& range) {
    for (int r = g * sizes::rows; r < (g + 1) * sizes::rows; ++r) {
      const double* const weight = row_scores(tile, r) - tile * sizes::tile;
      for (int c = 0; c < sizes::panel; ++c) {
        double sum = 0;
        for (std::int64_t j = range.begin; j < range.end; ++j)
          if (!(weight[j] == 0 && std::signbit(weight[j]))) sum = std::fma(weight[j], head_.values(panel, j)[c], sum);
        output_[r * columns_ + panel * sizes::panel + c] += sum;
      }
    }
  }

  const golden_head& head_;
  int count_, groups_ = 0, rows_ = 0;
  std::int64_t columns_ = 0, first_tile_ = 0, tiles_ = 0;
  double *query_ = nullptr, *output_ = nullptr, *score_ = nullptr;
  row_state* row_ = nullptr;
  key_range group_[sizes::groups], block_;
};
using golden_block = golden_block_of<golden_tiles>;

}  // namespace deviate::detail
