// SPDX-License-Identifier: Apache-2.0
/// \file scale_groups.hpp
/// \brief Which elements of a tensor share a scale.
#pragma once

#include <concepts>
#include <cstdint>
#include <deviate/tensor/view.hpp>

namespace deviate {

/// \brief A division of tensors into groups with one scale each: the shape of the tensor of scales, and where the scale
/// of an element lies in it.
template <class G>
concept scale_groups = requires(const G& groups, const extents& shape, std::int64_t i) {
  { groups.scales(shape) } -> std::same_as<extents>;
  { groups.scale_of(shape, i, i, i, i) } -> std::same_as<extents>;
};

/// \brief Boxes of neighbours: the scale of [b, h, r, c] lies at [b/batch, h/heads, r/rows, c/columns]. The last box in
/// a direction may be smaller.
struct scale_boxes {
  static constexpr std::int64_t all = INT64_MAX;  ///< as many as there are

  std::int64_t batch = 1;      ///< batches in a box: 1 or more
  std::int64_t heads = 1;      ///< heads in a box
  std::int64_t rows = 1;       ///< rows in a box
  std::int64_t columns = all;  ///< columns in a box

  /// \brief One scale for everything.
  static constexpr scale_boxes per_tensor() { return {all, all, all, all}; }
  /// \brief One scale for each head of each batch.
  static constexpr scale_boxes per_head() { return {1, 1, all, all}; }
  /// \brief One scale for each row: a token of a head.
  static constexpr scale_boxes per_row() { return {1, 1, 1, all}; }
  /// \brief One scale for each token, of all its heads.
  static constexpr scale_boxes per_token() { return {1, all, 1, all}; }
  /// \brief One scale for each column of each head.
  static constexpr scale_boxes per_channel() { return {1, 1, all, 1}; }
  /// \brief 1 × n: one scale for n neighbours in a row.
  static constexpr scale_boxes along_row(std::int64_t n) { return {1, 1, 1, n}; }
  /// \brief One scale for rows × columns of a head, e.g. the rows of a tile.
  static constexpr scale_boxes block(std::int64_t rows, std::int64_t columns = all) { return {1, 1, rows, columns}; }

  /// \brief Shape of the scales of a tensor.
  DEVIATE_HD constexpr extents scales(const extents& shape) const {
    return {count(shape.batch, batch), count(shape.heads, heads), count(shape.rows, rows),
            count(shape.columns, columns)};
  }
  /// \brief Position of an element's scale.
  DEVIATE_HD constexpr extents scale_of(const extents&, std::int64_t b, std::int64_t h, std::int64_t r,
                                        std::int64_t c) const {
    return {b / batch, h / heads, r / rows, c / columns};
  }

 private:
  static DEVIATE_HD constexpr std::int64_t count(std::int64_t size, std::int64_t box) {
    return size / box + (size % box != 0 ? 1 : 0);
  }
};

/// \brief Rows dealt out within a tile, as the threads of a warp hold them: row r of a tile belongs to group
/// (r mod period) / run.
///
/// The m16n8 products of NVIDIA's matrix units give one row in eight to a thread (period 8, run 1), and two
/// neighbouring keys in eight (period 8, run 2): the scales per thread of J. Zhang et al., "SageAttention2", 2024.
struct interleaved_rows {
  std::int64_t tile = 1;    ///< rows of a tile
  std::int64_t period = 1;  ///< the pattern repeats after as many rows; the last run may be shorter
  std::int64_t run = 1;     ///< neighbours of one group

  /// \brief Groups of a tile.
  DEVIATE_HD constexpr std::int64_t groups() const { return (period + run - 1) / run; }
  /// \brief Shape of the scales: `groups()` rows for each tile, the last one too; one column.
  DEVIATE_HD constexpr extents scales(const extents& shape) const {
    return {shape.batch, shape.heads, (shape.rows + tile - 1) / tile * groups(), shape.columns > 0 ? 1 : 0};
  }
  /// \brief Position of an element's scale.
  DEVIATE_HD constexpr extents scale_of(const extents&, std::int64_t b, std::int64_t h, std::int64_t r,
                                        std::int64_t) const {
    return {b, h, r / tile * groups() + r % tile % period / run, 0};
  }
};

}  // namespace deviate
