// SPDX-License-Identifier: Apache-2.0
/// \file recipe_table.hpp
/// \brief The named recipes over one scalar. Each scalar is compiled in a file of its own (recipes_*.cpp), to keep the memory
/// and time of a compilation small.
#pragma once

#include <deviate/attention/forward.hpp>
#include <deviate/attention/named_recipes.hpp>

#include "deviate/attention_runs.hpp"
#include "deviate/usage_error.hpp"

#include <array>

namespace deviate::tool {

/// The inputs in the carrier of the scalar under study, so that loading a tile needs no conversion.
template <class T>
struct carried_inputs {
  tensor<T> q, k, v;
};
template <class T>
carried_inputs<T> carried(const attention_inputs& inputs) {
  const auto convert = [](const tensor<double>& x) {
    return tensor<T>(x.shape(), std::vector<T>(x.values().begin(), x.values().end()));
  };
  return {convert(inputs.q), convert(inputs.k), convert(inputs.v)};
}

template <class T>
tensor<double> widened(const tensor<T>& x) {
  return tensor<double>(x.shape(), std::vector<double>(x.values().begin(), x.values().end()));
}

/// One recipe over one scalar; a run-time scalar gets its format here, and random bits their seed.
template <class Recipe>
Recipe recipe_in(const format& numbers, [[maybe_unused]] const rounding_choice& rounding) {
  if constexpr (Recipe::has_random) {
    Recipe r(numbers);
    r.seed = rounding.seed;
    r.random_bits = rounding.random_bits;
    return r;
  } else if constexpr (Recipe::has_runtime) {
    return Recipe(numbers);
  } else {
    return Recipe();
  }
}

/// Runs a named recipe over scalar S.
/// \param inputs values that are exact in S's carrier: narrower inputs, or inputs already rounded
template <class S>
forward_output run_recipe(const std::string& recipe, const format& numbers, const rounding_choice& rounding,
                          const attention_inputs& inputs, const problem& p, const schedule& plan, const workers& who) {
  const auto [q, k, v] = carried<carrier_of<S>>(inputs);
  const auto widen = [](const auto& r) {
    return forward_output{widened(r.output), widened(r.log_sum_exp), r.rescales};
  };
  if (recipe == "baseline") return widen(baseline_forward(recipe_in<baseline<S>>(numbers, rounding), q, k, v, p, who));
  if (recipe == "flash1_all")
    return widen(flash_forward(recipe_in<flash1_all<S>>(numbers, rounding), q, k, v, p, plan, who));
  if (recipe == "flash2_all")
    return widen(flash_forward(recipe_in<flash2_all<S>>(numbers, rounding), q, k, v, p, plan, who));
  if (recipe == "flash2_fp32_state")
    return widen(flash_forward(recipe_in<flash2_fp32_state<S>>(numbers, rounding), q, k, v, p, plan, who));
  throw usage_error("unknown recipe '" + recipe + "'");
}

// clang-format off
extern template forward_output run_recipe<narrow_runtime>(const std::string&, const format&, const rounding_choice&, const attention_inputs&, const problem&, const schedule&, const workers&);
extern template forward_output run_recipe<medium_runtime>(const std::string&, const format&, const rounding_choice&, const attention_inputs&, const problem&, const schedule&, const workers&);
extern template forward_output run_recipe<wide_runtime>(const std::string&, const format&, const rounding_choice&, const attention_inputs&, const problem&, const schedule&, const workers&);
extern template forward_output run_recipe<stochastic_runtime<float>>(const std::string&, const format&, const rounding_choice&, const attention_inputs&, const problem&, const schedule&, const workers&);
extern template forward_output run_recipe<stochastic_runtime<double>>(const std::string&, const format&, const rounding_choice&, const attention_inputs&, const problem&, const schedule&, const workers&);
extern template forward_output run_recipe<float>(const std::string&, const format&, const rounding_choice&, const attention_inputs&, const problem&, const schedule&, const workers&);
extern template forward_output run_recipe<double>(const std::string&, const format&, const rounding_choice&, const attention_inputs&, const problem&, const schedule&, const workers&);
// clang-format on

}  // namespace deviate::tool
