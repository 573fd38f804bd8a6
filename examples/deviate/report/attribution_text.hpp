// SPDX-License-Identifier: Apache-2.0
/// \file attribution_text.hpp
/// \brief An attribution in words and tables.
#pragma once

#include "deviate/attribution_runs.hpp"

#include <string>
#include <vector>

namespace deviate::tool {

/// \brief Who is to blame, in one sentence: the first line of the report.
std::string attribution_verdict(const attribution_result& r);

/// \brief What a reader must be warned of: errors that cancel, views that disagree, runs that are not the recipe's own.
std::vector<std::string> attribution_warnings(const attribution_result& r);

/// \brief The smallest set of groups that must be raised to meet a tolerance, in one sentence.
std::string search_text(const attribution_result& r, error_metric metric, double tolerance);

/// \brief Verdict, warnings, a table of the groups, what removing the rescaling and the tiles changes, the worst row.
std::string attribution_text(const attribution_result& r, error_metric metric);

}  // namespace deviate::tool
