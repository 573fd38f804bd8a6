// SPDX-License-Identifier: Apache-2.0
#include "deviate/commands.hpp"
#include "deviate/format_names.hpp"
#include "deviate/io/encode.hpp"
#include "deviate/output.hpp"
#include "deviate/plain_text.hpp"

#include <limits>

namespace deviate::tool {
namespace {

std::string overflow_text(const format& f) {
  switch (f.overflow) {
    case overflow_rule::infinity: return "infinity";
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
  return code_text(encode(std::numeric_limits<double>::quiet_NaN(), f), f.width());
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
  object["nan"] = nan_code(f);
  object["overflow"] = overflow_text(f);
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
  return in_columns(lines) +
         "\nexponent and fraction: bits of the code beside its sign bit; epsilon: from 1 to the next number;\n"
         "infinity and NaN: codes of +infinity and of the quiet NaN that results have. --json has all digits.\n"
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
    out << as_table();
    return 0;
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const named_format& named : named_formats()) list.push_back(as_json(named));
  out << list.dump(1) << "\n";
  return 0;
}

}  // namespace deviate::tool
