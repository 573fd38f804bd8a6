// SPDX-License-Identifier: Apache-2.0
// `deviate attribute`: failures that people met, each diagnosed in the first line; the shape of its JSON; the reproducer.
#include <cmath>
#include <deviate/number/named.hpp>
#include <deviate/number/rounding.hpp>

#include "cli/tool.hpp"
#include "deviate/io/safetensors.hpp"

namespace {

using namespace cli_test;
namespace dv = deviate;

// One query, keys with given scores (up to 2^-24 of them, whatever the format rounds inputs to) and one column of V.
struct scored : scratch_directory {
  scored(const std::vector<double>& scores, const std::vector<double>& values) {
    constexpr std::size_t parts = 4;
    std::vector<float> q(parts, 1), k, v(values.begin(), values.end());
    for (double s : scores)
      for (std::size_t i = 0; i < parts; ++i) {
        const double part = dv::round_to(s, dv::rounding_constants<double>(dv::format{5, 7}));
        k.push_back(float(part));
        s -= part;
      }
    const auto n = static_cast<std::int64_t>(values.size());
    put_npy(*this / "q.npy", {1, 1, 1, 4}, q);
    put_npy(*this / "k.npy", {1, 1, n, 4}, k);
    put_npy(*this / "v.npy", {1, 1, n, 1}, v);
  }
  words with(const words& more) const {
    words all{"attribute", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--scale", "1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string first_line(const words& more) const {
    const outcome done = outcome_in(*this / "", with(more));
    INFO(text_of(with(more)), " says ", done.err);
    CHECK(done.status == 0);
    return done.out.substr(0, done.out.find('\n'));
  }
  nlohmann::json json(words more) const {
    more.insert(more.end(), {"--json", "-"});
    const outcome done = outcome_in(*this / "", with(more));
    INFO(done.err);
    CHECK(done.status == 0);
    return nlohmann::json::parse(done.out);
  }
};

std::vector<double> repeated(double x, std::size_t n) { return std::vector<double>(n, x); }

double share_of(const nlohmann::json& result, const std::string& group) {
  for (const auto& g : result.at("groups"))
    if (g.at("name") == group) return g.at("shapley_mse").get<double>();
  return std::nan("");
}

TEST_CASE("attribute: P rounded for P·V but not for l: V of ones does not come out as one") {
  std::vector<double> scores = repeated(std::log(1 - 0x1p-9), 1025);
  scores[0] = 0;
  const scored up(scores, repeated(1, 1025));
  const words low{"--low", "probability_operand"};
  CHECK(up.first_line(low).starts_with("probability carries "));
  const auto result = up.json(low);
  CHECK(result.at("total").at("bias") == doctest::Approx(1.0019550 - 1).epsilon(1e-4));
  CHECK(result.at("verdict") == up.first_line(low));
  std::fill(scores.begin() + 1, scores.end(), std::log(0.997802734375));
  CHECK(scored(scores, repeated(1, 1025)).json(low).at("total").at("bias") ==
        doctest::Approx(0.9982889 - 1).epsilon(1e-4));
}

TEST_CASE("attribute: a repeated maximum and an output state in BF16: biased sums") {
  const scored files({0, 0, -10}, {-2.40625, -2.296875, -2});
  const words low{"--low", "output_state"};
  CHECK(files.first_line(low).starts_with("output_state carries "));
  CHECK(files.json(low).at("total").at("bias") == doctest::Approx(-0.0077669).epsilon(1e-4));
}

TEST_CASE("attribute: an FP16 output state overflows, a BF16 one stalls") {
  const scored files(repeated(0, 40000), repeated(2, 40000));
  const std::string line = files.first_line({"--low", "output_state", "--format", "fp16", "--no-first-order"});
  CHECK(line.starts_with("output_state makes the output NaN or infinite, alone: 1 of 1 elements"));
  CHECK(contains(line, "fp16 ends at 65504"));
  const auto stalled = files.json({"--low", "output_state", "--no-first-order"});
  CHECK(stalled.at("total").at("bias") == doctest::Approx(0.8192 - 2).epsilon(1e-4));
  CHECK(share_of(stalled, "output_state") == doctest::Approx(1).epsilon(1e-6));
}

TEST_CASE("attribute: Q·K overflows in FP16 unless it is summed in FP32") {
  const scratch_directory files;
  const auto put_case = [&](float x) {
    put_npy(files / "q.npy", {1, 1, 1, 64}, std::vector<float>(64, x));
    put_npy(files / "k.npy", {1, 1, 1, 64}, std::vector<float>(64, x));
    put_npy(files / "v.npy", {1, 1, 1, 1}, {3});
  };
  const words command{"attribute", "--q",      "q.npy", "--k",      "k.npy",  "--v",
                      "v.npy",     "--format", "fp16",  "--recipe", "uniform"};
  put_case(32);
  const outcome beyond = outcome_in(files / "", command);
  CHECK(beyond.out.starts_with("matrix_sums makes the output NaN or infinite, alone: 1 of 1 elements"));
  put_case(31);
  CHECK(outcome_in(files / "", command).out.starts_with("No group is to blame"));
}

TEST_CASE("attribute: scores stored in BF16") {
  const scored files({58.12, 58.13}, {1, 0});
  CHECK(files.first_line({}).starts_with("score carries "));
  const auto low = files.json({"--low", "score"});
  CHECK(low.at("total").at("bias") == doctest::Approx(0.43782 - 0.49750).epsilon(1e-3));
  CHECK(share_of(low, "score") == doctest::Approx(1).epsilon(1e-6));
  CHECK(share_of(files.json({}), "score") > 0.8);
}

TEST_CASE("attribute: a row sum in BF16, one key at a time, stalls at 256; blocks of 64 do not") {
  const scored files(repeated(0, 512), repeated(1, 512));
  const auto one = files.json({"--low", "row_sum", "--tile-key", "1"});
  CHECK(one.at("verdict").get<std::string>().starts_with("row_sum carries "));
  CHECK(one.at("total").at("bias") == 1);  // O = 512 / 256
  CHECK(files.json({"--low", "row_sum"}).at("total").at("mse") == 0);
}

TEST_CASE("attribute: an approximate exp, and one with a floor") {
  const scored files({0, -0.5, -0.25}, {0, 1, 0});
  const words line{"--format", "fp32", "--exp", "exp2_degree1"};
  CHECK(files.first_line(line).starts_with("probability carries "));
  CHECK(files.json(line).at("total").at("max_abs") > 1e-3);
  // Controls: equal scores give the exact mean, whatever the exp is.
  CHECK(scored({1, 1, 1, 1}, {0, 4, 0, 4}).json(line).at("total").at("max_abs") < 1e-6);
  std::vector<double> scores = repeated(-10000, 4096), values = repeated(1, 4096);
  scores[0] = values[0] = 0;
  const auto floor = scored(scores, values).json({"--format", "fp32", "--exp", "floor24"});
  CHECK(floor.at("verdict").get<std::string>().starts_with("probability carries "));
  CHECK(floor.at("total").at("bias") == doctest::Approx(2.4402e-4).epsilon(1e-4));
}

TEST_CASE("attribute: the mode in which P is rounded decides the bias") {
  std::vector<double> scores = repeated(std::log(0.9999), 1025);
  scores[0] = 0;
  const scored files(scores, repeated(1, 1025));
  const auto bias = [&](const std::string& mode) {
    const auto result = files.json({"--low", "probability_operand", "--mode", mode});
    CHECK(share_of(result, "probability") == doctest::Approx(1).epsilon(1e-3));
    return result.at("total").at("bias").get<double>();
  };
  CHECK(bias("toward_zero") == doctest::Approx(-3.8e-3).epsilon(0.01));
  CHECK(bias("nearest_even") == doctest::Approx(1e-4).epsilon(0.01));
}

TEST_CASE("attribute: JSON has every field, shares and residual sum to one") {
  const auto result = json_of({"attribute", "--random", "normal", "--n", "128", "--tile-key", "16", "--threshold", "2",
                               "--rows", "16", "--json", "-"});
  double sum = result.at("residual");
  for (const auto& g : result.at("groups")) {
    sum += g.at("shapley_mse").get<double>();
    for (const char* field : {"shapley_bias", "demote_relative_l2", "promote_relative_l2", "first_order_mse"})
      CHECK(g.at(field).is_number());
    CHECK(g.at("sites").size() >= 1);
  }
  CHECK(std::fabs(sum - 1) < 1e-12);
  CHECK(result.at("groups").size() == 8);
  CHECK(result.at("interactions").size() == 28);
  for (const char* part : {"rescaling", "tiling", "lazy_rescaling"})
    CHECK(result.at("removed").at(part).at("relative_l2").is_number());
  for (const char* field : {"mse", "relative_l2", "bias"}) CHECK(result.at("total").at(field).is_number());
  CHECK(result.at("differs_from_own_run") == 0);
  CHECK(result.at("rows").size() == 16);
}

TEST_CASE("attribute: the reproducer has the same worst error, causal or not") {
  const scratch_directory files;
  for (const words& mask : {words{}, words{"--causal"}, words{"--window", "20,0"}}) {
    words command{"attribute", "--random", "normal",       "--n",
                  "96",        "--d",      "16",           "--tile-key",
                  "8",         "--rows",   "96",           "--no-first-order",
                  "--json",    "all.json", "--dump-worst", "worst.safetensors"};
    command.insert(command.end(), mask.begin(), mask.end());
    const outcome done = outcome_in(files / "", command);
    REQUIRE(done.status == 0);
    const std::size_t at = done.out.find("The worst row alone: deviate ");
    REQUIRE(at != std::string::npos);
    words again;
    std::istringstream rest(done.out.substr(at + std::string("The worst row alone: deviate ").size()));
    for (std::string word; rest >> word;) again.push_back(word);
    again.insert(again.end(), {"--no-first-order", "--json", "one.json"});
    REQUIRE(outcome_in(files / "", again).status == 0);
    const auto all = nlohmann::json::parse(bytes_of(files / "all.json")),
               one = nlohmann::json::parse(bytes_of(files / "one.json"));
    CHECK(all.at("worst").at("rms") == one.at("worst").at("rms"));
  }
}

TEST_CASE("attribute: groups of one's own, a search, a folder with a page and three pictures") {
  const scratch_directory files;
  const outcome done =
      outcome_in(files / "", {"attribute", "--random", "normal", "--n", "128", "--groups",
                              "state=row_sum+output_state+value_partial+row_sum_partial,scores=score,probability",
                              "--tolerance", "0.004", "--metric", "relative_l2", "--out", "blame", "--tile-key", "16"});
  CHECK(done.status == 0);
  CHECK(done.out.starts_with("state carries "));
  CHECK(contains(done.out, "Search: to meet relative_l2 <= 0.004 raise state"));
  for (const char* name : {"attribution.html", "attribution.json", "shares.svg", "interactions.svg", "position.svg"})
    CHECK(std::filesystem::exists(files / "blame" / name));
}

TEST_CASE("attribute: what cannot be is refused in one line") {
  const auto refused = [](const words& more, const std::string& part) {
    words all{"attribute", "--random", "normal", "--n", "16"};
    all.insert(all.end(), more.begin(), more.end());
    expect_refusal(all, part);
  };
  expect_refusal({"attribute"}, "needs inputs");
  refused({"--groups", "a=scores"}, "did you mean score");
  refused({"--groups", "a=score,b=score"}, "is in another group");
  refused({"--groups", "a=input"}, "unknown site 'input'");
  refused({"--low", "row_summ"}, "did you mean row_sum");
  refused({"--mode", "stochastic"}, "stochastic");
  refused({"--format", "fp64"}, "too near to FP64");
  refused({"--exp", "exp2_fma", "--recipe", "baseline"}, "needs --recipe flash2_all");
  refused({"--recipe", "flash1_all", "--threshold", "1"}, "--threshold");
  refused({"--tolerance", "-1"}, "--tolerance");
}

}  // namespace
