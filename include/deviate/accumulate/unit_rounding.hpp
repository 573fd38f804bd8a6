// SPDX-License-Identifier: Apache-2.0
/// \file unit_rounding.hpp
/// \brief How a matrix unit brings its sum into the format it keeps it in.
#pragma once

#include <cstdint>

namespace deviate::accumulate {

/// \brief How a matrix unit rounds its running sum.
enum class unit_rounding : std::uint8_t {
  toward_zero,   ///< what lies below the last bit is cut off
  nearest_even,  ///< to nearest, ties to even
};

}  // namespace deviate::accumulate
