// SPDX-License-Identifier: Apache-2.0
#include <deviate/team/serial.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace dv = deviate;
using dv::lane_order;

namespace {

template <class Team>
std::vector<int> turns(Team& team) {
  std::vector<int> order;
  team.lanes([&](int lane) { order.push_back(lane); });
  return order;
}
std::vector<int> sorted(std::vector<int> x) {
  std::sort(x.begin(), x.end());
  return x;
}

// Every lane writes its square, then reads its right neighbour's, without the barrier between: a race.
std::vector<int> racy_neighbours(lane_order order, std::uint64_t seed) {
  dv::arena scratch;
  dv::serial_team<> team(scratch, 8, order, seed);
  int* square = team.shared<int>(9);
  std::vector<int> read(8);
  team.lanes([&](int lane) { square[lane] = square[lane + 1] = -1; });
  team.lanes([&](int lane) {
    square[lane] = lane * lane;
    read[std::size_t(lane)] = square[lane + 1];
  });
  return read;
}
// The same with the barrier.
std::vector<int> neighbours(lane_order order, std::uint64_t seed) {
  dv::arena scratch;
  dv::serial_team<> team(scratch, 8, order, seed);
  int* square = team.shared<int>(9);
  std::vector<int> read(8);
  team.lanes([&](int lane) { square[lane] = square[lane + 1] = -1; });
  team.lanes([&](int lane) { square[lane] = lane * lane; });
  team.lanes([&](int lane) { read[std::size_t(lane)] = lane < 7 ? square[lane + 1] : -1; });
  return read;
}

}  // namespace

TEST_CASE("lanes run once each, in the order asked for") {
  dv::arena scratch;
  dv::serial_team<> forward(scratch, 5), reverse(scratch, 5, lane_order::reverse), single(scratch);
  CHECK(turns(forward) == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(turns(forward) == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(turns(reverse) == std::vector<int>{4, 3, 2, 1, 0});
  CHECK(turns(reverse) == std::vector<int>{4, 3, 2, 1, 0});
  CHECK(single.size() == 1);
  CHECK(turns(single) == std::vector<int>{0});
  CHECK_THROWS_AS(dv::serial_team<>(scratch, 0), dv::contract_violation);
}

TEST_CASE("shuffled lanes: a permutation, another at every call, decided by the seed") {
  dv::arena scratch;
  const auto ten_turns = [&](std::uint64_t seed) {
    dv::serial_team<> team(scratch, 8, lane_order::shuffled, seed);
    std::vector<std::vector<int>> all;
    for (int i = 0; i < 10; ++i) all.push_back(turns(team));
    return all;
  };
  const auto one = ten_turns(1);
  for (const auto& order : one) CHECK(sorted(order) == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(std::set(one.begin(), one.end()).size() >= 9);
  CHECK(ten_turns(1) == one);
  CHECK(ten_turns(2) != one);
}

TEST_CASE("every lane of eight comes first and last at some time") {
  dv::arena scratch;
  dv::serial_team<> team(scratch, 8, lane_order::shuffled, 7);
  std::set<int> first, last;
  for (int i = 0; i < 200; ++i) {
    const auto order = turns(team);
    first.insert(order.front());
    last.insert(order.back());
  }
  CHECK(first.size() == 8);
  CHECK(last.size() == 8);
}

TEST_CASE("a race shows as changed values when the order of lanes changes; a barrier cures it") {
  const auto expected = std::vector<int>{1, 4, 9, 16, 25, 36, 49, -1};
  CHECK(racy_neighbours(lane_order::forward, 1) != racy_neighbours(lane_order::reverse, 1));
  int caught = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    caught += racy_neighbours(lane_order::shuffled, seed) != racy_neighbours(lane_order::forward, 1);
    CHECK(neighbours(lane_order::shuffled, seed) == expected);
  }
  CHECK(caught == 20);
  CHECK(neighbours(lane_order::forward, 1) == expected);
  CHECK(neighbours(lane_order::reverse, 1) == expected);
}

TEST_CASE("a reduction is the fixed tree, whatever the order of lanes") {
  dv::arena scratch;
  for (const auto order : {lane_order::forward, lane_order::reverse, lane_order::shuffled}) {
    dv::serial_team<> team(scratch, 7, order);
    // Subtraction is not associative: (((0−1)−(2−3))−((4−5)−6)) = 7, a chain from the left would give −21.
    CHECK(team.reduce([](int lane) { return lane; }, [](int a, int b) { return a - b; }) == 7);
    // In float, 2^24 + 1 + 1 + 1: pairs give 2^24 + 2 (one tie, goes to even; 1 + 1 is exact), a chain gives 2^24.
    dv::serial_team<> four(scratch, 4, order);
    CHECK(four.reduce([](int lane) { return lane == 0 ? 0x1p24f : 1.0f; }, [](float a, float b) { return a + b; }) ==
          0x1p24f + 2);
  }
}

TEST_CASE("shared memory: one place for all lanes, another for each call, the same after a new team") {
  dv::arena scratch;
  dv::serial_team<> team(scratch, 3);
  float* a = team.shared<float>(5);
  double* b = team.shared<double>(1000);
  CHECK(static_cast<void*>(a) != static_cast<void*>(b));
  team.lanes([&](int lane) { a[lane] = float(lane); });
  team.lanes([&](int lane) { b[999 - lane] = lane; });
  CHECK(a[0] + a[1] + a[2] == 3);
  dv::serial_team<> next(scratch, 3);
  CHECK(next.shared<float>(5) == a);
}
