// SPDX-License-Identifier: Apache-2.0
// --mode of `deviate study` and `deviate run`: every mode by name, random bits by seed, and what is refused.
#include <cmath>
#include <map>

#include "cli/tool.hpp"

namespace {

using namespace cli_test;
using deviate::tool::read_npy;

words study(const words& more) {
  words all{"study", "--random", "uniform", "--n", "64", "--d", "8", "--formats", "bf16", "--json", "-"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}
nlohmann::json row_of(const words& more, std::size_t i = 0) { return json_of(study(more)).at("rows").at(i); }

TEST_CASE("study --mode: every mode is named in its rows, and directed ones have their bias") {
  std::map<std::string, double> bias;
  for (const char* mode :
       {"nearest_even", "nearest_away", "toward_zero", "upward", "downward", "to_odd", "stochastic"}) {
    const auto row = row_of({"--mode", mode, "--recipes", "flash2_all"});
    CHECK(row.at("format") == "bf16");
    CHECK(row.at("rounding") == mode);
    bias[mode] = row.at("bias");
  }
  CHECK(row_of({"--recipes", "flash2_all"}).at("bias") == bias["nearest_even"]);
  // V is positive.
  CHECK(bias["toward_zero"] < -5e-4);
  CHECK(bias["downward"] < -5e-4);
  CHECK(bias["upward"] > 5e-4);
  for (const char* mode : {"nearest_even", "nearest_away", "stochastic"}) CHECK(std::fabs(bias[mode]) < 5e-4);
}

TEST_CASE("study --mode stochastic: the same bytes for every number of threads, others for another seed") {
  const words how{"--mode", "stochastic", "--rounding-seed", "5", "--random-bits", "9"};
  const auto with = [&](words more) {
    more.insert(more.begin(), how.begin(), how.end());
    return study(more);
  };
  const outcome first = outcome_of(with({"--workers", "1"}));
  REQUIRE(first.status == 0);
  CHECK(outcome_of(with({"--workers", "3"})).out == first.out);
  const auto read = nlohmann::json::parse(first.out);
  CHECK(contains(read.at("command").get<std::string>(), "--mode stochastic --random-bits 9 --rounding-seed 5"));
  CHECK(contains(read.at("notes").at(0).get<std::string>(), "stochastic by 9 random bits of seed 5"));
  for (const words& other :
       {words{"--rounding-seed", "6", "--random-bits", "9"}, words{"--random-bits", "1", "--rounding-seed", "5"}}) {
    words command = study({"--mode", "stochastic"});
    command.insert(command.end(), other.begin(), other.end());
    CHECK(json_of(command).at("rows").at(0).at("rmse") != read.at("rows").at(0).at("rmse"));
  }
}

TEST_CASE("run --mode: a format that double holds, and one that float holds") {
  const scratch_directory files;
  std::vector<float> values;
  for (int i = 0; i < 40; ++i) values.push_back(float(i % 7) / 7);
  for (const char* name : {"q.npy", "k.npy", "v.npy"}) put_npy(files / name, {1, 20, 2}, values);
  const auto output = [&](const words& more) {
    words all{"run",   "--q",   "q.npy", "--k",    "k.npy",      "--v",
              "v.npy", "--out", "o.npy", "--mode", "stochastic", "--quiet"};
    all.insert(all.end(), more.begin(), more.end());
    REQUIRE(outcome_in(files / "", all).status == 0);
    return bytes_of(files / "o.npy");
  };
  for (const char* format : {"fp8_e4m3", "e9m12", "e11m25", "fp32"}) {
    INFO(format);
    const std::string one = output({"--format", format});
    CHECK(output({"--format", format, "--rounding-seed", "1", "--random-bits", "23"}) == one);
    CHECK(output({"--format", format, "--rounding-seed", "2"}) != one);
  }
}

TEST_CASE("round --random-bits: one random bit rounds up only from the middle on") {
  const auto ups = [](const char* input, const char* bits) {
    words command{"round", "--format", "bf16", "--mode", "stochastic", "--random-bits", bits, "--json"};
    for (int i = 0; i < 200; ++i) command.push_back(input);
    int up = 0;
    for (const auto& number : json_of(command)) up += number.at("value") != 1;
    return up;
  };
  CHECK(ups("1.003", "1") == 0);
  CHECK(ups("1.003", "24") > 0);
  CHECK(ups("1.005", "1") > 0);
}

TEST_CASE("refusals: rounding") {
  expect_refusal({"study", "--mode", "upwards"}, "did you mean upward?");
  expect_refusal({"study", "--mode", "upward", "--rounding-seed", "3"}, "--rounding-seed belongs to --mode stochastic");
  expect_refusal({"study", "--random-bits", "3"}, "--random-bits belongs to --mode stochastic");
  for (const char* bits : {"0", "24", "-1", "x"}) {
    expect_refusal({"study", "--mode", "stochastic", "--random-bits", bits}, "--random-bits");
    expect_refusal({"run", "--out", "o.npy", "--mode", "stochastic", "--random-bits", bits}, "--random-bits");
  }
  expect_refusal({"round", "--format", "bf16", "--mode", "stochastic", "--random-bits", "25", "1"}, "from 1 to 24");
  expect_refusal({"study", "--mode", "stochastic", "--rounding-seed", "-1"}, "--rounding-seed");
  expect_refusal({"study", "--mode", "to_odd", "--formats", "fp64"}, "narrower than fp64");
  expect_refusal({"run", "--out", "o.npy", "--mode", "stochastic", "--format", "fp64"}, "narrower than fp64");
}

}  // namespace
