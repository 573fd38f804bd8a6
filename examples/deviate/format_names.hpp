// SPDX-License-Identifier: Apache-2.0
/// \file format_names.hpp
/// \brief Formats by the names of the command line.
#pragma once

#include <deviate/number/format.hpp>

#include <span>
#include <string>
#include <string_view>

namespace deviate::tool {

/// \brief A format and the name a user gave it.
struct named_format {
  std::string name;
  format numbers;
};

/// \brief The formats with names of their own, in the order in which they are listed.
std::span<const named_format> named_formats();

/// \brief One of `named_formats`, or any e<X>m<Y>.
/// \throws usage_error for another name; the message suggests the nearest
named_format format_named(std::string_view name);

/// \brief The candidate nearest to a misspelt name (edit distance), for "did you mean …".
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

}  // namespace deviate::tool
