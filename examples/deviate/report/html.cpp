// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/html.hpp"

#include <algorithm>
#include <cmath>

#include "deviate/report/columns.hpp"
#include "deviate/report/findings.hpp"
#include "deviate/report/glossary.hpp"
#include "deviate/report/groups.hpp"
#include "deviate/report/text.hpp"

namespace deviate::tool {
namespace {

constexpr std::string_view style_sheet = R"(
body { margin: 0 auto; max-width: 74rem; padding: 1.5rem 2rem 4rem; color: #111; background: #fff;
       font: 16px/1.5 system-ui, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0.5rem 0 1rem; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 0.8rem; padding-top: 0.6rem; border-top: 2px solid #ccc; }
h3 { font-size: 1.1rem; margin: 1.6rem 0 0.5rem; }
p, ul, dl { max-width: 52rem; }
li { margin: 0.3rem 0; }
figure { margin: 1.2rem 0 2.2rem; }
figure svg { max-width: 100%; height: auto; display: block; }
figcaption { max-width: 52rem; margin-top: 0.5rem; color: #333; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: #333; padding: 0.3rem 0; }
th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
thead th { white-space: normal; border-bottom: 2px solid #888; vertical-align: bottom; }
.word { text-align: left; }
.first th, .first td { border-top: 2px solid #888; }
.wide { overflow-x: auto; }
details { margin: 0.6rem 0; border: 1px solid #ccc; padding: 0.4rem 0.8rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
dt { font-weight: bold; margin-top: 0.6rem; }
dd { margin: 0 0 0 1.5rem; }
pre { background: #f4f4f4; border: 1px solid #ddd; padding: 0.8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
p, li, td, dd, figcaption { overflow-wrap: anywhere; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  h2, h3 { break-after: avoid; }
  figure, tbody, li, dd, pre { break-inside: avoid; }
  figcaption { break-before: avoid; }
  table { font-size: 7.5pt; }
  th, td { padding: 0.1rem 0.3rem; }
  dt { break-after: avoid; }
  .wide { overflow: visible; }
  .screen { display: none; }
}
@page { margin: 15mm; }
)";

// Escaped, and not broken between a quantity and its value.
std::string prose(const std::string& text) {
  std::string result = html_escaped(text);
  for (const std::string_view words : {" = ", " × ", " %"})
    for (std::size_t at = result.find(words); at != std::string::npos; at = result.find(words, at)) {
      std::string unbroken;
      for (const char c : words) unbroken += c == ' ' ? std::string("&nbsp;") : std::string(1, c);
      result.replace(at, words.size(), unbroken);
    }
  return result;
}

std::string paragraph(const std::string& text) { return "<p>" + prose(text) + "</p>\n"; }

std::string header_cell(const std::string& text, bool word = false) {
  return std::string("<th scope=\"col\"") + (word ? " class=\"word\"" : "") + ">" + html_escaped(text) + "</th>";
}
std::string data_cell(const std::string& text, bool word = false) {
  return std::string("<td") + (word ? " class=\"word\"" : "") + ">" + html_escaped(text) + "</td>";
}

std::string range_text(const row_list& rows, double study_row::*metric) {
  double least = rows.front()->*metric, most = least;
  for (const study_row* row : rows) {
    least = std::fmin(least, row->*metric);
    most = std::fmax(most, row->*metric);
  }
  const std::string from = ratio_text(least), to = ratio_text(most);
  return from == to ? from : from + " – " + to;
}

// "3 of 18"
std::string count_of(const row_list& rows, bool (*counts)(const study_row&)) {
  const auto n = std::count_if(rows.begin(), rows.end(), [&](const study_row* row) { return counts(*row); });
  return std::to_string(n) + " of " + std::to_string(rows.size());
}

// A row for each family of inputs and recipe.
std::string overview(const study_result& study) {
  std::string text =
      "<div class=\"wide\"><table>\n<caption>Ranges over all formats, lengths and tiles of these inputs."
      "</caption>\n<thead><tr>";
  text += header_cell("inputs", true) + header_cell("recipe", true);
  for (const char* name : {"largest max_abs", "ratio of max_abs", "ratio of relative L2", "elements within 1 ulp",
                           "rows with a bias", "rows with NaN or infinity"})
    text += header_cell(name);
  text += "</tr></thead>\n";
  for (const row_list& family : families(study)) {
    text += "<tbody>\n";
    std::string first = " class=\"first\"";
    for (const std::string& recipe : recipes_of(family)) {
      row_list rows;
      for (const study_row* row : family)
        if (row->recipe == recipe) rows.push_back(row);
      double largest = 0, within = 0, elements = 0;
      for (const study_row* row : rows) {
        // A NaN deviation is never hidden behind a number.
        const double x = row->deviation.max_abs;
        largest = std::isnan(x) || std::isnan(largest) ? std::nan("") : std::max(largest, x);
        const double total = double(row->deviation.ulps.total());
        if (total > 0) within += share_within_one_ulp(row->deviation) * total;
        elements += total;
      }
      text += "<tr" + first + ">";
      text += first.empty()
                  ? data_cell("", true)
                  : "<th scope=\"row\" class=\"word\">" +
                        html_escaped(family.front()->sweep + ": " + family_of(family.front()->inputs)) + "</th>";
      text += data_cell(recipe, true) + data_cell(three_digits(largest));
      text += data_cell(range_text(rows, &study_row::ratio_max_abs));
      text += data_cell(range_text(rows, &study_row::ratio_relative_l2));
      text += data_cell(percent_text(within / elements));
      text += data_cell(count_of(rows, [](const study_row& r) { return r.deviation.is_biased(); }));
      text += data_cell(count_of(rows, [](const study_row& r) {
        return nan_count(r.deviation) + r.deviation.infinity_mismatches + r.deviation.infinities_equal > 0;
      }));
      text += "</tr>\n";
      first.clear();
    }
    text += "</tbody>\n";
  }
  return text + "</table></div>\n";
}

std::string verdicts(const study_result& study) {
  std::string text = "<dl>\n";
  for (const row_list& family : families(study)) {
    text += "<dt>" + html_escaped(family.front()->sweep + ": " + family_of(family.front()->inputs)) + "</dt>\n";
    for (const row_list& part : parts_along(family, widest_axis(family)))
      text += "<dd>" + prose(shared_setting(part) + ": " + verdict(part)) + "</dd>\n";
  }
  return text + "</dl>\n";
}

struct to_shown {
  std::string operator()(std::monostate) const { return "–"; }
  std::string operator()(std::int64_t x) const { return std::to_string(x); }
  std::string operator()(double x) const { return std::isfinite(x) && x != 0 ? scientific(x) : shortest(x); }
  std::string operator()(const std::string& x) const { return x; }
};

std::string shown(const column& c, const study_row& row) {
  if (c.name == "ratio_max_abs") return ratio_text(row.ratio_max_abs);
  if (c.name == "ratio_relative_l2") return ratio_text(row.ratio_relative_l2);
  if (c.name == "cosine" || c.name == "identical_share") return three_digits(std::get<double>(c.of(row)));
  return std::visit(to_shown(), c.of(row));
}

// What is the same in every row moves from the columns into the caption.
std::string all_rows(const row_list& rows) {
  std::vector<column> varying;
  std::vector<std::string> fixed;
  for (const column& c : main_columns()) {
    // The values themselves, not their few digits: a cosine that looks like 1 may differ.
    const bool same =
        std::all_of(rows.begin(), rows.end(), [&](const study_row* row) { return c.of(*row) == c.of(*rows.front()); });
    if (same && rows.size() > 1)
      fixed.push_back(std::string(c.name) + " " + shown(c, *rows.front()));
    else
      varying.push_back(c);
  }
  std::string text = "<details><summary>" + html_escaped(rows.front()->sweep + ": " + family_of(rows.front()->inputs)) +
                     ", " + std::to_string(rows.size()) + (rows.size() == 1 ? " row" : " rows") + "</summary>\n";
  text += "<div class=\"wide\"><table>\n";
  if (!fixed.empty()) text += "<caption>The same in all rows: " + html_escaped(joined(fixed, ", ")) + ".</caption>\n";
  text += "<thead><tr>";
  const auto is_word = [&](const column& c) { return std::holds_alternative<std::string>(c.of(*rows.front())); };
  for (const column& c : varying) text += header_cell(std::string(c.name), is_word(c));
  text += "</tr></thead>\n<tbody>\n";
  for (const study_row* row : rows) {
    text += "<tr>";
    for (const column& c : varying) text += data_cell(shown(c, *row), is_word(c));
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table></div></details>\n";
}

// HTML knows the namespaces of SVG by itself; without their addresses the page names nothing outside.
std::string embedded(std::string svg) {
  for (const std::string_view begin : {" xmlns=\"", " xmlns:xlink=\""})
    if (const std::size_t at = svg.find(begin); at < svg.find('>'))
      svg.erase(at, svg.find('"', at + begin.size()) + 1 - at);
  return svg;
}

std::string pictures(const picture_list& drawn) {
  std::string text = "<h2>Pictures</h2>\n";
  if (!drawn.problem.empty()) text += paragraph(drawn.problem);
  if (drawn.problem.empty() && drawn.pictures.empty())
    text += paragraph("Nothing varies in this study that a picture could show.");
  for (const picture& p : drawn.pictures)
    text += "<figure>\n" + embedded(p.svg) + "<figcaption>" + html_escaped(p.caption) + " (" + html_escaped(p.file) +
            ")</figcaption>\n</figure>\n";
  return text;
}

std::string glossary(const study_result& study) {
  std::string text = "<h2>Words</h2>\n<h3>Recipes</h3>\n<dl>\n";
  const auto entry = [&](std::string_view word, std::string_view meaning) {
    text += "<dt>" + html_escaped(word) + "</dt><dd>" + html_escaped(meaning) + "</dd>\n";
  };
  row_list rows;
  for (const study_row& row : study.rows) rows.push_back(&row);
  std::vector<std::string> recipes = recipes_of(rows);
  // Baseline is what everything is compared with, whether its rows were asked for or not.
  if (std::find(recipes.begin(), recipes.end(), "baseline") == recipes.end())
    recipes.insert(recipes.begin(), "baseline");
  for (const std::string& recipe : recipes) {
    const auto known = recipe_glossary();
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& e) { return e.word == recipe; });
    entry(recipe, found != known.end() ? found->meaning : "A recipe without a description here.");
  }
  text += "</dl>\n<h3>Metrics and columns</h3>\n<p>Below, d = O − golden, for each element of the output.</p>\n<dl>\n";
  for (const glossary_entry& e : metric_glossary()) entry(e.word, e.meaning);
  return text + "</dl>\n";
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string html_page_start(const std::string& title, const std::string& heading) {
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      html_escaped(title) + "</title>\n<style>";
  text += style_sheet;
  return text + "</style>\n</head>\n<body>\n<h1>" + html_escaped(heading) + "</h1>\n";
}

std::string report_html(const study_result& study, const picture_list& drawn) {
  std::string text =
      html_page_start("Deviation of attention from golden", "How far attention lies from the right answer");
  text += paragraph(what_was_compared(study));
  text += "<h2>Summary</h2>\n<ul>\n";
  for (const std::string& finding : main_findings(study)) text += "<li>" + prose(finding) + "</li>\n";
  text += "</ul>\n";
  if (!study.rows.empty()) text += overview(study) + "<h3>By inputs and format</h3>\n" + verdicts(study);
  text += pictures(drawn);
  text +=
      "<section class=\"screen\">\n<h2>All rows</h2>\n<p>Three digits are shown; study.csv and study.json have all of "
      "them, and the worst element "
      "and every head.</p>\n";
  for (const row_list& family : families(study)) text += all_rows(family);
  text += "</section>\n";
  text += glossary(study);
  text += "<h2>To repeat it</h2>\n<pre>" + html_escaped(study.command) + "</pre>\n";
  if (!study.notes.empty()) {
    text += "<ul>\n";
    for (const std::string& note : study.notes) text += "<li>" + html_escaped(note) + "</li>\n";
    text += "</ul>\n";
  }
  return text + "</body>\n</html>\n";
}

}  // namespace deviate::tool
