// SPDX-License-Identifier: Apache-2.0
/// \file table.hpp
/// \brief A study as text for a terminal.
#pragma once

#include "deviate/study_row.hpp"

#include <string>

namespace deviate::tool {

/// \brief A table of at most 100 columns, grouped by inputs and format, each group with a verdict in plain words.
///
/// Up to 100 rows are shown one by one. A larger study is shown as matrices of deviations and ratios, recipes across
/// and what varies most down; one of hundreds of such lines, by its verdicts alone. All rows are in JSON and CSV.
std::string study_table(const study_result& study);

}  // namespace deviate::tool
