// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/code.hpp>
#include <deviate/number/stochastic.hpp>

#include "deviate/commands.hpp"
#include "deviate/exact_number.hpp"
#include "deviate/format_names.hpp"
#include "deviate/plain_text.hpp"
#include "deviate/report/text.hpp"
#include "deviate/rounding_choice.hpp"
#include "deviate/usage_error.hpp"

namespace deviate::tool {
namespace {

struct rounded_number {
  std::string input;
  double value = 0;
  std::uint64_t code = 0;
  double error_ulp = 0;
};

// With 52 leading bits, every format that --mode takes has room for as many.
constexpr int most_bits_of_round = 24;

// The number's place on the command line chooses its random bits.
double at_random(const exact_number& exact, const format& f, const rounding_choice& rounding, std::uint64_t place) {
  // To odd with 52 bits: all bits that the random ones are added to, and one that says whether any follow.
  const double leading = exact.rounded(format{11, 51}.rounded(rounding_mode::to_odd));
  return stochastic_rounder(rounding.seed).round(leading, rounding.random_bits, place, rounding_constants<double>(f));
}

rounded_number rounded(const std::string& input, const format& f, const rounding_choice& rounding,
                       std::uint64_t place) {
  const exact_number exact(input);
  const double value =
      f.rounding == rounding_mode::stochastic ? at_random(exact, f, rounding, place) : exact.rounded(f);
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
      "stochastic: up or down with the odds of the distance, by random bits of the seed for each number.\n"
      "Example: deviate round --format bf16 --mode toward_zero 0.1 65520 1.00390625");
  options.add("--format", "FORMAT", "Required: a name that `deviate formats` lists, or e<X>m<Y>");
  add_rounding_options(options, "--seed", most_bits_of_round);
  options.add_flag("--json", "A JSON list on standard output instead of a table");
  if (!options.parse(given, out)) return 0;
  const std::optional<std::string> name = options.one("--format");
  if (!name) throw usage_error("round needs --format, such as --format bf16");
  const rounding_choice rounding = rounding_of(options, "--seed", most_bits_of_round);
  const format f = in_mode(format_named(*name), rounding.mode).numbers;
  if (options.arguments().empty()) throw usage_error("round needs a number, such as 0.1");

  std::vector<rounded_number> numbers;
  for (const std::string& input : options.arguments()) numbers.push_back(rounded(input, f, rounding, numbers.size()));
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
