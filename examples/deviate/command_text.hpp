// SPDX-License-Identifier: Apache-2.0
/// \file command_text.hpp
/// \brief The command line that gives the same rows again.
#pragma once

#include "deviate/option_set.hpp"
#include "deviate/study_options.hpp"

#include <string>

namespace deviate::tool {

/// \brief A word as a shell reads it back: in single quotes if it holds anything but letters, digits and `_./,:=+-`.
std::string shell_word(const std::string& word);

/// \brief `deviate study` with every option that decides a row, in one order, defaults written out; of the default study only
/// what was changed. How results are shown and by how many threads they were computed is left out.
std::string study_command_text(const option_set& options, const study_options& study);

}  // namespace deviate::tool
