// SPDX-License-Identifier: Apache-2.0
// What the tool refuses: exit status 2, one line that names the argument and what is allowed, and no file left behind.
#include <cmath>
#include <limits>

#include "cli/tool.hpp"
#include "deviate/io/safetensors.hpp"

namespace {

using namespace cli_test;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

// A folder with sound inputs a.npy (1 head, 2 rows, 2 columns) and some that are not.
struct inputs : scratch_directory {
  inputs() {
    put_npy(*this / "a.npy", {1, 2, 2}, {1, 2, 3, 4});
    put_npy(*this / "two_heads.npy", {2, 2, 2}, std::vector<float>(8, 1));
    put_npy(*this / "three_heads.npy", {3, 2, 2}, std::vector<float>(12, 1));
    put_npy(*this / "wide.npy", {1, 2, 3}, std::vector<float>(6, 1));
    put_npy(*this / "long.npy", {1, 3, 2}, std::vector<float>(6, 1));
    put_npy(*this / "flat.npy", {2, 2}, {1, 2, 3, 4});
    put_npy(*this / "no_rows.npy", {1, 0, 2}, {});
    put_npy(*this / "two_batches.npy", {2, 1, 2, 2}, std::vector<float>(8, 1));
    put_npy(*this / "nan.npy", {1, 2, 2}, {1, 2, nan, 4});
    put_npy(*this / "infinite.npy", {1, 2, 2}, {1, -infinity, nan, 4});
    const std::string whole = bytes_of(*this / "a.npy");
    put(*this / "short.npy", whole.substr(0, whole.size() - 3));
    std::string raw = whole;
    raw.replace(raw.find("<f4"), 3, "|V2");
    put(*this / "raw.npy", raw.substr(0, raw.size() - 8));
    const std::vector<float> ones(4, 1);
    const std::vector<std::int64_t> shape{1, 2, 2};
    const std::span<const float> values(ones);
    deviate::tool::write_safetensors(*this / "qk.safetensors", {{{"q", shape, values}, {"k", shape, values}}});
    const std::string tensors = bytes_of(*this / "qk.safetensors");
    put(*this / "short.safetensors", tensors.substr(0, tensors.size() - 1));
    put(*this / "huge.safetensors", std::string("\xff\xff\xff\xff\xff\xff\xff\x0f{}", 10));
    put(*this / "empty.npy", "");
  }
};

words qkv(const std::string& q, const std::string& k, const std::string& v) {
  return {"--q", q + ".npy", "--k", k + ".npy", "--v", v + ".npy"};
}
words after(const std::string& command, const words& rest) {
  words all{command};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

TEST_CASE("refusals: commands and options") {
  expect_refusal({"nonsense"}, "unknown command 'nonsense'");
  expect_refusal({"stduy"}, "did you mean study?");
  expect_refusal({""}, "unknown command ''");
  expect_refusal({"--random", "normal"}, "'--random'");
  expect_refusal({"study", "--fromats", "bf16"}, "unknown option '--fromats'; did you mean --formats?");
  expect_refusal({"study", "-x"}, "unknown option '-x'");
  expect_refusal({"study", "extra"}, "'extra' is not an option");
  expect_refusal({"study", "--formats"}, "--formats has no value");
  expect_refusal({"study", "--formats="}, "--formats has no value");
  expect_refusal({"study", "--out", "--quiet"}, "--out has no value: --quiet follows it");
  expect_refusal({"study", "--scale", "1", "--scale", "2"}, "--scale is given 2 times");
  expect_refusal({"study", "a\nb\x1b[31m"}, "'a\\x0ab\\x1b[31m'");
  expect_refusal({"formats", "bf16"}, "'bf16' is not an option");
  expect_refusal({"help", "me"}, "unknown command 'me'");
}

TEST_CASE("refusals: values of options") {
  expect_refusal({"study", "--formats", "bf17"}, "did you mean bf16?");
  expect_refusal({"study", "--formats", "bf16,,fp16"}, "an item of the list is empty");
  expect_refusal({"study", "--formats", "e1m3"}, "X = 2 to 11 exponent bits and Y = 1 to 25 fraction bits");
  expect_refusal({"study", "--formats", "e8m26"}, "X = 2 to 11 exponent bits and Y = 1 to 25 fraction bits");
  expect_refusal({"study", "--formats", "e8m"}, "unknown format 'e8m'");
  expect_refusal({"study", "--recipes", "flash1"}, "did you mean flash1_all?");
  expect_refusal({"study", "--golden", "round"}, "did you mean rounded?");
  expect_refusal({"study", "--random", "gauss"}, "There are uniform, normal and outliers");
  for (const char* option : {"--n", "--tile-query", "--tile-key"})
    for (const char* value : {"0", "-1", "1.5", "1e3", "x", " 1", "99999999999999999999", "16,0"})
      expect_refusal({"study", "--random", "normal", option, value}, option);
  expect_refusal({"study", "--random", "normal", "--tile-key", "1048577"}, "from 1 to 1048576");
  for (const char* option : {"--d", "--heads"})
    for (const char* value : {"0", "-1", "4,4"}) expect_refusal({"study", "--random", "normal", option, value}, option);
  expect_refusal({"study", "--random", "normal", "--seed", "-1"}, "--seed");
  expect_refusal({"study", "--random", "normal", "--workers", "-1"}, "--workers");
  for (const char* value : {"nan", "inf", "-inf", "1e999", "1x", "", " 1"})
    expect_refusal({"study", "--scale", value}, "--scale");
  for (const char* value : {"1", "1,2,3", "a,b", "-2,0", "1,", ","})
    expect_refusal({"study", "--random", "normal", "--window", value}, "--window");
  expect_refusal({"study", "--random", "normal", "--causal", "--alignment", "bottom"}, "did you mean bottom_right?");
  expect_refusal({"study", "--random", "normal", "--n", "2000000000", "--d", "2000000000", "--heads", "2000000000"},
                 "exceed this machine's memory");
}

TEST_CASE("refusals: options that exclude or need each other") {
  const inputs files;
  expect_refusal({"study", "--random", "normal", "--input", "qk.safetensors"}, "exclude each other", files / "");
  expect_refusal(after("study", {"--input", "qk.safetensors", "--q", "a.npy"}), "exclude each other", files / "");
  expect_refusal({"study", "--q", "a.npy", "--v", "a.npy"}, "--k is missing", files / "");
  expect_refusal({"study", "--n", "64"}, "--n belongs to --random");
  expect_refusal({"study", "--input", "qk.safetensors", "--n", "1"}, "--n belongs to --random", files / "");
  expect_refusal({"study", "--input", "qk.safetensors", "--dtype", "bf16"}, "--dtype belongs to .npy", files / "");
  expect_refusal({"study", "--causal"}, "--causal needs inputs");
  expect_refusal({"study", "--random", "normal", "--causal", "--window", "1,0"}, "exclude each other");
  expect_refusal({"study", "--random", "normal", "--alignment", "top_left"}, "--alignment belongs to");
  expect_refusal(after("run", qkv("a", "a", "a")), "needs --out", files / "");
  expect_refusal({"run", "--out", "o.npy"}, "run needs inputs", files / "");
  expect_refusal({"run", "--out", "-", "--input", "qk.safetensors"}, "need file names", files / "");
}

TEST_CASE("refusals: files, with nothing left behind") {
  const inputs files;
  const std::size_t before = files.names().size();
  const auto expect = [&](const words& from, const std::string& part) {
    expect_refusal(after("study", after("--json", after("s.json", from))), part, files / "");
    expect_refusal(after("study", after("--out", after("r", from))), part, files / "");
    expect_refusal(after("run", after("--out", after("o.npy", from))), part, files / "");
    CHECK(files.names().size() == before);
  };
  expect({"--input", "absent.safetensors"}, "absent.safetensors");
  expect({"--input", "."}, ".");
  expect({"--input", "a.npy"}, "a.npy");
  expect({"--input", "short.safetensors"}, "short.safetensors");
  expect({"--input", "huge.safetensors"}, "huge.safetensors");
  expect({"--input", "qk.safetensors"}, "'v'");
  expect(qkv("absent", "a", "a"), "absent.npy: does not exist");
  expect(qkv("short", "short", "short"), "short.npy");
  expect(qkv("empty", "a", "a"), "empty.npy");
  expect(qkv("raw", "a", "a"), "--dtype");
  expect(qkv("flat", "flat", "flat"), "[heads, n, d] or [batch, heads, n, d] is needed");
  expect(qkv("no_rows", "no_rows", "no_rows"), "every size must be 1 or more");
  expect(qkv("a", "no_rows", "no_rows"), "every size must be 1 or more");
  expect(qkv("three_heads", "two_heads", "two_heads"), "multiple of the number of key heads");
  expect(qkv("two_heads", "two_heads", "a"), "same number of heads");
  expect(qkv("wide", "a", "a"), "same head dimension");
  expect(qkv("a", "a", "long"), "same number of rows");
  expect(qkv("two_batches", "a", "a"), "batch");
}

TEST_CASE("refusals: NaN and infinities, with their place, unless nothing sees them or they are allowed") {
  const inputs files;
  const auto run = [&](const words& from, const words& more) {
    return after("run", after("--out", after("o.npy", [&] {
                                words all = from;
                                all.insert(all.end(), more.begin(), more.end());
                                return all;
                              }())));
  };
  expect_refusal(run(qkv("nan", "a", "a"), {}), "q holds NaN at [batch 0, head 0, row 1, column 0]", files / "");
  expect_refusal(run(qkv("a", "nan", "a"), {}), "k holds NaN at [batch 0, head 0, row 1, column 0]", files / "");
  expect_refusal(run(qkv("a", "a", "infinite"), {}),
                 "v holds -infinity at [batch 0, head 0, row 0, column 1], the first of 2", files / "");
  expect_refusal(run(qkv("a", "a", "nan"), {}), "--allow-nan", files / "");
  expect_refusal(run(qkv("a", "a", "nan"), {"--causal"}), "v holds NaN", files / "");
  CHECK(!std::filesystem::exists(files / "o.npy"));

  // Top-left with one key to either side: no query sees a third key, so its row may hold anything.
  put_npy(files / "q1.npy", {1, 1, 2}, {1, 2});
  put_npy(files / "k3.npy", {1, 3, 2}, {1, 2, 3, 4, nan, infinity});
  const words hidden = run(qkv("q1", "k3", "k3"), {"--window", "1,1", "--alignment", "top_left"});
  CHECK(outcome_in(files / "", hidden).status == 0);
  const auto output = deviate::tool::read_npy(files / "o.npy").as_double();
  REQUIRE(output.size() == 2);
  CHECK(std::isfinite(output[0]));
  CHECK(output[1] < 4.01);
  CHECK(outcome_in(files / "", run(qkv("a", "a", "nan"), {"--allow-nan"})).status == 0);
}

TEST_CASE("refusals: places that cannot be written to, before the work begins") {
  const scratch_directory scratch;
  put(scratch / "file", "x");
  std::filesystem::create_directory(scratch / "folder");
  const words work{"study", "--random", "normal", "--n", "20000", "--heads", "64"};  // minutes, if it began
  const auto refused = [&](const words& more, const std::string& part) {
    words all = work;
    all.insert(all.end(), more.begin(), more.end());
    expect_refusal(all, part, scratch / "");
  };
  refused({"--json", "absent/s.json"}, "absent/s.json");
  refused({"--json", "folder"}, "folder");
  refused({"--json", "folder/"}, "folder/");
  refused({"--json", "file/s.json"}, "file");
  refused({"--json", ""}, "name");
  refused({"--out", "file"}, "file");
  refused({"--out", "file/r"}, "file");
  if (geteuid() != 0) {  // root may write everywhere
    std::filesystem::permissions(scratch / "folder",
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    refused({"--json", "folder/s.json"}, "folder");
    refused({"--out", "folder"}, "folder");
    refused({"--out", "folder/r"}, "folder");
    std::filesystem::permissions(scratch / "folder", std::filesystem::perms::owner_all);
  }
  CHECK(scratch.names().size() == 2);
  // A place that looks fine until it is written to.
  expect_refusal({"study", "--random", "normal", "--n", "4", "--quiet", "--json", "/proc/s.json"}, "/proc/s.json");
}

}  // namespace
