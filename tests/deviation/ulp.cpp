// SPDX-License-Identifier: Apache-2.0
#include <deviate/deviation/ulp.hpp>
//
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deviate/number/named.hpp>
#include <limits>
#include <vector>

#include "generator.hpp"

using namespace deviate;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// All numbers ≥ 0 of a small format, in order, from the definition f·2^(e − fraction_bits).
std::vector<double> numbers(const format& f) {
  std::vector<double> all;
  const int top = 1 << f.exponent_bits, half = 1 << f.fraction_bits;
  for (int code = 0; code < top; ++code)
    for (int fraction = 0; fraction < half; ++fraction) {
      if (code == top - 1 && (f.specials == special_values::ieee || fraction == half - 1)) continue;
      const int bias = top / 2 - 1;
      const int exponent = code == 0 ? 1 - bias : code - bias;
      if (code == 0 && fraction != 0 && f.subnormals == subnormal_rule::flush) continue;
      all.push_back(std::ldexp(code == 0 ? fraction : half + fraction, exponent - f.fraction_bits));
    }
  return all;
}

}  // namespace

TEST_CASE("ulp is the spacing of the format's numbers, at every number and between them") {
  format flushing = fp16_format;
  flushing.subnormals = subnormal_rule::flush;
  for (const format& f : {fp16_format, bf16_format, tf32_format, fp8_e5m2_format, fp8_e4m3_format, flushing}) {
    const std::vector<double> all = numbers(f);
    REQUIRE(all.back() == f.max_finite());
    int wrong = 0;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      const double spacing = all[i + 1] - all[i];
      wrong += ulp(all[i], f) != spacing;
      wrong += ulp(-all[i], f) != spacing;
      wrong += ulp(all[i] + spacing / 4, f) != spacing;
      wrong += ulp(std::nextafter(all[i + 1], 0), f) != spacing;
    }
    CHECK(wrong == 0);
    CHECK(ulp(all.back(), f) == all[all.size() - 1] - all[all.size() - 2]);
  }
}

TEST_CASE("ulp in binary32 and binary64 is the step of nextafter") {
  deviation_test::generator g(11);
  int wrong = 0;
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t bits = (g.bits() << 40) ^ (g.bits() << 20) ^ g.bits();
    double x = 0;
    std::memcpy(&x, &bits, sizeof x);
    x = std::fabs(x);
    if (std::isfinite(x) && x < std::numeric_limits<double>::max())
      wrong += ulp(x, binary64) != std::nextafter(x, infinity) - x;
    const std::uint32_t word = std::uint32_t(bits >> 32);
    float y = 0;
    std::memcpy(&y, &word, sizeof y);
    y = std::fabs(y);
    if (std::isfinite(y) && y < std::numeric_limits<float>::max())
      wrong += ulp(y, binary32) != double(std::nextafter(y, std::numeric_limits<float>::infinity())) - double(y);
  }
  CHECK(wrong == 0);
  for (const double x : {0.0, 0x1p-1074, 0x1.8p-1060, 0x1p-1022}) CHECK(ulp(x, binary64) == 0x1p-1074);
  CHECK(ulp(0x1p-1021, binary64) == 0x1p-1073);
}

TEST_CASE("ulp of what is not a number of the format") {
  CHECK(ulp(infinity, bf16_format) == infinity);
  CHECK(ulp(-infinity, bf16_format) == infinity);
  CHECK(std::isnan(ulp(not_a_number, bf16_format)));
  CHECK(ulp(1e5, fp16_format) == 64);      // 2^16 ≤ 1e5: the spacing above 65504, 32, doubled
  CHECK(ulp(500, fp8_e4m3_format) == 32);  // still in the binade of 448
  CHECK(ulp(1e-300, fp16_format) == 0x1p-24);
  static_assert(ulp(30, bf16_format) == 0.125);
}

TEST_CASE("case 57: a TF32 operand is off by up to 2^-11 = 4.9e-4 of its value") {
  CHECK(ulp(1, tf32_format) / 2 == 0x1p-11);
  CHECK(ulp(1, tf32_format) / 2 == doctest::Approx(4.9e-4).epsilon(0.01));
}

TEST_CASE("ulp_distance: correctly rounded values lie within half an ulp, and reach it") {
  deviation_test::generator g(12);
  double largest = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = g.value();
    largest = std::fmax(largest, ulp_distance(double(bf16(x)), x, bf16_format));
  }
  CHECK(largest <= 0.5);
  CHECK(largest > 0.4999);
}

TEST_CASE("ulp_distance: the reference's ulp is the unit; NaN and infinities as stated") {
  CHECK(ulp_distance(1 + 3 * 0x1p-7, 1, bf16_format) == 3);
  CHECK(ulp_distance(1, 2, bf16_format) == 64);   // unit 2^-6
  CHECK(ulp_distance(2, 1, bf16_format) == 128);  // unit 2^-7
  CHECK(ulp_distance(-0x1p-24, 0x1p-24, fp16_format) == 2);
  CHECK(ulp_distance(0.0, -0.0, fp16_format) == 0);
  CHECK(std::isnan(ulp_distance(not_a_number, 1, bf16_format)));
  CHECK(std::isnan(ulp_distance(1, not_a_number, bf16_format)));
  CHECK(std::isnan(ulp_distance(not_a_number, not_a_number, bf16_format)));
  CHECK(std::isnan(ulp_distance(not_a_number, infinity, bf16_format)));
  CHECK(ulp_distance(infinity, infinity, bf16_format) == 0);
  CHECK(ulp_distance(infinity, -infinity, bf16_format) == infinity);
  CHECK(ulp_distance(infinity, 1, bf16_format) == infinity);
  CHECK(ulp_distance(1, infinity, bf16_format) == infinity);
  CHECK(ulp_distance(1e300, 0, binary64) == infinity);  // 1e300 / 2^-1074 is no double
}

TEST_CASE("ulp_histogram: every bin includes its upper end") {
  CHECK(ulp_histogram::bin_of(0) == 0);
  CHECK(ulp_histogram::bin_of(0x1p-1074) == 1);
  CHECK(ulp_histogram::upper(1) == 0.5);
  CHECK(ulp_histogram::upper(2) == 1);
  CHECK(ulp_histogram::upper(ulp_histogram::bins - 2) == 0x1p22);
  CHECK(ulp_histogram::upper(ulp_histogram::bins - 1) == infinity);
  for (std::size_t bin = 1; bin + 1 < ulp_histogram::bins; ++bin) {
    CHECK(ulp_histogram::bin_of(ulp_histogram::upper(bin)) == bin);
    CHECK(ulp_histogram::bin_of(std::nextafter(ulp_histogram::upper(bin), infinity)) == bin + 1);
  }
  CHECK(ulp_histogram::bin_of(infinity) == ulp_histogram::bins - 1);
  CHECK(ulp_histogram::bin_of(not_a_number) == ulp_histogram::bins - 1);
  ulp_histogram h;
  for (const double distance : {0.0, 0.0, 0.25, 1.0, 3.0, 1e9}) h.add(distance);
  CHECK(h.counts[0] == 2);
  CHECK(h.counts[1] == 1);
  CHECK(h.counts[2] == 1);
  CHECK(h.counts[4] == 1);
  CHECK(h.counts[ulp_histogram::bins - 1] == 1);
  CHECK(h.total() == 6);
}
