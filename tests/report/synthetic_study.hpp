// SPDX-License-Identifier: Apache-2.0
// What the tests of reports share: studies whose rows are made up, but consistent.
#pragma once

#include <deviate/deviation/metrics.hpp>
#include <deviate/tensor/tensor.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deviate/study_row.hpp"

namespace report_test {

using deviate::tool::study_result;
using deviate::tool::study_row;

// Outputs of `heads` heads that lie about `distance` from golden: each element by another share of it, of both signs.
inline deviate::deviation_report deviation_of(std::int64_t heads, double distance) {
  const deviate::extents shape{1, heads, 4, 3};
  deviate::tensor<double> golden(shape), got(shape);
  for (std::int64_t i = 0; i < shape.count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    golden.values()[at] = 1 + double(i % 7) / 8;
    got.values()[at] = golden.values()[at] + distance * (double(i % 5) - 1.5) / 3;
  }
  return deviate::deviation(got, golden, {.ulp_format = {8, 7}});
}

struct run {
  std::string sweep = "study";
  std::string inputs = "uniform seed 1";
  std::int64_t heads = 1;
  std::int64_t n = 1024;
  std::string recipe = "baseline";
  std::string format = "bf16";
  int fraction_bits = 7;
  std::int64_t tile_key = 0;  // 0: none
  double ratio = 1;           // of baseline's distance
};

inline study_row row_of(const run& r) {
  study_row row;
  row.sweep = r.sweep;
  row.inputs = r.inputs;
  row.heads = r.heads;
  row.n_query = row.n_key = r.n;
  row.d = 64;
  if (r.tile_key > 0) {
    row.tile_query = 64;
    row.tile_key = r.tile_key;
  }
  row.recipe = r.recipe;
  row.format = r.format;
  row.fraction_bits = r.fraction_bits;
  row.golden = "rounded";
  row.certificate.rows = r.heads * r.n;
  row.certificate.bound = 2e-14;
  row.certificate.half_ulps = std::ldexp(4e-14, r.fraction_bits);
  row.deviation = deviation_of(r.heads, r.ratio * std::ldexp(1.0, -r.fraction_bits - 1));
  row.rescales = r.tile_key > 0 ? r.n / r.tile_key : 0;
  row.ratio_max_abs = row.ratio_relative_l2 = r.ratio;
  return row;
}

// Baseline and two recipes for one setting.
inline void add_recipes(study_result& study, run r, const std::vector<std::int64_t>& tiles) {
  study.rows.push_back(row_of(r));
  for (const std::int64_t tile : tiles) {
    r.tile_key = tile;
    r.recipe = "flash1_all";
    r.ratio = 8.5 * 64 / double(tile);
    study.rows.push_back(row_of(r));
  }
  for (const std::int64_t tile : tiles) {
    r.tile_key = tile;
    r.recipe = "flash2_fp32_state";
    r.ratio = 0.9;
    study.rows.push_back(row_of(r));
  }
}

// A study with rows for every picture: 3 inputs × 2 formats over key tiles, then sweeps over bits and over length.
inline study_result whole_study() {
  study_result study{{}, "deviate study", {"causal, scale 0.125"}};
  for (const char* inputs : {"layer00", "layer23", "layer29"}) {
    add_recipes(study, {.sweep = "real", .inputs = inputs, .heads = 9, .n = 512}, {16, 64, 256});
    add_recipes(study, {.sweep = "real", .inputs = inputs, .heads = 9, .n = 512, .format = "fp16", .fraction_bits = 10},
                {16, 64, 256});
  }
  for (int bits = 7; bits <= 23; ++bits)
    add_recipes(study,
                {.sweep = "fraction bits",
                 .inputs = "uniform N=1024 seed 1",
                 .format = "e8m" + std::to_string(bits),
                 .fraction_bits = bits},
                {64});
  for (std::int64_t n = 256; n <= 4096; n *= 2)
    add_recipes(study, {.sweep = "length", .inputs = "uniform N=" + std::to_string(n) + " seed 1", .n = n}, {64});
  return study;
}

// One input, one format: few rows.
inline study_result small_study() {
  study_result study{{}, "deviate study --random uniform", {}};
  add_recipes(study, {}, {64});
  return study;
}

// Names that would be something else in HTML, in a script of gnuplot, in CSV, or in a terminal.
inline const std::vector<std::string>& hostile_names() {
  static const std::vector<std::string> names = {
      "<script>alert(1)</script>",
      "a'b''c\"d\"e",
      "two\nlines\r\nand\ttab",
      "`touch hostile`",
      "$(touch hostile)",
      "'; system('touch hostile'); '",
      "''''; system(\"touch hostile\"); ''''",
      "\"; !touch hostile; \"",
      "@macro {/Symbol a}_b^c \\n %d %s &amp; ]]> -->",
      "END\n$panel0series0\nEND",
      "\x1b[31mred\x1b[0m \xff\xfe bytes \xc3",
      "a &amp; b &c ]]> d",
      "comma, \"quote\", and ; semicolon",
      "right \xe2\x80\xae to left",
      std::string(400, 'x'),
      "",
  };
  return names;
}

// The study of key tiles and of length, with one name everywhere.
inline study_result hostile_study(const std::string& name) {
  study_result study{{}, "deviate study " + name, {name}};
  for (const std::int64_t n : {256, 512})
    add_recipes(study, {.sweep = name, .inputs = name, .heads = 3, .n = n, .format = name}, {16, 64});
  for (study_row& row : study.rows) {
    row.golden = name;
    if (row.recipe == "flash1_all") row.recipe = name;
  }
  return study;
}

}  // namespace report_test
