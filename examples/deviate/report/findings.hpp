// SPDX-License-Identifier: Apache-2.0
/// \file findings.hpp
/// \brief What the rows of a study say, in plain words.
#pragma once

#include "deviate/report/groups.hpp"
#include "deviate/study_row.hpp"

#include <string>
#include <vector>

namespace deviate::tool {

/// \brief One sentence on rows of the same inputs: how far each recipe lies from golden, as a multiple of baseline:
/// "flash1_all lies 8.50x as far from golden as baseline, flash2_fp32_state 0.90x."
std::string verdict(const row_list& rows);

/// \brief What was compared with what, in one paragraph.
std::string what_was_compared(const study_result& study);

/// \brief The main numbers, one sentence or two each: the extremes of every recipe, the worst element, bias, ulps,
/// and what is not finite.
std::vector<std::string> main_findings(const study_result& study);

}  // namespace deviate::tool
