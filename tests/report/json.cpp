// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/json.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/row_keys.hpp"
#include "report/synthetic_study.hpp"

using deviate::tool::study_json;
using json = nlohmann::ordered_json;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("every row begins with the same keys, in order, and goes on with the extras") {
  std::vector<std::string> keys = report_test::main_keys;
  for (const char* extra :
       {"sweep", "fraction_bits", "golden_double_double_rows", "golden_first_uncertified", "wasserstein_2",
        "norm_ratio", "mean_ulp", "saturated", "flushed_to_zero", "worst", "per_head", "ulp_histogram"})
    keys.push_back(extra);
  const json study = json::parse(study_json(report_test::whole_study()));
  CHECK(study.at("command") == "deviate study");
  CHECK(study.at("notes") == json::array({"causal, scale 0.125"}));
  REQUIRE(study.at("rows").size() == report_test::whole_study().rows.size());
  for (const json& row : study.at("rows")) {
    std::vector<std::string> found;
    for (const auto& [key, value] : row.items()) found.push_back(key);
    CHECK(found == keys);
  }
}

TEST_CASE("values read back as the same doubles") {
  const auto study = report_test::whole_study();
  const json rows = json::parse(study_json(study)).at("rows");
  for (std::size_t i = 0; i < study.rows.size(); ++i) {
    const auto& d = study.rows[i].deviation;
    const json& row = rows[i];
    CHECK(row.at("max_abs").get<double>() == d.max_abs);
    CHECK(row.at("relative_l2").get<double>() == d.relative_l2);
    CHECK(row.at("bias").get<double>() == d.bias);
    CHECK(row.at("ratio_max_abs").get<double>() == study.rows[i].ratio_max_abs);
    CHECK(row.at("rescales").get<std::int64_t>() == study.rows[i].rescales);
    CHECK(row.at("per_head").size() == d.heads.size());
    CHECK(row.at("per_head")[0].at("rmse").get<double>() == d.heads[0].rmse);
    CHECK(row.at("worst").at("golden").get<double>() == d.worst.golden);
    CHECK(row.at("tile_key").is_null() == (study.rows[i].recipe == "baseline"));
    std::int64_t counted = 0;
    for (const json& bin : row.at("ulp_histogram")) counted += bin[1].get<std::int64_t>();
    CHECK(counted == d.finite_pairs);
  }
}

TEST_CASE("what JSON cannot write are the strings inf, -inf and nan") {
  auto study = report_test::small_study();
  study.rows.resize(1);
  auto& row = study.rows[0];
  row.deviation.max_abs = not_a_number;
  row.deviation.bias = -infinity;
  row.deviation.max_ulp = -not_a_number;
  row.ratio_max_abs = infinity;
  row.deviation.worst.got = not_a_number;
  row.deviation.heads[0].rmse = infinity;
  row.deviation.nan_in_got = 1;
  row.deviation.nan_in_golden = 2;
  row.deviation.nan_in_both = 4;
  row.deviation.infinity_mismatches = 8;
  row.deviation.infinities_equal = 16;
  row.deviation.ulps.add(1e9);
  const json written = json::parse(study_json(study)).at("rows")[0];
  CHECK(written.at("max_abs") == "nan");
  CHECK(written.at("bias") == "-inf");
  CHECK(written.at("max_ulp") == "nan");
  CHECK(written.at("ratio_max_abs") == "inf");
  CHECK(written.at("worst").at("got") == "nan");
  CHECK(written.at("per_head")[0].at("rmse") == "inf");
  CHECK(written.at("nan") == 7);
  CHECK(written.at("inf") == 24);
  CHECK(written.at("ulp_histogram").back()[0] == "inf");
}

TEST_CASE("names of any bytes give valid JSON, and names in UTF-8 come back whole") {
  for (const std::string& name : report_test::hostile_names()) {
    const json written = json::parse(study_json(report_test::hostile_study(name)));
    const std::string inputs = written.at("rows")[0].at("inputs");
    if (name.find('\xff') == std::string::npos)
      CHECK(inputs == name);
    else
      CHECK(inputs == "\x1b[31mred\x1b[0m \xEF\xBF\xBD\xEF\xBF\xBD bytes \xEF\xBF\xBD");
  }
}

TEST_CASE("the same study gives the same bytes, and no rows give an empty list") {
  CHECK(study_json(report_test::whole_study()) == study_json(report_test::whole_study()));
  CHECK(json::parse(study_json({})).at("rows") == json::array());
}
