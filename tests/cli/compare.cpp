// SPDX-License-Identifier: Apache-2.0
// `deviate compare`: exit statuses, metrics, tolerances, and NaN that nothing hides.
#include <limits>

#include "cli/tool.hpp"
#include "deviate/io/safetensors.hpp"

namespace {

using namespace cli_test;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

struct pair : scratch_directory {
  pair(const std::vector<float>& a, const std::vector<float>& b) {
    const std::vector<std::int64_t> shape{1, static_cast<std::int64_t>(a.size()) / 2, 2};
    put_npy(*this / "a.npy", shape, a);
    put_npy(*this / "b.npy", shape, b);
  }
  outcome compare(const words& more) const {
    words all{"compare", "a.npy", "b.npy"};
    all.insert(all.end(), more.begin(), more.end());
    return outcome_in(*this / "", all);
  }
  nlohmann::json json(words more = {}) const {
    more.insert(more.end(), {"--json", "-"});
    return nlohmann::json::parse(compare(more).out);
  }
};

TEST_CASE("compare: exit status 0 within a tolerance, 1 beyond it, with the number of elements and the worst place") {
  const pair files({1, 2, 3, 4}, {1, 2.05F, 3, 4.5F});
  CHECK(files.compare({}).status == 0);
  CHECK(files.compare({"--atol", "0.5"}).status == 0);
  CHECK(files.compare({"--rtol", "0.12"}).status == 0);
  CHECK(outcome_in(files / "", {"compare", "a.npy", "a.npy", "--atol", "0", "--rtol", "0"}).status == 0);
  const outcome beyond = files.compare({"--atol", "0.01", "--rtol", "0"});
  CHECK(beyond.status == 1);
  CHECK(beyond.err.starts_with("deviate: 2 of 4 elements exceed"));
  CHECK(contains(beyond.err, "at [batch 0, head 0, row 1, column 1]: A = 4, B = 4.5"));
  CHECK(beyond.err.find('\n') == beyond.err.size() - 1);
  CHECK(files.compare({"--atol", "0.1", "--json", "-"}).status == 1);
}

TEST_CASE("compare: the worst place is where the tolerance is exceeded most, not where the difference is largest") {
  const pair files({1, 2, 3, 1000}, {1.5F, 2, 3, 1001});
  CHECK(contains(files.compare({"--rtol", "0.01"}).err, "row 0, column 0"));
}

TEST_CASE("compare: metrics") {
  const auto result = pair({1, 2, 3, 5}, {1, 2, 3, 4}).json({"--format", "bf16", "--atol", "2"});
  const auto& whole = result.at("whole");
  CHECK(whole.at("max_abs") == 1);
  CHECK(whole.at("mean_abs") == 0.25);
  CHECK(whole.at("rmse") == 0.5);
  CHECK(whole.at("relative_l1") == 0.1);
  CHECK(whole.at("bias") == 0.25);
  CHECK(whole.at("max_ulp") == 32);  // an ulp of bf16 at 4 is 2^-5
  CHECK(whole.at("wasserstein_1") == 0.25);
  CHECK(whole.at("identical_share") == 0.75);
  CHECK(whole.at("worst").at("row") == 1);
  CHECK(result.at("heads").size() == 1);
  CHECK(result.at("tolerance").at("passed") == true);
}

TEST_CASE("compare: the recommended tolerance is never below half an ulp of the largest output") {
  const auto recommended = pair({30, 1}, {30, 1}).json({"--format", "bf16"}).at("recommended");
  CHECK(recommended.at("atol") == 0.0625);
  CHECK(recommended.at("rtol") == 0x1p-8);
  CHECK(contains(recommended.at("because").get<std::string>(), "max|O| = 30"));
  CHECK(pair({30, 1}, {30, 1}).json({"--format", "fp16"}).at("recommended").at("rtol") == 0x1p-11);
  CHECK(contains(pair({30, 1}, {30, 1}).compare({"--format", "bf16"}).out, "atol 0.0625, rtol 0.00390625"));
}

TEST_CASE("compare: no NaN or infinity hides") {
  const auto one_sided = pair({1, nan, 2, 3}, {1, 2, 2, 3}).json();
  CHECK(one_sided.at("whole").at("max_abs") == "nan");
  CHECK(one_sided.at("whole").at("nan_in_a") == 1);
  const pair reference_nan({1, 2, 2, 3}, {1, nan, 2, 3});
  CHECK(reference_nan.json().at("whole").at("nan_in_b") == 1);
  CHECK(contains(reference_nan.compare({}).out, "the reference is at fault"));
  const outcome failed = reference_nan.compare({"--atol", "100"});
  CHECK(failed.status == 1);
  CHECK(contains(failed.err, "row 0, column 1"));

  const pair both({1, nan, 2, 3}, {1, nan, 2, 3});
  CHECK(both.compare({"--atol", "0"}).status == 1);
  CHECK(both.compare({"--atol", "0", "--equal-nan"}).status == 0);
  CHECK(both.json({"--equal-nan"}).at("whole").at("max_abs") == 0);

  CHECK(pair({1, infinity}, {1, infinity}).compare({"--atol", "0"}).status == 0);
  CHECK(pair({1, infinity}, {1, -infinity}).compare({"--rtol", "1000"}).status == 1);
  const outcome infinite = pair({infinity, nan}, {1, 1}).compare({"--atol", "1"});
  CHECK(contains(infinite.err, "2 of 2 elements"));
  CHECK(contains(infinite.err, "A = nan"));
}

TEST_CASE("compare: heads, safetensors, and raw types") {
  const scratch_directory files;
  const std::vector<float> a(16, 1), b{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2};
  put_npy(files / "a.npy", {2, 2, 4}, a);
  const std::vector<std::int64_t> shape{2, 2, 4};
  deviate::tool::write_safetensors(files / "b.safetensors", {{{"o", shape, std::span<const float>(b)},
                                                              {"other", shape, std::span<const float>(a)}}});
  const auto compare = [&](const words& more) {
    words all{"compare", "a.npy", "b.safetensors"};
    all.insert(all.end(), more.begin(), more.end());
    return outcome_in(files / "", all);
  };
  CHECK(compare({"--atol", "0", "--tensor", "other"}).status == 0);
  const auto heads = nlohmann::json::parse(compare({"--tensor", "o", "--json", "-"}).out).at("heads");
  REQUIRE(heads.size() == 2);
  CHECK(heads.at(0).at("max_abs") == 0);
  CHECK(heads.at(1).at("max_abs") == 1);
  expect_refusal({"compare", "a.npy", "b.safetensors"}, "name one with --tensor: o, other", files / "");
  expect_refusal({"compare", "a.npy", "b.safetensors", "--tensor", "x"}, "x", files / "");

  // 0, 1, 2, 3 as bf16, which .npy has no name for.
  std::string raw = bytes_of(files / "a.npy").substr(0, 128);
  raw.replace(raw.find("<f4"), 3, "<V2");
  raw.replace(raw.find("(2, 2, 4)"), 9, "(2, 2)   ");
  put(files / "raw.npy", raw + std::string("\0\0\x80\x3f\0\x40\x40\x40", 8));
  put_npy(files / "four.npy", {2, 2}, {0, 1, 2, 3});
  expect_refusal({"compare", "raw.npy", "four.npy"}, "--dtype", files / "");
  CHECK(outcome_in(files / "", {"compare", "raw.npy", "four.npy", "--dtype", "bf16", "--atol", "0"}).status == 0);
}

// One head of one query and one key, whose output is V.
struct one_key : scratch_directory {
  explicit one_key(const std::vector<float>& a) {
    const std::vector<std::int64_t> shape{1, 1, 2};
    put_npy(*this / "q.npy", shape, {1, 2});
    put_npy(*this / "k.npy", shape, {3, -1});
    put_npy(*this / "v.npy", shape, {1.5F, -0.5F});
    put_npy(*this / "a.npy", shape, a);
    put_npy(*this / "b.npy", shape, {1.5F, -0.5F});
  }
  outcome compare(const words& more) const {
    words all{"compare", "a.npy", "b.npy", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy"};
    all.insert(all.end(), more.begin(), more.end());
    return outcome_in(*this / "", all);
  }
};

TEST_CASE("compare: with the inputs, the first line advises on the tolerance") {
  // The baseline is exact, and O moves with V by one ulp of 2^-7 at 1.5; 2^-7 + 2^-8 · 0.5 is allowed at −0.5.
  const outcome near = one_key({1.5F, -0.507F}).compare({"--format", "bf16"});
  CHECK(near.status == 0);
  CHECK(near.out.starts_with(
      "use atol=0.00782, rtol=0.00390625, because the change by one ulp of every input is 0.00782, while 2 times the "
      "baseline's largest error is 0 and half an output ulp at max|O| = 1.5 is 0.00391; 0 % of the elements fail it "
      "(0 of 2)\n"));
  CHECK(contains(near.out, "\nDifferences, in the unit of the values\n"));

  const one_key far({1.5F, -0.52F});
  CHECK(far.compare({"--format", "bf16"}).status == 0);  // advice alone fails nothing
  const outcome told = far.compare({"--format", "bf16", "--json", "-"});
  const auto advice = nlohmann::json::parse(told.out).at("advice");
  CHECK(advice.at("atol") == 0.00782);
  CHECK(advice.at("rtol") == 0x1p-8);
  CHECK(advice.at("decided_by") == "perturbation");
  CHECK(advice.at("floor") == 0x1p-8);
  CHECK(advice.at("baseline") == 0);
  CHECK(advice.at("perturbation") == 0x1p-7);
  CHECK(advice.at("compared") == 2);
  CHECK(advice.at("a_against_golden").at("failing") == 1);
  CHECK(advice.at("a_against_b").at("failing") == 1);
  CHECK(advice.at("b_against_golden").at("failing") == 0);
  CHECK(advice.at("rounded_golden_failing") == 0);
  CHECK(advice.at("two_baselines_passed") == false);
  CHECK(contains(advice.at("line").get<std::string>(), "; 50 % of the elements fail it (1 of 2)"));

  // Without draws the floor is left.
  const outcome floor = far.compare({"--format", "bf16", "--draws", "0"});
  CHECK(floor.out.starts_with("use atol=0.00391, rtol=0.00390625, because half an output ulp at max|O| = 1.5"));
  CHECK(!nlohmann::json::parse(pair({1, 2}, {1, 2}).compare({"--json", "-"}).out).contains("advice"));
}

TEST_CASE("compare: a kernel that forgot the mask fails the advice, one that did not passes") {
  const scratch_directory files;
  const std::string layer = DEVIATE_DATA_DIRECTORY "/smollm2_layer00.safetensors";
  const auto run = [&](words more, const std::string& out) {
    words all{"run", "--format", "bf16", "--input", layer, "--quiet", "--out", out};
    all.insert(all.end(), more.begin(), more.end());
    REQUIRE(outcome_in(files / "", all).status == 0);
  };
  run({"--causal"}, "right.npy");
  run({}, "wrong.npy");
  const auto share = [&](const std::string& a) {
    const outcome done = outcome_in(files / "", {"compare", a, "right.npy", "--format", "bf16", "--input", layer,
                                                 "--causal", "--draws", "1", "--json", "-"});
    return nlohmann::json::parse(done.out).at("advice").at("a_against_golden").at("failing_share").get<double>();
  };
  CHECK(share("right.npy") == 0);
  CHECK(share("wrong.npy") > 0.1);
}

TEST_CASE("compare: refusals of advice") {
  const one_key files({1.5F, -0.5F});
  const words inputs{"compare", "a.npy", "b.npy", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy"};
  const auto refused = [&](const words& more, const std::string& part) {
    words all = inputs;
    all.insert(all.end(), more.begin(), more.end());
    expect_refusal(all, part, files / "");
  };
  refused({"--input", "x.safetensors"}, "exclude each other");
  refused({"--format", "bf16", "--input-format", "fp16"}, "--input-format fp16 has numbers that bf16");
  refused({"--factor", "-1"}, "--factor");
  refused({"--draws", "-1"}, "--draws");
  refused({"--window", "1"}, "--window");
  expect_refusal({"compare", "a.npy", "b.npy", "--causal"}, "--causal belongs to the inputs of A", files / "");
  expect_refusal({"compare", "a.npy", "b.npy", "--q", "q.npy"}, "--k is missing", files / "");
  put_npy(files / "v.npy", {1, 1, 3}, {1, 2, 3});
  expect_refusal(inputs, "A has shape [1, 1, 2], but the output of these inputs is [1, 1, 1, 3]", files / "");
}

TEST_CASE("compare: refusals") {
  const pair files({1, 2, 3, 4}, {1, 2, 3, 4});
  put_npy(files / "long.npy", {1, 3, 2}, std::vector<float>(6, 1));
  put_npy(files / "none.npy", {0, 2}, {});
  expect_refusal({"compare", "a.npy"}, "takes two files", files / "");
  expect_refusal({"compare", "a.npy", "b.npy", "c.npy"}, "takes two files", files / "");
  expect_refusal({"compare", "a.npy", "long.npy"}, "[1, 3, 2]", files / "");
  expect_refusal({"compare", "none.npy", "none.npy"}, "nothing to compare", files / "");
  expect_refusal({"compare", "a.npy", "absent.npy"}, "absent.npy", files / "");
  expect_refusal({"compare", "a.npy", "b.npy", "--format", "bf17"}, "did you mean bf16?", files / "");
  for (const char* value : {"-1", "nan", "inf", "x", ""}) {
    expect_refusal({"compare", "a.npy", "b.npy", "--atol", value}, "--atol", files / "");
    expect_refusal({"compare", "a.npy", "b.npy", "--rtol", value}, "--rtol", files / "");
  }
}

}  // namespace
