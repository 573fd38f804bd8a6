// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/findings.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "deviate/report/text.hpp"
#include "report/synthetic_study.hpp"

using namespace deviate::tool;

namespace {

std::string all_findings(const study_result& study) { return joined(main_findings(study), "\n"); }
bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a verdict gives each recipe's ratio, and where it is largest") {
  study_result study = report_test::small_study();
  CHECK(verdict(families(study)[0]) ==
        "flash1_all lies 8.50x as far from golden as baseline, flash2_fp32_state 0.90x.");
  study = {};
  report_test::add_recipes(study, {}, {16, 64, 256});
  CHECK(
      verdict(families(study)[0]) ==
      "flash1_all lies 2.12x to 34.0x as far from golden as baseline (most at key tile 16), flash2_fp32_state 0.90x.");
  study.rows[1].ratio_max_abs = std::numeric_limits<double>::quiet_NaN();
  CHECK(
      says(verdict(families(study)[0]),
           "flash1_all lies 2.12x to 8.50x as far from golden as baseline (most at key tile 64) and is NaN or infinite "
           "in 1 of 3 rows, flash2"));
}

TEST_CASE("verdicts on baseline alone, or on nothing finite, have words too") {
  study_result study = report_test::small_study();
  study.rows.resize(1);
  CHECK(says(verdict(families(study)[0]), "only baseline, largest deviation "));
  study = report_test::small_study();
  study.rows.erase(study.rows.begin() + 2);
  study.rows[1].ratio_max_abs = std::numeric_limits<double>::infinity();
  CHECK(verdict(families(study)[0]) == "flash1_all is NaN or infinite in 1 of 1 rows.");
}

TEST_CASE("the main findings are computed from the rows") {
  study_result study = report_test::whole_study();
  std::string text = all_findings(study);
  CHECK(says(text,
             "flash1_all lies 2.12x to 34.0x as far from golden as baseline; most on layer00 (bf16, N = 512, d = 64, "
             "9 heads, tiles 64 × 16)."));
  CHECK(says(text, "flash2_fp32_state lies 0.90x as far"));
  const auto& worst = study.rows[1].deviation.worst;
  CHECK(says(text, "The largest deviation of all is " + three_digits(study.rows[1].deviation.max_abs) +
                       ", by flash1_all on layer00"));
  CHECK(says(text, "head " + std::to_string(worst.head) + ", row " + std::to_string(worst.row) + ", column " +
                       std::to_string(worst.column)));
  CHECK(says(text, "Every output and every golden value is finite."));
  CHECK(says(text, "Output precision: in "));

  study.rows[1].deviation.nan_in_got = 3;
  study.rows[2].deviation.infinity_mismatches = 1;
  study.rows[2].deviation.saturated = 1;
  text = all_findings(study);
  CHECK(says(text, "Not finite: NaN in 1 and infinity in 1 of " + std::to_string(study.rows.size()) +
                       " rows, first flash1_all on layer00"));
  CHECK(says(text, "Saturated elements: in 1 rows."));
  CHECK(main_findings({}).size() == 1);
}

TEST_CASE("bias is reported with its sign, and only beyond its interval") {
  study_result study = report_test::small_study();
  for (auto& row : study.rows) {
    row.deviation.bias = 1e-6;
    row.deviation.bias_ci95 = 1e-5;
  }
  CHECK(says(all_findings(study), "Bias: in no row"));
  study.rows[2].deviation.bias = -2e-5;
  study.rows[2].deviation.rmse = 4e-5;
  const std::string text = all_findings(study);
  CHECK(says(text, "Bias: in 1 of 3 rows"));
  CHECK(says(text, "outputs are too small by 2e-05 in the mean, 50.0 % of the RMSE."));
}

TEST_CASE("what was compared names recipes, formats, inputs and golden") {
  const std::string text = what_was_compared(report_test::whole_study());
  CHECK(says(text,
             "baseline, flash1_all and flash2_fp32_state, in the formats bf16, fp16 … e8m23 (19 in all), on layer00, "
             "layer23, layer29 and uniform seed 1. "));
  CHECK(says(text, "golden: FP64 attention on the inputs rounded to the format."));
}
