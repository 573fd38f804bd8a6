// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/stochastic_scalar.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deviate/number/arithmetic.hpp>
#include <deviate/number/named.hpp>
#include <vector>

namespace dv = deviate;
using S = dv::stochastic<dv::bf16_format>;
using site = dv::rounding_site<S>;

namespace {

// Counts as a rounder does.
struct words_of : dv::random_place {
  explicit words_of(const dv::random_place& place) : dv::random_place(place) {}
  std::uint64_t word() const { return dv::random_word(stream_.seed(), next()); }
};

const dv::random_place start(dv::stochastic_rounder(1));

site at(const dv::random_place& place) { return site(site::rounder_type(place)); }

}  // namespace

TEST_CASE("random_place: every row, column, step, operation, stream and end of a sum has a word of its own") {
  std::vector<std::uint64_t> words;
  for (std::uint64_t stream = 0; stream < 4; ++stream)
    for (int row = 0; row < 8; ++row)
      for (int column = 0; column < 8; ++column)
        for (int step = 0; step < 8; ++step) {
          const words_of here(start.stream(stream).here(row, column, step));
          const words_of after(start.stream(stream).here(row, column, step).after());
          for (int operation = 0; operation < 4; ++operation) {
            words.push_back(here.word());
            words.push_back(after.word());
          }
        }
  std::sort(words.begin(), words.end());
  CHECK(words.size() == 4 * 8 * 8 * 8 * 8);
  CHECK(std::adjacent_find(words.begin(), words.end()) == words.end());
}

TEST_CASE("random_place: lanes of a pack have the words of their own columns") {
  const words_of lane(start.here(5, 16, 2).beside(3)), column(start.here(5, 19, 2));
  CHECK(lane.word() == column.word());
  CHECK(lane.word() == column.word());
  dv::fragment<S, 8> x, y;
  for (int i = 0; i < 8; ++i) {
    x.value.set(i, 1 + float(i) * 0x1p-7f);
    y.value.set(i, 0x1p-8f);
  }
  const auto together = at(start.here(0, 8, 1));
  const auto sum = together.add(x, y), product = together.multiply(x, x);
  for (int i = 0; i < 8; ++i) {
    const auto alone = at(start.here(0, 8 + i, 1));
    const dv::fragment<S> a{x.value[i]}, b{y.value[i]};
    CHECK(alone.add(a, b).value == sum.value[i]);
    CHECK(alone.multiply(a, a).value == product.value[i]);
  }
}

// The exact results of these lie between 1 and the next number, 1 + 2^-7.
TEST_CASE("stochastic: operations go up as often as the exact result lies toward the larger number") {
  const auto shares = [](double expected, auto operation) {
    constexpr int n = 20000;
    int up = 0;
    for (int i = 0; i < n; ++i) {
      const float r = operation(at(start.here(i, 0, 7))).value;
      CHECK((r == 1 || r == 1 + 0x1p-7f));
      up += r != 1;
    }
    const double deviation = std::sqrt(expected * (1 - expected) / n);
    CHECK(std::fabs(up / double(n) - expected) <= 4 * deviation);
  };
  const dv::fragment<S> one{1.0f}, tiny{0x1p-9f}, three{3.0f}, x{1.5f}, y{0.671875f};
  shares(0.25, [&](const site& s) { return s.add(one, tiny); });
  shares(0.75, [&](const site& s) { return s.subtract(dv::fragment<S>{1 + 0x1p-7f}, tiny); });
  shares((1.5 * 0.671875 - 1) * 128, [&](const site& s) { return s.multiply(x, y); });
  shares((3 / 2.984375 - 1) * 128, [&](const site& s) { return s.divide(three, dv::fragment<S>{2.984375f}); });
  shares((std::sqrt(1.0078125) - 1) * 128, [&](const site& s) { return s.sqrt(dv::fragment<S>{1.0078125f}); });
  shares(0x1p-12 * 128, [&](const site& s) { return s.fma(dv::fragment<S>{0x1p-6f}, dv::fragment<S>{0x1p-6f}, one); });
  shares(0.0, [&](const site& s) { return s.add(one, dv::fragment<S>{0.0f}); });
}

TEST_CASE("stochastic: a run-time format and its carrier do not change a bit") {
  const dv::rounding_site<dv::stochastic_runtime<float>> in_float(
      dv::scalar_traits<dv::stochastic_runtime<float>>::rounder(dv::bf16_format, 23, start.here(1, 2, 3)));
  const dv::rounding_site<dv::stochastic_runtime<double>> in_double(
      dv::scalar_traits<dv::stochastic_runtime<double>>::rounder(dv::bf16_format, 23, start.here(1, 2, 3)));
  const auto fixed = at(start.here(1, 2, 3));
  for (int i = 0; i < 100; ++i) {
    const float x = 1 + float(i) * 0x1.8p-12f;
    const float expected = fixed.round(dv::fragment<float>{x}).value;
    CHECK(in_float.round(dv::fragment<float>{x}).value == expected);
    CHECK(in_double.round(dv::fragment<float>{x}).value == expected);
  }
}
