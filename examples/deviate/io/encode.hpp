// SPDX-License-Identifier: Apache-2.0
/// \file encode.hpp
/// \brief The library's `encode`, under the tool's name.
#pragma once

#include <deviate/number/code.hpp>

namespace deviate::tool {

using deviate::encode;

}  // namespace deviate::tool
