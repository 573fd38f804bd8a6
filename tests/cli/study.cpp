// SPDX-License-Identifier: Apache-2.0
// `deviate study`: names, keys, exit statuses, and the same bytes whatever the folder and the number of threads.
#include <set>
#include <thread>
#include <tuple>

#include "cli/tool.hpp"

namespace {

using namespace cli_test;

const words row_keys{
    "inputs", "heads",         "n_query",       "n_key",           "d",       "tile_query", "tile_key",
    "recipe", "format",        "rounding",      "golden",          "max_abs", "mean_abs",   "std_abs",
    "rmse",   "relative_l1",   "relative_l2",   "cosine",          "bias",    "bias_ci95",  "max_ulp",
    "nan",    "wasserstein_1", "ratio_max_abs", "identical_share", "inf",     "rescales",   "ratio_relative_l2"};

words with(words arguments, const words& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

const words small{"study", "--random", "normal", "--n", "40", "--d", "8", "--formats", "bf16"};

TEST_CASE("study: every combination is a row, and every row has every key") {
  const auto study = json_of({"study",        "--random",  "uniform",
                              "--n",          "256,512",   "--d",
                              "64",           "--heads",   "2",
                              "--seed",       "1",         "--formats",
                              "bf16,e8m10",   "--recipes", "baseline,flash1_all,flash2_all,flash2_fp32_state",
                              "--tile-query", "32",        "--tile-key",
                              "32,64",        "--golden",  "rounded",
                              "--json",       "-"});
  std::set<std::tuple<std::string, std::string, int, int>> flash;
  int baselines = 0;
  for (const auto& row : study.at("rows")) {
    for (const std::string& key : row_keys) CHECK_MESSAGE(row.contains(key), key);
    CHECK(row.at("heads") == 2);
    CHECK(row.at("d") == 64);
    CHECK(row.at("golden") == "rounded");
    CHECK(row.at("nan") == 0);
    CHECK(row.at("max_abs") > 0);
    CHECK(row.at("max_abs") < 0.1);
    if (row.at("recipe") == "baseline") {
      ++baselines;
      CHECK(row.at("ratio_max_abs") == 1);
      CHECK(row.at("tile_key").is_null());
    } else {
      CHECK(row.at("tile_query") == 32);
      flash.emplace(row.at("recipe").get<std::string>(), row.at("format").get<std::string>(),
                    row.at("n_key").get<int>(), row.at("tile_key").get<int>());
    }
  }
  CHECK(flash.size() == 3 * 2 * 2 * 2);
  CHECK(baselines == 2 * 2);
}

TEST_CASE("study: lists may repeat an item, which is run once") {
  const auto study = json_of(with(small, {"--formats", "bf16,fp16", "--tile-key", "16,16,64", "--json", "-"}));
  CHECK(study.at("rows").size() == 2 * (1 + 3 * 2));
}

TEST_CASE("study: the same command gives the same bytes, whatever the threads; its text gives them too") {
  const outcome first = outcome_of(with(small, {"--json", "-", "--workers", "1"}));
  REQUIRE(first.status == 0);
  CHECK(outcome_of(with(small, {"--json", "-", "--workers", "2"})).out == first.out);
  CHECK(outcome_of(with(small, {"--json", "-", "--workers", "5", "--quiet"})).out == first.out);
  CHECK(outcome_of(with(small, {"--json", "-", "--seed", "2"})).out != first.out);

  const std::string command = nlohmann::json::parse(first.out).at("command");
  CHECK(command ==
        "deviate study --random normal --n 40 --d 8 --heads 1 --seed 1 --formats bf16 --recipes "
        "baseline,flash1_all,flash2_all,flash2_fp32_state --tile-query 64 --tile-key 64 --golden rounded");
  words again;
  for (std::size_t begin = std::string("deviate ").size(), end = 0; end != std::string::npos; begin = end + 1) {
    end = command.find(' ', begin);
    again.push_back(command.substr(begin, end - begin));
  }
  CHECK(outcome_of(with(again, {"--json", "-"})).out == first.out);
}

TEST_CASE("study: a mask and a scale change the numbers") {
  const auto largest = [](const words& more) {
    const auto study = json_of(with(small, with(more, {"--recipes", "baseline", "--json", "-"})));
    return study.at("rows").at(0).at("max_abs").get<double>();
  };
  const double all = largest({});
  CHECK(largest({"--causal"}) != all);
  CHECK(largest({"--window", "-1,0"}) == largest({"--causal"}));
  CHECK(largest({"--window", "-1,-1"}) == all);
  CHECK(largest({"--window=2,1", "--alignment", "top_left"}) != all);
  CHECK(largest({"--scale", "-0.5"}) != all);
  CHECK(largest({"--scale", "0x1p-2"}) == largest({"--scale", "0.25"}));
  CHECK(largest({"--golden", "unrounded"}) != all);
}

TEST_CASE("study: the table is for people, and --quiet leaves it out") {
  const outcome table = outcome_of(small);
  CHECK(table.status == 0);
  CHECK(table.err.empty());
  CHECK(contains(table.out, "flash2_fp32_state"));
  CHECK(outcome_of(with(small, {"--quiet"})).out.empty());
}

TEST_CASE("study: --out and --json write whole files, also under names with spaces and letters of any alphabet") {
  const scratch_directory scratch;
  const std::string folder = (scratch / "отчёт übung 1").string();
  const std::string json = (scratch / "a b ñ.json").string();
  const outcome done = outcome_of(with(small, {"--out", folder, "--json", json, "--quiet"}));
  INFO(done.err);
  CHECK(done.status == 0);
  CHECK(done.out.empty());
  for (const char* name : {"report.html", "study.csv", "study.json"})
    CHECK(std::filesystem::file_size(std::filesystem::path(folder) / name) > 0);
  CHECK(bytes_of(json) == bytes_of(std::filesystem::path(folder) / "study.json"));
  CHECK(scratch.names().size() == 2);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    CHECK(!contains(entry.path().string(), ".partial"));
}

TEST_CASE("study: --quiet and nothing else written is still a success, and standard output may be full") {
  CHECK(outcome_of(with(small, {"--quiet"})).status == 0);
  const scratch_directory scratch;
  running_tool tool(with(small, {"--json", "-"}), "/dev/full", scratch / "err");
  CHECK(tool.status() == 2);
  CHECK(contains(bytes_of(scratch / "err"), "deviate: standard output: cannot be written"));
}

TEST_CASE("study: ended by a signal it leaves nothing behind") {
  const scratch_directory scratch;
  for (const int signal : {SIGINT, SIGTERM}) {
    running_tool tool({"study", "--random", "normal", "--n", "20000", "--heads", "64", "--out",
                       (scratch / "r").string(), "--json", (scratch / "s.json").string()},
                      "/dev/null", "/dev/null");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    REQUIRE(!tool.has_ended());
    tool.send(signal);
    CHECK(tool.status() == 128 + signal);
    CHECK(scratch.names().empty());
  }
}

}  // namespace
