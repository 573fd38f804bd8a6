// SPDX-License-Identifier: Apache-2.0
/// \file golden_words.hpp
/// \brief What the outputs of a study are compared with, and how near to the exact result that is proved to be.
#pragma once

#include "deviate/study_row.hpp"

#include <string>
#include <vector>

namespace deviate::tool {

/// \brief What is compared with: "FP64 attention on the inputs rounded to the format".
std::string golden_in_words(const study_result& study);

/// \brief How far golden may be from exact, in one sentence each: the scalar and the largest bound, why double_double was
/// taken, and which rows are not certified.
std::vector<std::string> golden_accuracy_in_words(const study_result& study);

}  // namespace deviate::tool
