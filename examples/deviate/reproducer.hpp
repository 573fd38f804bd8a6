// SPDX-License-Identifier: Apache-2.0
/// \file reproducer.hpp
/// \brief The worst row of an attribution, alone: inputs in a file, and the command line that shows the same deviation.
#pragma once

#include "deviate/attribution_runs.hpp"
#include "deviate/option_set.hpp"

#include <string>

namespace deviate::tool {

/// \brief Writes q [1, 1, 1, d] and the keys and values that the row sees, from the beginning of a key tile on.
///
/// The row has the same error there: a mask becomes a window over the keys that are left, tiles lie where they lay.
/// \return the command line
/// \throws file_error if the file cannot be written
std::string write_reproducer(const attribution_result& r, const option_set& options, const std::string& path);

}  // namespace deviate::tool
