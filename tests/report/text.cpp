// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/text.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <limits>
#include <string>

namespace {

using namespace deviate::tool;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("valid UTF-8 stays, each other byte becomes U+FFFD") {
  const std::string all = "a\xC3\xA9\xE2\x88\x92\xF0\x9D\x84\x9E\xEF\xBF\xBF\xF4\x8F\xBF\xBF\xC2\x80";
  CHECK(valid_utf8(all) == all);
  CHECK(valid_utf8("\xC3") == "\xEF\xBF\xBD");
  CHECK(valid_utf8("\xE2\x88x") == "\xEF\xBF\xBD\xEF\xBF\xBDx");
  for (const std::string overlong : {"\xC0\x80", "\xC1\xBF"}) CHECK(valid_utf8(overlong) == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(width_of(valid_utf8("\xE0\x9F\xBF")) == 3);      // overlong
  CHECK(width_of(valid_utf8("\xED\xA0\x80")) == 3);      // surrogate
  CHECK(width_of(valid_utf8("\xF4\x90\x80\x80")) == 4);  // beyond U+10FFFF
  CHECK(valid_utf8("\n\x01") == "\n\x01");
}

TEST_CASE("printable text has one line, no controls, and nothing that reorders it") {
  CHECK(printable("a\nb\x1b[0m\x7f") == "a\\x0ab\\x1b[0m\\x7f");
  CHECK(printable("\xC2\x9B"
                  "31m") ==
        "\xEF\xBF\xBD"
        "31m");
  for (const std::string harmful : {"\xE2\x80\xAE", "\xE2\x81\xA6", "\xEF\xBF\xBE", "\xEF\xB7\x90", "\xE2\x80\xA8"})
    CHECK(printable(harmful) == "\xEF\xBF\xBD");
  CHECK(printable("smollm2_layer00 − ü") == "smollm2_layer00 − ü");
}

TEST_CASE("texts are cut and padded by characters, not by bytes") {
  CHECK(shortened("Größe", 5) == "Größe");
  CHECK(shortened("Größe", 4) == "Grö…");
  CHECK(middle_shortened("examples/data/layer00", 11) == "examp…yer00");
  CHECK(middle_shortened("äöüäöüäöü", 4) == "ä…öü");
  CHECK(width_of(middle_shortened(std::string(400, 'x'), 30)) == 30);
  CHECK(right_aligned("×", 3) == "  ×");
  CHECK(left_aligned("×", 3) == "×  ");
  CHECK(left_aligned("long", 3) == "long");
}

TEST_CASE("words are broken into lines") {
  CHECK(wrapped("one two three", 7, "  ") == "one two\n  three");
  CHECK(wrapped("exceedingly long", 5, "") == "exceedingly\nlong");
  CHECK(wrapped("", 5, "") == "");
}

TEST_CASE("numbers have the digits that their place needs") {
  CHECK(shortest(0.1) == "0.1");
  CHECK(shortest(1e-5) == "1e-05");
  CHECK(shortest(-not_a_number) == "nan");
  CHECK(shortest(-infinity) == "-inf");
  for (const double x : {1.0 / 3, 5e-324, 1.7976931348623157e308, -0.1})
    CHECK(std::strtod(shortest(x).c_str(), nullptr) == x);
  CHECK(scientific(0.0123456) == "1.23e-02");
  CHECK(scientific(0) == "0");
  CHECK(ratio_text(8.5) == "8.50");
  CHECK(ratio_text(0.304) == "0.30");
  CHECK(ratio_text(9.999) == "10.0");
  CHECK(ratio_text(99.96) == "100");
  CHECK(ratio_text(123456) == "1.2e+05");
  CHECK(ratio_text(0.001) == "1.0e-03");
  CHECK(ratio_text(infinity) == "inf");
  CHECK(percent_text(0.5) == "50.0 %");
  CHECK(percent_text(1) == "100.0 %");
  CHECK(percent_text(0.99999) == "> 99.9 %");
  CHECK(percent_text(not_a_number) == "none");
}

TEST_CASE("a bias is shown to the digits that its interval leaves") {
  CHECK(bias_text(8.67e-4, 2.1e-5) == "(8.67 ± 0.21)e-04");
  CHECK(bias_text(-3.456e-5, 4.8e-6) == "(-3.46 ± 0.48)e-05");
  CHECK(bias_text(1e-6, 9.2e-6) == "(1.0 ± 9.2)e-06");
  CHECK(bias_text(1, 1e-9) == "(1.000 ± 0.000)e+00");
  CHECK(bias_text(9.9996, 0.1) == "(1.000 ± 0.010)e+01");
  CHECK(bias_text(0, 0) == "0 ± 0");
  CHECK(bias_text(not_a_number, 1) == "nan ± 1.00e+00");
  CHECK(bias_text(1e-5, infinity) == "1.00e-05 ± inf");
}
