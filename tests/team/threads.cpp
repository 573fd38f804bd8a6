// SPDX-License-Identifier: Apache-2.0
#include <deviate/team/threads.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace dv = deviate;

TEST_CASE("every lane is a thread of its own and runs a body once") {
  dv::arena scratch;
  for (const int size : {1, 2, 3, 8}) {
    std::vector<int> runs(std::size_t(size), 0);
    std::vector<std::thread::id> thread(static_cast<std::size_t>(size));
    std::atomic<int> blocks = 0;
    dv::thread_team<>::run(scratch, size, [&](dv::thread_team<>& team) {
      ++blocks;
      team.lanes([&](int lane) {
        ++runs[std::size_t(lane)];
        thread[std::size_t(lane)] = std::this_thread::get_id();
      });
    });
    CHECK(blocks == size);
    CHECK(runs == std::vector<int>(std::size_t(size), 1));
    CHECK(std::set(thread.begin(), thread.end()).size() == std::size_t(size));
  }
  CHECK_THROWS_AS(dv::thread_team<>::run(scratch, 0, [](dv::thread_team<>&) {}), dv::contract_violation);
}

TEST_CASE("lanes end in a barrier: what one wrote all read afterwards") {
  dv::arena scratch;
  constexpr int size = 4, rounds = 200;
  std::atomic<int> wrong = 0;
  dv::thread_team<>::run(scratch, size, [&](dv::thread_team<>& team) {
    int* value = team.shared<int>(size);
    for (int round = 0; round < rounds; ++round) {
      team.lanes([&](int lane) { value[lane] = round * size + lane; });
      // Outside `lanes` every lane sees the same.
      for (int lane = 0; lane < size; ++lane) wrong += value[lane] != round * size + lane;
      team.lanes([](int) {});
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("shared memory has one address for all lanes") {
  dv::arena scratch;
  std::vector<double*> first(5), second(5);
  dv::thread_team<>::run(scratch, 5, [&](dv::thread_team<>& team) {
    double* a = team.shared<double>(10);
    double* b = team.shared<double>(10);
    team.lanes([&](int lane) {
      first[std::size_t(lane)] = a;
      second[std::size_t(lane)] = b;
    });
  });
  CHECK(std::set(first.begin(), first.end()).size() == 1);
  CHECK(std::set(second.begin(), second.end()).size() == 1);
  CHECK(first[0] != second[0]);
}

TEST_CASE("a reduction is the fixed tree, and every lane gets it") {
  dv::arena scratch;
  // Subtraction is not associative: the trees of 1 … 8 lanes, computed by hand.
  const int expected[] = {0, -1, -3, 0, -4, 1, 7, 0};
  for (int size = 1; size <= 8; ++size) {
    std::vector<int> result(static_cast<std::size_t>(size));
    dv::thread_team<>::run(scratch, size, [&](dv::thread_team<>& team) {
      const int r = team.reduce([](int lane) { return lane; }, [](int a, int b) { return a - b; });
      team.lanes([&](int lane) { result[std::size_t(lane)] = r; });
    });
    CAPTURE(size);
    CHECK(result == std::vector<int>(std::size_t(size), expected[size - 1]));
  }
}
