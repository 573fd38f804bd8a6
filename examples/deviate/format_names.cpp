// SPDX-License-Identifier: Apache-2.0
#include "deviate/format_names.hpp"

#include <deviate/number/named.hpp>

#include "deviate/block_format_list.hpp"
#include "deviate/io/file_error.hpp"
#include "deviate/option_set.hpp"
#include "deviate/usage_error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

namespace deviate::tool {
namespace {

constexpr int fewest_exponent_bits = 2, most_exponent_bits = 11, fewest_fraction_bits = 1, most_fraction_bits = 25;

struct field_widths {
  int exponent_bits = 0;
  int fraction_bits = 0;
};

// The numbers of a name of the shape e<X>m<Y>, whether or not they are allowed.
std::optional<field_widths> widths_in(std::string_view name) {
  const auto digits = [](std::string_view text, int& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && text.front() >= '0' && text.front() <= '9';
  };
  const std::size_t m = name.find('m');
  field_widths widths;
  if (!name.starts_with('e') || m == std::string_view::npos || m < 2 || m + 1 >= name.size()) return std::nullopt;
  if (!digits(name.substr(1, m - 1), widths.exponent_bits)) return std::nullopt;
  if (!digits(name.substr(m + 1), widths.fraction_bits)) return std::nullopt;
  return widths;
}

// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> steps(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        steps[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = steps[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      steps[i][j] = std::min({replaced, steps[i - 1][j] + 1, steps[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
    }
  return steps[a.size()][b.size()];
}

}  // namespace

std::span<const named_format> named_formats() {
  static const std::array<named_format, 16> formats{{
      {"bf16", bf16_format},
      {"fp16", fp16_format},
      {"tf32", tf32_format},
      {"fp8_e5m2", fp8_e5m2_format},
      {"fp8_e4m3", fp8_e4m3_format},
      {"fp8_e4m3_saturating", fp8_e4m3_saturating_format},
      {"fp8_e5m2_fnuz", fp8_e5m2_fnuz_format},
      {"fp8_e4m3_fnuz", fp8_e4m3_fnuz_format},
      {"fp6_e3m2", fp6_e3m2_format},
      {"fp6_e2m3", fp6_e2m3_format},
      {"fp4_e2m1", fp4_e2m1_format},
      {"fp24_e8m15", fp24_e8m15_format},
      {"fp24_e7m16", fp24_e7m16_format},
      {"e8m13", e8m13_format},
      {"fp32", binary32},
      {"fp64", binary64},
  }};
  return formats;
}

named_format format_named(std::string_view name) {
  for (const named_format& f : named_formats())
    if (f.name == name) return f;
  if (name == "e8m0")
    throw usage_error("format \"e8m0\": it holds the scales of block formats, and no command computes in it");
  if (is_block_format(name))
    throw usage_error("format " + in_quotes(name) + ": it is block-scaled, and no command computes in it");
  if (const std::optional<field_widths> widths = widths_in(name)) {
    const auto [exponent_bits, fraction_bits] = *widths;
    if (exponent_bits < fewest_exponent_bits || exponent_bits > most_exponent_bits ||
        fraction_bits < fewest_fraction_bits || fraction_bits > most_fraction_bits)
      throw usage_error("format " + in_quotes(name) + ": e<X>m<Y> takes X = " + std::to_string(fewest_exponent_bits) +
                        " to " + std::to_string(most_exponent_bits) +
                        " exponent bits and Y = " + std::to_string(fewest_fraction_bits) + " to " +
                        std::to_string(most_fraction_bits) + " fraction bits");
    return {std::string(name), format{exponent_bits, fraction_bits}};
  }
  std::vector<std::string> names;
  for (const named_format& f : named_formats()) names.push_back(f.name);
  throw usage_error("unknown format " + in_quotes(name) + "; " + suggestion(name, names) + ", and any e<X>m<Y>");
}

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
  constexpr std::size_t longest = 64;  // beyond it nothing is a misspelling
  const std::string_view compared = name.substr(0, longest);
  std::string nearest;
  std::size_t fewest = std::string::npos;
  for (const std::string& candidate : candidates) {
    const std::size_t steps = edit_distance(compared, candidate);
    if (steps < fewest) {
      fewest = steps;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace deviate::tool
