// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/code.hpp>
#include <deviate/number/stochastic.hpp>

#include "deviate/commands.hpp"
#include "deviate/exact_number.hpp"
#include "deviate/format_names.hpp"
#include "deviate/plain_text.hpp"
#include "deviate/report/text.hpp"
#include "deviate/usage_error.hpp"

#include <array>

namespace deviate::tool {
namespace {

struct rounded_number {
  std::string input;
  double value = 0;
  std::uint64_t code = 0;
  double error_ulp = 0;
};

// In the order of rounding_mode.
constexpr int modes = 7;
const std::array<std::string, modes>& mode_names() {
  static const std::array<std::string, modes> names{"nearest_even", "nearest_away", "toward_zero", "upward",
                                                    "downward",     "to_odd",       "stochastic"};
  return names;
}
rounding_mode mode_named(const std::string& name) {
  int mode = 0;
  while (mode_names()[static_cast<std::size_t>(mode)] != name) ++mode;
  return static_cast<rounding_mode>(mode);
}

// The number's place on the command line chooses its random bits.
double at_random(const exact_number& exact, const format& f, std::uint64_t seed, std::uint64_t place) {
  constexpr int random_bits = 24;
  // To odd with 52 bits: all bits that the random ones are added to, and one that says whether any follow.
  const double leading = exact.rounded(format{11, 51}.rounded(rounding_mode::to_odd));
  return stochastic_rounder(seed).round(leading, random_bits, place, rounding_constants<double>(f));
}

rounded_number rounded(const std::string& input, const format& f, std::uint64_t seed, std::uint64_t place) {
  const exact_number exact(input);
  const double value = f.rounding == rounding_mode::stochastic ? at_random(exact, f, seed, place) : exact.rounded(f);
  return {input, value, encode(value, f), exact.error_in_ulps(value, f)};
}

// "0|01111111|0000000": sign, exponent field, fraction field.
std::string code_in_groups(std::uint64_t code, const format& f) {
  std::string bits;
  for (int i = f.width() - 1; i >= 0; --i) {
    bits += (code >> i & 1) != 0 ? '1' : '0';
    if (i == f.width() - 1 || i == f.fraction_bits) bits += '|';
  }
  return bits;
}

}  // namespace

int round_command(const words& given, std::ostream& out, std::ostream&) {
  option_set options(
      "deviate round X ...",
      "Rounds numbers to a format, once, to nearest with ties to even unless --mode says otherwise.\n"
      "X: decimal (0.1, -2.5e-3) or hexadecimal (0x1.8p-3), or inf, -inf, nan; never rounded before.",
      "JSON: a list of {input, value, bits, error_ulp}; bits is the code in hexadecimal, error_ulp is\n"
      "(value - X) in units of the last place of the format at the value.\n"
      "The modes toward_zero and to_odd overflow to the maximum, upward and downward on one side.\n"
      "stochastic: up or down with the odds of the distance, by 24 random bits of the seed for each number.\n"
      "Example: deviate round --format bf16 --mode toward_zero 0.1 65520 1.00390625");
  options.add("--format", "FORMAT", "Required: a name that `deviate formats` lists, or e<X>m<Y>");
  options.add("--mode", "MODE",
              "nearest_even (default), nearest_away, toward_zero, upward, downward, to_odd, stochastic");
  options.add("--seed", "N", "Of the random bits of --mode stochastic (default 1)");
  options.add_flag("--json", "A JSON list on standard output instead of a table");
  if (!options.parse(given, out)) return 0;
  const std::optional<std::string> name = options.one("--format");
  if (!name) throw usage_error("round needs --format, such as --format bf16");
  const rounding_mode mode = mode_named(options.choice("--mode", mode_names()));
  const format f = format_named(*name).numbers.rounded(mode);
  if (f.fraction_bits > 50 && mode != rounding_mode::nearest_even)
    throw usage_error("--mode " + options.choice("--mode", mode_names()) + " takes formats narrower than fp64");
  if (options.given("--seed") && mode != rounding_mode::stochastic)
    throw usage_error("--seed belongs to --mode stochastic");
  const std::uint64_t seed = options.seed("--seed", 1);
  if (options.arguments().empty()) throw usage_error("round needs a number, such as 0.1");

  std::vector<rounded_number> numbers;
  for (const std::string& input : options.arguments()) numbers.push_back(rounded(input, f, seed, numbers.size()));
  if (options.given("--json")) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const rounded_number& number : numbers)
      list.push_back({{"input", number.input},
                      {"value", json_number(number.value)},
                      {"bits", code_text(number.code, f.width())},
                      {"error_ulp", json_number(number.error_ulp)}});
    out << list.dump(1) << "\n";
    return 0;
  }
  std::vector<std::vector<std::string>> lines{
      {"input", *name + " value", "code", "sign|exponent|fraction", "error (ulp)"}};
  for (const rounded_number& number : numbers)
    lines.push_back({number.input, shortest(number.value), code_text(number.code, f.width()),
                     code_in_groups(number.code, f), short_text(number.error_ulp)});
  out << in_columns(lines);
  return 0;
}

}  // namespace deviate::tool
