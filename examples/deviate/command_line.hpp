// SPDX-License-Identifier: Apache-2.0
/// \file command_line.hpp
/// \brief The whole tool behind one call.
#pragma once

#include "deviate/option_set.hpp"

#include <ostream>

namespace deviate::tool {

/// \brief Runs a command line without the program's name.
/// \param out standard output: results, and nothing else
/// \param errors standard error: for every failure one line that begins with "deviate: "
/// \return the exit status: 0; 1 where `compare` finds a given tolerance exceeded; 2 for any failure
int run_command_line(const words& given, std::ostream& out, std::ostream& errors);

}  // namespace deviate::tool
