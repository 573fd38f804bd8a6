// SPDX-License-Identifier: Apache-2.0
/// \file usage_error.hpp
/// \brief A mistake on the command line: one clear line, exit status 2.
#pragma once

#include <stdexcept>

namespace deviate::tool {

/// \brief The message names the option, its value, and what is allowed or which name is nearest.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace deviate::tool
