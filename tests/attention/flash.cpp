// SPDX-License-Identifier: Apache-2.0
// What narrow numbers at one site or another do to attention: public reports, reduced to numbers.
#include <deviate/attention/flash.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <deviate/number/named.hpp>
#include <string>
#include <vector>

#include "attention/every_forward.hpp"

using namespace attention_test;
using dv::at;
using dv::bf16;
using dv::fp16;
using dv::recipe;
using dv::site;
using dv::summed;
using dv::accumulate::sequential;

namespace {

// The plain text of the algorithm: no fragments, which tests/bits shows to change nothing.
const dv::one_by_one<dv::plain_tile> one;

// One query, d = 1, q = 1, scale 1: the keys are the scores.
template <class Recipe>
auto weighted(const Recipe& r, const std::vector<double>& scores, const std::vector<double>& values,
              const dv::schedule& plan = {.tile_key = 1 << 20}) {
  return dv::flash_forward(r, column<double>({1}), column(scores), column(values), {.scale = 1}, plan, one);
}
template <class Recipe>
double output_of(const Recipe& r, const std::vector<double>& scores, const std::vector<double>& values,
                 const dv::schedule& plan = {.tile_key = 1 << 20}) {
  return weighted(r, scores, values, plan).output.values()[0];
}
// Set-up Z: n keys of score 0 and of one value.
template <class Recipe>
double mean_of(const Recipe& r, std::size_t n, double value, std::int64_t tile_key) {
  return output_of(r, std::vector<double>(n, 0), std::vector<double>(n, value), {.tile_key = tile_key});
}

}  // namespace

TEST_CASE("case 1: with one key P is 1 and O is V, for any finite score") {
  const auto check = [](auto r, const char* name, double x) {
    const std::vector<double> row(64, x);
    const auto t = matrix<double>(1, 64, row);
    CAPTURE(std::string(name));
    CAPTURE(x);
    const auto flash = dv::flash_forward(r, t, t, t, {.scale = 0.125}, {}, one);
    const auto baseline = dv::baseline_forward(r, t, t, t, {.scale = 0.125}, one);
    for (std::size_t c = 0; c < 64; ++c) {
      CHECK(double(flash.output.values()[c]) == x);
      CHECK(double(baseline.output.values()[c]) == x);
    }
    CHECK(double(flash.log_sum_exp.values()[0]) == double(baseline.log_sum_exp.values()[0]));
  };
  for (const double x : {133120.0, 1000.0, 448.0, 64.0, -133120.0}) {
    check(recipe<float>{}, "FP32", x);
    check(recipe<float, at<site::probability, bf16>, at<site::probability_operand, bf16>>{}, "P in bf16", x);
    check(dv::flash2_fp32_state<bf16>{}, "FP32 state", x);
    check(dv::flash2_all<bf16>{}, "FlashAttention-2", x);
    check(dv::flash1_all<bf16>{}, "FlashAttention (1)", x);
  }
}

TEST_CASE("case 4: numerator and denominator use different P") {
  // One score 0 and 1024 scores s0, V = 1: O − 1 is the quantisation of P and nothing else.
  const auto scores = [](double s0) {
    std::vector<double> s(1025, s0);
    s[0] = 0;
    return s;
  };
  const std::vector<double> ones(1025, 1);
  const recipe<float, at<site::probability_operand, bf16>> different;
  const recipe<float, at<site::probability, bf16>> same;
  const auto up = scores(std::log(1 - 0x1p-9)), down = scores(std::log(0.997802734375));
  for (const std::int64_t tile_key : {2000, 64}) {
    const dv::schedule plan{.tile_key = tile_key};
    CHECK(output_of(different, up, ones, plan) == doctest::Approx(1.0019550).epsilon(1e-7));  // a tie, up to 1
    CHECK(output_of(different, down, ones, plan) == doctest::Approx(0.9982889).epsilon(1e-7));
    CHECK(output_of(same, up, ones, plan) == 1);
    CHECK(output_of(same, down, ones, plan) == 1);
    // The LSE comes from P before it is rounded for P·V.
    CHECK(double(weighted(different, up, ones, plan).log_sum_exp.values()[0]) ==
          doctest::Approx(std::log(1 + 1024 * (1 - 0x1p-9))).epsilon(1e-7));
    CHECK(double(weighted(same, down, ones, plan).log_sum_exp.values()[0]) ==
          doctest::Approx(std::log(1 + 1024 * 0.99609375)).epsilon(1e-7));
  }
}

TEST_CASE("case 65: rounding of P to nearest") {
  std::vector<double> scores(1025, std::log(0.9999));
  scores[0] = 0;
  const std::vector<double> ones(1025, 1);
  // Every P rounds to 1: O = 1025/(1 + 1024·0.9999), but for the FP32 sum of 1024 terms.
  CHECK(output_of(recipe<float, at<site::probability_operand, bf16>>{}, scores, ones) ==
        doctest::Approx(1025 / (1 + 1024 * 0.9999)).epsilon(2e-5));
  CHECK(1025 / (1 + 1024 * 0.9999) == doctest::Approx(1.0001).epsilon(1e-6));
}

TEST_CASE("case 65: P rounded away on ties, and truncated") {
  std::vector<double> scores(1025, std::log(0.9999));
  scores[0] = 0;
  const std::vector<double> ones(1025, 1);
  using ties_away = dv::emulated<dv::bf16_format.rounded(dv::rounding_mode::nearest_away)>;
  using truncated = dv::emulated<dv::bf16_format.rounded(dv::rounding_mode::toward_zero)>;
  CHECK(output_of(recipe<float, at<site::probability_operand, ties_away>>{}, scores, ones) ==
        output_of(recipe<float, at<site::probability_operand, bf16>>{}, scores, ones));
  // 0.9999 becomes 0.99609375: a bias of −3.8e-3.
  const double got = output_of(recipe<float, at<site::probability_operand, truncated>>{}, scores, ones);
  CHECK(got == doctest::Approx((1 + 1024 * 0.99609375) / (1 + 1024 * 0.9999)).epsilon(2e-5));
  CHECK(got - 1 == doctest::Approx(-3.8e-3).epsilon(0.01));
}

TEST_CASE("case 5: a repeated row maximum biases O held in bf16") {
  const std::vector<double> scores{0, 0, -10}, values{-2.40625, -2.296875, -2};
  const double exact = -(2.40625 + 2.296875 + 2 * std::exp(-10.0)) / (2 + std::exp(-10.0));
  CHECK(exact == doctest::Approx(-2.3515545).epsilon(1e-7));
  const double got = output_of(recipe<float, at<site::output_state, bf16>>{}, scores, values);
  CHECK(got == doctest::Approx(-2.3593214).epsilon(1e-7));
  CHECK(got - exact == doctest::Approx(-0.0077669).epsilon(1e-4));
  // The same where P·V of the tile is rounded.
  CHECK(output_of(recipe<float, at<site::value_partial, bf16>>{}, scores, values) == got);
  // A tie alone goes to even: −4.6875 ÷ 2.
  CHECK(output_of(recipe<float, at<site::output_state, bf16>>{}, {0, 0}, {-2.40625, -2.296875}) == -2.34375);
  CHECK(std::fabs(output_of(recipe<float>{}, scores, values) - exact) < 1e-6);
}

TEST_CASE("case 5: the bias over 2000 pairs of V") {
  // Two V in ±[2, 2.5): their bf16 grid is 2^-6, that of a sum of one sign 2^-5, so every second sum is a tie, which the
  // third term breaks away from zero: the mean error of the sum is −2^-7 + 2·e^-10, of O half of it.
  const auto mean_error = [](bool mixed) {
    constexpr std::int64_t pairs = 2000;
    generator g(11);
    const auto grid_value = [&] { return 2 + double(g.bits() % 32) * 0x1p-6; };
    dv::tensor<double> q({pairs, 1, 1, 1}, 1), k({pairs, 1, 3, 1}), v({pairs, 1, 3, 1});
    for (std::int64_t i = 0; i < pairs; ++i) {
      v(i, 0, 0, 0) = -grid_value();
      v(i, 0, 1, 0) = mixed ? grid_value() : -grid_value();
      v(i, 0, 2, 0) = -2;
      k(i, 0, 2, 0) = -10;
    }
    const dv::problem p{.scale = 1};
    const auto got = dv::flash_forward(recipe<float, at<site::output_state, bf16>>{}, q, k, v, p, {}, one);
    const auto exact = dv::baseline_forward(recipe<double>{}, q, k, v, p, one);
    double sum = 0;
    for (std::size_t i = 0; i < std::size_t(pairs); ++i)
      sum += double(got.output.values()[i]) - exact.output.values()[i];
    return sum / double(pairs);
  };
  CHECK(mean_error(false) == doctest::Approx((-0x1p-7 + 2 * std::exp(-10.0)) / 2).epsilon(0.1));
  CHECK(std::fabs(mean_error(true)) < 2e-4);
}

TEST_CASE("case 7: an accumulator of the output in FP16 overflows, one of few bits stalls") {
  using fp16_state = recipe<float, at<site::output_state, fp16>>;
  using bf16_state = recipe<float, at<site::output_state, bf16>>;
  // After 32768 keys of value 2 the sum is 65536.
  CHECK(mean_of(fp16_state{}, 40'000, 2, 64) == std::numeric_limits<double>::infinity());
  CHECK(mean_of(fp16_state{}, 32'000, 2, 64) == 2);
  // One key at a time it stalls at 4096, as a tile step or inside the tile.
  CHECK(mean_of(fp16_state{}, 40'000, 2, 1) == doctest::Approx(0.1024).epsilon(1e-7));
  CHECK(mean_of(recipe<float, summed<site::value_partial, sequential<fp16>>>{}, 40'000, 2, 40'000) ==
        doctest::Approx(0.1024).epsilon(1e-7));
  CHECK(mean_of(bf16_state{}, 40'000, 2, 64) == doctest::Approx(0.8192).epsilon(1e-7));
  CHECK(mean_of(recipe<float>{}, 40'000, 2, 64) == 2);
}

TEST_CASE("case 19: P·V in FP16 is safe while max|V| · l < 65504") {
  using fp16_state = recipe<float, at<site::output_state, fp16>>;
  CHECK(mean_of(fp16_state{}, 1024, 100, 64) == std::numeric_limits<double>::infinity());
  CHECK(mean_of(fp16_state{}, 640, 100, 64) == 100);  // 64000
  CHECK(mean_of(recipe<float>{}, 1024, 100, 64) == 100);
}

TEST_CASE("case 9: Q·K in FP16 overflows at 65536") {
  const auto one_key = [](auto r, double x, double scale) {
    const auto t = matrix<double>(1, 64, std::vector<double>(64, x));
    return double(dv::flash_forward(r, t, t, t, {.scale = scale}, {}, one).output.values()[0]);
  };
  using in_fp16 = recipe<float, at<site::score_product, fp16>>;  // a sum is as precise as its terms
  using stored_in_fp16 = recipe<float, at<site::score, fp16>>;
  CHECK(std::isnan(one_key(in_fp16{}, 32, 1)));
  CHECK(std::isnan(one_key(in_fp16{}, 32, 0.125)));  // too late to scale
  CHECK(std::isnan(one_key(stored_in_fp16{}, 32, 1)));
  CHECK(one_key(stored_in_fp16{}, 32, 0.125) == 32);  // scaled before it is stored
  CHECK(std::isnan(one_key(dv::uniform<fp16>{}, 32, 0.125)));
  CHECK(one_key(in_fp16{}, 31, 1) == 31);
  CHECK(one_key(dv::uniform<fp16>{}, 31, 1) == 31);
  CHECK(one_key(recipe<float>{}, 32, 1) == 32);

  // Two keys, q·k = 65536 and 0.
  const auto two_keys = [](auto r, double scale) {
    const auto q = matrix<double>(1, 64, std::vector<double>(64, 32));
    std::vector<double> keys(128, 0);
    for (std::size_t c = 0; c < 64; ++c) keys[c] = 32;
    return double(
        dv::flash_forward(r, q, matrix<double>(2, 64, keys), column<double>({3, 5}), {.scale = scale}, {}, one)
            .output.values()[0]);
  };
  CHECK(two_keys(recipe<float>{}, 1) == 3);
  CHECK(std::isnan(two_keys(in_fp16{}, 1)));
  CHECK(std::isnan(two_keys(stored_in_fp16{}, 1)));
  CHECK(two_keys(stored_in_fp16{}, 0.125) == 3);
}

TEST_CASE("case 21: a sum that FP32 holds overflows where the scaled score is FP16") {
  // 32 codes of 127; the scale 2100/127 makes 67200 of them, 2040/127 makes 65280.
  const auto score = [](auto r, double activation) {
    const auto q = matrix<double>(1, 32, std::vector<double>(32, 127));
    const auto k = matrix<double>(1, 32, std::vector<double>(32, 1));
    return double(
        dv::flash_forward(r, q, k, column<double>({1}), {.scale = activation / 127}, {}, one).log_sum_exp.values()[0]);
  };
  CHECK(std::isnan(score(recipe<float, at<site::score, fp16>>{}, 2100)));
  CHECK(score(recipe<float, at<site::score, fp16>>{}, 2040) == 65280);
  CHECK(score(recipe<float>{}, 2100) == doctest::Approx(67200).epsilon(1e-7));
}

TEST_CASE("case 11: scores rounded to bf16") {
  const std::vector<double> scores{58.12, 58.13}, values{0, 1};
  const double exact = 1 / (1 + std::exp(58.13 - 58.12));
  CHECK(exact == doctest::Approx(0.49750).epsilon(1e-5));
  const double bf16_weight = 1 - output_of(recipe<float, at<site::score, bf16>>{}, scores, values);
  CHECK(bf16_weight == doctest::Approx(1 / (1 + std::exp(0.25))).epsilon(1e-6));
  CHECK(bf16_weight == doctest::Approx(0.43782).epsilon(1e-5));
  CHECK(std::fabs(1 - output_of(recipe<float>{}, scores, values) - exact) < 1e-6);
}

TEST_CASE("case 12: a row sum in bf16 stalls at 256, one key at a time") {
  using bf16_sum = recipe<float, at<site::row_sum, bf16>>;
  using bf16_inside = recipe<float, summed<site::row_sum_partial, sequential<bf16>>>;
  CHECK(mean_of(bf16_sum{}, 512, 1, 1) == 2);
  CHECK(mean_of(bf16_inside{}, 512, 1, 512) == 2);
  CHECK(mean_of(bf16_sum{}, 256, 1, 1) == 1);
  CHECK(mean_of(bf16_inside{}, 256, 1, 256) == 1);
  // Tiles of 64 reach 512 exactly: the tile size changes the answer.
  CHECK(mean_of(bf16_sum{}, 512, 1, 64) == 1);
  CHECK(mean_of(bf16_inside{}, 512, 1, 64) == 1);
}

TEST_CASE("case 57: inputs in TF32 are 2.9e-4 off") {
  // With one key the LSE is the score. Two operands of 11 significand bits: √2 · 2.05e-4, relative L2.
  const sizes s{.batch = 1, .query_heads = 1, .key_heads = 1, .n_query = 2000, .n_key = 1, .d = 64, .d_v = 1};
  double difference = 0, size = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto in = gaussian_inputs(s, seed);
    const auto exact = dv::flash_forward(recipe<double>{}, in.q, in.k, in.v, {}, {}, one);
    const auto tf32 = dv::flash_forward(recipe<double, at<site::input, dv::tf32>>{}, in.q, in.k, in.v, {}, {}, one);
    for (std::size_t i = 0; i < exact.log_sum_exp.values().size(); ++i) {
      const double x = exact.log_sum_exp.values()[i], d = tf32.log_sum_exp.values()[i] - x;
      difference += d * d;
      size += x * x;
    }
  }
  CHECK(std::sqrt(difference / size) == doctest::Approx(2.9e-4).epsilon(0.1));
}

TEST_CASE("case 59: the scale is used once, and never stored in the format") {
  for (const double scale : {1.0, 0.5, 2.0}) {
    const auto got =
        dv::flash_forward(recipe<double>{}, column<double>({1}), column<double>({std::log(3.0) / scale, 0}),
                          column<double>({1, 0}), {.scale = scale}, {}, one);
    CHECK(got.output.values()[0] == doctest::Approx(0.75).epsilon(1e-15));
  }
  // Scores n/√128 in fp16: with one key the LSE is the score. A scale rounded to fp16 first would be 1.07e-4 low, and
  // some n would show it.
  std::vector<double> n;
  for (int i = 1; i <= 2000; ++i) n.push_back(i);
  const double scale = 1 / std::sqrt(128.0);
  CHECK(double(fp16(scale)) / scale - 1 == doctest::Approx(-1.07e-4).epsilon(0.01));
  CHECK(double(float(scale)) / scale - 1 == doctest::Approx(1.7e-8).epsilon(0.03));
  const auto got = dv::flash_forward(dv::flash2_all<fp16>{}, column(n), column<double>({1}), column<double>({1}),
                                     {.scale = scale}, {}, one);
  int shown = 0;
  for (std::size_t i = 0; i < n.size(); ++i) {
    CHECK(got.log_sum_exp.values()[i] == fp16(n[i] * double(float(scale))).carrier());
    shown += fp16(n[i] * double(fp16(scale))).carrier() != fp16(n[i] * double(float(scale))).carrier();
  }
  CHECK(shown > 100);
}

TEST_CASE("an output that is normalised at every tile equals one that is normalised once, in exact arithmetic") {
  const double ln2 = std::log(2.0);
  const std::vector<double> scores{0, 0, ln2, ln2}, values{4, 8, 16, 2};
  for (const std::int64_t tile_key : {1, 2, 4}) {
    const double want = (4 + 8 + 2 * 16 + 2 * 2) / 6.0;
    CHECK(output_of(recipe<double>{}, scores, values, {.tile_key = tile_key}) == doctest::Approx(want).epsilon(1e-15));
    CHECK(output_of(every_tile<double>{}, scores, values, {.tile_key = tile_key}) ==
          doctest::Approx(want).epsilon(1e-15));
  }
}
