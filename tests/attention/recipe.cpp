// SPDX-License-Identifier: Apache-2.0
#include <deviate/attention/recipe.hpp>

#include <doctest/doctest.h>

#include <deviate/attention/forward.hpp>
#include <deviate/number/named.hpp>
#include <type_traits>

#include "attention/inputs.hpp"

using namespace attention_test;
using dv::at;
using dv::bf16;
using dv::fp16;
using dv::recipe;
using dv::site;
using dv::summed;
using dv::with;
using dv::accumulate::lane_sums;
using dv::accumulate::pairwise;
using dv::accumulate::sequential;

namespace {

// A site that no change names has the default; one that a change names has that change's; the later change wins.
using kernel = recipe<float, at<site::probability_operand, bf16>, at<site::output, bf16>>;
static_assert(std::is_same_v<kernel::scalar<site::output_state>, float>);
static_assert(std::is_same_v<kernel::scalar<site::output>, bf16>);
using suspect = with<kernel, at<site::output_state, bf16>, at<site::output, fp16>>;
static_assert(std::is_same_v<suspect::scalar<site::output_state>, bf16>);
static_assert(std::is_same_v<suspect::scalar<site::output>, fp16>);
static_assert(std::is_same_v<suspect::scalar<site::probability_operand>, bf16>);
static_assert(std::is_same_v<with<suspect, at<site::output_state, float>>::scalar<site::output_state>, float>);
static_assert(std::is_same_v<with<kernel>, kernel>);

static_assert(std::is_same_v<kernel::accumulation<site::score>, sequential<>>);
using in_lanes = with<kernel, summed<site::score, pairwise<>>, summed<site::score, lane_sums<8>>>;
static_assert(std::is_same_v<in_lanes::accumulation<site::score>, lane_sums<8>>);
static_assert(std::is_same_v<in_lanes::accumulation<site::value_partial>, sequential<>>);
static_assert(std::is_same_v<in_lanes::scalar<site::score>, float>);

static_assert(kernel::when_normalized == dv::normalization::once && kernel::how_divided == dv::division::direct);
using published = with<kernel, dv::normalized<dv::normalization::every_tile>, dv::divided<dv::division::reciprocal>>;
static_assert(published::when_normalized == dv::normalization::every_tile);
static_assert(published::how_divided == dv::division::reciprocal);
static_assert(with<published, dv::normalized<dv::normalization::once>>::when_normalized == dv::normalization::once);

// Fixed at compile time, a recipe and its sites cost nothing; only one of run-time sites carries formats.
static_assert(std::is_empty_v<suspect> && std::is_empty_v<published>);
static_assert(!suspect::has_runtime && recipe<float, at<site::score, dv::narrow_runtime>>::has_runtime);
static_assert(!suspect::has_software);

template <class Recipe>
auto run(const Recipe& r) {
  const auto in = gaussian_inputs({.n_query = 9, .n_key = 40, .d = 16, .d_v = 16}, 1);
  return dv::flash_forward(r, in.q, in.k, in.v, {}, {.tile_key = 16}, dv::one_by_one<dv::plain_tile>{});
}

}  // namespace

TEST_CASE("a recipe of run-time sites has the bits of the compile-time one, site by site") {
  // O state in FP16 and P in bf16, all else in e8m10.
  using tf32 = dv::tf32;
  dv::recipe<dv::narrow_runtime> chosen;
  for (dv::format& f : chosen.formats) f = dv::tf32_format;
  chosen.formats[int(site::output_state)] = dv::fp16_format;
  chosen.formats[int(site::probability_operand)] = dv::bf16_format;
  const recipe<tf32, at<site::output_state, fp16>, at<site::probability_operand, bf16>> fixed;
  CHECK(same_bits(run(chosen), run(fixed)));
  CHECK(!same_bits(run(chosen), run(recipe<tf32>{})));
  CHECK(same_bits(run(recipe<dv::narrow_runtime>(dv::tf32_format)), run(recipe<tf32>{})));
}

TEST_CASE("each sum follows its own accumulation") {
  using all_bf16 = recipe<bf16>;
  const auto plain = run(all_bf16{});
  CHECK(same_bits(run(with<all_bf16, summed<site::score, sequential<>>>{}), plain));
  CHECK(!same_bits(run(with<all_bf16, summed<site::score, pairwise<>>>{}), plain));
  CHECK(!same_bits(run(with<all_bf16, summed<site::row_sum_partial, lane_sums<4>>>{}), plain));
  CHECK(!same_bits(run(with<all_bf16, summed<site::value_partial, sequential<float>>>{}), plain));
}

TEST_CASE("a division by way of 1 ÷ l rounds twice") {
  using once = recipe<bf16>;
  using reciprocal = with<once, dv::divided<dv::division::reciprocal>>;
  CHECK(!same_bits(run(once{}), run(reciprocal{})));
  // One key: l = 1 and both are exact.
  const auto one_key = [](const auto& r) {
    return dv::flash_forward(r, column<double>({1}), column<double>({1}), column<double>({3})).output.values()[0];
  };
  CHECK(one_key(once{}) == 3);
  CHECK(one_key(reciprocal{}) == 3);
}
