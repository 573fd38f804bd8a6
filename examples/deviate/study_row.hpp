// SPDX-License-Identifier: Apache-2.0
/// \file study_row.hpp
/// \brief One measured deviation of a study: what was run, and how far it was from the golden output.
#pragma once

#include <deviate/deviation/metrics.hpp>

#include "deviate/golden_certificate.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deviate::tool {

/// \brief One row of a study. Baseline rows have no tiles.
struct study_row {
  std::string sweep;   ///< which panel it belongs to: "real", "fraction bits", "length", or "study"
  std::string inputs;  ///< e.g. "smollm2_layer00", "uniform seed 1"
  std::int64_t heads = 0;
  std::int64_t n_query = 0;
  std::int64_t n_key = 0;
  std::int64_t d = 0;
  std::optional<std::int64_t> tile_query;
  std::optional<std::int64_t> tile_key;
  std::string recipe;
  std::string format;
  std::string rounding = "nearest_even";  ///< the mode of the format
  int fraction_bits = 0;
  std::string golden;  ///< "rounded" or "unrounded" inputs
  golden_certificate certificate;
  deviation_report deviation;
  std::int64_t rescales = 0;     ///< over all rows and heads
  double ratio_max_abs = 1;      ///< to `baseline` in the same format and golden
  double ratio_relative_l2 = 1;  ///< likewise
};

/// \brief A whole study: its rows, and what a reader must know of how they came about.
struct study_result {
  std::vector<study_row> rows;
  std::string command;             ///< the command line that gives the same rows
  std::vector<std::string> notes;  ///< e.g. "causal, scale 0.125"
};

}  // namespace deviate::tool
