// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/html.hpp"

#include <doctest/doctest.h>

#include <string>

#include "deviate/report/text.hpp"
#include "report/markup.hpp"
#include "report/synthetic_study.hpp"

using namespace deviate::tool;
using report_test::read_markup;

namespace {

const std::string small_svg =
    "<svg \n width=\"10\"\n xmlns=\"http://www.w3.org/2000/svg\"\n "
    "xmlns:xlink=\"http://www.w3.org/1999/xlink\"\n><g/></svg>\n";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the page is well-formed, self-contained, and says what it must") {
  const picture_list drawn{{{"a.svg", "What <this> shows.", small_svg}}, ""};
  const std::string page = report_html(report_test::whole_study(), drawn);
  const auto read = read_markup(page);
  CHECK_MESSAGE(read.problem.empty(), read.problem);
  CHECK(page.substr(0, 16) == "<!DOCTYPE html>\n");
  for (const char* outside : {"http:", "https:", "src=", "url(", "@import", "<link", "<script"})
    CHECK_FALSE(has(page, outside));
  CHECK(read.has_element("svg"));
  CHECK(read.has_text("What <this> shows."));
  for (const char* words : {"Summary", "Pictures", "All rows", "Recipes", "deviate study", "causal, scale 0.125",
                            "on the inputs rounded to the format", "max_ulp"})
    CHECK_MESSAGE(read.has_text(words), words);
  CHECK(has(page, "@media print"));
  CHECK(page == report_html(report_test::whole_study(), drawn));
}

TEST_CASE("rows that are the same in a column move to the caption, so every row is there") {
  const std::string page = report_html(report_test::small_study(), {});
  CHECK(has(page, "The same in all rows: inputs uniform seed 1, heads 1, n_query 1024,"));
  CHECK(has(page, "<td class=\"word\">flash1_all</td>"));
  CHECK(read_markup(page).has_text("Nothing varies in this study"));
}

TEST_CASE("names of any bytes are text, never markup") {
  for (const std::string& name : report_test::hostile_names()) {
    const auto read = read_markup(report_html(report_test::hostile_study(name), {}));
    CHECK_MESSAGE(read.problem.empty(), name, ": ", read.problem);
    CHECK_FALSE(read.has_element("script"));
    CHECK(read.has_text(printable(name)));
  }
  CHECK(html_escaped("<a href='x' id=\"y\">&amp;\n") == "&lt;a href=&#39;x&#39; id=&quot;y&quot;&gt;&amp;amp;\\x0a");
}

TEST_CASE("without pictures the page says why") {
  const auto read = read_markup(report_html(report_test::whole_study(), {{}, "gnuplot was not found: no pictures"}));
  CHECK(read.has_text("gnuplot was not found: no pictures"));
}

TEST_CASE("a study without rows still gives a page") { CHECK(read_markup(report_html({}, {})).problem.empty()); }
