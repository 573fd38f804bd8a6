// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/code.hpp>
#include <deviate/number/e8m0.hpp>

#include "deviate/block_format_list.hpp"
#include "deviate/commands.hpp"
#include "deviate/format_names.hpp"
#include "deviate/output.hpp"
#include "deviate/plain_text.hpp"

#include <limits>

namespace deviate::tool {
namespace {

std::string overflow_text(const format& f) {
  switch (f.overflow) {
    case overflow_rule::infinity: return f.has_infinity() ? "infinity" : f.has_nan() ? "NaN" : "maximum, infinity too";
    case overflow_rule::nan: return "NaN";
    case overflow_rule::saturate: return "maximum, infinity too";
    case overflow_rule::saturate_finite: return "maximum, infinity kept";
  }
  return "";
}

std::string infinity_code(const format& f) {
  return f.has_infinity() ? code_text(encode(std::numeric_limits<double>::infinity(), f), f.width()) : "none";
}
std::string nan_code(const format& f) {
  return f.has_nan() ? code_text(encode(std::numeric_limits<double>::quiet_NaN(), f), f.width()) : "none";
}

nlohmann::ordered_json as_json(const named_format& named) {
  const format& f = named.numbers;
  nlohmann::ordered_json object;
  object["name"] = named.name;
  object["width"] = f.width();
  object["exponent_bits"] = f.exponent_bits;
  object["fraction_bits"] = f.fraction_bits;
  object["bias"] = f.bias();
  object["max"] = f.max_finite();
  object["min_normal"] = f.min_normal();
  object["min_subnormal"] = f.min_positive();
  object["epsilon"] = f.epsilon();
  object["infinity"] = f.has_infinity() ? nlohmann::ordered_json(infinity_code(f)) : nlohmann::ordered_json();
  object["nan"] = f.has_nan() ? nlohmann::ordered_json(nan_code(f)) : nlohmann::ordered_json();
  object["overflow"] = overflow_text(f);
  return object;
}

// A scale is no format: it has neither sign nor zero nor fraction.
constexpr double largest_scale = double(e8m0::from_code(254)), smallest_scale = double(e8m0::from_code(0));
constexpr const char* scale_overflow = "maximum, NaN for infinity";

nlohmann::ordered_json scale_as_json() {
  nlohmann::ordered_json object;
  object["name"] = "e8m0";
  object["width"] = 8;
  object["exponent_bits"] = 8;
  object["fraction_bits"] = 0;
  object["bias"] = 127;
  object["max"] = largest_scale;
  object["min_normal"] = smallest_scale;
  object["min_subnormal"] = nlohmann::ordered_json();
  object["epsilon"] = 1;
  object["infinity"] = nlohmann::ordered_json();
  object["nan"] = "0xff";
  object["overflow"] = scale_overflow;
  object["scale_only"] = true;
  return object;
}

std::string as_table() {
  std::vector<std::vector<std::string>> lines{{"format", "bits", "exponent", "fraction", "bias", "maximum",
                                               "min normal", "min subnormal", "epsilon", "infinity", "NaN",
                                               "overflow becomes"}};
  for (const auto& [name, f] : named_formats())
    lines.push_back({name, std::to_string(f.width()), std::to_string(f.exponent_bits), std::to_string(f.fraction_bits),
                     std::to_string(f.bias()), short_text(f.max_finite()), short_text(f.min_normal()),
                     short_text(f.min_positive()), short_text(f.epsilon()), infinity_code(f), nan_code(f),
                     overflow_text(f)});
  lines.push_back({"e8m0", "8", "8", "0", "127", short_text(largest_scale), short_text(smallest_scale), "none", "1",
                   "none", "0xff", scale_overflow});
  return in_columns(lines) +
         "\nexponent and fraction: bits of the code beside its sign bit; epsilon: from 1 to the next number;\n"
         "infinity and NaN: codes of +infinity and of the quiet NaN that results have. --json has all digits.\n"
         "fp6 and fp4 have no NaN: a result that is none stays NaN, and its code is the maximum's. fnuz: one NaN, no "
         "-0.\n"
         "e8m0 holds the scales of block formats, powers of two without sign or zero; no command computes in it.\n"
         "e<X>m<Y> is a format too, as in IEEE 754 with X = 2 to 11 exponent and Y = 1 to 25 fraction bits: e5m10 is\n"
         "fp16, e8m7 is bf16. e4m3 has infinities and maximum 240; the FP8 format of that name is fp8_e4m3.\n";
}

}  // namespace

int formats_command(const words& given, std::ostream& out, std::ostream&) {
  option_set options("deviate formats", "The formats with names, and their limits.", "Example: deviate formats --json");
  options.add_flag("--json", "A JSON list on standard output instead of a table");
  if (!options.parse(given, out)) return 0;
  options.expect_no_arguments();
  if (!options.given("--json")) {
    out << as_table() << "\n" << block_formats_as_table();
    return 0;
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const named_format& named : named_formats()) list.push_back(as_json(named));
  list.push_back(scale_as_json());
  for (auto& block_format : block_formats_as_json()) list.push_back(std::move(block_format));
  out << list.dump(1) << "\n";
  return 0;
}

}  // namespace deviate::tool
