// SPDX-License-Identifier: Apache-2.0
/// \file schedule.hpp
/// \brief Tile sizes and the order in which key tiles are visited.
#pragma once

#include <cstdint>
#include <deviate/config.hpp>

namespace deviate {

/// \brief In which order a query tile visits the key tiles.
enum class key_order : std::uint8_t { ascending, descending };

/// \brief Against which maximum the exponentials of a row are taken.
enum class row_maximum : std::uint8_t {
  running,  ///< the largest score so far, as Flash Attention does: earlier results are rescaled where it grows
  known,    ///< the row's own, found by a pass over all scores first: nothing is ever rescaled
};

/// \brief How the work is cut, and which maximum is used. Each row's arithmetic depends on everything but `tile_query`.
struct schedule {
  std::int64_t tile_query = 64;                ///< Br, rows of a query tile, at least 1
  std::int64_t tile_key = 64;                  ///< Bc, keys of a key tile, at least 1
  key_order order = key_order::ascending;      ///< order of the key tiles
  row_maximum maximum = row_maximum::running;  ///< `known` tells the errors of rescaling from all others
  /// A running maximum is replaced only by a score that is larger by more than this, 0 or more: P may reach
  /// exp(threshold). Not with `normalization::every_tile`. FlashAttention-4 takes 8 · ln 2.
  double rescale_threshold = 0;
};

}  // namespace deviate
