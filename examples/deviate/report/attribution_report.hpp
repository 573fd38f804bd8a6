// SPDX-License-Identifier: Apache-2.0
/// \file attribution_report.hpp
/// \brief Attributions as JSON, and as a folder of a page, pictures and JSON.
#pragma once

#include "deviate/attribution_runs.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace deviate::tool {

/// \brief One object for one input; for several an object with `attributions`, an array of such objects.
std::string attribution_json(const std::vector<attribution_result>& results);

/// \brief Writes attribution.html, attribution.json and the pictures into a folder, made if need be.
/// \return a warning in one line where a picture is missing, else an empty text
/// \throws file_error if the folder or a file cannot be written
std::string write_attribution(const std::vector<attribution_result>& results, error_metric metric,
                              const std::filesystem::path& out, const std::string& gnuplot = "gnuplot");

}  // namespace deviate::tool
