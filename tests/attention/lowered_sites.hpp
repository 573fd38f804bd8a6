// SPDX-License-Identifier: Apache-2.0
// What lowering one site alone to bf16 changes, for every site of a recipe.
#pragma once

#include <doctest/doctest.h>

#include <deviate/attention/forward.hpp>
#include <deviate/number/named.hpp>
#include <string>
#include <utility>
#include <vector>

#include "attention/inputs.hpp"

namespace attention_test {

using dv::site;

inline const dv::one_by_one<dv::plain_tile> plain;
inline const inputs<double>& some_inputs() {
  static const auto in = gaussian_inputs({.n_query = 12, .n_key = 48, .d = 16, .d_v = 8}, 1);
  return in;
}

struct change {
  bool output, log_sum_exp;
};
template <class Results>
change between(const Results& exact, const Results& lowered) {
  return {!same_bits(exact.output.values(), lowered.output.values()),
          !same_bits(exact.log_sum_exp.values(), lowered.log_sum_exp.values())};
}
// Output and LSE as double, whatever their sites hold.
template <class Result>
dv::attention_result<double> widened(const Result& r) {
  const auto wide = [](const auto& t) {
    return dv::tensor<double>(t.shape(), std::vector<double>(t.values().begin(), t.values().end()));
  };
  return {wide(r.output), wide(r.log_sum_exp), r.rescales};
}

// What lowering one site of `Recipe` to bf16 changes.
template <class Recipe, site S, class Forward>
change lowered(Forward forward) {
  return between(widened(forward(Recipe{})), widened(forward(dv::with<Recipe, dv::at<S, dv::bf16>>{})));
}

using fp64 = dv::recipe<double, dv::divided<dv::division::reciprocal>>;
using fp64_every_tile = dv::with<fp64, dv::normalized<dv::normalization::every_tile>>;

inline const auto flash = [](const auto& r) {
  const auto& in = some_inputs();
  return dv::flash_forward(r, in.q, in.k, in.v, {.scale = 0.5}, {.tile_key = 8}, plain);
};
inline const auto baseline = [](const auto& r) {
  const auto& in = some_inputs();
  return dv::baseline_forward(r, in.q, in.k, in.v, {.scale = 0.5}, plain);
};

// Sites that come before the row sum change the LSE; the rest of the way to O does not.
inline bool reaches_lse(site s) {
  switch (s) {
    case site::probability_operand:
    case site::rescaled_output:
    case site::value_product:
    case site::value_partial:
    case site::output_state:
    case site::normalizer:
    case site::output: return false;
    default: return true;
  }
}
inline bool is_rescaling(site s) {
  return s == site::rescale_factor || s == site::rescaled_sum || s == site::rescaled_output || s == site::output_state;
}

template <class Recipe, std::size_t... I, class Forward>
void every_site(std::index_sequence<I...>, Forward forward, bool has_state) {
  const auto check = [&](site s, const change& c) {
    CAPTURE(std::string(name(s)));
    const bool alive = has_state || !is_rescaling(s);
    CHECK(c.output == (alive && s != site::log_sum_exp));
    CHECK(c.log_sum_exp == (alive && reaches_lse(s)));
  };
  (check(site(I), lowered<Recipe, site(I)>(forward)), ...);
}
inline constexpr auto all_sites = std::make_index_sequence<std::size_t(dv::site_count)>{};

}  // namespace attention_test
