// SPDX-License-Identifier: Apache-2.0
#include <deviate/team/execution.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace dv = deviate;

namespace {

// Every block sums a pattern of its own in shared memory, in passes that need the barriers.
template <class Execution>
std::vector<float> sums(const Execution& execution) {
  constexpr std::int64_t blocks = 9;
  std::vector<float> result(blocks);
  dv::run_blocks(execution, blocks, [&](auto& team, std::int64_t block) {
    constexpr int n = 64;
    float* value = team.template shared<float>(n);
    dv::for_each(team, n, [&](int i) { value[i] = 1.0f / float(1 + i + block); });
    for (int distance = 1; distance < n; distance *= 2)
      dv::for_each(team, n / (2 * distance),
                   [&](int i) { value[2 * distance * i] += value[2 * distance * i + distance]; });
    const float sum = value[0];
    team.lanes([&](int lane) {
      if (lane == 0) result[std::size_t(block)] = sum;
    });
  });
  return result;
}

}  // namespace

TEST_CASE("who executes never shows") {
  const std::vector<float> expected = sums(dv::one_by_one<>{});
  CHECK(expected[0] > expected[8]);
  for (const int lanes : {1, 3, 8}) {
    for (const auto order : {dv::lane_order::forward, dv::lane_order::reverse, dv::lane_order::shuffled}) {
      CHECK(sums(dv::one_by_one<>{lanes, order, 5}) == expected);
      CHECK(sums(dv::one_by_one<dv::plain_tile>{lanes, order, 6}) == expected);
    }
    CHECK(sums(dv::by_threads<>{lanes}) == expected);
    CHECK(sums(dv::by_threads<dv::plain_tile>{lanes}) == expected);
  }
  for (const int count : {0, 1, 2, 3}) CHECK(sums(dv::workers{count}) == expected);
}

TEST_CASE("blocks run in order, one after the other, unless workers share them") {
  const auto order = [](const auto& execution) {
    std::vector<std::int64_t> seen;
    dv::run_blocks(execution, 5, [&](auto& team, std::int64_t block) {
      team.lanes([&](int lane) {
        if (lane == 0) seen.push_back(block);
      });
    });
    return seen;
  };
  CHECK(order(dv::one_by_one<>{3}) == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  CHECK(order(dv::by_threads<>{3}) == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  CHECK(order(dv::workers{1}) == std::vector<std::int64_t>{0, 1, 2, 3, 4});
}
