// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/table.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "deviate/report/findings.hpp"
#include "deviate/report/golden_words.hpp"
#include "deviate/report/groups.hpp"
#include "deviate/report/text.hpp"

namespace deviate::tool {
namespace {

constexpr std::size_t most_columns = 100, most_single_rows = 100, most_matrix_lines = 250, most_of_name = 30;

// Cells of text, aligned: the first column to the left, the others to the right.
class text_table {
 public:
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  // Too wide a table loses first the second space between columns, then the columns that are least missed.
  std::string text(const std::vector<std::size_t>& dispensable) const {
    std::vector<std::size_t> shown(rows_.front().size());
    for (std::size_t i = 0; i < shown.size(); ++i) shown[i] = i;
    std::size_t gap = 2;
    if (width(shown, gap) > most_columns) gap = 1;
    for (const std::size_t column : dispensable)
      if (width(shown, gap) > most_columns) std::erase(shown, column);
    std::string text;
    for (const auto& row : rows_) {
      std::string line;
      for (const std::size_t column : shown) {
        const std::size_t wide = column_width(column);
        line += column == 0 ? "  " + left_aligned(row[column], wide)
                            : std::string(gap, ' ') + right_aligned(row[column], wide);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return text;
  }

 private:
  std::size_t column_width(std::size_t column) const {
    std::size_t wide = 0;
    for (const auto& row : rows_) wide = std::max(wide, width_of(row[column]));
    return wide;
  }
  std::size_t width(const std::vector<std::size_t>& shown, std::size_t gap) const {
    std::size_t wide = 2 + gap * (shown.size() - 1);
    for (const std::size_t column : shown) wide += column_width(column);
    return wide;
  }

  std::vector<std::vector<std::string>> rows_;
};

std::string name_of(const std::string& name) { return shortened(printable(name), most_of_name); }

std::string heading(const row_list& rows) {
  const std::string inputs = printable(rows.front()->sweep) + ": " + printable(family_of(rows.front()->inputs));
  return wrapped(middle_shortened(inputs, most_columns) + " — " + shared_setting(rows), most_columns, "  ") + "\n";
}

std::string closing(const row_list& rows) {
  const bool one_format =
      std::all_of(rows.begin(), rows.end(), [&](const study_row* row) { return row->format == rows.front()->format; });
  const std::string format = one_format ? printable(rows.front()->format) + ": " : "";
  return "  " + wrapped(format + verdict(rows), most_columns - 2, "    ") + "\n\n";
}

std::string tiles_text(const study_row& row) {
  if (!row.tile_query || !row.tile_key) return "-";
  return std::to_string(*row.tile_query) + "×" + std::to_string(*row.tile_key);
}

std::string single_rows(const row_list& rows) {
  text_table table;
  table.add({"recipe", "Br×Bc", "max_abs", "rmse", "bias ± 95 %", "max_ulp", "x max", "x L2", "rescales"});
  for (const study_row* row : rows) {
    const deviation_summary& d = row->deviation;
    table.add({name_of(row->recipe), tiles_text(*row), scientific(d.max_abs), scientific(d.rmse),
               bias_text(d.bias, d.bias_ci95), ratio_text(d.max_ulp), ratio_text(row->ratio_max_abs),
               ratio_text(row->ratio_relative_l2), std::to_string(row->rescales)});
  }
  return heading(rows) + table.text({8, 3, 4}) + closing(rows);
}

// What a line of a matrix stands for.
std::string line_name(const study_row& row, study_axis axis) {
  if (axis == study_axis::fraction_bits) return name_of(row.format);
  const auto where = position(row, axis);
  return where ? std::to_string(*where) : "";
}

const study_row* find(const row_list& rows, const std::string& recipe, const std::string& line, study_axis axis) {
  for (const study_row* row : rows) {
    const std::string name = line_name(*row, axis);
    if (row->recipe == recipe && (name == line || name.empty())) return row;
  }
  return nullptr;
}

std::vector<std::string> lines_of(const row_list& rows, study_axis axis) {
  row_list sorted = rows;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const study_row* a, const study_row* b) { return position(*a, axis) < position(*b, axis); });
  std::vector<std::string> lines;
  for (const study_row* row : sorted) {
    const std::string name = line_name(*row, axis);
    if (!name.empty() && std::find(lines.begin(), lines.end(), name) == lines.end()) lines.push_back(name);
  }
  return lines;
}

std::string matrix(const row_list& rows, study_axis axis) {
  constexpr std::size_t at_once = 4;  // recipes side by side
  const char* axis_name = axis == study_axis::fraction_bits ? "format" : axis == study_axis::length ? "N" : "Bc";
  std::vector<std::string> recipes = recipes_of(rows);
  const bool with_baseline = std::erase(recipes, "baseline") > 0;
  std::string text = heading(rows);
  for (std::size_t from = 0; from == 0 || from < recipes.size(); from += at_once) {
    const std::size_t to = std::min(recipes.size(), from + at_once);
    std::vector<std::string> names = {""}, metrics = {axis_name};
    if (with_baseline) {
      names.push_back("baseline");
      metrics.push_back("max_abs");
    }
    for (std::size_t r = from; r < to; ++r) {
      names.push_back(shortened(printable(recipes[r]), 18));
      metrics.push_back(left_aligned("max_abs", 8) + " " + right_aligned("x", 6));
    }
    text_table table;
    table.add(std::move(names));
    table.add(std::move(metrics));
    for (const std::string& line : lines_of(rows, axis)) {
      std::vector<std::string> cells = {line};
      const study_row* base = find(rows, "baseline", line, axis);
      if (with_baseline) cells.push_back(base != nullptr ? scientific(base->deviation.max_abs) : "-");
      for (std::size_t r = from; r < to; ++r) {
        const study_row* row = find(rows, recipes[r], line, axis);
        cells.push_back(row == nullptr ? "-"
                                       : right_aligned(scientific(row->deviation.max_abs), 8) + " " +
                                             right_aligned(ratio_text(row->ratio_max_abs), 6));
      }
      table.add(std::move(cells));
    }
    text += table.text({});
  }
  return text + closing(rows);
}

// One matrix or list of rows.
struct section {
  row_list rows;
  study_axis axis;
};

std::vector<section> sections_of(const study_result& study, bool as_matrices) {
  std::vector<section> sections;
  for (const row_list& family : families(study)) {
    if (as_matrices) {
      const study_axis axis = widest_axis(family);
      for (row_list& part : parts_along(family, axis)) sections.push_back({std::move(part), axis});
      continue;
    }
    // Row by row: a section for each input and format, over all tiles.
    std::vector<row_list> parts;
    for (const study_row* row : family) {
      const auto mine = std::find_if(parts.begin(), parts.end(), [&](const row_list& part) {
        return part.front()->inputs == row->inputs && part.front()->format == row->format;
      });
      if (mine == parts.end())
        parts.push_back({row});
      else
        mine->push_back(row);
    }
    for (row_list& part : parts) sections.push_back({std::move(part), study_axis::key_tile});
  }
  return sections;
}

}  // namespace

std::string study_table(const study_result& study) {
  if (study.rows.empty()) return "The study has no rows.\n";
  const bool as_matrices = study.rows.size() > most_single_rows;
  std::string text = wrapped("Deviation of the output O from golden: " + golden_in_words(study) +
                                 ". x is the ratio to baseline in the same format: above 1 lies farther from golden." +
                                 (as_matrices ? " The JSON has all metrics of every row, the CSV the main ones." : ""),
                             most_columns, "") +
                     "\n";
  for (const std::string& sentence : golden_accuracy_in_words(study))
    text += wrapped(sentence, most_columns, "  ") + "\n";
  for (const std::string& note : study.notes) text += wrapped(printable(note), most_columns, "  ") + "\n";
  text += "\n";
  const std::vector<section> sections = sections_of(study, as_matrices);
  std::size_t lines = 0;
  for (const section& s : sections) lines += lines_of(s.rows, s.axis).size() + 5;
  for (const section& s : sections) {
    if (!as_matrices)
      text += single_rows(s.rows);
    else if (lines <= most_matrix_lines)
      text += matrix(s.rows, s.axis);
    else
      text += heading(s.rows) + closing(s.rows);
  }
  text.pop_back();  // the empty line after the last section
  return text;
}

}  // namespace deviate::tool
