// SPDX-License-Identifier: Apache-2.0
/// \file study.hpp
/// \brief Runs every combination that a study asks for and measures its deviation from golden.
#pragma once

#include "deviate/study_options.hpp"
#include "deviate/study_row.hpp"

#include <functional>

namespace deviate::tool {

/// \brief The rows of a study, in a fixed order: inputs, then format, then recipe, then tiles.
///
/// For every (inputs, format) the golden output is computed once, on the inputs rounded to the format or as given: in FP64, and
/// in double_double where FP64 cannot be proved to be near enough. `baseline` runs first, because every other row is
/// compared with it.
/// \param progress called with the share of the work that is done, 0 to 1; may be empty
/// \throws contract_violation if the shapes of an input do not fit
study_result run_study(const study_options& options, const std::function<void(double share_done)>& progress);

}  // namespace deviate::tool
