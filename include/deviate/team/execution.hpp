// SPDX-License-Identifier: Apache-2.0
/// \file execution.hpp
/// \brief Who executes the blocks of a launch on the host. The choice changes time, never bits.
// host only
#pragma once

#include <cstdint>
#include <deviate/team/serial.hpp>
#include <deviate/team/threads.hpp>
#include <deviate/team/workers.hpp>

namespace deviate {

/// \brief Every block by a serial team of several lanes, one block after the other: for tests of lane order.
/// \tparam Tile register tile; `plain_tile` is the plain text of the algorithms
template <class Tile = native_tile>
struct one_by_one {
  int lanes = 1;                           ///< lanes of the team
  lane_order order = lane_order::forward;  ///< in which they take turns
  std::uint64_t seed = 1;                  ///< of the shuffled order
};

/// \brief Every block by a team of threads, one block after the other: for ThreadSanitizer.
template <class Tile = native_tile>
struct by_threads {
  int lanes = 4;  ///< threads of the team
};

/// \brief Workers with a register tile of one's own.
template <class Tile>
struct workers_by : workers {};

/// \brief block(team, i) for every i < n, on all cores, with that register tile.
template <class Tile, class Block>
void run_blocks(const workers_by<Tile>& who, std::int64_t n, Block block) {
  parallel_for(who, n, [&](std::int64_t i, arena& scratch) {
    serial_team<Tile> team(scratch);
    block(team, i);
  });
}
/// \brief block(team, i) for every i < n, on all cores: each worker is a serial team of one lane.
template <class Block>
void run_blocks(const workers& who, std::int64_t n, Block block) {
  parallel_for(who, n, [&](std::int64_t i, arena& scratch) {
    serial_team<native_tile> team(scratch);
    block(team, i);
  });
}
/// \brief The same with lanes in a chosen order.
template <class Tile, class Block>
void run_blocks(const one_by_one<Tile>& how, std::int64_t n, Block block) {
  arena scratch;
  for (std::int64_t i = 0; i < n; ++i) {
    serial_team<Tile> team(scratch, how.lanes, how.order, how.seed + std::uint64_t(i));
    block(team, i);
  }
}
/// \brief The same with a thread for every lane.
template <class Tile, class Block>
void run_blocks(const by_threads<Tile>& how, std::int64_t n, Block block) {
  arena scratch;
  for (std::int64_t i = 0; i < n; ++i)
    thread_team<Tile>::run(scratch, how.lanes, [&](thread_team<Tile>& team) { block(team, i); });
}

}  // namespace deviate
