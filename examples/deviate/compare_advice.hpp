// SPDX-License-Identifier: Apache-2.0
/// \file compare_advice.hpp
/// \brief The inputs of a comparison, and the tolerance that they advise.
#pragma once

#include "deviate/comparison.hpp"
#include "deviate/option_set.hpp"

#include <optional>

namespace deviate::tool {

/// \brief Declares --input, --q, --k, --v, --dtype, the masks and the scale, and how advice is found.
void add_advice_options(option_set& options);

/// \brief Checks what can be checked before a file is read.
/// \throws usage_error if an option needs inputs and there are none, or for a value that is not allowed
void expect_advice_options(const option_set& options);

/// \brief Reads the inputs, and advises on the tolerance of the tensors that are compared.
/// \param c both tensors and the format of A
/// \return nothing where no inputs are named
/// \throws usage_error, file_error: also if the inputs do not give an output of A's shape
std::optional<comparison_advice> advice_of(const option_set& options, const comparison& c);

}  // namespace deviate::tool
