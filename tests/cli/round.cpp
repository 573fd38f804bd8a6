// SPDX-License-Identifier: Apache-2.0
// `deviate round` and `deviate formats`, and the exact numbers behind them.
#include <deviate/number/code.hpp>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>

#include "cli/tool.hpp"
#include "deviate/exact_number.hpp"
#include "deviate/format_names.hpp"
#include "deviate/usage_error.hpp"

namespace {

using namespace cli_test;
using deviate::decode;
using deviate::encode;
using deviate::format;
using deviate::tool::exact_number;
using deviate::tool::format_named;

struct rounding_case {
  const char* format;
  const char* input;
  const char* value;  // as JSON has it
  const char* bits;
};

TEST_CASE("round: known values, ties, overflow, subnormals, and no double rounding") {
  const rounding_case cases[] = {
      {"bf16", "0.2691408770292272", "0.26953125", "0x3e8a"},
      {"bf16", "3.14", "3.140625", "0x4049"},
      {"bf16", "1.00390625", "1.0", "0x3f80"},
      {"bf16", "1.01171875", "1.015625", "0x3f82"},
      {"bf16", "1.01953125", "1.015625", "0x3f82"},
      {"bf16", "0x1.fffffep0", "2.0", "0x4000"},
      {"bf16", "0x1.ffp127", "\"inf\"", "0x7f80"},
      {"bf16", "0x1.feffffffffffffffffffp127", "3.3895313892515355e+38", "0x7f7f"},
      {"bf16", "-0", "-0.0", "0x8000"},
      {"bf16", "-nan", "\"nan\"", "0x7fc0"},
      {"bf16", "-INFINITY", "\"-inf\"", "0xff80"},
      {"bf16", "16842753", "16908288.0", "0x4b81"},
      {"bf16", "1.00390625093132257461547851562500", "1.0078125", "0x3f81"},  // 1 + 2^-8 + 2^-30
      {"bf16", "1.003906250000000000000000000000000000001", "1.0078125", "0x3f81"},
      {"bf16", "1.011718749999999999999999999999999999999", "1.0078125", "0x3f81"},
      {"bf16", "+.5e+1", "5.0", "0x40a0"},
      {"bf16", "1e400", "\"inf\"", "0x7f80"},
      {"bf16", "-1e-400", "-0.0", "0x8000"},
      {"fp16", "1.00048828125", "1.0", "0x3c00"},
      {"fp16", "1.00146484375", "1.001953125", "0x3c02"},
      {"fp16", "1.000488281250909494701772928237915039062500", "1.0009765625", "0x3c01"},  // 1 + 2^-11 + 2^-40
      {"fp16", "65519.999999999999999999999999", "65504.0", "0x7bff"},
      {"fp16", "65520", "\"inf\"", "0x7c00"},
      {"fp16", "0x1.4p-23", "1.1920928955078125e-07", "0x0002"},
      {"fp16", "0x1p-25", "0.0", "0x0000"},
      {"fp16", "0x1.0000000000000000000001p-25", "5.960464477539063e-08", "0x0001"},
      {"fp8_e4m3", "464", "448.0", "0x7e"},
      {"fp8_e4m3", "464.00000000000000000000000001", "\"nan\"", "0x7f"},
      {"fp8_e4m3", "465", "\"nan\"", "0x7f"},
      {"fp8_e4m3", "-1000", "\"nan\"", "0x7f"},
      {"fp8_e4m3", "inf", "\"nan\"", "0x7f"},
      {"fp8_e4m3", "0x1p-10", "0.0", "0x00"},
      {"fp8_e4m3", "0x3p-11", "0.001953125", "0x01"},
      {"fp8_e4m3_saturating", "-1000", "-448.0", "0xfe"},
      {"fp8_e4m3_saturating", "inf", "448.0", "0x7e"},
      {"fp8_e5m2", "61439", "57344.0", "0x7b"},
      {"fp8_e5m2", "61440", "\"inf\"", "0x7c"},
      {"tf32", "0.1", "0.0999755859375", "0x1ee66"},
      {"fp32", "0.1", "0.10000000149011612", "0x3dcccccd"},
      {"fp64", "0.1", "0.1", "0x3fb999999999999a"},
      {"fp64", "5e-324", "5e-324", "0x0000000000000001"},
      {"fp64", "-1.7976931348623159e308", "\"-inf\"", "0xfff0000000000000"},
      {"e5m10", "1.00146484375", "1.001953125", "0x3c02"},
      {"e2m1", "5", "\"inf\"", "0x6"},
      {"e11m25", "0.1", "0.09999999962747097", "0x07f7333333"},
  };
  std::map<std::string, words> inputs;
  for (const rounding_case& c : cases) inputs[c.format].push_back(c.input);
  std::map<std::string, nlohmann::json> results;
  for (const auto& [name, numbers] : inputs) {
    words command{"round", "--format", name, "--json"};
    command.insert(command.end(), numbers.begin(), numbers.end());
    results[name] = json_of(command);
    CHECK(results[name].size() == numbers.size());
  }
  std::map<std::string, std::size_t> next;
  for (const rounding_case& c : cases) {
    const auto& result = results[c.format].at(next[c.format]++);
    INFO(c.format, " ", c.input);
    CHECK(result.at("input") == c.input);
    CHECK(result.at("value").dump() == c.value);
    CHECK(result.at("bits") == c.bits);
    CHECK(result.contains("error_ulp"));
  }
}

TEST_CASE("round: the error is exact") {
  const auto result = json_of({"round", "--format", "bf16", "--json", "1.00390625", "1.01171875", "1.015625", "0.1",
                               "1e-45", "3.4e38", "nan", "inf"});
  CHECK(result.at(0).at("error_ulp") == -0.5);
  CHECK(result.at(1).at("error_ulp") == 0.5);
  CHECK(result.at(2).at("error_ulp") == 0);
  CHECK(result.at(3).at("error_ulp") == 0.2);  // 0.10009765625 − 0.1 in units of 2^-11
  CHECK(result.at(4).at("error_ulp").get<double>() == doctest::Approx(-1e-45 * 0x1p133).epsilon(1e-15));
  CHECK(result.at(5).at("error_ulp") == "inf");
  CHECK(result.at(6).at("error_ulp") == "nan");
  CHECK(result.at(7).at("error_ulp") == 0);
}

TEST_CASE("round: as a table, the bits in their groups") {
  const outcome table = outcome_of({"round", "--format", "bf16", "-1.5", "--", "-2"});
  CHECK(table.status == 0);
  CHECK(contains(table.out, "1|01111111|1000000"));
  CHECK(contains(table.out, "0xc000"));
}

TEST_CASE("round: what is not a number") {
  for (const char* text : {"", "x", "1x", "1e", "1e+-5", "0x", "--1", "1..2", " 1", "1 ", "1,5", "infinite", "nan(1)",
                           "1e1.5", "0x1e", "1p3"})
    if (std::string(text) != "0x1e" && std::string(text) != "--1")
      expect_refusal({"round", "--format", "bf16", "--json", "1", text}, "not a number to round");
  expect_refusal({"round", "--format", "bf16", "1e10001"}, "exponent must be between");
  expect_refusal({"round", "--format", "bf16", "1e99999999999999999999"}, "exponent must be between");
  expect_refusal({"round", "--format", "bf16", std::string(10'001, '1')}, "more than 10000 digits");
  expect_refusal({"round", "--format", "bf16"}, "needs a number");
  expect_refusal({"round", "1"}, "needs --format");
  expect_refusal({"round", "--format", "bf61", "1"}, "did you mean bf16?");
  CHECK(outcome_of({"round", "--format", "bf16", "0x1e"}).status == 0);
}

// The exact decimal text of a double, and of the numbers that differ from it by one in the last of 800 digits.
struct decimal_neighbours {
  std::string below, itself, above;
};
decimal_neighbours neighbours_of(double x) {
  char text[900];
  std::snprintf(text, sizeof text, "%.800e", x);
  const std::string all = text;
  const std::size_t e = all.find('e');
  const std::string mantissa = all.substr(0, e), exponent = all.substr(e);
  std::string above = mantissa, below = mantissa;
  above.back() = '1';  // a double has at most 767 digits: the last of 801 is 0
  for (std::size_t i = below.size(); i-- > 0;) {
    if (below[i] == '.') continue;
    if (below[i] != '0') {
      --below[i];
      break;
    }
    below[i] = '9';
  }
  return {below + exponent, mantissa + exponent, above + exponent};
}

TEST_CASE("exact_number: decimal text at and beside the midpoint of every two neighbours is rounded once") {
  for (const char* name : {"fp8_e4m3", "fp8_e5m2", "fp16", "bf16"}) {
    const format f = format_named(name).numbers;
    const auto last = static_cast<std::uint32_t>(encode(f.max_finite(), f));
    const std::uint32_t step = f.width() > 8 ? 97 : 1;
    for (std::uint32_t code = 0; code < last; code += step) {
      const double low = decode(code, f), high = decode(code + 1, f);
      const decimal_neighbours text = neighbours_of((low + high) / 2);
      INFO(name, " code ", code);
      CHECK(exact_number(text.below).rounded(f) == low);
      CHECK(exact_number(text.itself).rounded(f) == (code % 2 == 0 ? low : high));
      CHECK(exact_number(text.above).rounded(f) == high);
      CHECK(exact_number("-" + text.above).rounded(f) == -high);
      CHECK(exact_number(text.itself).error_in_ulps(low, f) == -0.5);
    }
  }
}

TEST_CASE("encode: the inverse of decode for every code of narrow formats") {
  for (const char* name : {"fp8_e4m3", "fp8_e5m2", "fp16", "bf16", "e2m1", "e3m2", "e2m3", "e4m3"}) {
    const format f = format_named(name).numbers;
    for (std::uint32_t code = 0; code < std::uint32_t{1} << f.width(); ++code) {
      const double value = decode(code, f);
      if (!std::isnan(value)) CHECK(encode(value, f) == code);
    }
  }
}

TEST_CASE("round: the new formats") {
  const auto value = [](const char* name, const char* input) {
    return json_of({"round", "--format", name, "--json", "--", input}).at(0);
  };
  CHECK(value("fp4_e2m1", "5").at("bits") == "0x6");
  CHECK(value("fp4_e2m1", "-1e9").at("value") == -6.0);
  CHECK(value("fp4_e2m1", "nan").at("value") == "nan");
  CHECK(value("fp6_e3m2", "inf").at("bits") == "0x1f");
  CHECK(value("fp8_e4m3_fnuz", "-0").at("bits") == "0x00");
  CHECK(value("fp8_e4m3_fnuz", "-240").at("bits") == "0xff");
  CHECK(value("fp8_e5m2_fnuz", "inf").at("bits") == "0x80");
  CHECK(value("e8m13", "-1.5").at("bits") == "0x2ff000");
  expect_refusal({"round", "--format", "e8m0", "1"}, "scales of block formats");
}

TEST_CASE("case 64, 65, 69: round --mode, once and exactly in every mode") {
  const auto value = [](const char* name, const char* mode, const char* input) {
    return json_of({"round", "--format", name, "--mode", mode, "--json", "--", input}).at(0).at("value");
  };
  CHECK(value("bf16", "nearest_even", "1.01953125") == 1.015625);
  CHECK(value("bf16", "nearest_away", "1.01953125") == 1.0234375);
  CHECK(value("bf16", "nearest_away", "1.0195312499999999999999999999999999999") == 1.015625);
  CHECK(value("bf16", "toward_zero", "0.9999") == 0.99609375);
  CHECK(value("bf16", "toward_zero", "0.2691408770292272") == 0.267578125);
  CHECK(value("bf16", "upward", "1.000000000000000000000000000000000000000001") == 1.0078125);
  CHECK(value("bf16", "downward", "-1.000000000000000000000000000000000000000001") == -1.0078125);
  CHECK(value("bf16", "upward", "1") == 1.0);
  CHECK(value("bf16", "to_odd", "1.000000000000000000000000000000000000000001") == 1.0078125);
  CHECK(value("fp32", "downward", "0.1") == double(std::nextafter(0.1f, 0.0f)));
  CHECK(value("fp8_e4m3", "toward_zero", "1000") == 448.0);
  CHECK(value("fp8_e5m2", "upward", "57345") == "inf");
  CHECK(value("fp8_e5m2", "upward", "-1e9") == -57344.0);
  CHECK(value("fp16", "upward", "1e-400") == 0x1p-24);
  expect_refusal({"round", "--format", "fp64", "--mode", "upward", "0.1"}, "narrower than fp64");
  expect_refusal({"round", "--format", "bf16", "--mode", "up", "0.1"}, "--mode");
  expect_refusal({"round", "--format", "bf16", "--seed", "3", "0.1"}, "--mode stochastic");
}

TEST_CASE("round --mode stochastic: by the seed and the place, numbers of the format unchanged") {
  words command{"round", "--format", "bf16", "--mode", "stochastic", "--seed", "7", "--json"};
  for (int i = 0; i < 400; ++i) command.push_back(i % 2 == 0 ? "1.001953125" : "1.0078125");
  const auto first = json_of(command), second = json_of(command);
  CHECK(first == second);
  int up = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    const double got = first.at(i).at("value");
    if (i % 2 == 1) CHECK(got == 1.0078125);
    if (i % 2 == 0) CHECK((got == 1.0 || got == 1.0078125));
    up += i % 2 == 0 && got == 1.0078125 ? 1 : 0;
  }
  CHECK(up > 25);  // a quarter of 200, five standard errors
  CHECK(up < 75);
  command[6] = "8";
  CHECK(json_of(command) != first);
}

TEST_CASE("formats: names and limits") {
  std::map<std::string, nlohmann::json> formats;
  for (const auto& one : json_of({"formats", "--json"})) formats[one.at("name")] = one;
  REQUIRE(formats.size() == 17 + 13);
  CHECK(formats["bf16"]["max"] == 0x1.fep127);
  CHECK(formats["bf16"]["min_normal"] == 0x1p-126);
  CHECK(formats["bf16"]["min_subnormal"] == 0x1p-133);
  CHECK(formats["bf16"]["epsilon"] == 0x1p-7);
  CHECK(formats["bf16"]["infinity"] == "0x7f80");
  CHECK(formats["bf16"]["nan"] == "0x7fc0");
  CHECK(formats["fp16"]["max"] == 65504);
  CHECK(formats["fp16"]["bias"] == 15);
  CHECK(formats["tf32"]["width"] == 19);
  CHECK(formats["fp8_e5m2"]["max"] == 57344);
  CHECK(formats["fp8_e4m3"]["max"] == 448);
  CHECK(formats["fp8_e4m3"]["min_subnormal"] == 0x1p-9);
  CHECK(formats["fp8_e4m3"]["min_normal"] == 0x1p-6);
  CHECK(formats["fp8_e4m3"]["infinity"].is_null());
  CHECK(formats["fp8_e4m3"]["nan"] == "0x7f");
  CHECK(formats["fp8_e4m3"]["overflow"] != formats["fp8_e4m3_saturating"]["overflow"]);
  CHECK(formats["fp32"]["max"] == 0x1.fffffep127);
  CHECK(formats["fp64"]["nan"] == "0x7ff8000000000000");
  CHECK(formats["fp6_e3m2"]["max"] == 28);
  CHECK(formats["fp6_e3m2"]["nan"].is_null());
  CHECK(formats["fp6_e2m3"]["max"] == 7.5);
  CHECK(formats["fp4_e2m1"]["max"] == 6);
  CHECK(formats["fp4_e2m1"]["min_subnormal"] == 0.5);
  CHECK(formats["fp8_e4m3_fnuz"]["max"] == 240);
  CHECK(formats["fp8_e4m3_fnuz"]["bias"] == 8);
  CHECK(formats["fp8_e4m3_fnuz"]["nan"] == "0x80");
  CHECK(formats["fp8_e5m2_fnuz"]["max"] == 57344);
  CHECK(formats["fp24_e8m15"]["width"] == 24);
  CHECK(formats["e8m0"]["max"] == 0x1p127);
  CHECK(formats["e8m0"]["min_normal"] == 0x1p-127);
  CHECK(formats["e8m0"]["nan"] == "0xff");
  const outcome table = outcome_of({"formats"});
  CHECK(contains(table.out, "fp8_e4m3_saturating"));
  CHECK(contains(table.out, "e<X>m<Y>"));
}

TEST_CASE("formats: the block-scaled ones") {
  std::map<std::string, nlohmann::json> formats;
  for (const auto& one : json_of({"formats", "--json"}))
    if (one.value("block_scaled", false)) formats[one.at("name")] = one;
  REQUIRE(formats.size() == 13);
  CHECK(formats["mxfp8_e4m3"]["element"] == "e4m3");
  CHECK(formats["mxfp8_e4m3"]["element_max"] == 448);
  CHECK(formats["mxfp8_e4m3"]["block"] == 32);
  CHECK(formats["mxfp8_e4m3"]["scale"] == "e8m0");
  CHECK(formats["mxfp8_e4m3"]["bits_per_element"] == 8.25);
  CHECK(formats["mxfp8_e4m3"]["max"] == 0x1.cp135);
  CHECK(formats["mxfp8_e5m2"]["min_positive"] == 0x1p-143);
  CHECK(formats["mxfp6_e3m2"]["bits_per_element"] == 6.25);
  CHECK(formats["mxfp6_e2m3"]["element_max"] == 7.5);
  CHECK(formats["mxfp4"]["bits_per_element"] == 4.25);
  CHECK(formats["mxint8"]["element_max"] == 1.984375);
  CHECK(formats["mxfp4"]["rule"] == "2^(floor(log2 amax) - emax)");
  CHECK(formats["nvfp4"]["block"] == 16);
  CHECK(formats["nvfp4"]["scale"] == "e4m3");
  CHECK(formats["nvfp4"]["tensor_scale"] == "fp32");
  CHECK(formats["nvfp4"]["bits_per_element"] == 4.5);
  CHECK(formats["nvfp4"]["max"] == 2688);
  CHECK(formats["nvfp4"]["min_positive"] == 0x1p-10);
  CHECK(formats["int8_scaled"]["block"].is_null());
  CHECK(formats["int8_scaled"]["ties"] == "away");
  CHECK(formats["int8_scaled_even"]["ties"] == "even");
  CHECK(formats["int4_scaled"]["element_max"] == 7);
  CHECK(formats["int4_scaled"]["scale"] == "fp32");
  const outcome table = outcome_of({"formats"});
  for (const auto& [name, one] : formats) CHECK(contains(table.out, name));
  CHECK(contains(table.out, "8 + 32/n"));
  expect_refusal({"round", "--format", "mxfp4", "1"}, "it is block-scaled, and no command computes in it");
}

}  // namespace
