// SPDX-License-Identifier: Apache-2.0
// Shapley values against the definition (the mean over all orders), and on games with known answers.
#include <doctest/doctest.h>

#include <deviate/deviation/shapley.hpp>
#include <numeric>

#include "attention/inputs.hpp"

namespace dv = deviate;

namespace {

std::vector<double> random_game(int n, std::uint64_t seed) {
  attention_test::generator g(seed);
  std::vector<double> worth(std::size_t(1) << n);
  for (double& x : worth) x = g.two_sided();
  return worth;
}

// The definition: every order, one by one.
std::vector<double> over_all_orders(const std::vector<double>& worth, int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> sum(static_cast<std::size_t>(n), 0.0);
  double orders = 0;
  do {
    std::size_t mask = 0;
    for (const int i : order) {
      sum[std::size_t(i)] += worth[mask | std::size_t(1) << i] - worth[mask];
      mask |= std::size_t(1) << i;
    }
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  for (double& x : sum) x /= orders;
  return sum;
}

}  // namespace

TEST_CASE("Shapley values are the mean over all orders, and sum to the whole") {
  for (int n = 1; n <= 7; ++n) {
    const auto worth = random_game(n, std::uint64_t(n));
    const auto got = dv::shapley_values(worth), right = over_all_orders(worth, n);
    REQUIRE(got.size() == right.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::fabs(got[i] - right[i]) < 1e-14);
    const double whole = worth.back() - worth.front();
    CHECK(std::fabs(std::accumulate(got.begin(), got.end(), 0.0) - whole) <= 1e-12 * std::fabs(whole));
  }
}

TEST_CASE("two redundant parties share equally, one that never acts has exactly 0") {
  // Either of 0 and 1 makes the whole error of 6; party 2 does nothing; party 3 adds 1 on its own.
  std::vector<double> worth(16);
  for (std::size_t mask = 0; mask < 16; ++mask) worth[mask] = ((mask & 3) != 0 ? 6 : 0) + ((mask & 8) != 0 ? 1 : 0);
  const auto value = dv::shapley_values(worth);
  CHECK(value[0] == value[1]);
  CHECK(value[0] == doctest::Approx(3).epsilon(1e-14));
  CHECK(value[2] == 0);
  CHECK(value[3] == doctest::Approx(1).epsilon(1e-14));
  const auto pairs = dv::shapley_interactions(worth);
  CHECK(pairs[0 * 4 + 1] == doctest::Approx(-6).epsilon(1e-14));  // the second adds nothing to the first
  CHECK(pairs[1 * 4 + 0] == pairs[0 * 4 + 1]);
  CHECK(pairs[0 * 4 + 3] == 0);
  CHECK(pairs[2 * 4 + 3] == 0);
  CHECK(pairs[0] == 0);
}

TEST_CASE("errors that add up: shares are e_i · Σ e, interactions 2 e_i e_j") {
  const double e[3] = {3, -1, 0.5};
  std::vector<double> worth(8);
  for (std::size_t mask = 0; mask < 8; ++mask) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i)
      if ((mask >> i & 1) != 0) sum += e[i];
    worth[mask] = sum * sum;
  }
  const auto value = dv::shapley_values(worth);
  const auto pairs = dv::shapley_interactions(worth);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(value[i] == doctest::Approx(e[i] * 2.5).epsilon(1e-13));
    for (std::size_t j = 0; j < 3; ++j)
      if (i != j) CHECK(pairs[i * 3 + j] == doctest::Approx(2 * e[i] * e[j]).epsilon(1e-13));
  }
}

TEST_CASE("sampled orders: the whole is kept, the interval holds the exact value, equal seeds give equal numbers") {
  const int n = 8;
  const auto worth = random_game(n, 99);
  const auto exact = dv::shapley_values(worth);
  const auto ask = [&](std::uint64_t mask) { return worth[mask]; };
  const auto got = dv::sampled_shapley_values(n, ask, 4000, 7), again = dv::sampled_shapley_values(n, ask, 4000, 7);
  double sum = 0;
  int inside = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    sum += got[i].value;
    inside += std::fabs(got[i].value - exact[i]) <= 1.5 * got[i].half_width;
    CHECK(got[i].half_width > 0);
    CHECK(got[i].half_width < 0.05);
    CHECK(got[i].value == again[i].value);
  }
  CHECK(inside == n);
  CHECK(sum == doctest::Approx(worth.back() - worth.front()).epsilon(1e-12));
}

TEST_CASE("games of the wrong size are refused") {
  CHECK_THROWS_AS(dv::shapley_values(std::vector<double>(3)), dv::contract_violation);
  CHECK_THROWS_AS(dv::shapley_values(std::vector<double>{}), dv::contract_violation);
  CHECK_THROWS_AS(dv::sampled_shapley_values(
                      0, [](std::uint64_t) { return 0.0; }, 2),
                  dv::contract_violation);
  CHECK(dv::shapley_values(std::vector<double>{5}).empty());
}
