// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/e8m0.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "number/oracle.hpp"

namespace dv = deviate;
using dv::e8m0;
using dv::overflow_rule;
using dv::rounding_mode;

static_assert(double(e8m0()) == 1 && sizeof(e8m0) == 1);
static_assert(e8m0::round(1.5).code() == 128 && e8m0::round(3).code() == 128 && e8m0::round(6).code() == 130);

TEST_CASE("case 73: E8M0 has no zero: what is tiny becomes 2^-127") {
  for (double x : {0.0, -0.0, 0x1p-127, 0x1p-128, 0x1p-149, 0x1p-1074, 0x1.4p-127}) {
    CHECK(e8m0::round(x).code() == 0);
    CHECK(double(e8m0::round(x)) == 0x1p-127);
  }
  CHECK(e8m0::round(0x1p-1074, rounding_mode::upward).code() == 0);
}

TEST_CASE("all 256 codes: 2^(code - 127), and 0xFF is NaN") {
  for (int code = 0; code < 255; ++code) {
    const e8m0 x = e8m0::from_code(std::uint8_t(code));
    CHECK(double(x) == std::ldexp(1.0, code - 127));
    CHECK(float(x) == std::ldexp(1.0f, code - 127));
    for (auto mode : {rounding_mode::nearest_even, rounding_mode::nearest_away, rounding_mode::toward_zero,
                      rounding_mode::upward, rounding_mode::downward, rounding_mode::to_odd})
      CHECK(e8m0::round(double(x), mode) == x);
  }
  CHECK(std::isnan(double(e8m0::from_code(255))));
  CHECK(std::isnan(float(e8m0::from_code(255))));
  CHECK(e8m0::from_code(255).is_nan());
}

TEST_CASE("rounding: floor, ceiling, nearest by value, and both ends") {
  for (int code = 0; code < 254; ++code) {
    const double low = std::ldexp(1.0, code - 127);
    for (double f : {1 + 0x1p-52, 1.25, 1.5 - 0x1p-52, 1.5, 1.5 + 0x1p-52, 2 - 0x1p-52}) {
      const double x = f * low;
      CHECK(e8m0::round(x, rounding_mode::toward_zero).code() == code);
      CHECK(e8m0::round(x, rounding_mode::downward).code() == code);
      CHECK(e8m0::round(x, rounding_mode::upward).code() == code + 1);
      CHECK(e8m0::round(x, rounding_mode::to_odd).code() == code + (code % 2 == 0));
      CHECK(e8m0::round(x, rounding_mode::nearest_away).code() == code + (f >= 1.5));
      CHECK(e8m0::round(x).code() == code + (f > 1.5 || (f == 1.5 && code % 2 != 0)));
    }
  }
  CHECK(e8m0::round(0x1.8p127).code() == 254);
  CHECK(e8m0::round(0x1p300).code() == 254);
  CHECK(e8m0::round(0x1p128, rounding_mode::nearest_even, overflow_rule::nan).is_nan());
  CHECK(e8m0::round(0x1p300, rounding_mode::toward_zero, overflow_rule::nan).code() == 254);
  CHECK(e8m0::round(0x1.4p127, rounding_mode::nearest_even, overflow_rule::nan).code() == 254);
  CHECK(e8m0::round(oracle::infinite).is_nan());
  CHECK(e8m0::round(oracle::infinite, rounding_mode::nearest_even, overflow_rule::saturate).code() == 254);
  CHECK(e8m0::round(-1).is_nan());
  CHECK(e8m0::round(-0x1p-1074).is_nan());
  CHECK(e8m0::round(-oracle::infinite).is_nan());
  CHECK(e8m0::round(oracle::not_a_number).is_nan());
}

TEST_CASE("2^18 normal floats as ml_dtypes encodes float8_e8m0fnu") {
  std::uint64_t hash = 0;
  long count = 0;
  for (std::uint64_t i = 0; i < std::uint64_t(1) << 20; ++i) {
    const float x = std::bit_cast<float>(std::uint32_t(4099 * i));
    if (!(x >= 0x1p-126f) || std::isinf(x)) continue;
    const e8m0 y = e8m0::round(double(x), rounding_mode::nearest_even, overflow_rule::nan);
    if (y.is_nan()) continue;
    hash += std::uint64_t(y.code()) * (2 * i + 1);
    ++count;
  }
  CHECK(count == 518788);
  CHECK(hash == 0x000029dc0f840b2eu);
}
