// SPDX-License-Identifier: Apache-2.0
// The golden in double, against 50 digits and against attention written a second time.
#include <deviate/attention/golden.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <deviate/math/double_double.hpp>
#include <deviate/number/boost.hpp>
#include <deviate/number/double_double.hpp>
#include <deviate/number/named.hpp>
#include <string>
#include <vector>

#include "attention/inputs.hpp"
#include "attention/reference.hpp"

using namespace attention_test;

namespace {

// The largest difference of the sampled rows over the largest magnitude of the row, and of LSE over max(1, |LSE|).
template <class Wide>
double worst_of(const dv::attention_result<double>& got, const dv::attention_result<Wide>& want,
                const std::vector<std::int64_t>& rows) {
  double worst = 0;
  const dv::extents e = want.output.shape();
  const auto magnitude = [](const Wide& x) { return x < Wide(0) ? Wide(Wide(0) - x) : x; };
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t h = 0; h < e.heads; ++h)
      for (const std::int64_t i : rows) {
        Wide difference(0), size(0);
        for (std::int64_t c = 0; c < e.columns; ++c) {
          difference = std::max(difference, magnitude(Wide(Wide(got.output(b, h, i, c)) - want.output(b, h, i, c))));
          size = std::max(size, magnitude(want.output(b, h, i, c)));
        }
        worst = std::max(worst, static_cast<double>(Wide(difference / size)));
        const Wide lse = want.log_sum_exp(b, h, i, 0);
        const Wide off = magnitude(Wide(Wide(got.log_sum_exp(b, h, i, 0)) - lse));
        worst = std::max(worst, static_cast<double>(off) / std::max(1.0, static_cast<double>(magnitude(lse))));
      }
  return worst;
}

template <class T>
double against_50_digits(const inputs<T>& in, const dv::problem& p, const std::vector<std::int64_t>& rows) {
  return worst_of(dv::golden(in.q, in.k, in.v, p), dv::golden<dv::real50>(in.q, in.k, in.v, p, {}, rows), rows);
}

constexpr double largest_difference = 1e-14;

}  // namespace

TEST_CASE("the golden in double lies within 1e-14 of 50 digits on sampled rows") {
  const sizes s{.query_heads = 2, .key_heads = 1, .n_query = 300, .n_key = 300, .d = 64, .d_v = 32};
  const std::vector<std::int64_t> rows{0, 1, 137, 299};
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto uniform = uniform_inputs(s, seed);
    const auto gaussian = gaussian_inputs(s, seed);
    for (const auto& mask : {dv::mask{}, dv::mask(dv::causal{}), dv::mask(dv::window{40, 3})}) {
      CHECK(against_50_digits(uniform, {.mask = mask}, rows) < largest_difference);
      CHECK(against_50_digits(gaussian, {.mask = mask}, rows) < largest_difference);
    }
  }
}

TEST_CASE("the golden in double lies within 1e-14 of 50 digits on hard inputs") {
  // Rounded inputs, as a study gives them. Outliers (N(0,1) + N(0,100)·Bernoulli(0.001)) make scores of hundreds.
  const sizes s{.n_query = 200, .n_key = 200, .d = 64, .d_v = 16};
  const std::vector<std::int64_t> rows{3, 50, 121, 199};
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto outliers = draw_inputs<dv::bf16>(s, seed, [](generator& g) {
      const double x = g.gaussian();
      return g.bits() % 1000 == 0 ? x + 10 * g.gaussian() : x;
    });
    CHECK(against_50_digits(outliers, {}, rows) < largest_difference);
    // Scores of several thousand, of which few keys survive the softmax.
    const auto large = draw_inputs<dv::bf16>(s, seed, [](generator& g) { return 20 * g.gaussian(); });
    CHECK(against_50_digits(large, {}, rows) < largest_difference);
    CHECK(against_50_digits(large, {.scale = -1}, rows) < largest_difference);
    // Equal keys: large scores that all compete. V of both signs cancels in the mean.
    auto equal = draw_inputs<dv::bf16>(s, seed, [](generator& g) { return 8 * g.gaussian(); });
    for (std::int64_t j = 1; j < s.n_key; ++j)
      for (std::int64_t c = 0; c < s.d; ++c) equal.k(0, 0, j, c) = equal.k(0, 0, 0, c);
    CHECK(against_50_digits(equal, {}, rows) < largest_difference);
  }
}

TEST_CASE("the golden in double_double lies within 1e-27 of 50 digits") {
  const auto in = gaussian_inputs({.n_query = 20, .n_key = 60, .d = 16, .d_v = 4}, 1);
  const auto pairs = dv::golden<dv::double_double>(in.q, in.k, in.v, {.mask = dv::causal{}});
  const auto digits = dv::golden<dv::real50>(in.q, in.k, in.v, {.mask = dv::causal{}});
  double worst = 0;
  for (std::size_t i = 0; i < digits.output.values().size(); ++i) {
    const dv::real50 x = digits.output.values()[i];
    worst = std::max(worst,
                     std::fabs(static_cast<double>(dv::real50(static_cast<dv::real50>(pairs.output.values()[i]) - x))));
  }
  CHECK(worst > 0);
  CHECK(worst < 1e-27);
}

TEST_CASE("the golden agrees with attention written apart: masks, lengths, groups, shapes") {
  const sizes s{.batch = 2, .query_heads = 6, .key_heads = 2, .n_query = 19, .n_key = 33, .d = 7, .d_v = 5};
  const auto in = gaussian_inputs(s, 4);
  std::vector<std::uint8_t> visible(66, 1);
  for (std::size_t j = 0; j < visible.size(); j += 3) visible[j] = 0;
  const std::vector<std::int64_t> lengths{0, 20};
  const dv::problem problems[] = {{},
                                  {.scale = -0.3},
                                  {.mask = dv::causal{dv::alignment::top_left}},
                                  {.mask = dv::window{4, 2}, .key_lengths = lengths},
                                  {.mask = dv::causal{}, .key_visible = visible}};
  for (const dv::problem& p : problems) {
    const auto want = reference(in.q, in.k, in.v, p);
    for (const int count : {1, 2}) {
      const auto got = dv::golden(in.q, in.k, in.v, p, {count});
      CHECK(row_relative_difference(got.output, want.output) < largest_difference);
      CHECK(lse_difference(got.log_sum_exp, want.log_sum_exp) < largest_difference);
    }
  }
}

TEST_CASE("rows of choice have the bits that they have among all; the others are 0") {
  const auto in = gaussian_inputs({.query_heads = 2, .key_heads = 2, .n_query = 40, .n_key = 40, .d = 8, .d_v = 4}, 5);
  const auto all = dv::golden(in.q, in.k, in.v, {.mask = dv::causal{}});
  const std::vector<std::int64_t> rows{39, 0, 17};
  const auto some = dv::golden(in.q, in.k, in.v, {.mask = dv::causal{}}, {}, rows);
  for (std::int64_t h = 0; h < 2; ++h)
    for (std::int64_t i = 0; i < 40; ++i) {
      const bool chosen = i == 39 || i == 0 || i == 17;
      for (std::int64_t c = 0; c < 4; ++c) CHECK(some.output(0, h, i, c) == (chosen ? all.output(0, h, i, c) : 0));
      CHECK(some.log_sum_exp(0, h, i, 0) == (chosen ? all.log_sum_exp(0, h, i, 0) : 0));
    }
  for (const std::int64_t bad : {std::int64_t(-1), std::int64_t(40)}) {
    const std::vector<std::int64_t> one_bad{3, bad};
    std::string said;
    try {
      dv::golden(in.q, in.k, in.v, {}, {}, one_bad);
    } catch (const dv::contract_violation& e) {
      said = e.what();
    }
    CHECK(said == "golden: row " + std::to_string(bad) + " is not in 0 … 39");
  }
}

TEST_CASE("what is hidden never reaches the golden; scores that are all −∞ take nothing") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::uint8_t> visible{1, 0, 1};
  const dv::problem p{.scale = 1, .key_visible = visible};
  const auto q = column<double>({0});
  const auto got = dv::golden(q, column<double>({0, nan, 0}), column<double>({2, nan, 4}), p);
  CHECK(got.output.values()[0] == 3);
  CHECK(std::isnan(
      dv::golden(column<double>({1}), column<double>({1, 0, nan}), column<double>({2, 0, 4}), p).output.values()[0]));
  const auto none =
      dv::golden(column<double>({1}), column<double>({-infinity, 0, -infinity}), column<double>({2, 1, 4}), p);
  CHECK(none.output.values()[0] == 0);
  CHECK(none.log_sum_exp.values()[0] == -infinity);
}
