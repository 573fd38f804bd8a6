// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "deviate/io/file_error.hpp"

namespace deviate::tool {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

struct character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: not valid UTF-8
};

character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0u) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < least[bytes] || code > 0x10FFFF || is_surrogate) return {};
  return {code, bytes};
}

// C1 controls, characters that turn the direction of text, line separators, and Unicode's noncharacters.
bool may_harm(std::uint32_t code) {
  return (code >= 0x80 && code < 0xA0) || (code >= 0x200E && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || (code >= 0xFDD0 && code <= 0xFDEF) || (code & 0xFFFE) == 0xFFFE;
}

template <class Replace>
std::string cleaned(std::string_view text, Replace replace) {
  std::string result;
  while (!text.empty()) {
    const character c = first_character(text);
    const std::size_t taken = std::max<std::size_t>(c.bytes, 1);
    if (c.bytes == 0 || replace(c.code))
      result += replacement;
    else
      result += text.substr(0, taken);
    text.remove_prefix(taken);
  }
  return result;
}

std::string printed(const char* format, double x) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, x);
  return buffer;
}

// "nan" has no sign: it differs between machines.
std::string not_finite(double x) { return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf"; }

}  // namespace

std::string valid_utf8(std::string_view text) {
  return cleaned(text, [](std::uint32_t) { return false; });
}

std::string printable(std::string_view text) { return one_line(cleaned(text, may_harm)); }

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string shortened(std::string_view text, std::size_t most) {
  if (width_of(text) <= most) return std::string(text);
  std::string result;
  for (std::size_t left = most - 1; left > 0; --left) {
    const std::size_t bytes = std::max<std::size_t>(first_character(text).bytes, 1);
    result += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return result + "…";
}

std::string middle_shortened(std::string_view text, std::size_t most) {
  const std::size_t all = width_of(text);
  if (all <= most) return std::string(text);
  const std::size_t at_the_end = most / 2;
  const std::string begin = shortened(text, most - at_the_end);
  for (std::size_t left = all - at_the_end; left > 0; --left)
    text.remove_prefix(std::max<std::size_t>(first_character(text).bytes, 1));
  return begin + std::string(text);
}

std::string right_aligned(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ') + std::string(text);
}

std::string left_aligned(std::string_view text, std::size_t width) {
  return std::string(text) + std::string(width - std::min(width, width_of(text)), ' ');
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string result;
  for (const std::string& word : words) {
    if (!result.empty()) result += separator;
    result += word;
  }
  return result;
}

std::string wrapped(std::string_view text, std::size_t width, std::string_view indent) {
  std::string result, line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && width_of(line) + 1 + width_of(word) > width) {
      result += line + "\n";
      line = indent;
      line += word;
    } else {
      if (!line.empty()) line += ' ';
      line += word;
    }
  }
  return result + line;
}

std::string shortest(double x) {
  if (!std::isfinite(x)) return not_finite(x);
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, x).ptr};
}

std::string scientific(double x) {
  if (!std::isfinite(x)) return not_finite(x);
  return x == 0 ? "0" : printed("%.2e", x);
}

std::string three_digits(double x) { return std::isfinite(x) ? printed("%.3g", x) : not_finite(x); }

std::string ratio_text(double x) {
  if (!std::isfinite(x)) return not_finite(x);
  if (x == 0) return "0";
  if (x >= 99999.5 || x < 0.005) return printed("%.1e", x);
  return printed(x < 9.995 ? "%.2f" : x < 99.95 ? "%.1f" : "%.0f", x);
}

std::string percent_text(double share) {
  if (!std::isfinite(share)) return "none";
  if (share < 1 && share > 0.9995) return "> 99.9 %";
  return printed("%.1f %%", 100 * share);
}

std::string bias_text(double bias, double half_width) {
  const double larger = std::max(std::fabs(bias), std::fabs(half_width));
  if (!std::isfinite(bias) || !std::isfinite(half_width) || larger == 0)
    return scientific(bias) + " ± " + scientific(half_width);
  const auto exponent = [](double x) { return int(std::floor(std::log10(x))); };
  // 9.996 is shown as 1.000e+01.
  const int power = exponent(larger * 1.0005);
  // Two digits of the half width, but no more than four of the larger number.
  const int digits = half_width > 0 ? std::clamp(power - exponent(half_width) + 1, 1, 3) : 3;
  const double unit = std::pow(10.0, power);
  char buffer[96];
  std::snprintf(buffer, sizeof buffer, "(%.*f ± %.*f)e%+03d", digits, bias / unit, digits, half_width / unit, power);
  return buffer;
}

}  // namespace deviate::tool
