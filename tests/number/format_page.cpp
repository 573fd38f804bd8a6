// SPDX-License-Identifier: Apache-2.0
/// \file format_page.cpp
/// \brief include/deviate/number/formats/README.md against the library: every figure of its tables, every line of code.
#include <deviate/number/named.hpp>

#include <doctest/doctest.h>

#include <deviate/number/code.hpp>
#include <deviate/number/double_double.hpp>
#include <deviate/number/e8m0.hpp>
#include <deviate/number/limits.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

namespace dv = deviate;

namespace {

using cells = std::pair<std::string, std::string>;  // value, code
using table = std::map<std::string, cells>;

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
std::string page() {
  return read(std::filesystem::path(__FILE__).parent_path() / "../../include/deviate/number/formats/README.md");
}
std::string trimmed(const std::string& s) {
  const auto first = s.find_first_not_of(' ');
  return first == std::string::npos ? "" : s.substr(first, s.find_last_not_of(' ') - first + 1);
}

/// The table of the section with this heading.
table section(const std::string& heading) {
  std::istringstream lines(page());
  table rows;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) inside = line == "## " + heading;
    if (!inside || !line.starts_with("| ")) continue;
    std::istringstream row(line.substr(1));
    std::string what, value, code;
    std::getline(row, what, '|');
    std::getline(row, value, '|');
    std::getline(row, code, '|');
    rows[trimmed(what)] = {trimmed(value), trimmed(code)};
  }
  return rows;
}

/// The exact figure, and the three digits after ≈ if they are given.
void check_number(const std::string& cell, double x) {
  CAPTURE(cell);
  char* end = nullptr;
  CHECK(std::strtod(cell.c_str(), &end) == x);
  const auto about = cell.find("≈ ");
  if (about == std::string::npos) return;
  char rounded[32];
  std::snprintf(rounded, sizeof rounded, "%.3g", x);
  CHECK(cell.substr(about + std::string("≈ ").size()).starts_with(rounded));
}
std::string hexadecimal(std::uint64_t code, int width) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%0*llx", (width + 3) / 4, static_cast<unsigned long long>(code));
  return text;
}

template <class T>
void check_section(const std::string& heading) {
  CAPTURE(heading);
  constexpr dv::format f = T::number_format;
  using limits = std::numeric_limits<T>;
  table t = section(heading);
  REQUIRE(t.size() == 15);
  const auto check_value = [&](const std::string& what, double x) {
    CAPTURE(what);
    check_number(t[what].first, x);
    CHECK(t[what].second == hexadecimal(dv::encode(x, f), f.width()));
  };
  CHECK(t["bits: sign, exponent, fraction"].first == "1 + " + std::to_string(f.exponent_bits) + " + " +
                                                         std::to_string(f.fraction_bits) + " = " +
                                                         std::to_string(f.width()));
  CHECK(t["exponent bias"].first == std::to_string(f.bias()));
  check_value("largest number", double(limits::max()));
  check_value("smallest normal number", double(limits::min()));
  check_value("smallest positive number", double(limits::denorm_min()));
  check_value("1", 1);
  check_number(t["epsilon"].first, double(limits::epsilon()));
  CHECK(t["−0"] ==
        (f.has_negative_zero() ? cells{"−0", hexadecimal(dv::encode(-0.0, f), f.width())} : cells{"none", ""}));
  if (f.has_infinity())
    check_value("infinity", std::numeric_limits<double>::infinity());
  else
    CHECK(t["infinity"] == cells{"none", ""});

  int nans = 0;
  for (std::uint64_t code = 0; code < std::uint64_t(1) << f.width(); ++code)
    if (std::isnan(dv::decode(code, f))) ++nans;
  if (nans == 0)
    CHECK(t["NaN"] == cells{"none", ""});
  else
    CHECK(t["NaN"] == cells{std::to_string(nans) + (nans == 1 ? " code" : " codes"),
                            hexadecimal(dv::encode(std::numeric_limits<double>::quiet_NaN(), f), f.width())});

  // Where overflow begins, and what it gives.
  const double tie = std::strtod(t["beyond"].first.c_str(), nullptr),
               infinite = std::numeric_limits<double>::infinity();
  check_number(t["beyond"].first.substr(0, t["beyond"].first.find(" is the")), tie);
  using seen = dv::emulated<[] {
    dv::format unsaturated = T::number_format;
    unsaturated.overflow = dv::overflow_rule::nan;
    return unsaturated;
  }()>;
  const bool last = t["beyond"].first.ends_with("is the last to give the largest number");
  CHECK((last || t["beyond"].first.ends_with("is the first to overflow")));
  CHECK(std::isnan(double(seen(tie))) == !last);
  CHECK(double(seen(std::nextafter(tie, 0.0))) == f.max_finite());
  CHECK(std::isnan(double(seen(std::nextafter(tie, infinite)))));
  const double overflowed = double(T(2 * tie));
  CHECK(t["what overflows"].first == (std::isinf(overflowed)   ? "infinity"
                                      : std::isnan(overflowed) ? "NaN"
                                                               : "the largest number"));

  CHECK(t["carrier"].first == (std::is_same_v<typename T::carrier_type, float> ? "float" : "double"));
  CHECK(t["working type"].first ==
        (std::is_same_v<typename dv::scalar_traits<T>::working_type, float> ? "float" : "double"));
}

}  // namespace

TEST_CASE("the page of the formats: every figure") {
  check_section<dv::bf16>("bf16");
  check_section<dv::fp16>("fp16");
  check_section<dv::tf32>("tf32");
  check_section<dv::fp8_e5m2>("fp8_e5m2");
  check_section<dv::fp8_e4m3>("fp8_e4m3");
  check_section<dv::fp8_e4m3_saturating>("fp8_e4m3_saturating");
  check_section<dv::fp8_e4m3_fnuz>("fp8_e4m3_fnuz");
  check_section<dv::fp8_e5m2_fnuz>("fp8_e5m2_fnuz");
  check_section<dv::fp6_e3m2>("fp6_e3m2");
  check_section<dv::fp6_e2m3>("fp6_e2m3");
  check_section<dv::fp4_e2m1>("fp4_e2m1");
  check_section<dv::fp24_e8m15>("fp24_e8m15");
  check_section<dv::fp24_e7m16>("fp24_e7m16");
  check_section<dv::e8m13>("e8m13");
}

TEST_CASE("the page of the formats: E8M0 and double_double") {
  table t = section("E8M0");
  REQUIRE(t.size() == 7);
  for (const char* what : {"largest number", "smallest positive number", "1"}) {
    const auto code = std::uint8_t(std::strtol(t[what].second.c_str(), nullptr, 16));
    check_number(t[what].first, double(dv::e8m0::from_code(code)));
  }
  CHECK(t["largest number"].second == hexadecimal(dv::e8m0::round(1e300).code(), 8));
  CHECK(t["smallest positive number"].second == hexadecimal(dv::e8m0::round(0).code(), 8));
  CHECK(t["1"].second == hexadecimal(dv::e8m0().code(), 8));
  CHECK(t["exponent bias"].first == std::to_string(dv::e8m0().code()));
  CHECK(t["NaN"] == cells{"1 code", "0xff"});
  CHECK(dv::e8m0::from_code(0xff).is_nan());

  using limits = std::numeric_limits<dv::double_double>;
  t = section("double_double");
  REQUIRE(t.size() == 6);
  check_number(t["largest number"].first, double(limits::max()));
  check_number(t["smallest normal number"].first, double(limits::min()));
  check_number(t["epsilon"].first, double(limits::epsilon()));
  CHECK(t["decimal digits"].first == std::to_string(limits::digits10));
}

TEST_CASE("the page of the formats: every line of code") {
  CHECK(double(dv::bf16(3.14)) == 3.140625);
  CHECK(double(dv::bf16(256.0) + dv::bf16(1.0)) == 256);
  CHECK(double(dv::bf16(16842753)) == 16908288);
  CHECK(double(dv::fp16(0.1)) == 0.0999755859375);
  CHECK(std::isinf(double(dv::fp16(65520.0))));
  CHECK(double(dv::fp16(2049)) == 2048);
  CHECK(double(dv::tf32(1 + 0x1p-11)) == 1);
  CHECK(double(dv::tf32(1 + 0x1.8p-10)) == 1 + 0x1p-9);
  CHECK(double(dv::tf32(1e38)) > 9.99e37);
  CHECK(double(dv::fp8_e5m2(0.3)) == 0.3125);
  CHECK(std::isinf(double(dv::fp8_e5m2(61440.0))));
  CHECK(double(dv::fp8_e5m2(61439.0)) == 57344);
  CHECK(double(dv::fp8_e4m3(464.0)) == 448);
  CHECK(std::isnan(double(dv::fp8_e4m3(465.0))));
  CHECK(std::isnan(double(dv::fp8_e4m3(1.0) / dv::fp8_e4m3(0.0))));
  CHECK(double(dv::fp8_e4m3_saturating(1e9)) == 448);
  CHECK(double(dv::fp8_e4m3_saturating(-std::numeric_limits<double>::infinity())) == -448);
  CHECK(std::isnan(double(dv::fp8_e4m3_saturating(std::numeric_limits<double>::quiet_NaN()))));
  CHECK(double(dv::fp8_e4m3_fnuz(240.0)) == 240);
  CHECK(!std::signbit(double(dv::fp8_e4m3_fnuz(-0.0))));
  CHECK(std::isnan(double(dv::fp8_e4m3_fnuz(256.0))));
  CHECK(double(dv::fp8_e5m2_fnuz(57344.0)) == 57344);
  CHECK(double(dv::fp8_e5m2_fnuz(0x1p-17)) == 0x1p-17);
  CHECK(std::isnan(double(dv::fp8_e5m2_fnuz(61440.0))));
  CHECK(double(dv::fp6_e3m2(100.0)) == 28);
  CHECK(double(dv::fp6_e3m2(0.03)) == 0);
  CHECK(double(dv::fp6_e3m2(27.0)) == 28);
  CHECK(double(dv::fp6_e2m3(100.0)) == 7.5);
  CHECK(double(dv::fp6_e2m3(0.0625)) == 0);
  CHECK(double(dv::fp6_e2m3(1.3)) == 1.25);
  CHECK(double(dv::fp4_e2m1(5.0)) == 4);
  CHECK(double(dv::fp4_e2m1(0.25)) == 0);
  CHECK(double(dv::fp4_e2m1(1e9)) == 6);
  CHECK(double(dv::fp24_e8m15(1 + 0x1p-15)) == 1 + 0x1p-15);
  CHECK(double(dv::fp24_e8m15(65537)) == 65536);
  CHECK(double(dv::fp24_e8m15(1e38)) > 9.99e37);
  CHECK(double(dv::fp24_e7m16(1 + 0x1p-16)) == 1 + 0x1p-16);
  CHECK(double(dv::fp24_e7m16(131073)) == 131072);
  CHECK(std::isinf(double(dv::fp24_e7m16(1e20))));
  CHECK(double(dv::e8m13(1 + 0x1p-13)) == 1 + 0x1p-13);
  CHECK(double(dv::e8m13(16385)) == 16384);
  CHECK(double(dv::e8m13(-1e-45)) == 0);
  CHECK(double(dv::e8m0::round(1.4)) == 1);
  CHECK(double(dv::e8m0::round(1.5)) == 2);
  CHECK(double(dv::e8m0::round(0.0)) == 0x1p-127);
  CHECK((dv::double_double(1) + 0x1p-100).lo() == 0x1p-100);
  CHECK(dv::double_double::from_product(1 + 0x1p-52, 1 + 0x1p-52).lo() == 0x1p-104);
  CHECK((dv::double_double(1) / 3).hi() == 1.0 / 3);
}

TEST_CASE("the page of the formats: its lines of code are those above") {
  // Without spaces and line ends, which the layout of either file may set differently.
  const auto packed = [](const std::string& s) {
    std::string r;
    for (const char c : s)
      if (c != ' ' && c != '\n') r += c;
    return r;
  };
  const std::string here = packed(read(__FILE__));
  std::istringstream lines(page());
  int found = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("assert(")) continue;
    line = packed("CHECK" + line.substr(6, line.find(';') - 5));
    CAPTURE(line);
    CHECK(here.find(line) != std::string::npos);
    ++found;
  }
  CHECK(found == 48);
}
