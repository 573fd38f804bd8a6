// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <deviate/attention/named_recipes.hpp>
#include <deviate/deviation/attribution.hpp>
#include <deviate/number/named.hpp>
#include <numeric>

#include "attention/inputs.hpp"

namespace dv = deviate;
using attention_test::generator;

namespace {

using low = dv::flash2_all<dv::bf16>;

struct case_inputs {
  dv::tensor<double> q, k, v;
};

case_inputs gaussian(std::int64_t n, std::int64_t d, double mean_of_v = 0) {
  generator g(5);
  case_inputs in{dv::tensor<double>({1, 1, n, d}), dv::tensor<double>({1, 1, n, d}), dv::tensor<double>({1, 1, n, d})};
  for (auto* t : {&in.q, &in.k, &in.v})
    for (double& x : t->values()) x = g.gaussian();
  for (double& x : in.v.values()) x += mean_of_v;
  return in;
}

const dv::group_attribution& group(const dv::attribution& a, const std::string& name) {
  for (const auto& g : a.groups)
    if (g.name == name) return g;
  FAIL("no group " << name);
  return a.groups.front();
}

dv::attribution of(const case_inputs& in, dv::attribution_options o = {}) {
  o.rows = std::min<std::int64_t>(o.rows, 24);
  return dv::attribute(low{}, in.q, in.k, in.v, {}, {.tile_key = 16}, o);
}

}  // namespace

TEST_CASE("long: state in BF16: the stored sums carry the error, the rescaling does not; four views agree") {
  const auto a = of(gaussian(1024, 32));
  double sum = a.residual, first_order = 0;
  for (const auto& g : a.groups) {
    sum += g.shapley_mse;
    first_order += g.first_order_mse;
    CHECK(std::fabs(g.first_order_mse - g.shapley_mse) < 0.1);
  }
  CHECK(std::fabs(sum - 1) < 1e-12);
  CHECK(first_order == doctest::Approx(1).epsilon(0.1));
  CHECK(a.residual < 1e-20);
  CHECK(group(a, "row_sum").shapley_mse + group(a, "output_state").shapley_mse > 0.8);
  CHECK(std::fabs(group(a, "rescaling").shapley_mse) < 0.05);
  CHECK(a.without_rescaling.relative_l2 == doctest::Approx(a.total.relative_l2).epsilon(0.05));
  CHECK(a.without_tiling.relative_l2 < a.total.relative_l2 / 2);
  CHECK(a.subsets.size() == 256);
  // The bounds hold, and are not idle.
  CHECK(a.bound_ratio <= 1);
  CHECK(a.bound_ratio > 0.01);
  for (const auto& g : a.groups) CHECK(g.bound_ratio <= 1);
  CHECK(group(a, "rescaling").bound_ratio > 0.1);
  // Stochastic rounding errs about twice as much as nearest, and without bias.
  const auto& score = group(a, "score");
  CHECK(score.sampled->variance == doctest::Approx(2 * score.demoted.mse).epsilon(0.2));
  CHECK(std::fabs(score.sampled->bias_mse) < 0.05 * score.sampled->variance);
  CHECK(score.sampled->significant_digits ==
        doctest::Approx(-std::log10(std::sqrt(2.0) * score.demoted.relative_l2)).epsilon(0.05));
  CHECK(a.subsets.back().mse == a.total.mse);
  // Interactions and values belong to one game: φ_i = v({i}) + ½ Σ_j I_ij for a game of pairs; here nearly one.
  double pairs = 0;
  for (std::size_t j = 0; j < 8; ++j) pairs += a.interactions[6 * 8 + j] / 2;
  CHECK(a.groups[6].shapley_mse == doctest::Approx(a.groups[6].demoted.mse / a.total.mse + pairs).epsilon(0.1));
}

TEST_CASE("long: scores that grow along the keys: the stored scores carry the most") {
  auto in = gaussian(1024, 64);
  for (std::int64_t j = 0; j < 1024; ++j) {
    in.q(0, 0, j, 0) = 8;  // times the scale of 1/8: scores grow by 10 j / N
    in.k(0, 0, j, 0) = 10.0 * double(j) / 1024;
  }
  dv::attribution_options o;
  o.first_order = false;
  const auto a = of(in, o);
  for (const auto& g : a.groups)
    if (g.name != "score") CHECK(g.shapley_mse < group(a, "score").shapley_mse / 2);
  CHECK(group(a, "score").shapley_mse > 0.5);
}

TEST_CASE("random bits are as many as the widest format of the sites leaves") {
  dv::recipe_formats formats = dv::formats_of(low{});
  using random = dv::random_switchable<low>;
  const dv::site_set score(dv::site::score), all = dv::site_set::all();
  CHECK(dv::randomly_switched_to<random>(formats, all, 1).random_bits == 20);
  formats.of_site[int(dv::site::score)] = dv::format{11, 40};
  CHECK(dv::randomly_switched_to<random>(formats, score, 1).random_bits == 11);
  CHECK(dv::randomly_switched_to<random>(formats, all - score, 1).random_bits == 20);
}

TEST_CASE("long: V with mean 1: raising O alone makes it worse, as l and O cancel in O / l") {
  dv::attribution_options o;
  o.first_order = false;
  const auto a = of(gaussian(4096, 16, 1), o);
  CHECK(group(a, "output_state").promoted.relative_l2 > 1.05 * a.total.relative_l2);
  CHECK(group(a, "row_sum").promoted.relative_l2 < a.total.relative_l2);
  const std::size_t l = 4, state = 6;
  CHECK(a.groups[l].name == "row_sum");
  CHECK(a.interactions[l * 8 + state] < -0.05);
}

TEST_CASE("long: the run with every group low has the bits of the recipe; no group low, those of FP64") {
  const auto in = gaussian(200, 24);
  dv::attribution_options o;
  o.first_order = false;
  o.rows = 1000;
  const auto a = dv::attribute(low{}, in.q, in.k, in.v, {.mask = dv::causal{}}, {.tile_key = 16}, o);
  const auto own = dv::flash_forward(low{}, in.q, in.k, in.v, {.mask = dv::causal{}}, {.tile_key = 16});
  REQUIRE(a.rows.size() == 200);
  std::size_t different = 0;
  for (std::size_t i = 0; i < own.output.values().size(); ++i)
    different += double(own.output.values()[i]) != a.low_output.values()[i];
  CHECK(different == 0);
  CHECK(a.exact.max_abs < 1e-14);
  CHECK(a.total.max_abs > 1e-3);
  std::int64_t rescales = 0;
  for (const auto n : own.rescales.values()) rescales += n;
  CHECK(a.rescales == rescales);
}

TEST_CASE("long: rows are taken out with their masks; the worst row and tile are found") {
  auto in = gaussian(96, 16);
  // Row 50 sees one enormous value at key 37, which BF16 sums spoil from there on.
  for (std::int64_t c = 0; c < 16; ++c) {
    in.q(0, 0, 50, c) = in.k(0, 0, 37, c) = 1;
    in.v(0, 0, 37, c) = 300;
  }
  dv::attribution_options o;
  o.first_order = false;
  o.rows = 96;
  const auto a = dv::attribute(low{}, in.q, in.k, in.v, {.mask = dv::causal{}}, {.tile_key = 8}, o);
  CHECK(a.worst.row == 50);
  CHECK(a.worst.worst_tile == 32);
  CHECK(a.worst.tiles.size() == 7);  // keys 0 … 50 in tiles of 8
  CHECK(a.row_mse.size() == 96);
  CHECK(a.row_mse[0] == 0);  // one key: O = V
}

TEST_CASE("long: more than ten groups are sampled: the same shares within their intervals") {
  const auto in = gaussian(256, 16);
  dv::attribution_options o;
  o.first_order = false;
  o.rows = 8;
  const auto exact = of(in, o);
  o.groups.clear();
  for (int s = 1; s <= int(dv::site::output); ++s)
    o.groups.push_back({std::string(name(dv::site(s))), dv::site_set(dv::site(s))});
  o.pairs_of_orders = 8;
  const auto sampled = of(in, o);
  CHECK(sampled.subsets.empty());
  double sum = sampled.residual, state = 0, width = 0;
  for (const auto& g : sampled.groups) {
    sum += g.shapley_mse;
    if (g.name == "value_partial" || g.name == "output_state") {
      state += g.shapley_mse;
      width += g.half_width;
    }
  }
  CHECK(std::fabs(sum - 1) < 1e-12);
  CHECK(std::fabs(state - group(exact, "output_state").shapley_mse) < 2 * width + 0.05);
  CHECK(group(sampled, "normalizer").shapley_mse == 0);  // O is divided by l directly: the site never acts
}

TEST_CASE("long: Baseline Attention has no state between tiles; the same bits for any number of workers") {
  const auto in = gaussian(256, 16);
  dv::attribution_options o;
  o.rows = 16;
  o.who.count = 1;
  const auto a = dv::attribute_baseline(dv::baseline<dv::bf16>{}, in.q, in.k, in.v, {}, o);
  CHECK(group(a, "rescaling").shapley_mse == 0);
  CHECK(group(a, "output_state").shapley_mse == doctest::Approx(0).epsilon(1e-6));
  CHECK(group(a, "score").shapley_mse + group(a, "probability").shapley_mse + group(a, "output").shapley_mse > 0.95);
  o.who.count = 3;
  const auto b = dv::attribute_baseline(dv::baseline<dv::bf16>{}, in.q, in.k, in.v, {}, o);
  for (std::size_t g = 0; g < a.groups.size(); ++g) {
    CHECK(a.groups[g].shapley_mse == b.groups[g].shapley_mse);
    CHECK(a.groups[g].first_order_mse == b.groups[g].first_order_mse);
  }
}

TEST_CASE("long: a sum that stagnates: rounding to nearest is biased, stochastic rounding is not") {
  // l in BF16, one key at a time, stops at 256 of 2000.
  case_inputs in{dv::tensor<double>({1, 1, 1, 1}, 0), dv::tensor<double>({1, 1, 2000, 1}, 0),
                 dv::tensor<double>({1, 1, 2000, 1}, 1)};
  using sums_low = dv::with<dv::recipe<float>, dv::at<dv::site::row_sum, dv::bf16>>;
  dv::attribution_options o;
  o.samples = 64;
  const auto a = dv::attribute(sums_low{}, in.q, in.k, in.v, {}, {.tile_key = 1}, o);
  CHECK(a.total.bias == doctest::Approx(2000.0 / 256 - 1));
  const auto& l = group(a, "row_sum");
  CHECK(l.shapley_mse == doctest::Approx(1));
  CHECK(l.sampled->mse < l.demoted.mse / 100);
  CHECK(l.sampled->bias_mse < 0.5 * l.sampled->mse);
  CHECK(a.bound_ratio <= 1);
}

TEST_CASE("samples are split into bias and spread") {
  const std::vector<double> golden{1, 1, 1, 1};
  const std::vector<std::vector<double>> samples{{1.5, 1.5, 2, 2}, {1.5, 1.5, 1, 1}, {1.5, 1.5, 1.5, 1.5}};
  const auto e = dv::split_error(samples, golden);
  CHECK(e.variance == doctest::Approx(0.125));             // 0, 0, ¼, ¼
  CHECK(e.bias_mse == doctest::Approx(0.25 - 0.125 / 3));  // ½ everywhere, less the spread of the mean
  CHECK(e.mse == doctest::Approx((0.25 + 0.25 + 2 * (1.25 / 3)) / 4));
  CHECK(e.significant_digits == doctest::Approx(-std::log10(std::sqrt(0.125))));
  CHECK_THROWS_AS(dv::split_error(std::span(samples).first(1), golden), dv::contract_violation);
}

TEST_CASE("groups that overlap, are empty or name the input are refused") {
  const auto in = gaussian(8, 4);
  const auto refused = [&](std::vector<dv::site_group> groups) {
    dv::attribution_options o;
    o.groups = std::move(groups);
    CHECK_THROWS_AS(of(in, o), dv::contract_violation);
  };
  refused({});
  refused({{"nothing", dv::site_set()}});
  refused({{"a", dv::site_set(dv::site::score)}, {"b", dv::site_set(dv::site::score, dv::site::output)}});
  refused({{"q", dv::site_set(dv::site::input)}});
}
