// SPDX-License-Identifier: Apache-2.0
// `deviate study`: names, keys, exit statuses, and the same bytes whatever the folder and the number of threads.
#include <cmath>
#include <set>
#include <span>
#include <thread>
#include <tuple>

#include "cli/tool.hpp"
#include "report/row_keys.hpp"

namespace {

using namespace cli_test;

words with(words arguments, const words& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

const words no_format{"study", "--random", "normal", "--n", "40", "--d", "8"};
const words small = with(no_format, {"--formats", "bf16"});

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
    for (const std::string& key : report_test::main_keys) CHECK_MESSAGE(row.contains(key), key);
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

// Lines of a table as one text: where they are broken depends on the numbers.
std::string unbroken(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c != '\n' && c != ' ')
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  return result;
}

TEST_CASE("study: golden is in FP64 and says how near to exact it is proved to be") {
  const auto row = json_of(with(small, {"--recipes", "baseline", "--json", "-"})).at("rows").at(0);
  CHECK(row.at("golden_scalar") == "fp64");
  CHECK(row.at("golden_bound") > 0);
  CHECK(row.at("golden_bound") < 1e-12);
  CHECK(row.at("golden_half_ulps") < 1e-9);
  CHECK(row.at("golden_uncertified") == 0);
  CHECK(row.at("golden_first_uncertified").is_null());
  const std::string table = unbroken(outcome_of(small).out);
  CHECK(contains(table, "Golden: FP64, each element proved within "));
  CHECK(contains(table, " of half a bf16 ulp at the largest element of its row)."));
}

TEST_CASE("study: golden moves to double_double for FP64, and the deviation is measured against that") {
  const words fp64{"--formats", "fp64", "--recipes", "flash2_all"};
  const auto row = json_of(with(no_format, with(fp64, {"--json", "-", "--workers", "1"}))).at("rows").at(0);
  CHECK(row.at("golden_scalar") == "double_double");
  CHECK(row.at("golden_double_double_rows") == 40);
  CHECK(row.at("golden_bound") < 1e-27);
  CHECK(row.at("golden_half_ulps") < 1e-9);
  CHECK(row.at("golden_uncertified") == 0);
  // A golden rounded to FP64 would make every deviation a whole number of ulps of numbers near it.
  CHECK(row.at("max_abs") > 1e-17);
  CHECK(row.at("max_abs") < 1e-14);
  const double in_units = row.at("per_head").at(0).at("max_abs").get<double>() * 0x1p60;
  CHECK(in_units != std::floor(in_units));
  CHECK(contains(unbroken(outcome_of(with(no_format, fp64)).out),
                 "Golden: double_double, because FP64 cannot be proved to a thousandth of half an ulp of the format"));
  CHECK(outcome_of(with(no_format, with(fp64, {"--json", "-", "--workers", "1"}))).out ==
        outcome_of(with(no_format, with(fp64, {"--json", "-", "--workers", "3"}))).out);
  // One golden for several formats: each takes FP64's rows where these are near enough for it, in any order.
  const words unrounded{"--golden", "unrounded", "--recipes", "baseline", "--json", "-", "--formats"};
  const auto first = json_of(with(no_format, with(unrounded, {"fp64,bf16"}))).at("rows");
  const auto last = json_of(with(no_format, with(unrounded, {"bf16,fp64"}))).at("rows");
  CHECK(first.at(0) == last.at(1));
  CHECK(first.at(1) == last.at(0));
  CHECK(first.at(1).at("golden_scalar") == "fp64");
}

TEST_CASE("study: large scores move some rows to double_double; larger ones leave rows uncertified") {
  const auto at = [](const char* scale) {
    const auto study =
        json_of(with(no_format, {"--formats", "fp32", "--recipes", "baseline", "--scale", scale, "--json", "-"}));
    return study.at("rows").at(0);
  };
  const auto some = at("1e9");
  CHECK(some.at("golden_scalar") == "fp64, double_double");
  CHECK(some.at("golden_double_double_rows") > 0);
  CHECK(some.at("golden_double_double_rows") < 40);
  CHECK(some.at("golden_half_ulps") < 1e-3);
  CHECK(some.at("golden_uncertified") == 0);
  CHECK(at("1e12").at("golden_scalar") == "double_double");
  const auto none = at("1e300");
  CHECK(none.at("golden_uncertified") == 40);
  CHECK(none.at("golden_bound") == "inf");
  CHECK(none.at("golden_first_uncertified").at("reason") == "its scores might overflow on the way");
}

TEST_CASE("study: rows of NaN are not certified, and named") {
  const scratch_directory scratch;
  std::vector<float> ones(8, 1), values(8, 1);
  values[5] = std::nanf("");
  const std::vector<std::int64_t> shape{1, 4, 2};
  const auto file = [&](const char* name, const std::vector<float>& x) {
    deviate::tool::write_npy(scratch / name, shape, std::span<const float>(x));
    return (scratch / name).string();
  };
  const words given{"study",
                    "--q",
                    file("q.npy", ones),
                    "--k",
                    file("k.npy", ones),
                    "--v",
                    file("v.npy", values),
                    "--allow-nan",
                    "--causal",
                    "--formats",
                    "bf16,fp64",
                    "--recipes",
                    "baseline"};
  for (const auto& row : json_of(with(given, {"--json", "-"})).at("rows")) {
    CHECK(row.at("golden_uncertified") == 2);
    CHECK(row.at("golden_first_uncertified").at("row") == 2);
    CHECK(row.at("golden_first_uncertified").at("reason") == "golden is NaN or infinite there");
    CHECK(row.at("nan") == 2);
  }
  CHECK(contains(unbroken(outcome_of(given).out),
                 "Golden is not certified in 4 of 8 rows of O, first in batch 0, head 0, row 2 of bf16"));
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
