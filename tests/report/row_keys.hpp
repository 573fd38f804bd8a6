// SPDX-License-Identifier: Apache-2.0
// What every row of a study has, in the order in which it stands in JSON and CSV.
#pragma once

#include <string>
#include <vector>

namespace report_test {

// clang-format off
inline const std::vector<std::string> main_keys = {
    "inputs", "heads", "n_query", "n_key", "d", "tile_query", "tile_key", "recipe", "format", "rounding", "golden",
    "golden_scalar", "golden_bound", "golden_half_ulps", "golden_uncertified", "max_abs", "mean_abs", "std_abs",
    "rmse", "relative_l1", "relative_l2", "cosine", "bias", "bias_ci95", "max_ulp", "wasserstein_1",
    "identical_share", "nan", "inf", "rescales", "ratio_max_abs", "ratio_relative_l2"};
// clang-format on

}  // namespace report_test
