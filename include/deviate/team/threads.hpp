// SPDX-License-Identifier: Apache-2.0
/// \file threads.hpp
/// \brief A team whose lanes are threads that meet at a barrier: a CUDA block in miniature, for ThreadSanitizer and
/// tests.
// host only
#pragma once

#include <barrier>
#include <deviate/contract.hpp>
#include <deviate/team/arena.hpp>
#include <deviate/team/team.hpp>
#include <thread>
#include <type_traits>
#include <vector>

namespace deviate {

/// \brief One lane's view of a team of threads. Every lane runs the whole block, as a thread of a CUDA block does.
/// \tparam Tile register tile of the algorithms it runs
template <class Tile = native_tile>
class thread_team {
 public:
  using tile = Tile;  ///< register tile

  /// \brief Number of lanes.
  int size() const { return meeting_.size; }

  /// \brief body(lane) for this thread's lane; returns when all lanes have run it.
  template <class Body>
  void lanes(Body&& body) {
    body(lane_);
    meeting_.barrier.arrive_and_wait();
  }

  /// \copydoc serial_team::reduce
  template <class Value, class Operation>
  auto reduce(Value&& value, Operation operation) {
    using T = std::decay_t<decltype(value(0))>;
    T* values = shared<T>(static_cast<std::size_t>(size()));
    lanes([&](int lane) { values[lane] = value(lane); });
    for (int distance = 1; distance < size(); distance *= 2)
      lanes([&](int lane) {
        if (lane % (2 * distance) == 0 && lane + distance < size())
          values[lane] = operation(values[lane], values[lane + distance]);
      });
    return values[0];
  }

  /// \copydoc serial_team::shared
  template <class T>
  T* shared(std::size_t n) {
    static_assert(std::is_trivially_destructible_v<T>);
    lanes([&](int lane) {
      if (lane != 0) return;
      T* at = static_cast<T*>(meeting_.scratch.take(n * sizeof(T)));
      if constexpr (!std::is_trivially_default_constructible_v<T>)
        for (std::size_t i = 0; i < n; ++i) new (at + i) T;
      meeting_.taken = at;
    });
    T* at = static_cast<T*>(meeting_.taken);
    lanes([](int) {});  // nobody takes the next piece before all have read this one's address
    return at;
  }

  /// \brief Runs block(team) on `size` threads that form one team.
  /// \pre block throws nothing: a lane that leaves would keep the others waiting at the barrier
  template <class Block>
  static void run(arena& scratch, int size, Block block) {
    expects(size >= 1, "thread_team: size must be at least 1");
    scratch.reset();
    meeting_point meeting(scratch, size);
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(size));
    for (int lane = 0; lane < size; ++lane)
      threads.emplace_back([&meeting, &block, lane] {
        thread_team team(meeting, lane);
        block(team);
      });
    for (auto& t : threads) t.join();
  }

 private:
  struct meeting_point {
    meeting_point(arena& a, int n) : scratch(a), size(n), barrier(n) {}
    arena& scratch;
    int size;
    std::barrier<> barrier;
    void* taken = nullptr;
  };

  thread_team(meeting_point& meeting, int lane) : meeting_(meeting), lane_(lane) {}

  meeting_point& meeting_;
  int lane_;
};

}  // namespace deviate
