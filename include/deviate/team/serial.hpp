// SPDX-License-Identifier: Apache-2.0
/// \file serial.hpp
/// \brief A team whose lanes take turns on one thread, in an order that can be chosen.
// host only
#pragma once

#include <cstdint>
#include <deviate/contract.hpp>
#include <deviate/team/arena.hpp>
#include <deviate/team/team.hpp>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace deviate {

/// \brief In which order the lanes of a serial team take turns.
enum class lane_order : std::uint8_t {
  forward,   ///< 0, 1, 2, …
  reverse,   ///< …, 2, 1, 0
  shuffled,  ///< another permutation at every call of `lanes`: a race shows as changed bits
};

/// \brief Lanes one after the other on the calling thread.
/// \tparam Tile register tile of the algorithms it runs
template <class Tile = native_tile>
class serial_team {
 public:
  using tile = Tile;  ///< register tile

  /// \param scratch memory for `shared`; outlives the team, and is reset by it
  /// \param size number of lanes, at least 1
  /// \param order in which the lanes take turns
  /// \param seed of the shuffled order
  explicit serial_team(arena& scratch, int size = 1, lane_order order = lane_order::forward, std::uint64_t seed = 1)
      : scratch_(scratch), size_(size), order_(order), state_(seed) {
    expects(size >= 1, "serial_team: size must be at least 1");
    scratch_.reset();
    if (order_ != lane_order::forward) {
      turn_.resize(static_cast<std::size_t>(size));
      std::iota(turn_.begin(), turn_.end(), 0);
    }
  }

  /// \brief Number of lanes.
  int size() const { return size_; }

  /// \brief body(lane) for every lane; returns when all have run.
  template <class Body>
  void lanes(Body&& body) {
    if (order_ == lane_order::forward) {
      for (int lane = 0; lane < size_; ++lane) body(lane);
      return;
    }
    if (order_ == lane_order::shuffled) shuffle();
    for (int i = 0; i < size_; ++i) {
      const int lane = turn_[static_cast<std::size_t>(order_ == lane_order::reverse ? size_ - 1 - i : i)];
      body(lane);
    }
  }

  /// \brief operation over value(0), value(1), … in a fixed tree: distance 1, 2, 4, …, lower lane left.
  template <class Value, class Operation>
  auto reduce(Value&& value, Operation operation) {
    std::vector<std::decay_t<decltype(value(0))>> values(static_cast<std::size_t>(size_));
    lanes([&](int lane) { values[static_cast<std::size_t>(lane)] = value(lane); });
    return detail::reduce_tree(values.data(), size_, operation);
  }

  /// \brief n values that all lanes see, uninitialised where T is trivial, valid until the team is gone.
  template <class T>
  T* shared(std::size_t n) {
    static_assert(std::is_trivially_destructible_v<T>);
    T* at = static_cast<T*>(scratch_.take(n * sizeof(T)));
    if constexpr (!std::is_trivially_default_constructible_v<T>)
      for (std::size_t i = 0; i < n; ++i) new (at + i) T;
    return at;
  }

 private:
  /// Fisher–Yates with a 64-bit linear congruential generator (Knuth's MMIX constants).
  void shuffle() {
    for (std::size_t i = turn_.size(); i > 1; --i) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      std::swap(turn_[i - 1], turn_[static_cast<std::size_t>(state_ >> 33) % i]);
    }
  }

  arena& scratch_;
  int size_;
  lane_order order_;
  std::uint64_t state_;
  std::vector<int> turn_;
};

}  // namespace deviate
