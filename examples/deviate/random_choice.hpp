// SPDX-License-Identifier: Apache-2.0
/// \file random_choice.hpp
/// \brief The options of random inputs, as `deviate study` and `deviate attribute` have them.
#pragma once

#include "deviate/option_set.hpp"
#include "deviate/study_options.hpp"

#include <vector>

namespace deviate::tool {

/// \brief Declares --random, --n, --d, --heads and --seed.
void add_random_options(option_set& options);

/// \brief Inputs come from files or are random, and every option belongs to the one that is meant.
/// \throws usage_error otherwise
void expect_one_source(const option_set& options);

/// \brief What --random asks for, one for each length.
/// \throws usage_error if a number is out of range or this machine's memory cannot hold the inputs
std::vector<random_inputs> random_of(const option_set& options);

}  // namespace deviate::tool
