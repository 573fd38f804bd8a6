// SPDX-License-Identifier: Apache-2.0
#include <deviate/team/workers.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace dv = deviate;

TEST_CASE("every item runs once, whatever the number of workers") {
  for (const int count : {0, 1, 2, 5})
    for (const std::int64_t n : {0, 1, 3, 100}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(n));
      dv::parallel_for({count}, n, [&](std::int64_t i, dv::arena&) { ++runs[std::size_t(i)]; });
      CAPTURE(count);
      CHECK(std::all_of(runs.begin(), runs.end(), [](const auto& r) { return r == 1; }));
    }
}

TEST_CASE("no more threads than workers, nor than items; each has an arena of its own") {
  const auto threads_used = [](int count, std::int64_t n) {
    std::mutex guard;
    std::set<std::thread::id> threads;
    std::set<dv::arena*> arenas;
    std::atomic<std::int64_t> arrived = 0;
    const std::int64_t expected = std::min<std::int64_t>(count, n);
    dv::parallel_for({count}, n, [&](std::int64_t, dv::arena& scratch) {
      {
        const std::lock_guard lock(guard);
        threads.insert(std::this_thread::get_id());
        arenas.insert(&scratch);
      }
      // The first items wait for each other, so that no thread can take two of them.
      for (++arrived; arrived < expected;) std::this_thread::yield();
    });
    CHECK(arenas.size() == threads.size());
    return threads.size();
  };
  CHECK(threads_used(1, 10) == 1);
  CHECK(threads_used(3, 10) == 3);
  CHECK(threads_used(8, 2) == 2);
  CHECK(dv::workers{}.resolved() >= 1);
  CHECK(dv::workers{7}.resolved() == 7);
}

TEST_CASE("what an item throws arrives at the caller, and the other workers stop") {
  for (const int count : {1, 2, 4}) {
    std::atomic<int> after = 0;
    std::string caught;
    try {
      dv::parallel_for({count}, 1'000'000, [&](std::int64_t i, dv::arena&) {
        if (i == 10) throw std::runtime_error("item 10");
        ++after;
      });
    } catch (const std::runtime_error& e) {
      caught = e.what();
    }
    CHECK(caught == "item 10");
    CHECK(after < 1'000'000 - 1);
  }
  CHECK_THROWS_AS(dv::parallel_for({-1}, 1, [](std::int64_t, dv::arena&) {}), dv::contract_violation);
}

TEST_CASE("progress is told by one thread at a time and never beyond the end") {
  for (const int count : {1, 3}) {
    std::atomic<int> inside = 0;
    bool overlapped = false, beyond = false;
    std::int64_t calls = 0, most = 0;
    dv::workers who{count, [&](std::int64_t done, std::int64_t all) {
                      overlapped = overlapped || ++inside != 1;
                      ++calls;
                      most = std::max(most, done);
                      beyond = beyond || all != 200 || done < 1 || done > all;
                      --inside;
                    }};
    dv::parallel_for(who, 200, [](std::int64_t, dv::arena&) {});
    CHECK(!overlapped);
    CHECK(!beyond);
    CHECK(calls >= 1);
    if (count == 1) {
      CHECK(calls == 200);
      CHECK(most == 200);
    }
  }
}
