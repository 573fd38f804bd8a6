// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "deviate/report/golden_words.hpp"
#include "deviate/report/groups.hpp"
#include "deviate/report/plots.hpp"
#include "deviate/report/text.hpp"

namespace deviate::tool {
namespace {

constexpr std::size_t most_panels = 12;

struct range {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  void add(double x) {
    least = std::min(least, x);
    most = std::max(most, x);
  }
  bool empty() const { return !(least <= most); }
};

bool drawable(double x) { return std::isfinite(x) && x > 0; }

range y_range(const std::vector<figure_series>& series) {
  range r;
  for (const figure_series& s : series)
    for (const auto& [x, y] : s.points) r.add(y);
  return r;
}

const char* axis_title(study_axis axis) {
  switch (axis) {
    case study_axis::fraction_bits: return "fraction bits of the format";
    case study_axis::length: return "N (keys)";
    default: return "key tile Bc (keys)";
  }
}

// Of parts that differ only by their tiles, the one of tile 64, or the middle one: a picture shows one of them and
// says so.
std::vector<row_list> representatives(const std::vector<row_list>& parts) {
  const auto tiled = [](const row_list& part) { return *part.back(); };
  std::vector<std::vector<row_list>> alike;
  for (const row_list& part : parts) {
    const auto same_setting = [&](const std::vector<row_list>& others) {
      const study_row &a = tiled(others.front()), &b = tiled(part);
      return a.inputs == b.inputs && a.format == b.format && a.n_key == b.n_key && a.n_query == b.n_query;
    };
    const auto mine = std::find_if(alike.begin(), alike.end(), same_setting);
    if (mine == alike.end())
      alike.push_back({part});
    else
      mine->push_back(part);
  }
  std::vector<row_list> chosen;
  for (const std::vector<row_list>& parts_alike : alike) {
    const auto wanted = std::find_if(parts_alike.begin(), parts_alike.end(), [&](const row_list& part) {
      const study_row& row = tiled(part);
      return row.tile_query.value_or(64) == 64 && row.tile_key.value_or(64) == 64;
    });
    chosen.push_back(wanted != parts_alike.end() ? *wanted : parts_alike[parts_alike.size() / 2]);
  }
  return chosen;
}

// Points of one recipe along an axis; baseline, which has no tiles, is a level line over all tiles.
std::vector<figure_series> series_along(const row_list& part, study_axis axis, double study_row::*ratio) {
  std::set<std::int64_t> all;
  for (const study_row* row : part)
    if (const auto where = position(*row, axis)) all.insert(*where);
  std::vector<figure_series> series;
  for (const std::string& recipe : recipes_of(part)) {
    if (ratio != nullptr && recipe == "baseline") continue;
    figure_series s{recipe, true, {}};
    for (const std::int64_t where : all) {
      const study_row* row = row_at(part, recipe, axis, where);
      if (row == nullptr) continue;
      const double y = ratio != nullptr ? row->*ratio : row->deviation.max_abs;
      if (drawable(y)) s.points.emplace_back(double(where), y);
    }
    series.push_back(std::move(s));
  }
  return series;
}

figure_panel panel_of(const row_list& part) {
  figure_panel panel;
  panel.title = family_of(part.front()->inputs);
  panel.subtitle = shared_setting(part);
  return panel;
}

// The panel of one part, or none where nothing varies or nothing can be drawn.
std::optional<figure_panel> panel_along(const row_list& part, study_axis axis, bool as_ratio) {
  figure_panel panel = panel_of(part);
  panel.series = series_along(part, axis, as_ratio ? &study_row::ratio_max_abs : nullptr);
  std::vector<double> x;
  for (const figure_series& s : panel.series)
    for (const auto& point : s.points) x.push_back(point.first);
  const std::size_t distinct = std::set<double>(x.begin(), x.end()).size();
  if (distinct < (axis == study_axis::fraction_bits ? 3u : 2u)) return std::nullopt;
  panel.x.title = axis_title(axis);
  if (axis == study_axis::fraction_bits)
    fit_integers(panel.x, *std::min_element(x.begin(), x.end()), *std::max_element(x.begin(), x.end()));
  else
    fit_values(panel.x, x);
  range y = y_range(panel.series);
  if (as_ratio) {
    panel.reference = 1;
    y.add(1);
    panel.y.title = "ratio of max |O − golden|";
    fit_ratios(panel.y, y.least, y.most);
  } else {
    panel.y.title = "max |O − golden|";
    fit_logarithmic(panel.y, y.least, y.most);
  }
  return panel;
}

struct panel_list {
  std::vector<figure_panel> panels;
  std::vector<std::string> formats;  // of each panel
};

// Sorted so that the figure has a row for each format and a column for each input, where these make a full grid.
// Returns the number of columns.
std::size_t arrange(panel_list& list) {
  std::vector<std::string> different;
  for (const std::string& format : list.formats)
    if (std::find(different.begin(), different.end(), format) == different.end()) different.push_back(format);
  const std::size_t rows = different.size(), panels = list.panels.size();
  const bool grid = rows > 1 && panels > rows && panels % rows == 0 && panels / rows <= 3;
  if (!grid) return panels == 4 ? 2 : std::min<std::size_t>(panels, 3);
  std::vector<figure_panel> sorted;
  for (const std::string& format : different)
    for (std::size_t i = 0; i < panels; ++i)
      if (list.formats[i] == format) sorted.push_back(std::move(list.panels[i]));
  list.panels = std::move(sorted);
  return panels / rows;
}

panel_list panels_along(const study_result& study, study_axis axis, bool as_ratio) {
  panel_list list;
  for (const row_list& family : families(study))
    for (const row_list& part : representatives(parts_along(family, axis)))
      if (auto panel = panel_along(part, axis, as_ratio)) {
        list.panels.push_back(std::move(*panel));
        list.formats.push_back(axis == study_axis::fraction_bits ? "" : part.front()->format);
      }
  return list;
}

// Every head is a place on the x axis, the recipes side by side.
std::optional<figure_panel> panel_per_head(const row_list& part) {
  figure_panel panel = panel_of(part);
  const std::vector<std::string> recipes = recipes_of(part);
  const std::size_t heads = part.front()->deviation.heads.size();
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    const study_row* row = nullptr;
    for (const study_row* other : part)
      if (row == nullptr && other->recipe == recipes[i]) row = other;
    figure_series s{recipes[i], false, {}};
    const double shift = (double(i) - double(recipes.size() - 1) / 2) * 0.6 / double(recipes.size());
    for (std::size_t h = 0; row != nullptr && h < row->deviation.heads.size(); ++h)
      if (drawable(row->deviation.heads[h].max_abs))
        s.points.emplace_back(double(h) + shift, row->deviation.heads[h].max_abs);
    panel.series.push_back(std::move(s));
  }
  const range y = y_range(panel.series);
  if (heads < 2 || y.empty()) return std::nullopt;
  panel.x.title = "query head";
  fit_integers(panel.x, 0, double(heads - 1));
  panel.y.title = "max |O − golden| of the head";
  fit_logarithmic(panel.y, y.least, y.most);
  return panel;
}

panel_list panels_per_head(const study_result& study) {
  // Sweeps have few heads and many panels; a study of only such inputs is drawn nevertheless.
  std::int64_t most_heads = 0;
  for (const study_row& row : study.rows) most_heads = std::max(most_heads, row.heads);
  panel_list list;
  for (const row_list& family : families(study)) {
    if (family.front()->heads < std::min<std::int64_t>(most_heads, 3)) continue;
    for (const row_list& part_of_tile : representatives(parts_along(family, study_axis::key_tile))) {
      const std::vector<row_list> of_one_tile = representatives(parts_along(part_of_tile, study_axis::length));
      if (auto panel = panel_per_head(of_one_tile.front())) {
        list.panels.push_back(std::move(*panel));
        list.formats.push_back(of_one_tile.front().front()->format);
      }
    }
  }
  return list;
}

// Over key tiles first, then over lengths, on one scale: what is compared are heights of different panels.
panel_list ratio_panels(const study_result& study, std::size_t& columns) {
  panel_list list = panels_along(study, study_axis::key_tile, true);
  panel_list over_lengths = panels_along(study, study_axis::length, true);
  columns = list.panels.empty() ? arrange(over_lengths) : arrange(list);
  for (figure_panel& panel : over_lengths.panels) list.panels.push_back(std::move(panel));
  range all;
  for (const figure_panel& panel : list.panels) {
    all.add(1);
    for (const figure_series& s : panel.series)
      for (const auto& [x, y] : s.points) all.add(y);
  }
  for (figure_panel& panel : list.panels) fit_ratios(panel.y, all.least, all.most);
  return list;
}

}  // namespace

std::vector<figure> study_figures(const study_result& study) {
  std::vector<figure> figures;
  row_list rows;
  for (const study_row& row : study.rows) rows.push_back(&row);
  const std::vector<std::string> recipes = recipes_of(rows);
  const std::string golden = "Golden: " + golden_in_words(study) + ".";
  const std::string missing = " Values of 0, infinity or NaN have no place on the logarithmic axis.";
  const char* own_scale = " Each panel has its own vertical scale.";
  const auto add = [&](const char* name, const char* title, const std::string& caption, panel_list list,
                       std::size_t columns) {
    if (list.panels.empty()) return;
    figure f{name, title, golden, caption + missing, columns, std::move(list.panels), recipes};
    if (const std::size_t all = f.panels.size(); all > most_panels) {
      f.panels.resize(most_panels / columns * columns);
      f.caption += " The first " + std::to_string(f.panels.size()) + " of " + std::to_string(all) +
                   " panels are drawn; the tables have all rows.";
    }
    figures.push_back(std::move(f));
  };
  const auto add_along = [&](study_axis axis, const char* name, const char* title, const char* caption) {
    panel_list list = panels_along(study, axis, false);
    const std::size_t columns = arrange(list);
    add(name, title, std::string(caption) + own_scale, std::move(list), columns);
  };
  add_along(
      study_axis::key_tile, "deviation_against_key_tile", "Deviation against the key tile",
      "The largest absolute deviation of an output element, over the number of keys in a tile. Baseline has no tiles: "
      "its line is level.");
  panel_list heads = panels_per_head(study);
  const std::size_t head_columns = std::min<std::size_t>(heads.panels.size(), 2);  // many places need wide panels
  add("deviation_per_head", "Deviation of each head",
      std::string(
          "The largest absolute deviation within each query head. Heads differ by how their attention is spread.") +
          own_scale,
      std::move(heads), head_columns);
  add_along(study_axis::length, "deviation_against_length", "Deviation against the sequence length",
            "The largest absolute deviation of an output element, over the number of keys N.");
  add_along(study_axis::fraction_bits, "deviation_against_fraction_bits", "Deviation against the fraction bits",
            "The largest absolute deviation of an output element, over the fraction bits of the format. A bit more "
            "halves the "
            "rounding error of one step.");
  std::size_t ratio_columns = 1;
  panel_list ratios = ratio_panels(study, ratio_columns);
  add("ratio_to_baseline", "Ratio to baseline in the same format",
      "How many times as far from golden as baseline: above the dashed line at 1 a recipe is worse than baseline, "
      "below it "
      "better. All panels have one scale.",
      std::move(ratios), ratio_columns);
  return figures;
}

}  // namespace deviate::tool
