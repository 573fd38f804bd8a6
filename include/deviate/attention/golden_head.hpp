// SPDX-License-Identifier: Apache-2.0
/// \file golden_head.hpp
/// \brief What the golden in double holds of one head of K and V, and the product of its register tiles.
// host only
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deviate/attention/forward_tile.hpp>
#include <deviate/attention/golden_bound.hpp>
#include <deviate/attention/problem.hpp>
#include <deviate/number/lanes.hpp>
#include <deviate/team/arena.hpp>
#include <vector>

namespace deviate::detail {

/// Sizes of the golden's tiles. `tile` is part of the order of the sums; all others only decide where operands wait.
/// \tparam Bytes of a vector of the processor; 0 for none
template <int Bytes>
struct golden_tiles_of {
  static constexpr int width = Bytes == 0 ? 2 : Bytes / int(sizeof(double));
  static constexpr int packs = Bytes == 64 ? 4 : 2;
  static constexpr int panel = width * packs;  ///< keys, or columns of V, that a register tile spans
  static constexpr int rows = 6;               ///< queries of a register tile
  static constexpr int groups = 4;             ///< register tiles of a block, while its scores fit a cache
  static constexpr int tile = 128;             ///< keys whose weighted values are summed apart
  static constexpr int sum_lanes = 8;          ///< partial sums of the weights of a row
  static constexpr int padding = 32;           ///< a multiple of every panel and of sum_lanes
  static constexpr std::int64_t most_scores = 1 << 17;
};

using golden_tiles = golden_tiles_of<pack_part_bytes>;
using golden_vector = lanes<double, golden_tiles::width>;

/// sum[r][column] = Σ left[r][step] · right[step][column], in the order of the steps, each term fused into the sum.
///
/// right: `steps` rows of a panel. left: element (r, step) at left[r · row_stride + step · step_stride].
/// \tparam F packs of the panel that are wanted
template <int F, class Use>
DEVIATE_HD void golden_product(const double* left, std::int64_t row_stride, std::int64_t step_stride,
                               const double* right, std::int64_t steps, Use use) {
  constexpr int rows = golden_tiles::rows, width = golden_tiles::width;
  golden_vector sum[rows][F];
  DEVIATE_UNROLL
  for (int r = 0; r < rows; ++r) {
    DEVIATE_UNROLL
    for (int f = 0; f < F; ++f) sum[r][f] = golden_vector{};
  }
  for (std::int64_t s = 0; s < steps; ++s) {
    golden_vector b[F];
    DEVIATE_UNROLL
    for (int f = 0; f < F; ++f) std::memcpy(&b[f], right + s * golden_tiles::panel + f * width, sizeof b[f]);
    DEVIATE_UNROLL
    for (int r = 0; r < rows; ++r) {
      const golden_vector a = broadcast<golden_vector>(left[r * row_stride + s * step_stride]);
      DEVIATE_UNROLL
      for (int f = 0; f < F; ++f) sum[r][f] = multiply_add(a, b[f], sum[r][f]);
    }
  }
  DEVIATE_UNROLL
  for (int r = 0; r < rows; ++r) {
    DEVIATE_UNROLL
    for (int f = 0; f < F; ++f) use(r, f, sum[r][f]);
  }
}

/// One head of K and V in double, in panels, and what the error bound needs of every key.
///
/// keys: [panels of keys][d × panel]; values: [panels of columns][keys × panel]; zeros fill up. Keys that the key mask
/// hides are zeros too, whatever stands there.
template <class Sizes>
class golden_head_of {
 public:
  using sizes = Sizes;

  template <class View>
  golden_head_of(arena& memory, const bound_problem& p, std::int64_t batch, const View& k, const View& v)
      : problem(p), batch_index(batch), d(k.columns()), d_v(v.columns()), n(k.rows()) {
    padded = (n + sizes::padding - 1) / sizes::padding * sizes::padding;
    value_panels = (d_v + sizes::panel - 1) / sizes::panel;
    const auto take = [&](std::int64_t count) {
      double* const at = static_cast<double*>(memory.take(std::size_t(count) * sizeof(double)));
      std::fill_n(at, count, 0.0);
      return at;
    };
    keys_ = take(padded * d);
    values_ = take(value_panels * padded * sizes::panel);
    key_norm_ = take(padded);
    value_size_ = take(padded);
    finite_values_.assign(std::size_t((padded + sizes::tile - 1) / sizes::tile), true);
    for (std::int64_t j = 0; j < n; ++j)
      if (p.visible(batch, j)) pack_key(k, v, j);
    errors.set(golden_accuracy_of<double>::value, p.scale, d, n);
  }

  const double* keys(std::int64_t key) const { return keys_ + key * d; }
  const double* values(std::int64_t panel, std::int64_t key) const {
    return values_ + (panel * padded + key) * sizes::panel;
  }
  const double* key_norm(std::int64_t key) const { return key_norm_ + key; }
  const double* value_size(std::int64_t key) const { return value_size_ + key; }
  bool has_finite_values(std::int64_t tile) const { return finite_values_[std::size_t(tile)]; }

  const bound_problem& problem;
  std::int64_t batch_index, d, d_v, n, padded = 0, value_panels = 0;
  golden_errors errors;

 private:
  template <class View>
  void pack_key(const View& k, const View& v, std::int64_t j) {
    double* const key = keys_ + j / sizes::panel * sizes::panel * d + j % sizes::panel;
    for (std::int64_t c = 0; c < d; ++c) key[c * sizes::panel] = double(element(k(0, 0, j, c)).value);
    const double norm = upper_norm(d, [&](std::int64_t c) { return key[c * sizes::panel]; });
    // A row that gives weight to a key or value that is not finite has no finite output, and no bound.
    if (std::isfinite(norm)) {
      key_norm_[j] = norm;
      errors.key_norm = std::max(errors.key_norm, norm);
    }
    double size = 0;
    for (std::int64_t c = 0; c < d_v; ++c) {
      const double x = double(element(v(0, 0, j, c)).value);
      values_[(c / sizes::panel * padded + j) * sizes::panel + c % sizes::panel] = x;
      if (!(std::fabs(x) <= size)) size = std::fabs(x);
      if (!std::isfinite(x)) finite_values_[std::size_t(j / sizes::tile)] = false;
    }
    if (std::isfinite(size)) {
      value_size_[j] = size;
      errors.value_size = std::max(errors.value_size, size);
    }
  }

  double *keys_, *values_, *key_norm_, *value_size_;
  std::vector<bool> finite_values_;
};
using golden_head = golden_head_of<golden_tiles>;

}  // namespace deviate::detail
