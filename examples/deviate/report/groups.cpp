// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/groups.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "deviate/report/text.hpp"

namespace deviate::tool {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Splits rows by a key, parts in the order of their first row.
template <class Key>
std::vector<row_list> split(const row_list& rows, Key key) {
  std::vector<row_list> parts;
  for (const study_row* row : rows) {
    const auto mine =
        std::find_if(parts.begin(), parts.end(), [&](const row_list& part) { return key(*part.front()) == key(*row); });
    if (mine == parts.end())
      parts.push_back({row});
    else
      mine->push_back(row);
  }
  return parts;
}

template <class Of>
bool same(const row_list& rows, Of of) {
  return std::all_of(rows.begin(), rows.end(), [&](const study_row* row) { return of(*row) == of(*rows.front()); });
}

}  // namespace

std::string family_of(std::string_view inputs) {
  constexpr std::string_view mark = "N=";
  for (std::size_t at = inputs.find(mark); at != std::string_view::npos; at = inputs.find(mark, at + 1)) {
    std::size_t end = at + mark.size();
    while (end < inputs.size() && is_digit(inputs[end])) ++end;
    const bool is_word = (at == 0 || inputs[at - 1] == ' ') && end > at + mark.size() &&
                         (end == inputs.size() || inputs[end] == ' ') && end - at < inputs.size();
    if (!is_word) continue;
    std::string family(inputs);
    return at > 0 ? family.erase(at - 1, end - at + 1) : family.erase(0, end + 1);
  }
  return std::string(inputs);
}

std::optional<std::int64_t> position(const study_row& row, study_axis axis) {
  switch (axis) {
    case study_axis::fraction_bits: return row.fraction_bits;
    case study_axis::length: return row.n_key;
    default: return row.tile_key;
  }
}

std::size_t positions(const row_list& rows, study_axis axis) {
  std::set<std::int64_t> found;
  for (const study_row* row : rows)
    if (const auto where = position(*row, axis)) found.insert(*where);
  return found.size();
}

std::vector<row_list> families(const study_result& study) {
  row_list rows;
  for (const study_row& row : study.rows) rows.push_back(&row);
  return split(rows, [](const study_row& r) {
    return std::tuple(r.sweep, family_of(r.inputs), r.golden, r.heads, r.d, r.n_query == r.n_key);
  });
}

std::vector<row_list> parts_along(const row_list& family, study_axis axis) {
  const auto setting = [axis](const study_row& r) {
    const bool along_length = axis == study_axis::length, along_bits = axis == study_axis::fraction_bits;
    return std::tuple(along_length ? "" : r.inputs, along_length ? 0 : r.n_key, along_length ? 0 : r.n_query,
                      along_bits ? "" : r.format);
  };
  const auto tiles = [axis](const study_row& r) {
    return std::tuple(r.tile_query, axis == study_axis::key_tile ? std::nullopt : r.tile_key);
  };
  std::vector<row_list> parts;
  for (const row_list& rows : split(family, setting)) {
    row_list untiled, tiled;
    for (const study_row* row : rows) (row->tile_key || row->tile_query ? tiled : untiled).push_back(row);
    std::vector<row_list> cut = split(tiled, tiles);
    if (cut.empty()) cut.push_back({});
    for (row_list& part : cut) {
      part.insert(part.begin(), untiled.begin(), untiled.end());
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

study_axis widest_axis(const row_list& rows) {
  study_axis widest = study_axis::key_tile;
  for (const study_axis axis : {study_axis::length, study_axis::fraction_bits})
    if (positions(rows, axis) > positions(rows, widest)) widest = axis;
  return widest;
}

std::vector<std::string> recipes_of(const row_list& rows) {
  std::vector<std::string> recipes;
  for (const study_row* row : rows)
    if (std::find(recipes.begin(), recipes.end(), row->recipe) == recipes.end()) recipes.push_back(row->recipe);
  return recipes;
}

const study_row* row_at(const row_list& rows, std::string_view recipe, study_axis axis, std::int64_t where) {
  for (const study_row* row : rows)
    if (row->recipe == recipe && position(*row, axis).value_or(where) == where) return row;
  return nullptr;
}

std::string shared_setting(const row_list& rows) {
  if (rows.empty()) return "";
  const study_row& first = *rows.front();
  std::vector<std::string> words;
  if (same(rows, [](const study_row& r) { return r.format; })) words.push_back(printable(first.format));
  if (same(rows, [](const study_row& r) { return std::pair(r.n_query, r.n_key); })) {
    if (first.n_query != first.n_key) words.push_back("N query = " + std::to_string(first.n_query));
    words.push_back((first.n_query != first.n_key ? "N key = " : "N = ") + std::to_string(first.n_key));
  }
  words.push_back("d = " + std::to_string(first.d));
  words.push_back(std::to_string(first.heads) + (first.heads == 1 ? " head" : " heads"));
  row_list tiled;
  for (const study_row* row : rows)
    if (row->tile_key && row->tile_query) tiled.push_back(row);
  if (tiled.empty()) return joined(words, ", ");
  const std::int64_t br = *tiled.front()->tile_query, bc = *tiled.front()->tile_key;
  const bool one_br = same(tiled, [](const study_row& r) { return r.tile_query; });
  const bool one_bc = same(tiled, [](const study_row& r) { return r.tile_key; });
  if (one_br && one_bc) words.push_back("tiles " + std::to_string(br) + " × " + std::to_string(bc));
  if (one_br && !one_bc) words.push_back("Br = " + std::to_string(br));
  if (!one_br && one_bc) words.push_back("Bc = " + std::to_string(bc));
  return joined(words, ", ");
}

std::int64_t nan_count(const deviation_summary& deviation) {
  return deviation.nan_in_got + deviation.nan_in_golden + deviation.nan_in_both;
}

double share_within_one_ulp(const deviation_summary& deviation) {
  std::int64_t within = 0;
  for (std::size_t bin = 0; bin < ulp_histogram::bins; ++bin)
    if (ulp_histogram::upper(bin) <= 1) within += deviation.ulps.counts[bin];
  return double(within) / double(deviation.ulps.total());
}

}  // namespace deviate::tool
