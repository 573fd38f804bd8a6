// SPDX-License-Identifier: Apache-2.0
/// \file contract.hpp
/// \brief Preconditions: an exception on the host, a trap on the device.
#pragma once

#include <deviate/config.hpp>

#include <stdexcept>
#include <string>

namespace deviate {

/// \brief A caller's mistake: the message names the argument, its value and what is allowed.
class contract_violation : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// \brief Checks a precondition on the host.
/// \param holds the condition
/// \param message what was wrong, with the argument's name, its value and what is allowed
/// \throws contract_violation if `holds` is false
inline void expects(bool holds, const std::string& message) {
  if (!holds) throw contract_violation(message);
}

/// \copydoc expects(bool, const std::string&)
/// The literal form builds no string unless the check fails.
inline void expects(bool holds, const char* message) {
  if (!holds) throw contract_violation(message);
}

}  // namespace deviate
