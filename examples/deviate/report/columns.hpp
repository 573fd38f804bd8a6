// SPDX-License-Identifier: Apache-2.0
/// \file columns.hpp
/// \brief The columns of a study's rows, once for JSON, CSV and the tables of the report.
#pragma once

#include "deviate/study_row.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace deviate::tool {

/// \brief One value of a row; empty where it does not apply, as the tiles of baseline.
using cell = std::variant<std::monostate, std::int64_t, double, std::string>;

/// \brief A name, and how a row answers to it.
struct column {
  std::string_view name;
  cell (*of)(const study_row&);
};

/// \brief What every row of JSON and CSV begins with, in order: what was run, the metrics, the ratios to baseline.
std::span<const column> main_columns();

}  // namespace deviate::tool
