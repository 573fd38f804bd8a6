// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/groups.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "report/synthetic_study.hpp"

using namespace deviate::tool;

TEST_CASE("the family of inputs is their name without the length") {
  CHECK(family_of("uniform N=512 seed 1") == "uniform seed 1");
  CHECK(family_of("N=512 uniform") == "uniform");
  CHECK(family_of("uniform N=512") == "uniform");
  for (const char* other : {"smollm2_layer00", "N=512", "xN=5 y", "a N= b", "a N=5x b", ""})
    CHECK(family_of(other) == other);
}

TEST_CASE("parts vary along one axis only, and each holds its baseline") {
  study_result study;
  for (const std::int64_t n : {256, 512, 1024})
    report_test::add_recipes(study, {.inputs = "uniform N=" + std::to_string(n) + " seed 1", .n = n}, {32, 64});
  const auto all = families(study);
  REQUIRE(all.size() == 1);
  CHECK(widest_axis(all[0]) == study_axis::length);
  const auto over_tiles = parts_along(all[0], study_axis::key_tile);
  REQUIRE(over_tiles.size() == 3);
  for (const row_list& part : over_tiles) {
    CHECK(part.size() == 5);
    CHECK(part[0]->recipe == "baseline");
    CHECK(positions(part, study_axis::key_tile) == 2);
    CHECK(positions(part, study_axis::length) == 1);
  }
  const auto over_lengths = parts_along(all[0], study_axis::length);
  REQUIRE(over_lengths.size() == 2);
  for (const row_list& part : over_lengths) CHECK(part.size() == 9);
  CHECK(row_at(over_lengths[1], "flash1_all", study_axis::length, 512)->tile_key == 64);
  CHECK(row_at(over_lengths[1], "flash1_all", study_axis::length, 77) == nullptr);
}

TEST_CASE("the setting names what all rows share") {
  study_result study = report_test::small_study();
  CHECK(shared_setting(families(study)[0]) == "bf16, N = 1024, d = 64, 1 head, tiles 64 × 64");
  study.rows[1].n_query = study.rows[0].n_query = study.rows[2].n_query = 16;
  study.rows[1].tile_query = 16;
  CHECK(shared_setting({&study.rows[0], &study.rows[1], &study.rows[2]}) ==
        "bf16, N query = 16, N key = 1024, d = 64, 1 head, Bc = 64");
  CHECK(shared_setting({&study.rows[0]}) == "bf16, N query = 16, N key = 1024, d = 64, 1 head");
}

TEST_CASE("the share within one ulp is over finite elements") {
  deviate::deviation_summary d;
  CHECK(std::isnan(share_within_one_ulp(d)));
  for (const double ulps : {0.0, 0.3, 1.0, 1.01}) d.ulps.add(ulps);
  CHECK(share_within_one_ulp(d) == 0.75);
}
