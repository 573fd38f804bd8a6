// SPDX-License-Identifier: Apache-2.0
/// \file text.hpp
/// \brief Names made safe to show, and numbers in as many digits as their place needs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deviate::tool {

/// \brief `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD. Control characters stay.
std::string valid_utf8(std::string_view text);

/// \brief `text` on one line and harmless in a terminal, a picture or a page: valid UTF-8 with control characters as
/// \\xNN, and U+FFFD for characters that reorder text or that XML and HTML forbid.
std::string printable(std::string_view text);

/// \brief Number of characters of valid UTF-8: its width in a terminal, for the alphabets used here.
std::size_t width_of(std::string_view text);

/// \brief At most `most` characters; the last is "…" where something was cut off.
std::string shortened(std::string_view text, std::size_t most);

/// \brief At most `most` characters with "…" in the middle: both the folder and the end of a path tell files apart.
std::string middle_shortened(std::string_view text, std::size_t most);

/// \brief Padded with spaces to a width, on the left (numbers) or on the right (words).
std::string right_aligned(std::string_view text, std::size_t width);
/// \copydoc right_aligned
std::string left_aligned(std::string_view text, std::size_t width);

/// \brief Joined by a separator.
std::string joined(const std::vector<std::string>& words, std::string_view separator);

/// \brief Words broken into lines of at most `width` characters; every line after the first begins with `indent`.
std::string wrapped(std::string_view text, std::size_t width, std::string_view indent);

/// \brief The fewest digits that read back as the same double; "nan", "inf", "-inf".
std::string shortest(double x);

/// \brief Three significant digits, "1.54e-03"; 0 is "0".
std::string scientific(double x);

/// \brief Three significant digits in the shorter of plain and scientific notation, "0.0154", "1.54e-05".
std::string three_digits(double x);

/// \brief A ratio to baseline: "8.52", "0.30", "152", "1.5e+06".
std::string ratio_text(double x);

/// \brief A share of 1 in percent, "76.7 %"; what only rounds to 100 is "> 99.9 %", and a share of nothing is "none".
std::string percent_text(double share);

/// \brief A bias and the half width of its interval at the same power of ten, two digits of the half width shown:
/// "(-1.234 ± 0.052)e-05".
std::string bias_text(double bias, double half_width);

}  // namespace deviate::tool
