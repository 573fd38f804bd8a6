// SPDX-License-Identifier: Apache-2.0
#include "deviate/rounding_choice.hpp"

#include "deviate/usage_error.hpp"

#include <algorithm>
#include <array>

namespace deviate::tool {

std::span<const std::string> mode_names() {
  static const std::array<std::string, 7> names{"nearest_even", "nearest_away", "toward_zero", "upward",
                                                "downward",     "to_odd",       "stochastic"};
  return names;
}

void add_rounding_options(option_set& options, const std::string& seed, int most) {
  const std::string highest = std::to_string(most);
  options.add("--mode", "MODE",
              "nearest_even (default), nearest_away, toward_zero, upward, downward, to_odd, stochastic");
  options.add(
      "--random-bits", "N",
      "How many random bits decide a rounding of --mode stochastic, 1 to " + highest + " (default " + highest + ")");
  options.add(seed, "N", "Seed of the random bits of --mode stochastic (default 1)");
}

rounding_choice rounding_of(const option_set& options, const std::string& seed, int most) {
  rounding_choice chosen;
  const std::string mode = options.choice("--mode", mode_names());
  chosen.mode =
      static_cast<rounding_mode>(std::find(mode_names().begin(), mode_names().end(), mode) - mode_names().begin());
  const std::array<std::string, 2> of_random_bits{"--random-bits", seed};
  const std::string given = options.first_given(of_random_bits);
  if (chosen.mode != rounding_mode::stochastic && !given.empty())
    throw usage_error(given + " belongs to --mode stochastic");
  chosen.random_bits = static_cast<int>(options.whole("--random-bits", 1, most, most));
  chosen.seed = options.seed(seed, chosen.seed);
  return chosen;
}

named_format in_mode(named_format chosen, rounding_mode mode) {
  if (mode != rounding_mode::nearest_even && chosen.numbers.fraction_bits > 50)
    throw usage_error("--mode " + mode_names()[static_cast<std::size_t>(mode)] + " takes formats narrower than fp64");
  chosen.numbers.rounding = mode;
  return chosen;
}

}  // namespace deviate::tool
