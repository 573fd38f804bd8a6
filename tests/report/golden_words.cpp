// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/golden_words.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "report/synthetic_study.hpp"

using namespace deviate::tool;
using words = std::vector<std::string>;

TEST_CASE("golden in FP64: the bound, and its share of half an ulp") {
  CHECK(golden_accuracy_in_words({}).empty());
  auto study = report_test::small_study();
  CHECK(golden_accuracy_in_words(study) ==
        words{"Golden: FP64, each element proved within 2e-14 of the exact result (5.12e-12 of half a bf16 ulp at the "
              "largest element of its row)."});
  // Of several goldens the worst counts, and it is named.
  report_test::add_recipes(study, {.n = 512, .format = "fp16", .fraction_bits = 10}, {64});
  CHECK(golden_accuracy_in_words(study) ==
        words{"Golden: FP64, each element proved within 2e-14 of the exact result (at most 4.1e-11 of half an ulp at "
              "the largest element of its row: fp16 on uniform seed 1 (N = 512))."});
}

TEST_CASE("golden in double_double: why, and in how many rows of O; recipes that share a golden count once") {
  auto study = report_test::small_study();
  for (study_row& row : study.rows) row.certificate.double_double_rows = row.certificate.rows;
  CHECK(golden_accuracy_in_words(study) ==
        words{"Golden: double_double, because FP64 cannot be proved to a thousandth of half an ulp of the format; each "
              "element proved within 2e-14 of the exact result (5.12e-12 of half a bf16 ulp at the largest element of "
              "its row)."});
  CHECK(golden_in_words(study) == "double_double attention on the inputs rounded to the format");
  for (study_row& row : study.rows) row.certificate.double_double_rows = 3;
  CHECK(golden_accuracy_in_words(study).front().starts_with(
      "Golden: FP64, and double_double in 3 of 1024 rows of O, where FP64 cannot be proved"));
  CHECK(golden_in_words(study) == "FP64 or double_double attention on the inputs rounded to the format");
}

TEST_CASE("what is not certified is told with its place and its reason") {
  auto study = report_test::small_study();
  for (study_row& row : study.rows) {
    row.certificate.uncertified_rows = 5;
    row.certificate.first = {0, 1, 17, "golden is NaN or infinite there"};
  }
  const words told = golden_accuracy_in_words(study);
  REQUIRE(told.size() == 2);
  CHECK(told[1] ==
        "Golden is not certified in 5 of 1024 rows of O, first in batch 0, head 1, row 17 of bf16 on uniform seed 1 "
        "(N = 1024): golden is NaN or infinite there.");
  for (study_row& row : study.rows) row.certificate.uncertified_rows = row.certificate.rows;
  CHECK(golden_accuracy_in_words(study).front() == "Golden: no row of it is certified.");
}
