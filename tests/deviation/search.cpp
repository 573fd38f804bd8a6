// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <deviate/deviation/search.hpp>

namespace dv = deviate;

namespace {
dv::error_size of_size(double x) {
  dv::error_size e;
  e.relative_l2 = x;
  return e;
}
}  // namespace

TEST_CASE("the cheapest set of groups to raise, by looking at all") {
  // Low groups: 0 makes 4, 1 makes 2, 2 makes 1, and they add up.
  std::vector<dv::error_size> subsets;
  for (int mask = 0; mask < 8; ++mask) subsets.push_back(of_size((mask & 1) * 4 + (mask & 2) + (mask >> 2 & 1)));
  const auto search = [&](double tolerance, std::vector<double> cost = {}) {
    return dv::cheapest_raised(subsets, dv::error_metric::relative_l2, tolerance, cost);
  };
  CHECK(search(7)->raised == 0);
  CHECK(search(3)->raised == 1);
  CHECK(search(2.5)->raised == (1 | 2));  // of the two pairs that do, the one that leaves less: 1 instead of 2
  CHECK(search(0)->raised == 7);
  CHECK(search(0)->cost == 3);
  CHECK(search(5, {10, 1, 1})->raised == 2);  // 4 + 1 are left
  CHECK(search(3, {3, 1, 1})->raised == 1);
  subsets[0] = of_size(0.5);
  CHECK(!search(0.1).has_value());
  subsets[6].not_finite = 1;  // group 0 raised alone: an infinity
  CHECK(search(3)->raised == (1 | 2));
}

TEST_CASE("the fewest heads to raise are the worst ones") {
  const std::vector<double> mse{1, 8, 0.5, 4};
  CHECK(dv::fewest_raised_parts(mse, 13.5 / 4).empty());
  CHECK(dv::fewest_raised_parts(mse, 5.5 / 4) == std::vector<std::size_t>{1});
  CHECK(dv::fewest_raised_parts(mse, 1.5 / 4) == std::vector<std::size_t>{1, 3});
  CHECK(dv::fewest_raised_parts(mse, 0) == std::vector<std::size_t>{1, 3, 0, 2});
}

TEST_CASE("delta debugging finds a set in which every item is needed") {
  std::vector<int> items(40);
  for (int i = 0; i < 40; ++i) items[std::size_t(i)] = i;
  int runs = 0;
  const auto holds = [&](const std::vector<int>& chosen) {
    ++runs;
    const auto has = [&](int x) { return std::find(chosen.begin(), chosen.end(), x) != chosen.end(); };
    return has(3) && has(17) && has(31);
  };
  CHECK(dv::minimal_subset(items, holds) == std::vector<int>{3, 17, 31});
  CHECK(runs < 200);
  CHECK(dv::minimal_subset(items, [](const std::vector<int>&) { return true; }).empty());
  CHECK(dv::minimal_subset(items, [](const std::vector<int>& c) { return c.size() >= 40; }).size() == 40);
}
