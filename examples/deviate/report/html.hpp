// SPDX-License-Identifier: Apache-2.0
/// \file html.hpp
/// \brief A study as one self-contained page.
#pragma once

#include "deviate/report/plots.hpp"
#include "deviate/study_row.hpp"

#include <string>
#include <string_view>

namespace deviate::tool {

/// \brief `text` as the content of an element or a quoted attribute: made printable, with & < > " ' as entities.
std::string html_escaped(std::string_view text);

/// \brief The beginning of a page: head, style sheet, heading. It ends with "</body>\n</html>\n".
std::string html_page_start(const std::string& title, const std::string& heading);

/// \brief The page: a summary in words, the pictures, all rows, what the words mean, and the command that gives it
/// again.
///
/// HTML5 without scripts and without references to anything outside. Rows are folded away on the screen and left out in
/// print. The same study and pictures give the same bytes.
std::string report_html(const study_result& study, const picture_list& drawn);

}  // namespace deviate::tool
