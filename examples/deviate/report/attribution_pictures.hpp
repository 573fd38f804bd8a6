// SPDX-License-Identifier: Apache-2.0
/// \file attribution_pictures.hpp
/// \brief The pictures of an attribution.
#pragma once

#include "deviate/attribution_runs.hpp"
#include "deviate/report/plots.hpp"

#include <string>

namespace deviate::tool {

/// \brief Shares as bars, interactions as a matrix, error against position.
/// \param suffix of the file names, to tell several inputs apart
picture_list draw_attribution(const attribution_result& r, const std::string& suffix, const std::string& gnuplot);

}  // namespace deviate::tool
