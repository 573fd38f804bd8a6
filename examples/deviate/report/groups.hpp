// SPDX-License-Identifier: Apache-2.0
/// \file groups.hpp
/// \brief Rows that belong into one picture or table: the same inputs, and one quantity that varies.
#pragma once

#include "deviate/study_row.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deviate::tool {

/// \brief What may vary within a group.
enum class study_axis { fraction_bits, length, key_tile };

/// \brief Rows of one study, in its order.
using row_list = std::vector<const study_row*>;

/// \brief A name of inputs without the length that it states: "uniform N=512 seed 1" is of the family "uniform seed 1".
std::string family_of(std::string_view inputs);

/// \brief The value of a row along an axis; nothing for the tiles of baseline.
std::optional<std::int64_t> position(const study_row& row, study_axis axis);

/// \brief Number of different positions of rows along an axis.
std::size_t positions(const row_list& rows, study_axis axis);

/// \brief Rows with the same sweep, family of inputs, golden, number of heads and head dimension.
std::vector<row_list> families(const study_result& study);

/// \brief A family cut so that only `axis` and the recipe vary; the rows of baseline stand in every part that they are
/// compared with. Parts are in the order of their first row.
std::vector<row_list> parts_along(const row_list& family, study_axis axis);

/// \brief The axis with the most positions; the key tile where there is nothing to choose.
study_axis widest_axis(const row_list& rows);

/// \brief Recipes in the order of their first row.
std::vector<std::string> recipes_of(const row_list& rows);

/// \brief The row of a recipe at a position, or null.
const study_row* row_at(const row_list& rows, std::string_view recipe, study_axis axis, std::int64_t where);

/// \brief What all rows share besides the inputs, in words: "bf16, N = 512, d = 64, 9 heads, tiles 64 × 64". What
/// varies is left out.
std::string shared_setting(const row_list& rows);

/// \brief Number of NaN on either side.
std::int64_t nan_count(const deviation_summary& deviation);

/// \brief Share of the finite elements that lie within one ulp of golden in the row's format; NaN if there is none.
double share_within_one_ulp(const deviation_summary& deviation);

}  // namespace deviate::tool
