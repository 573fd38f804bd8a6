// SPDX-License-Identifier: Apache-2.0
/// \file glossary.hpp
/// \brief What the columns of a study and the names of recipes mean, for readers of a report.
#pragma once

#include <span>
#include <string_view>

namespace deviate::tool {

/// \brief A word and its meaning. Below, O is the computed output, golden the reference, d = O − golden.
struct glossary_entry {
  std::string_view word;
  std::string_view meaning;
};

/// \brief The columns, metrics first.
std::span<const glossary_entry> metric_glossary();
/// \brief The recipes that have names.
std::span<const glossary_entry> recipe_glossary();

}  // namespace deviate::tool
