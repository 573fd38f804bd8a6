// SPDX-License-Identifier: Apache-2.0
/// \file attention_runs.hpp
/// \brief Attention under a recipe and a format that are named at run time.
#pragma once

#include <deviate/attention/problem.hpp>
#include <deviate/attention/schedule.hpp>
#include <deviate/team/workers.hpp>
#include <deviate/tensor/tensor.hpp>

#include "deviate/format_names.hpp"
#include "deviate/rounding_choice.hpp"
#include "deviate/study_options.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace deviate::tool {

/// \brief What one run gives, widened to double, which is exact for every format.
struct forward_output {
  tensor<double> output;
  tensor<double> log_sum_exp;
  tensor<std::int32_t> rescales;
};

/// \brief baseline, flash1_all, flash2_all, flash2_fp32_state.
std::span<const std::string> recipe_names();

/// \brief Runs a named recipe in a named format, which has the mode of the rounding.
/// \throws usage_error for another recipe, contract_violation as `flash_forward`
forward_output run_attention(const std::string& recipe, const named_format& chosen, const rounding_choice& rounding,
                             const attention_inputs& inputs, const problem& p, const schedule& plan,
                             const workers& who);

/// \brief True if results of this format are held in double rather than float.
bool held_in_double(const format& numbers);

/// \brief Every element rounded once to a format, in its mode.
attention_inputs rounded_inputs(const attention_inputs& inputs, const format& numbers, const rounding_choice& rounding);

}  // namespace deviate::tool
