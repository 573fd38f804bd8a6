// SPDX-License-Identifier: Apache-2.0
#include "deviate/attention_runs.hpp"

#include "deviate/recipe_table.hpp"

#include <array>

namespace deviate::tool {

std::span<const std::string> recipe_names() {
  static const std::array<std::string, 4> names{"baseline", "flash1_all", "flash2_all", "flash2_fp32_state"};
  return names;
}

bool held_in_double(const format& numbers) { return !numbers.subset_of(binary32); }

attention_inputs rounded_inputs(const attention_inputs& inputs, const format& numbers,
                                const rounding_choice& rounding) {
  const rounding_constants<double> constants(numbers);
  // Apart from the streams of the sites, which are counted from 0.
  constexpr std::uint64_t first_stream = std::uint64_t(1) << 32;
  const auto round = [&](tensor<double> x, std::uint64_t which) {
    const stochastic_rounder random = stochastic_rounder(rounding.seed).stream(first_stream + which);
    std::uint64_t index = 0;
    for (double& value : x.values())
      value = numbers.rounding == rounding_mode::stochastic
                  ? random.round(value, rounding.random_bits, index++, constants)
                  : round_to(value, constants);
    return x;
  };
  return {inputs.name, round(inputs.q, 0), round(inputs.k, 1), round(inputs.v, 2)};
}

forward_output run_attention(const std::string& recipe, const named_format& chosen, const rounding_choice& rounding,
                             const attention_inputs& inputs, const problem& p, const schedule& plan,
                             const workers& who) {
  const format& f = chosen.numbers;
  // The site `input` rounds again, which changes nothing; rounding here first lets a float carrier hold inputs of any width
  // without rounding twice.
  const attention_inputs rounded = rounded_inputs(inputs, f, rounding);
  if (f.rounding == rounding_mode::stochastic)
    return held_in_double(f) ? run_recipe<stochastic_runtime<double>>(recipe, f, rounding, rounded, p, plan, who)
                             : run_recipe<stochastic_runtime<float>>(recipe, f, rounding, rounded, p, plan, who);
  if (f == binary64) return run_recipe<double>(recipe, f, rounding, rounded, p, plan, who);
  if (f == binary32) return run_recipe<float>(recipe, f, rounding, rounded, p, plan, who);
  if (double_rounding_is_innocuous(f, binary32))
    return run_recipe<narrow_runtime>(recipe, f, rounding, rounded, p, plan, who);
  if (f.subset_of(binary32)) return run_recipe<medium_runtime>(recipe, f, rounding, rounded, p, plan, who);
  return run_recipe<wide_runtime>(recipe, f, rounding, rounded, p, plan, who);
}

}  // namespace deviate::tool
