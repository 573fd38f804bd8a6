// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/stream.hpp>

#include <doctest/doctest.h>

#include <deviate/number/code.hpp>
#include <deviate/number/named.hpp>

#include <iomanip>
#include <limits>
#include <sstream>
#include <string>

#include "number/mode_oracle.hpp"

namespace dv = deviate;
using dv::double_double;
using dv::emulated;
using dv::format;
using dv::overflow_rule;
using dv::rounding_mode;
using dv::special_values;
using dv::subnormal_rule;

namespace {

template <class T>
std::string written(const T& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}
template <class T>
bool same(const T& a, const T& b) {
  return dv::bits(a.carrier()) == dv::bits(b.carrier());
}

}  // namespace

TEST_CASE("text: the shortest decimals, fixed or scientific") {
  CHECK(written(dv::bf16(0.1)) == "0.1");
  CHECK(written(dv::fp16(65504)) == "65500");
  CHECK(written(dv::fp16(1.0 / 3)) == "0.3333");
  CHECK(written(dv::bf16(1e30)) == "1e+30");
  CHECK(written(dv::bf16(0x1p-133)) == "9e-41");
  CHECK(written(dv::fp8_e4m3(448)) == "450");
  CHECK(written(dv::fp8_e4m3_saturating(448)) == "450");  // 500 would saturate to it
  CHECK(written(dv::fp4_e2m1(6)) == "6");
  CHECK(written(dv::fp4_e2m1(-1.5)) == "-1.5");
  CHECK(written(dv::tf32(1024)) == "1024");
  CHECK(written(dv::bf16(100000)) == "1e+05");
  CHECK(written(dv::bf16(0.001)) == "0.001");
  CHECK(written(dv::bf16(0.0)) == "0");
  CHECK(written(dv::bf16(-0.0)) == "-0");
  CHECK(written(dv::fp8_e4m3_fnuz(-0.0)) == "0");
  CHECK(written(dv::bf16(oracle::infinite)) == "inf");
  CHECK(written(dv::bf16(-oracle::infinite)) == "-inf");
  CHECK(written(dv::fp8_e4m3(oracle::not_a_number)) == "nan");
  // Toward zero everything from a number up to the next one reads as it; to odd only the odd ones have room.
  CHECK(written(emulated<dv::bf16_format.rounded(rounding_mode::toward_zero)>(0.1)) == "0.1");
  CHECK(written(emulated<dv::fp8_e4m3_format.rounded(rounding_mode::toward_zero)>(448)) == "450");
  CHECK(written(emulated<dv::fp8_e4m3_format.rounded(rounding_mode::to_odd)>(0x1p-9)) == "0.002");
  CHECK(written(emulated<dv::fp8_e4m3_format.rounded(rounding_mode::to_odd)>(0x1p-8)) == "0.00390625");
  std::ostringstream out;
  out << std::setw(6) << std::left << std::setfill('*') << std::setprecision(1) << std::fixed << dv::bf16(0.25);
  CHECK(out.str() == "0.25**");
}

TEST_CASE("text: to_chars and from_chars at their ends") {
  char buffer[8] = {};
  CHECK(dv::to_chars(buffer, buffer + 4, dv::bf16(0.25)).ptr == buffer + 4);
  CHECK(std::string(buffer) == "0.25");
  const auto short_of_space = dv::to_chars(buffer, buffer + 3, dv::bf16(0.25));
  CHECK(short_of_space.ec == std::errc::value_too_large);
  CHECK(short_of_space.ptr == buffer + 3);
  dv::bf16 x(7.0);
  const std::string text = "1.5e+x";
  CHECK(from_chars(text.data(), text.data() + text.size(), x).ptr == text.data() + 3);
  CHECK(double(x) == 1.5);
  for (const std::string none : {"", "-", ".", "e5", "+.e1", "x1", " 1", "in", "na"}) {
    CAPTURE(none);
    const auto read = from_chars(none.data(), none.data() + none.size(), x);
    CHECK(read.ec == std::errc::invalid_argument);
    CHECK(read.ptr == none.data());
    CHECK(double(x) == 1.5);
    CHECK(!dv::from_text<dv::bf16>(none));
  }
  CHECK(!dv::from_text<dv::bf16>("1.5 "));
  CHECK(!dv::from_text<dv::bf16>("0x"));
  CHECK(!dv::from_text<dv::bf16>("1'000"));
  CHECK(double(*dv::from_text<dv::bf16>("+1.5")) == 1.5);
  CHECK(double(*dv::from_text<dv::bf16>("-INFINITY")) == -oracle::infinite);
  CHECK(std::isnan(double(*dv::from_text<dv::bf16>("-NaN"))));
  CHECK(double(*dv::from_text<dv::fp16>("0x1.ffdp-1")) == 0x1.ffcp-1);  // a tie
  CHECK(double(*dv::from_text<dv::fp16>("1e99999999999999999999")) == oracle::infinite);
  CHECK(dv::bits(double(*dv::from_text<dv::fp16>("-1e-99999999999999999999"))) == dv::bits(-0.0));
  CHECK(double(*dv::from_text<emulated<dv::fp16_format.rounded(rounding_mode::upward)>>("1e-9999")) == 0x1p-24);
  CHECK(double(*dv::from_text<dv::fp8_e4m3_saturating>("inf")) == 448);
  CHECK(std::isnan(double(*dv::from_text<dv::fp8_e4m3>("1000"))));
}

TEST_CASE("stream: numbers one after another, words, and what is no number") {
  std::istringstream in(" 1.5 -2e-1,+0x1.8P+1;nan -inf 3e5f 0.25");
  dv::bf16 x;
  char c = 0;
  CHECK((in >> x && double(x) == 1.5));
  CHECK((in >> x >> c && double(x) == -0.2001953125 && c == ','));
  CHECK((in >> x >> c && double(x) == 3 && c == ';'));
  CHECK((in >> x && std::isnan(double(x))));
  CHECK((in >> x && double(x) == -oracle::infinite));
  CHECK((in >> x >> c && double(x) == double(dv::bf16(3e5)) && c == 'f'));
  CHECK((in >> x && double(x) == 0.25 && in.eof()));
  std::istringstream wrong("north");
  CHECK(!(wrong >> x));
  CHECK(double(x) == 0.25);
  double_double third;
  std::istringstream wide("0.333333333333333333333333333333333333 x");
  CHECK((wide >> third && third == double_double(1) / 3));
}

#if defined(DEVIATE_TEST_MPFR)
namespace {

/// The text's value, read by MPFR with more bits than it can need.
class decimal {
 public:
  double rounded(const std::string& text, const oracle::limits& of, rounding_mode mode) {
    mpfr_set_str(value_, text.c_str(), 10, MPFR_RNDZ);
    // To odd in 60 bits, then once more: any format of up to 51 bits.
    const int inexact = mpfr_set(leading_, value_, MPFR_RNDZ);
    exact_.value_of(leading_, inexact);
    return exact_.rounded(of, mode);
  }

 private:
  oracle::real value_{4000}, leading_{62};
  oracle::exact_result exact_;
};

/// The number of significant digits of a text.
std::size_t significant(const std::string& text) {
  std::string digits;
  for (const char c : text.substr(0, text.find('e')))
    if (c >= '0' && c <= '9') digits += c;
  digits.erase(0, digits.find_first_not_of('0'));
  digits.erase(digits.find_last_not_of('0') + 1);
  return std::max<std::size_t>(digits.size(), 1);
}

template <format F>
void check_every_number(std::uint64_t stride = 1) {
  using T = emulated<F>;
  const oracle::limits of(F);
  oracle::limits unsaturated(F);
  unsaturated.overflowed = oracle::not_a_number;
  oracle::tally tally(oracle::name(F) + " as text");
  decimal reader;
  oracle::real v;
  // In modes that never overflow everything reads as the largest number: not what its text may be.
  const double beyond = of.largest + std::ldexp(1.0, int(of.max_exponent - F.fraction_bits));
  for (std::uint64_t code = 0; code < std::uint64_t(1) << F.width(); code += stride) {
    const double x = oracle::decoded(of, code);
    if (!oracle::is_member(of, x)) continue;
    const T number = T::from_carrier(typename T::carrier_type(x));
    const std::string text = written(number);
    const auto read = dv::from_text<T>(text);
    tally.compare(read && same(*read, T(x)), 1, text, x);
    if (std::isnan(x) || std::isinf(x) || x == 0) continue;
    tally.compare(reader.rounded(text, unsaturated, F.rounding), x, text);
    // The two decimals of one digit less around x: neither reads back.
    const std::size_t digits = significant(text);
    mpfr_set_d(v, x, MPFR_RNDN);
    char shorter[64];
    for (const char* way : {"%.*RDe", "%.*RUe"})
      if (digits > 1 && digits < 30) {
        mpfr_snprintf(shorter, sizeof shorter, way, int(digits) - 2, mpfr_ptr(v));
        const double other = reader.rounded(shorter, unsaturated, F.rounding);
        tally.compare(other != x || std::fabs(std::strtod(shorter, nullptr)) >= beyond, 1, text, shorter);
      }
    // No decimal of as many digits that reads back is nearer: the nearest one is the text, or does not read back.
    if (digits < 30) {
      mpfr_snprintf(shorter, sizeof shorter, "%.*RNe", int(digits) - 1, mpfr_ptr(v));
      if (reader.rounded(shorter, unsaturated, F.rounding) == x)
        tally.compare(std::strtod(shorter, nullptr), std::strtod(text.c_str(), nullptr), text, x);
    }
  }
  tally.expect(long((std::uint64_t(1) << F.width()) / stride / 2));
}

}  // namespace

TEST_CASE("text: every number of every format of at most 8 bits reads back, and no shorter text does: MPFR") {
  oracle::for_each_format<
      dv::fp8_e5m2_format, dv::fp8_e4m3_format, dv::fp8_e4m3_saturating_format, dv::fp8_e4m3_fnuz_format,
      dv::fp8_e5m2_fnuz_format, dv::fp6_e3m2_format, dv::fp6_e2m3_format, dv::fp4_e2m1_format, format{2, 1},
      format{3, 4}, format{6, 1}, format{5, 2, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush},
      dv::fp8_e4m3_format.rounded(rounding_mode::nearest_away), dv::fp8_e4m3_format.rounded(rounding_mode::toward_zero),
      dv::fp8_e4m3_saturating_format.rounded(rounding_mode::upward),
      dv::fp8_e5m2_format.rounded(rounding_mode::downward), dv::fp8_e5m2_format.rounded(rounding_mode::to_odd)>(
      []<format F>() { check_every_number<F>(); });
}

TEST_CASE("text: every number of fp16 and bf16, and some of wider formats, read back, and no shorter text does: MPFR") {
  check_every_number<dv::fp16_format>();
  check_every_number<dv::bf16_format>();
  check_every_number<dv::tf32_format>(37);
  check_every_number<dv::binary32>(1000003);
  check_every_number<format{11, 25}>(40000000003);
}

TEST_CASE("reading: decimals on, just above and just below midpoints, however long: MPFR") {
  const auto check = []<format F>() {
    const oracle::limits of(F);
    oracle::tally tally(oracle::name(F) + " from long decimals");
    oracle::words random(31);
    decimal reader;
    oracle::real middle{64};
    for (int i = 0; i < 1500; ++i) {
      const long exponent = random.between(of.quantum_exponent, of.max_exponent);
      const double units = double(random.next() >> (63 - of.f.fraction_bits)) + 0.5;
      mpfr_set_d(middle, units, MPFR_RNDN);
      mpfr_mul_2si(middle, middle, std::max(exponent - of.f.fraction_bits, of.quantum_exponent), MPFR_RNDN);
      char text[1200];
      mpfr_snprintf(text, sizeof text, "%.1100Re", mpfr_ptr(middle));
      const std::string whole = text;
      const std::size_t e = whole.find('e');
      for (const char* last : {"", "1", "000000000001"}) {
        const std::string longer = whole.substr(0, e) + last + whole.substr(e);
        tally.compare(double(*dv::from_text<emulated<F>>(longer)), reader.rounded(longer, of, F.rounding), units);
      }
      std::string below = whole;  // one unit less in the last nonzero digit
      --below[below.find_last_of("123456789", e)];
      tally.compare(double(*dv::from_text<emulated<F>>(below)), reader.rounded(below, of, F.rounding), units);
    }
    tally.expect(6000);
  };
  oracle::for_each_format<dv::bf16_format, dv::fp16_format, dv::fp8_e4m3_format, format{11, 25},
                          dv::fp16_format.rounded(rounding_mode::upward),
                          dv::bf16_format.rounded(rounding_mode::to_odd)>(check);
}

TEST_CASE("reading: double_double is the nearest double and the double nearest to the rest, and its text reads back") {
  oracle::words random(33);
  oracle::real v{2400}, hi, lo;
  int wrong = 0, not_back = 0;
  for (int i = 0; i < 3000; ++i) {
    // 106 bits: the lower part is a multiple of 2^−53 of the upper one's last place.
    const double high =
        std::ldexp(double(random.next() >> 11 | std::uint64_t(1) << 52), int(random.between(-850, 850)));
    const double low = std::ldexp(double(random.between(-(1L << 52), 1L << 52)), std::ilogb(high) - 105);
    const double_double x = double_double::from_sum(random.next() & 1 ? -high : high, low);
    const std::string text = to_string(x);
    const auto read = dv::from_text<double_double>(text);
    // What is read has the text's 33 digits, whose error is up to half of 10^−32.
    not_back += !(read && abs(*read - x) <= abs(x) * double_double(1e-32));
    const auto longer = dv::from_text<double_double>(to_string(x, 50));
    not_back += !(longer && *longer == x);
    mpfr_set_str(v, text.c_str(), 10, MPFR_RNDN);
    mpfr_set(hi, v, MPFR_RNDN);
    mpfr_sub(v, v, hi, MPFR_RNDN);
    mpfr_set(lo, v, MPFR_RNDN);
    wrong += !(read && read->hi() == mpfr_get_d(hi, MPFR_RNDN) && read->lo() == mpfr_get_d(lo, MPFR_RNDN));
  }
  CHECK(wrong == 0);
  CHECK(not_back == 0);
  CHECK(*dv::from_text<double_double>("1e400") == double_double(oracle::infinite));
  CHECK(*dv::from_text<double_double>("-4.94065645841246544176568792868e-324") ==
        double_double(-std::numeric_limits<double>::denorm_min()));
  CHECK(isnan(*dv::from_text<double_double>("nan")));
}
#endif
