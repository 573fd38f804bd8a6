// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/named.hpp>

#include <doctest/doctest.h>

#include <type_traits>

#include "number/code_tables.hpp"
#include "number/oracle.hpp"

namespace dv = deviate;

static_assert(dv::bf16_format.max_finite() == 0x1.fep127 && dv::bf16_format.width() == 16);
static_assert(dv::fp16_format.max_finite() == 65504 && dv::fp16_format.width() == 16);
static_assert(dv::tf32_format.fraction_bits == 10 && dv::tf32_format.exponent_bits == 8);
static_assert(dv::fp8_e5m2_format.max_finite() == 57344 && dv::fp8_e5m2_format.has_infinity());
static_assert(dv::fp8_e4m3_format.max_finite() == 448 && !dv::fp8_e4m3_format.has_infinity());
static_assert(dv::fp8_e4m3_saturating_format.max_finite() == 448 && dv::fp8_e4m3_format.width() == 8);
static_assert(std::is_same_v<dv::binary_number<8, 7>, dv::bf16> &&
              std::is_same_v<dv::binary_number<5, 2>, dv::fp8_e5m2>);
static_assert(!std::is_same_v<dv::binary_number<4, 3>, dv::fp8_e4m3>, "IEEE style ends at 240");

TEST_CASE("case 69: E4M3 overflows to NaN or saturates at 448; E5M2 overflows to infinity at 61440") {
  CHECK(double(dv::fp8_e4m3(464.0)) == 448);
  CHECK(std::isnan(double(dv::fp8_e4m3(465.0))));
  CHECK(std::isnan(double(dv::fp8_e4m3(-1000))));
  CHECK(std::isnan(double(dv::fp8_e4m3(oracle::infinite))));
  CHECK(double(dv::fp8_e4m3_saturating(465.0)) == 448);
  CHECK(double(dv::fp8_e4m3_saturating(-oracle::infinite)) == -448);
  CHECK(std::isnan(double(dv::fp8_e4m3_saturating(oracle::not_a_number))));
  CHECK(double(dv::fp8_e5m2(61439.0)) == 57344);
  CHECK(double(dv::fp8_e5m2(61440.0)) == oracle::infinite);
  CHECK(dv::fp8_e4m3_format.min_positive() == 0x1p-9);
  CHECK(dv::fp8_e4m3_format.min_normal() == 0x1p-6);
  CHECK(double(dv::fp8_e4m3(0x1p-10)) == 0);
  CHECK(double(dv::fp8_e4m3(3 * 0x1p-11)) == 0x1p-9);
  // Sums and products overflow by the same rule.
  CHECK(std::isnan(double(dv::fp8_e4m3(448) + dv::fp8_e4m3(32))));
  CHECK(double(dv::fp8_e4m3(448) + dv::fp8_e4m3(16)) == 448);
  CHECK(double(dv::fp8_e4m3_saturating(448) * dv::fp8_e4m3_saturating(-448)) == -448);
  CHECK(double(dv::fp8_e4m3_saturating(1) / dv::fp8_e4m3_saturating(0)) == 448);
  CHECK(std::isnan(double(dv::fp8_e4m3_saturating(0) / dv::fp8_e4m3_saturating(0))));
}

TEST_CASE("case 70: every number of the FP8 tables is one of the type, unchanged") {
  for (int code = 0; code < 128; ++code) {
    CAPTURE(code);
    oracle::tally tally("code");
    for (double sign : {1.0, -1.0}) {
      tally.compare(double(dv::fp8_e4m3(sign * oracle::e4m3_codes[code])), sign * oracle::e4m3_codes[code]);
      tally.compare(double(dv::fp8_e5m2(sign * oracle::e5m2_codes[code])), sign * oracle::e5m2_codes[code]);
    }
    tally.expect(4);
  }
}

TEST_CASE("case 63: bf16 by name") {
  CHECK(double(dv::bf16(3.14)) == 3.140625);
  CHECK(double(dv::bf16(0.2691408770292272)) == 0.26953125);
  CHECK(double(dv::bf16(dv::from_bits(0x7F7F8000u))) == oracle::infinite);
}
