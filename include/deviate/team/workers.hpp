// SPDX-License-Identifier: Apache-2.0
/// \file workers.hpp
/// \brief Independent items of work spread over threads; which thread takes which item never shows in a result.
// host only
#pragma once

#include <atomic>
#include <cstdint>
#include <deviate/contract.hpp>
#include <deviate/team/arena.hpp>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace deviate {

/// \brief How work is spread on the host.
struct workers {
  int count = 0;  ///< threads; 0 for one per core
  std::function<void(std::int64_t done, std::int64_t all)> progress =
      nullptr;  ///< called now and then, by one thread at a time

  /// \brief The number of threads: `count`, or one per core.
  int resolved() const {
    if (count > 0) return count;
    const unsigned cores = std::thread::hardware_concurrency();
    return cores > 0 ? static_cast<int>(cores) : 1;
  }
};

/// \brief Runs item(i, scratch) for every i < n on some worker. Items write disjoint results, so bits do not depend on
/// `who`.
/// \param who number of threads and progress callback
/// \param n number of items
/// \param item called as item(std::int64_t index, arena& scratch)
/// \throws what the first failing item threw, after all threads have stopped
template <class Item>
void parallel_for(const workers& who, std::int64_t n, Item item) {
  expects(who.count >= 0, "workers: count must be 0 (one per core) or more");
  std::atomic<std::int64_t> next{0}, done{0};
  std::exception_ptr failure;
  std::mutex guard;
  const auto work = [&] {
    arena scratch;
    for (std::int64_t i = next++; i < n; i = next++) {
      try {
        item(i, scratch);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (!failure) failure = std::current_exception();
        next = n;
        return;
      }
      const std::int64_t finished = ++done;
      if (who.progress && guard.try_lock()) {
        const std::lock_guard lock(guard, std::adopt_lock);
        who.progress(finished, n);
      }
    }
  };
  const std::int64_t threads = who.resolved() < n ? who.resolved() : n;
  std::vector<std::thread> others;
  for (std::int64_t t = 1; t < threads; ++t) others.emplace_back(work);
  work();
  for (auto& t : others) t.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace deviate
