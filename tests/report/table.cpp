// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/table.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "deviate/report/text.hpp"
#include "report/synthetic_study.hpp"

using namespace deviate::tool;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void check_width(const std::string& text) {
  for (const std::string& line : lines_of(text)) CHECK_MESSAGE(width_of(line) <= 100, line);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a small study shows every row and a verdict") {
  const std::string text = study_table(report_test::small_study());
  check_width(text);
  const auto lines = lines_of(text);
  REQUIRE(lines.size() == 11);
  CHECK(has(lines[0], "FP64 attention on the inputs rounded to the format"));
  CHECK(has(lines[2], "Golden: FP64, each element proved within 2e-14 of the exact result"));
  CHECK(lines[5] == "study: uniform seed 1 — bf16, N = 1024, d = 64, 1 head, tiles 64 × 64");
  CHECK(has(lines[6], "bias ± 95 %"));
  CHECK(has(lines[7], "  baseline "));
  CHECK(has(lines[8], " 64×64 "));
  CHECK(has(lines[8], " 8.50 "));
  CHECK(has(text, "  bf16: flash1_all lies 8.50x as far from golden as baseline, flash2_fp32_state 0.90x.\n"));
  CHECK(text.back() == '\n');
}

TEST_CASE("a large study shows matrices, a line for each position") {
  const std::string text = study_table(report_test::whole_study());
  check_width(text);
  CHECK(lines_of(text).size() < 130);
  CHECK(has(text, "\n  e8m23 "));
  CHECK(has(text, "\n  4096 "));
  CHECK(has(text, "\n  Bc "));
  CHECK(has(text, "fraction bits: uniform seed 1 — N = 1024, d = 64, 1 head, tiles 64 × 64\n"));
}

TEST_CASE("a huge study shows verdicts alone") {
  study_result study;
  for (int i = 0; i < 60; ++i)
    report_test::add_recipes(study, {.inputs = "input " + std::to_string(i)}, {16, 32, 64, 128});
  const std::string text = study_table(study);
  check_width(text);
  CHECK(lines_of(text).size() < 260);
  CHECK(has(text, "input 59"));
  CHECK_FALSE(has(text, "max_abs"));
}

TEST_CASE("no name makes a line too wide, nor two lines of one") {
  for (const std::string& name : report_test::hostile_names()) {
    const std::string text = study_table(report_test::hostile_study(name));
    CHECK(text.find_first_of("\x1b\r\t") == std::string::npos);
    if (name.find(' ') != std::string::npos || width_of(printable(name)) < 60) check_width(text);
  }
  study_result study = report_test::hostile_study("fp8_e4m3_saturating");
  check_width(study_table(study));
  for (int i = 0; i < 40; ++i)
    report_test::add_recipes(study, {.format = "fp8_e4m3_saturating", .fraction_bits = 3}, {16, 32, 64, 128});
  for (auto& row : study.rows) row.recipe += "_with_a_long_name";
  check_width(study_table(study));
}

TEST_CASE("values that are not finite are shown, and a missing baseline leaves no hole") {
  study_result study = report_test::small_study();
  study.rows[1].deviation.max_abs = std::numeric_limits<double>::quiet_NaN();
  study.rows[1].deviation.max_ulp = std::numeric_limits<double>::infinity();
  study.rows.erase(study.rows.begin());
  const std::string text = study_table(study);
  CHECK(has(text, " nan "));
  CHECK(has(text, " inf "));
  CHECK(study_table({}) == "The study has no rows.\n");
}
