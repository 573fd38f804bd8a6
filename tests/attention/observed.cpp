// SPDX-License-Identifier: Apache-2.0
// The bits of the recipe without observers, and every operation seen.
#include <deviate/attention/observed.hpp>

#include <bit>
#include <cstdint>
#include <deviate/accumulate/accumulation.hpp>
#include <deviate/attention/forward.hpp>
#include <deviate/attention/named_recipes.hpp>
#include <deviate/number/named.hpp>
#include <doctest/doctest.h>
#include <map>
#include <type_traits>
#include <vector>

#include "inputs.hpp"

namespace {

namespace dv = deviate;
using dv::at;
using dv::observed;
using dv::recipe;
using dv::site;
using dv::summed;

static_assert(std::is_empty_v<dv::uniform<dv::bf16>> && !dv::uniform<dv::bf16>::has_observed);
static_assert(sizeof(recipe<float, at<site::score, observed<dv::bf16>>>) == sizeof(void*));
static_assert(recipe<float, summed<site::score, dv::accumulate::sequential<observed<float>>>>::has_observed);

struct record : dv::observer {
  void see(const dv::observation& o) override { all.push_back(o); }
  std::vector<dv::observation> all;
};

template <class Recipe>
auto bits_of(const Recipe& r, const attention_test::inputs<float>& in, const dv::schedule& plan) {
  const auto got = dv::flash_forward(r, in.q, in.k, in.v, dv::problem{.mask = dv::causal{}}, plan,
                                     dv::workers_by<dv::plain_tile>{{.count = 1}});
  std::vector<std::uint32_t> bits;
  for (const float x : got.output.values()) bits.push_back(std::bit_cast<std::uint32_t>(x));
  for (const float x : got.log_sum_exp.values()) bits.push_back(std::bit_cast<std::uint32_t>(x));
  return bits;
}

// Sites of every kind: emulated, native, stochastic, and sums in a scalar of their own.
template <template <class> class S>
using mixed = recipe<S<dv::bf16>, at<site::input, float>, at<site::score, S<float>>,
                     at<site::output_state, S<dv::stochastic<dv::bf16_format>>>, at<site::output, float>,
                     at<site::log_sum_exp, S<float>>, summed<site::score, dv::accumulate::pairwise<S<float>>>,
                     summed<site::value_partial, dv::accumulate::fused<>>, dv::divided<dv::division::reciprocal>>;
template <class S>
using itself = S;

TEST_CASE("observed: every bit is that of the recipe without observers, whoever is told") {
  const auto in = attention_test::gaussian_inputs<float>({.n_query = 9, .n_key = 13, .d = 5, .d_v = 3}, 7);
  const dv::schedule plan{.tile_query = 4, .tile_key = 4};
  mixed<itself> plain;
  plain.seed = 5;
  mixed<observed> watched;
  watched.seed = 5;
  const auto expected = bits_of(plain, in, plan);
  CHECK(bits_of(watched, in, plan) == expected);
  record seen;
  watched.seen_by = &seen;
  CHECK(bits_of(watched, in, plan) == expected);
  CHECK(seen.all.size() > 1000);
  plain.seed = 6;
  CHECK(bits_of(plain, in, plan) != expected);
}

TEST_CASE("observed: each operation is seen once, with its place, operands and result") {
  dv::tensor<float> q({1, 1, 1, 2}), k({1, 1, 3, 2}), v({1, 1, 3, 1});
  q.values()[0] = 1;
  q.values()[1] = 2;
  for (std::size_t i = 0; i < 6; ++i) k.values()[i] = float(i);  // scores 2, 8, 14
  for (std::size_t i = 0; i < 3; ++i) v.values()[i] = float(i) + 1;
  dv::uniform<observed<float>> r;
  record seen;
  r.seen_by = &seen;
  dv::problem p;
  p.scale = 1;
  const auto got = dv::flash_forward(r, q, k, v, p, {.tile_key = 2});
  std::map<site, int> times, in_sums;
  for (const dv::observation& o : seen.all) ++(o.in_sum ? in_sums : times)[o.where];
  CHECK(times[site::input] == 2 + 6 + 3);
  CHECK(times[site::score_product] == 6);
  CHECK(in_sums[site::score_product] == 6);
  CHECK(times[site::score] == 3);
  CHECK(times[site::row_max] == 2);
  CHECK(times[site::shifted_score] == 4);  // of three keys, and of the old maximum
  CHECK(times[site::probability] == 3);
  CHECK(times[site::rescale_factor] == 1);
  CHECK(times[site::rescaled_sum] == 1);
  CHECK(times[site::output_state] == 2);
  CHECK(times[site::output] == 1);
  CHECK(times[site::log_sum_exp] == 2);
  for (const dv::observation& o : seen.all) {
    if (o.where == site::score) {
      CHECK(o.what == dv::operation::multiply);
      CHECK(o.result == 2 + 6 * double(o.at.column));
    }
    if (o.where == site::rescale_factor) {
      CHECK(o.operand_count == 1);
      CHECK(o.operands[0] == 8 - 14);
    }
    if (o.where == site::output) {
      CHECK(o.what == dv::operation::divide);
      CHECK(o.result == double(got.output.values()[0]));
      CHECK(o.result == double(float(o.operands[0] / o.operands[1])));
    }
  }
}

}  // namespace
