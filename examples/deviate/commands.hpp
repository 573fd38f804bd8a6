// SPDX-License-Identifier: Apache-2.0
/// \file commands.hpp
/// \brief The commands of the tool. Each parses its own words, does its work, and returns the exit status.
#pragma once

#include "deviate/option_set.hpp"

#include <ostream>

namespace deviate::tool {

/// \name Commands
/// \param given the words after the command's name
/// \param out standard output
/// \param errors standard error, for warnings
/// \return 0, or 1 from `compare` where a given tolerance is exceeded
/// \throws usage_error, file_error, contract_violation: nothing has been written then
/// @{
int study_command(const words& given, std::ostream& out, std::ostream& errors);
int attribute_command(const words& given, std::ostream& out, std::ostream& errors);
int run_command(const words& given, std::ostream& out, std::ostream& errors);
int compare_command(const words& given, std::ostream& out, std::ostream& errors);
int formats_command(const words& given, std::ostream& out, std::ostream& errors);
int round_command(const words& given, std::ostream& out, std::ostream& errors);
/// @}

}  // namespace deviate::tool
