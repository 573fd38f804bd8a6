// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/csv.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "report/synthetic_study.hpp"

using deviate::tool::study_csv;

namespace {

using record = std::vector<std::string>;

// RFC 4180, read strictly: records end in CR LF, a quote within a quoted field is doubled.
std::vector<record> parsed(std::string_view text) {
  std::vector<record> records;
  record fields(1);
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '"') {
      REQUIRE(fields.back().empty());
      for (++i; text.at(i) != '"' || (i + 1 < text.size() && text[i + 1] == '"'); ++i) {
        if (text[i] == '"') ++i;
        fields.back() += text[i];
      }
      ++i;
      const bool at_end = text.at(i) == ',' || text.at(i) == '\r';
      REQUIRE(at_end);
    } else if (text[i] == ',') {
      fields.emplace_back();
      ++i;
    } else if (text[i] == '\r') {
      REQUIRE(text.at(i + 1) == '\n');
      records.push_back(std::move(fields));
      fields = record(1);
      i += 2;
    } else {
      REQUIRE(text[i] != '\n');
      fields.back() += text[i++];
    }
  }
  const bool ends_with_a_record = fields == record(1);
  CHECK(ends_with_a_record);
  return records;
}

}  // namespace

TEST_CASE("a heading, then a record for each row, with numbers that read back as the same doubles") {
  const auto study = report_test::whole_study();
  const auto records = parsed(study_csv(study));
  REQUIRE(records.size() == study.rows.size() + 1);
  CHECK(records[0].front() == "inputs");
  CHECK(records[0].back() == "ratio_relative_l2");
  CHECK(records[0][6] == "tile_key");
  CHECK(records[0][15] == "max_abs");
  for (std::size_t i = 0; i < study.rows.size(); ++i) {
    const record& fields = records[i + 1];
    REQUIRE(fields.size() == 32);
    CHECK(fields[0] == study.rows[i].inputs);
    CHECK(fields[9] == study.rows[i].rounding);
    CHECK(fields[6] == (study.rows[i].tile_key ? std::to_string(*study.rows[i].tile_key) : ""));
    CHECK(std::strtod(fields[15].c_str(), nullptr) == study.rows[i].deviation.max_abs);
    CHECK(std::strtod(fields[22].c_str(), nullptr) == study.rows[i].deviation.bias);
  }
}

TEST_CASE("names with commas, quotes and line breaks come back whole") {
  for (const std::string& name : report_test::hostile_names()) {
    if (name.find('\xff') != std::string::npos) continue;  // not UTF-8: replaced, see the test of JSON
    const auto records = parsed(study_csv(report_test::hostile_study(name)));
    REQUIRE(records.size() == 11);
    for (std::size_t i = 1; i < records.size(); ++i) {
      REQUIRE(records[i].size() == 32);
      CHECK(records[i][0] == name);
      CHECK(records[i][8] == name);
    }
  }
}

TEST_CASE("nan and infinities stand for themselves") {
  auto study = report_test::small_study();
  study.rows[0].deviation.max_abs = -std::numeric_limits<double>::quiet_NaN();
  study.rows[0].ratio_max_abs = -std::numeric_limits<double>::infinity();
  const auto records = parsed(study_csv(study));
  CHECK(records[1][15] == "nan");
  CHECK(records[1][30] == "-inf");
}
