// SPDX-License-Identifier: Apache-2.0
/// \file plain_text.hpp
/// \brief Plain text in aligned columns, and numbers in text and JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace deviate::tool {

/// \brief Lines of cells in columns as wide as their longest cell, two spaces apart, all to the left.
/// \param lines each line's cells; a line may have fewer than others
/// \return the lines, indented by two spaces; none ends in a space
inline std::string in_columns(const std::vector<std::vector<std::string>>& lines) {
  // A byte that continues a UTF-8 character takes no column.
  const auto width_of = [](const std::string& cell) {
    std::size_t width = 0;
    for (const char c : cell) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
    return width;
  };
  std::vector<std::size_t> widths;
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], width_of(line[i]));
    }
  std::string text;
  for (const auto& line : lines) {
    std::string written = "  ";
    for (std::size_t i = 0; i < line.size(); ++i)
      written += line[i] + std::string(widths[i] - width_of(line[i]) + 2, ' ');
    written.erase(written.find_last_not_of(' ') + 1);
    text += written + "\n";
  }
  return text;
}

/// \brief A number with six significant digits; `shortest` has as many as identify it.
inline std::string short_text(double x) {
  if (std::isnan(x)) return "nan";
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::general, 6).ptr;
  return {text.data(), end};
}

/// \brief A number as JSON: what JSON cannot write is one of the texts inf, -inf and nan.
inline nlohmann::ordered_json json_number(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  return x;
}

/// \brief A code as "0x3f80", with the digits that its width in bits needs.
inline std::string code_text(std::uint64_t code, int width) {
  std::string digits(static_cast<std::size_t>((width + 3) / 4), '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, code >>= 4)
    *digit = "0123456789abcdef"[code & 15];
  return "0x" + digits;
}

}  // namespace deviate::tool
