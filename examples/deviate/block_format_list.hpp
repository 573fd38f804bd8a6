// SPDX-License-Identifier: Apache-2.0
/// \file block_format_list.hpp
/// \brief The block-scaled formats and their limits, as `deviate formats` lists them.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace deviate::tool {

/// \brief True for the name of one.
bool is_block_format(std::string_view name);

/// \brief One JSON object for each; `block_scaled` is true in all.
nlohmann::ordered_json block_formats_as_json();

/// \brief A table with notes.
std::string block_formats_as_table();

}  // namespace deviate::tool
