// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/plots.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "deviate/report/gnuplot.hpp"
#include "deviate/report/text.hpp"
#include "report/markup.hpp"
#include "report/synthetic_study.hpp"

namespace {

using namespace deviate::tool;
using report_test::read_markup;

std::vector<std::string> names_of(const std::vector<figure>& figures) {
  std::vector<std::string> names;
  for (const figure& f : figures) names.push_back(f.name);
  return names;
}

const figure& figure_named(const std::vector<figure>& figures, const std::string& name) {
  for (const figure& f : figures)
    if (f.name == name) return f;
  FAIL("no figure " << name);
  return figures.front();
}

bool gnuplot_is_here() {
  const bool found = run_gnuplot("", "gnuplot").found;
  if (!found && std::getenv("CI") != nullptr) FAIL("gnuplot is missing; here no test may be left out");
  if (!found) MESSAGE("no gnuplot: its pictures are not tested");
  return found;
}

// A name in a picture: ' becomes an apostrophe.
std::string as_drawn(const std::string& name) {
  std::string drawn;
  for (const char c : printable(name)) drawn += c == '\'' ? std::string("’") : std::string(1, c);
  return drawn;
}

// A script without its quoted strings.
std::string unquoted(const std::string& script) {
  std::string outside;
  bool quoted = false;
  for (const char c : script) {
    if (c == '\'')
      quoted = !quoted;
    else if (!quoted)
      outside += c;
  }
  CHECK_FALSE(quoted);
  return outside;
}

}  // namespace

TEST_CASE("each picture has the panels and series that its rows call for") {
  const auto figures = study_figures(report_test::whole_study());
  CHECK(names_of(figures) == std::vector<std::string>{"deviation_against_key_tile", "deviation_per_head",
                                                      "deviation_against_length", "deviation_against_fraction_bits",
                                                      "ratio_to_baseline"});
  const figure& tiles = figure_named(figures, "deviation_against_key_tile");
  REQUIRE(tiles.panels.size() == 6);
  CHECK(tiles.columns == 3);  // a row for each format, a column for each layer
  CHECK(tiles.panels[0].title == "layer00");
  CHECK(tiles.panels[1].title == "layer23");
  CHECK(tiles.panels[0].subtitle == "bf16, N = 512, d = 64, 9 heads, Br = 64");
  CHECK(tiles.panels[3].subtitle == "fp16, N = 512, d = 64, 9 heads, Br = 64");
  CHECK(tiles.panels[0].x.title == "key tile Bc (keys)");
  CHECK(tiles.panels[0].y.title == "max |O − golden|");
  CHECK(tiles.recipes == std::vector<std::string>{"baseline", "flash1_all", "flash2_fp32_state"});
  const auto& series = tiles.panels[0].series;
  REQUIRE(series.size() == 3);
  CHECK(series[0].points.size() == 3);  // baseline is level over all tiles
  CHECK(series[0].points[0].second == series[0].points[2].second);
  CHECK(series[1].points[0].first == 16);

  const figure& bits = figure_named(figures, "deviation_against_fraction_bits");
  REQUIRE(bits.panels.size() == 1);
  CHECK(bits.panels[0].series[1].points.size() == 17);
  const figure& length = figure_named(figures, "deviation_against_length");
  REQUIRE(length.panels.size() == 1);
  CHECK(length.panels[0].title == "uniform seed 1");
  CHECK(length.panels[0].series[1].points.size() == 5);
  const figure& heads = figure_named(figures, "deviation_per_head");
  CHECK(heads.panels.size() == 6);
  CHECK(heads.panels[0].series[0].points.size() == 9);
  const figure& ratios = figure_named(figures, "ratio_to_baseline");
  REQUIRE(ratios.panels.size() == 7);
  for (const figure_panel& panel : ratios.panels) {
    CHECK(panel.reference == 1);
    CHECK(panel.series.size() == 2);
    CHECK(panel.y.least == ratios.panels[0].y.least);
  }
}

TEST_CASE("what does not vary is not drawn") {
  CHECK(study_figures({}).empty());
  CHECK(study_figures(report_test::small_study()).empty());
}

TEST_CASE("of several tiles a picture over length shows 64 and says so") {
  report_test::study_result study;
  for (const std::int64_t n : {256, 512}) report_test::add_recipes(study, {.n = n}, {32, 64, 128});
  const auto figures = study_figures(study);
  const figure& length = figure_named(figures, "deviation_against_length");
  REQUIRE(length.panels.size() == 1);
  CHECK(length.panels[0].subtitle == "bf16, d = 64, 1 head, tiles 64 × 64");
  CHECK(length.panels[0].series[1].points.size() == 2);
}

TEST_CASE("many inputs give at most twelve panels, and the caption says so") {
  report_test::study_result study;
  for (int i = 0; i < 20; ++i) report_test::add_recipes(study, {.inputs = "input " + std::to_string(i)}, {32, 64});
  const auto figures = study_figures(study);
  const figure& tiles = figure_named(figures, "deviation_against_key_tile");
  CHECK(tiles.panels.size() == 12);
  CHECK(tiles.caption.find("The first 12 of 20 panels") != std::string::npos);
}

TEST_CASE("ticks lie within the range, at least two of them, whatever the range") {
  for (const double least : {1e-300, 3e-9, 0.0021, 0.9, 1.0, 7.0, 2e5})
    for (const double factor : {1.0, 1.0001, 1.3, 2.0, 17.0, 1e3, 1e7, 1e30}) {
      figure_axis axis, ratios;
      fit_logarithmic(axis, least, least * factor);
      fit_ratios(ratios, least, least * factor);
      for (const figure_tick& tick : axis.ticks) {
        CHECK(tick.at >= axis.least);
        CHECK(tick.at <= axis.most);
      }
      CHECK(axis.least < least);
      CHECK(axis.most > least * factor);
      CHECK_MESSAGE(axis.ticks.size() >= (factor < 2 ? 1 : 2), least, " ", factor);
      CHECK_MESSAGE(axis.ticks.size() <= 9, least, " ", factor);
      CHECK(ratios.ticks.size() <= 9);
    }
  figure_axis values;
  fit_values(values, {16, 32, 64, 128, 256, 512, 256});
  CHECK(values.ticks.size() == 6);
  fit_values(values, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 4096, 4097});
  CHECK(values.ticks.back().label == "4097");
  CHECK(values.ticks.size() < 8);
}

TEST_CASE("names stay within single quotes, on their line") {
  for (const std::string& name : report_test::hostile_names())
    for (const figure& f : study_figures(report_test::hostile_study(name))) {
      const std::string outside = unquoted(gnuplot_script(f));
      CHECK_MESSAGE(outside.find_first_of("`@!\"%&{}\r\t\x1b") == std::string::npos, name);
      for (const char* word : {"script", "touch", "system", "macro", "red", "bytes", "quote", "xxx"})
        CHECK_MESSAGE(outside.find(word) == std::string::npos, name);
    }
}

TEST_CASE("infinite, NaN and zero deviations are left out, and no value at all leaves no picture") {
  auto study = report_test::whole_study();
  std::size_t i = 0;
  for (auto& row : study.rows) {
    constexpr double odd[] = {0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()};
    row.deviation.max_abs = row.ratio_max_abs = odd[i++ % 3];
    for (auto& head : row.deviation.heads) head.max_abs = row.deviation.max_abs;
  }
  CHECK(study_figures(study).empty());
  study = report_test::whole_study();
  study.rows[1].deviation.max_abs = std::numeric_limits<double>::quiet_NaN();
  const auto figures = study_figures(study);
  CHECK(figure_named(figures, "deviation_against_key_tile").panels[0].series[1].points.size() == 2);
}

TEST_CASE("without gnuplot there are no pictures, and the reason is told") {
  const picture_list drawn = draw_pictures(report_test::whole_study(), "no-such-gnuplot");
  CHECK(drawn.pictures.empty());
  CHECK(drawn.problem == "gnuplot was not found: no pictures");
  CHECK_FALSE(run_gnuplot("", "/nowhere/gnuplot").found);
}

TEST_CASE("a program that draws nothing is reported in one line") {
  const gnuplot_result result = run_gnuplot("", "false");
  CHECK(result.found);
  CHECK(result.svg.empty());
  CHECK(result.problem == "false drew no picture");
  const picture_list drawn = draw_pictures(report_test::whole_study(), "false");
  CHECK(drawn.pictures.empty());
  CHECK(drawn.problem.find('\n') == std::string::npos);
  CHECK(drawn.problem.find("false drew no picture") != std::string::npos);
}

TEST_CASE("pictures are complete SVG, the same each time, with the names that they show") {
  if (!gnuplot_is_here()) return;
  const picture_list drawn = draw_pictures(report_test::whole_study());
  CHECK(drawn.problem.empty());
  REQUIRE(drawn.pictures.size() == 5);
  for (const picture& p : drawn.pictures) {
    const auto svg = read_markup(p.svg);
    CHECK_MESSAGE(svg.problem.empty(), p.file, ": ", svg.problem);
    CHECK(svg.names.front() == "svg");
    CHECK(svg.has_text("Golden: FP64 attention on the inputs rounded to the format."));
    for (const char* recipe : {"baseline", "flash1_all", "flash2_fp32_state"}) CHECK(svg.has_text(recipe));
    CHECK(p.svg.find("GNUPLOT") == std::string::npos);
  }
  const picture_list again = draw_pictures(report_test::whole_study());
  for (std::size_t i = 0; i < drawn.pictures.size(); ++i) CHECK(drawn.pictures[i].svg == again.pictures[i].svg);
}

TEST_CASE("hostile names are drawn as they are, and run nothing") {
  if (!gnuplot_is_here()) return;
  for (const std::string& name : report_test::hostile_names()) {
    const picture_list drawn = draw_pictures(report_test::hostile_study(name));
    CHECK_MESSAGE(drawn.problem.empty(), drawn.problem);
    REQUIRE(drawn.pictures.size() == 4);
    for (const picture& p : drawn.pictures) {
      const auto svg = read_markup(p.svg);
      CHECK_MESSAGE(svg.problem.empty(), name, ": ", svg.problem);
      CHECK_FALSE(svg.has_element("script"));
      CHECK(p.svg.find("]]>") == std::string::npos);
      if (width_of(printable(name)) < 25) CHECK_MESSAGE(svg.has_text(as_drawn(name)), name);
    }
    CHECK_FALSE(std::filesystem::exists("hostile"));
  }
}
