// SPDX-License-Identifier: Apache-2.0
/// \file rounding_choice.hpp
/// \brief How a command rounds: the mode, and where random bits come from.
#pragma once

#include <deviate/number/format.hpp>
#include <deviate/number/stochastic.hpp>

#include "deviate/format_names.hpp"
#include "deviate/option_set.hpp"

#include <cstdint>
#include <string>

namespace deviate::tool {

/// \brief The rounding of every format that a command computes in.
struct rounding_choice {
  rounding_mode mode = rounding_mode::nearest_even;
  int random_bits = most_random_bits<float>;  ///< decide a rounding; only where the mode is stochastic
  std::uint64_t seed = 1;                     ///< of the random bits
};

/// \brief What --mode accepts, in the order of rounding_mode.
std::span<const std::string> mode_names();

/// \brief Declares --mode, --random-bits and the seed.
/// \param seed name of the seed's option
/// \param most the most random bits, which is what they are by default
void add_rounding_options(option_set& options, const std::string& seed, int most = most_random_bits<float>);

/// \brief What was chosen.
/// \throws usage_error for another value, or for random bits of a mode that takes none
rounding_choice rounding_of(const option_set& options, const std::string& seed, int most = most_random_bits<float>);

/// \brief The format in the chosen mode.
/// \throws usage_error if it is too wide for the mode: only to nearest even does the processor round fp64 itself
named_format in_mode(named_format chosen, rounding_mode mode);

}  // namespace deviate::tool
