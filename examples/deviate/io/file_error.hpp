// SPDX-License-Identifier: Apache-2.0
/// \file file_error.hpp
/// \brief What the tool reports when a file cannot be read or written.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace deviate::tool {

/// \brief `text` on one line: control characters are written as \\xNN, so that no file's content reaches the terminal raw.
inline std::string one_line(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      line += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    else
      line += c;
  }
  return line;
}

/// \brief A word taken from a file, in quotes and cut short, for a message.
inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string word(1, '\'');
  word += text.substr(0, longest);
  return word += text.size() > longest ? "…'" : "'";
}

/// \brief A file that cannot be read or written, in one line: its name, the problem, and what is allowed.
class file_error : public std::runtime_error {
 public:
  /// \param file its name as the user gave it
  /// \param problem what is wrong with it and what is allowed, or which option helps
  file_error(std::string_view file, std::string_view problem)
      : std::runtime_error(one_line(std::string(file) + ": " + std::string(problem))) {}
};

}  // namespace deviate::tool
