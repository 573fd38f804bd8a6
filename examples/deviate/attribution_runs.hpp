// SPDX-License-Identifier: Apache-2.0
/// \file attribution_runs.hpp
/// \brief Attribution of the error of a recipe and a format that are named at run time.
#pragma once

#include <deviate/deviation/attribution.hpp>
#include <deviate/deviation/headroom.hpp>

#include "deviate/format_names.hpp"
#include "deviate/study_options.hpp"

#include <optional>
#include <span>
#include <string>

namespace deviate::tool {

/// \brief What `deviate attribute` was asked to do with one input.
struct attribution_request {
  std::string recipe;           ///< one of `attributable_recipes`
  named_format numbers;         ///< in any mode but stochastic
  std::optional<site_set> low;  ///< the sites in the format, all others FP32; absent: those of the recipe
  std::string exponential;      ///< one of `exponential_names`
  schedule plan;
  attribution_options options;
  bool counters = true;  ///< also observe every operation of the recipe
};

/// \brief One attribution, and what a reader must know of it.
struct attribution_result {
  attribution_request request;
  attribution shares;
  attention_inputs inputs;  ///< as given
  problem masks;            ///< scale and masks
  std::int64_t differs_from_own =
      -1;  ///< elements in which the run with all groups low is not the recipe's own; −1: not run
  std::optional<headroom> seen;  ///< counters and headroom of every head; absent: not asked for
  std::string command;           ///< gives the same again
};

/// \brief flash2_all, flash2_fp32_state, flash1_all, baseline, uniform.
std::span<const std::string> attributable_recipes();

/// \brief natural, exp2_fma, exp2_degree1 … exp2_degree5, floor24. All but natural only with flash2_all.
std::span<const std::string> exponential_names();

/// \brief Attributes the error of one input.
/// \throws usage_error for a combination that is not there, contract_violation as `attribute`
attribution_result run_attribution(const attribution_request& request, const attention_inputs& inputs,
                                   const problem& p);

}  // namespace deviate::tool
