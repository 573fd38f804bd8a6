// SPDX-License-Identifier: Apache-2.0
/// \file number_text.hpp
/// \brief Numbers and shapes in messages.
#pragma once

#include <deviate/tensor/view.hpp>

#include <array>
#include <charconv>
#include <string>

namespace deviate::detail {

/// \brief The shortest decimal text that reads back as x; std::to_string would print 1e-9 as 0.
inline std::string number_text(double x) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), x).ptr};
}

/// \brief Three significant digits in the shorter of plain and scientific notation: 0.00391, 1.5e-08, 0, 12.5.
inline std::string three_digit_text(double x) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::general, 3).ptr};
}

/// \brief A shape as [batch, heads, rows, columns].
inline std::string shape_text(const extents& e) {
  return "[" + std::to_string(e.batch) + ", " + std::to_string(e.heads) + ", " + std::to_string(e.rows) + ", " +
         std::to_string(e.columns) + "]";
}

}  // namespace deviate::detail
