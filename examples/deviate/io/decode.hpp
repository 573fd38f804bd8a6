// SPDX-License-Identifier: Apache-2.0
/// \file decode.hpp
/// \brief The library's `decode`, under the tool's name.
#pragma once

#include <deviate/number/code.hpp>

namespace deviate::tool {

using deviate::decode;

}  // namespace deviate::tool
