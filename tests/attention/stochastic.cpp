// SPDX-License-Identifier: Apache-2.0
// Stochastic rounding at the sites: random bits belong to a seed and to the place of a rounding, and to nothing else.
#include <doctest/doctest.h>

#include <cmath>
#include <deviate/accumulate/compensated.hpp>
#include <deviate/accumulate/two_level.hpp>
#include <deviate/attention/forward.hpp>
#include <deviate/attention/golden.hpp>
#include <deviate/attention/named_recipes.hpp>
#include <deviate/number/named.hpp>
#include <type_traits>

#include "attention/inputs.hpp"

using namespace attention_test;
using dv::at;
using dv::recipe;
using dv::site;
using dv::summed;
using S = dv::stochastic<dv::bf16_format>;

namespace {

static_assert(std::is_empty_v<dv::uniform<dv::bf16>> && std::is_empty_v<dv::flash2_all<float>>);
static_assert(dv::uniform<S>::has_random && !dv::uniform<dv::bf16>::has_random);
static_assert(recipe<float, summed<site::score, dv::accumulate::sequential<S>>>::has_random);

// Every operation rounds, every sum does several at a step.
using everything =
    recipe<S, summed<site::score, dv::accumulate::pairwise<>>,
           summed<site::row_sum_partial, dv::accumulate::compensated<>>,
           summed<site::value_partial,
                  dv::accumulate::two_level<dv::accumulate::lane_sums<4>, 8, dv::accumulate::sequential<>>>,
           dv::divided<dv::division::reciprocal>>;

const auto in = draw_inputs<float>({.batch = 2, .query_heads = 2, .n_query = 21, .n_key = 41, .d = 9, .d_v = 19}, 1,
                                   [](generator& g) { return 2 * g.two_sided(); });

template <class Recipe>
Recipe seeded(Recipe r, std::uint64_t seed) {
  r.seed = seed;
  return r;
}

// Tiles of keys are part of the computation; those of queries, lanes, packs and threads are not.
template <class Recipe>
void check_same_bits(const Recipe& r) {
  const dv::problem p{.mask = dv::causal{}};
  const auto flash = [&](std::int64_t tile_query, const auto& execution) {
    return dv::flash_forward(r, in.q, in.k, in.v, p, {.tile_query = tile_query, .tile_key = 13}, execution);
  };
  const auto plain = flash(4, dv::one_by_one<dv::plain_tile>{});
  CHECK(same_bits(flash(21, dv::one_by_one<dv::plain_tile>{3, dv::lane_order::shuffled}), plain));
  CHECK(same_bits(flash(7, dv::by_threads<>{3}), plain));
  CHECK(same_bits(flash(64, dv::workers{1}), plain));
  CHECK(same_bits(flash(5, dv::workers{2}), plain));
  // A later run of another seed differs, and one of the same does not.
  CHECK(!same_bits(dv::flash_forward(seeded(r, r.seed + 1), in.q, in.k, in.v, p, {.tile_key = 13}), plain));
  CHECK(same_bits(flash(4, dv::workers{1}), plain));
}

struct moments {
  double sum = 0, squares = 0;
  int n = 0;
  void add(double x) {
    sum += x;
    squares += x * x;
    ++n;
  }
  double mean() const { return sum / n; }
  double deviation_of_mean() const { return std::sqrt((squares / n - mean() * mean()) / n); }
};

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  moments a, b;
  double both = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    a.add(x[i]);
    b.add(y[i]);
    both += x[i] * y[i];
  }
  const double n = double(x.size());
  return (both / n - a.mean() * b.mean()) / (a.deviation_of_mean() * b.deviation_of_mean() * n);
}

}  // namespace

TEST_CASE("stochastic: same bits for every team, register tile, query tile and run") {
  check_same_bits(seeded(everything{}, 3));
  check_same_bits(seeded(dv::flash1_all<S>{}, 4));
  const auto base = seeded(dv::with<everything, at<site::output, S>>{}, 5);
  const auto plain = dv::baseline_forward(base, in.q, in.k, in.v, {}, dv::one_by_one<dv::plain_tile>{});
  CHECK(same_bits(dv::baseline_forward(base, in.q, in.k, in.v, {}, dv::workers{2}), plain));
}

TEST_CASE("stochastic: a format chosen at run time has the bits of the compile-time one") {
  auto chosen = dv::uniform<dv::stochastic_runtime<float>>(dv::bf16_format);
  auto fixed = dv::uniform<S>{};
  chosen.seed = fixed.seed = 6;
  const auto expected = dv::flash_forward(fixed, in.q, in.k, in.v);
  CHECK(same_bits(dv::flash_forward(chosen, in.q, in.k, in.v), expected));
  chosen.random_bits = 3;
  CHECK(!same_bits(dv::flash_forward(chosen, in.q, in.k, in.v), expected));
  // Held in double, other sums are wider, but these are not.
  auto wide = dv::uniform<dv::stochastic_runtime<double>>(dv::bf16_format);
  wide.seed = 6;
  const auto held = dv::flash_forward(wide, in.q, in.k, in.v);
  CHECK(std::vector<double>(expected.output.values().begin(), expected.output.values().end()) == held.output.values());
}

TEST_CASE("stochastic: formats and numbers of random bits that a site cannot use are refused") {
  const auto run = [](const auto& r) { return dv::flash_forward(r, in.q, in.k, in.v, {}, {}, dv::workers{1}); };
  const dv::format stochastic_bf16 = dv::bf16_format.rounded(dv::rounding_mode::stochastic);
  CHECK_THROWS_AS(run(recipe<float, at<site::output, dv::narrow_runtime>>(stochastic_bf16)), dv::contract_violation);
  auto r = recipe<float, at<site::output, dv::stochastic_runtime<float>>>(stochastic_bf16);
  for (const int bits : {-1, 0, 24}) {
    r.random_bits = bits;
    CHECK_THROWS_AS(run(r), dv::contract_violation);
  }
  r.random_bits = 1;
  CHECK_NOTHROW(run(r));
}

// 512 probabilities of 1 in bf16, one after the other: to nearest, 256 + 1 is 256 for ever.
TEST_CASE("stochastic: a row sum that stalls to nearest is right in the mean") {
  const dv::tensor<float> zero({1, 1, 1, 1}, 0.0f), keys({1, 1, 512, 1}, 0.0f);
  const auto row_sum = [&](const auto& r) {
    const dv::schedule one_tile{.tile_key = 512};
    return std::exp(dv::flash_forward(r, zero, keys, keys, {}, one_tile, dv::workers{1}).log_sum_exp.values()[0]);
  };
  CHECK(row_sum(recipe<double, at<site::row_sum_partial, dv::bf16>>{}) == doctest::Approx(256));
  moments sums;
  for (std::uint64_t seed = 0; seed < 1000; ++seed)
    sums.add(row_sum(seeded(recipe<double, at<site::row_sum_partial, S>>{}, seed)));
  // Each addition above 256 is off by ±1 with probability 1/2: the deviation of the sum is √256.
  CHECK(sums.deviation_of_mean() < 16.0 * 1.2 / std::sqrt(1000.0));
  CHECK(sums.deviation_of_mean() > 16.0 * 0.8 / std::sqrt(1000.0));
  CHECK(std::fabs(sums.mean() - 512) < 4 * sums.deviation_of_mean());
}

TEST_CASE("stochastic: P V rounded at every step has the golden's mean, where rounding to nearest has a bias") {
  const auto g = uniform_inputs<double>({.n_query = 2, .n_key = 200, .d = 2, .d_v = 3}, 9);
  const dv::problem p{.scale = 0.01};
  const auto golden = dv::golden(g.q, g.k, g.v, p);
  const auto error = [&](const auto& r, std::size_t i) {
    const auto out = dv::flash_forward(r, g.q, g.k, g.v, p, {.tile_key = 200}, dv::workers{1});
    return out.output.values()[i] - golden.output.values()[i];
  };
  moments errors[6];
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto r = seeded(recipe<double, at<site::value_product, S>, at<site::value_partial, S>>{}, seed);
    const auto out = dv::flash_forward(r, g.q, g.k, g.v, p, {.tile_key = 200}, dv::workers{1});
    for (std::size_t i = 0; i < 6; ++i) errors[i].add(out.output.values()[i] - golden.output.values()[i]);
  }
  double largest_bias = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(errors[i].deviation_of_mean() > 0);
    CHECK(std::fabs(errors[i].mean()) < 4 * errors[i].deviation_of_mean());
    const double nearest =
        error(recipe<double, at<site::value_product, dv::bf16>, at<site::value_partial, dv::bf16>>{}, i);
    largest_bias = std::max(largest_bias, std::fabs(nearest) / errors[i].deviation_of_mean());
  }
  CHECK(largest_bias > 10);
}

// Equal rows, equal columns and equal heads: whatever differs is random.
TEST_CASE("stochastic: rows, columns, heads and sites have random bits of their own") {
  const std::int64_t rows = 64, columns = 32;
  const dv::tensor<float> q({1, 2, rows, 1}, 0.0f), k({1, 1, 1, 1}, 0.0f), v({1, 1, 1, columns}, 1.003f);
  const auto output = [&](const auto& r) {
    return dv::flash_forward(seeded(r, 12), q, k, v, {}, {}, dv::workers{1}).output;
  };
  const auto of_output = output(recipe<float, at<site::output, S>>{});
  const auto of_product = output(recipe<float, at<site::value_product, S>>{});
  const auto of_state = output(recipe<float, at<site::output_state, S>>{});
  std::vector<double> here, next_row, next_column, other_head, product, state;
  for (std::int64_t i = 0; i + 1 < rows; ++i)
    for (std::int64_t c = 0; c + 1 < columns; ++c) {
      here.push_back(of_output(0, 0, i, c));
      next_row.push_back(of_output(0, 0, i + 1, c));
      next_column.push_back(of_output(0, 0, i, c + 1));
      other_head.push_back(of_output(0, 1, i, c));
      product.push_back(of_product(0, 0, i, c));
      state.push_back(of_state(0, 0, i, c));
    }
  const double limit = 4 / std::sqrt(double(here.size()));
  for (const auto* other : {&next_row, &next_column, &other_head, &product, &state}) {
    CHECK(std::fabs(correlation(here, *other)) < limit);
    CHECK(correlation(*other, *other) == doctest::Approx(1));
  }
}

TEST_CASE("stochastic: a key is rounded once, whichever query head and query tile reads it") {
  const std::int64_t n = 30;
  dv::tensor<float> q({1, 3, n, 4}, 1.0f);
  const auto other = uniform_inputs<float>({.n_key = 20, .d = 4, .d_v = 5}, 2);
  const auto r = seeded(recipe<float, at<site::input, S>>{}, 1);
  const auto out = dv::flash_forward(r, q, other.k, other.v, {}, {.tile_query = 8, .tile_key = 7}).output;
  for (std::int64_t h = 0; h < 3; ++h)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t c = 0; c < 5; ++c) CHECK(out(0, h, i, c) == out(0, 0, 0, c));
}
