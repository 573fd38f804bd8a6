// SPDX-License-Identifier: Apache-2.0
/// \file schedule.hpp
/// \brief Tile sizes and the order in which key tiles are visited.
#pragma once

#include <cstdint>
#include <deviate/config.hpp>

namespace deviate {

/// \brief In which order a query tile visits the key tiles.
enum class key_order : std::uint8_t { ascending, descending };

/// \brief How the work is cut. Each row's arithmetic depends on `tile_key` and `order` alone; `tile_query` never shows.
struct schedule {
  std::int64_t tile_query = 64;            ///< Br, rows of a query tile, at least 1
  std::int64_t tile_key = 64;              ///< Bc, keys of a key tile, at least 1
  key_order order = key_order::ascending;  ///< order of the key tiles
};

}  // namespace deviate
