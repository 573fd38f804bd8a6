// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/code.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <deviate/number/named.hpp>

#include "number/code_tables.hpp"
#include "number/oracle.hpp"

namespace dv = deviate;
using dv::format;
using dv::overflow_rule;
using dv::special_values;
using dv::subnormal_rule;

namespace {

constexpr format e4m3_b11{4,
                          3,
                          special_values::negative_zero_nan,
                          overflow_rule::nan,
                          subnormal_rule::gradual,
                          dv::rounding_mode::nearest_even,
                          4};

static_assert(dv::encode(1.0, dv::bf16_format) == 0x3f80 && dv::decode(0x3f80, dv::bf16_format) == 1);
static_assert(dv::decode(0x7f, dv::fp8_e4m3_fnuz_format) == 240 && dv::decode(0x7f, dv::fp8_e5m2_fnuz_format) == 57344);
static_assert(dv::encode(-0.0, dv::fp8_e4m3_fnuz_format) == 0 && dv::encode(-0.0, dv::fp6_e3m2_format) == 0x20);

/// FNV-1a over the bits of all numbers in the order of their codes, NaN being 0x7ff8000000000000.
std::uint64_t hash_of_numbers(const format& f) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::uint64_t code = 0; code < std::uint64_t(1) << f.width(); ++code) {
    const double x = dv::decode(code, f);
    hash = (hash ^ (std::isnan(x) ? 0x7ff8000000000000u : oracle::bits_of(x))) * 0x100000001b3u;
    hash ^= hash >> 29;
  }
  return hash;
}

/// Σ code·(2i + 1) over the codes of floats 4099·i rounded to the format; NaN results count 0.
std::uint64_t hash_of_codes(format f, overflow_rule overflow) {
  f.overflow = overflow;
  const dv::rounding_constants<float> constants(f);
  std::uint64_t hash = 0;
  for (std::uint64_t i = 0; i < std::uint64_t(1) << 20; ++i) {
    const float y = dv::round_to(dv::from_bits(std::uint32_t(4099 * i)), constants);
    if (!std::isnan(y)) hash += dv::encode(double(y), f) * (2 * i + 1);
  }
  return hash;
}

struct expected_hashes {
  format numbers;
  std::uint64_t decoded, encoded, saturated;
};

// By ml_dtypes 0.6.0 (float8_e4m3fn, float8_e5m2, float8_e4m3, float8_e3m4, float8_e4m3fnuz, float8_e5m2fnuz,
// float8_e4m3b11fnuz, float6_e3m2fn, float6_e2m3fn, float4_e2m1fn); gfloat decodes the OCP ones alike. Saturated: its
// conversion of the floats clamped to the largest number.
constexpr expected_hashes hashes[] = {
    {dv::fp8_e4m3_format, 0x1c562f3abeef6f90u, 0x00002edd54f26c7du, 0x0000ad5452a51bc7u},
    {dv::fp8_e5m2_format, 0x3a9a0bcc430a28c9u, 0x0000ac33a8b389cbu, 0x0000aba4ac6edadbu},
    {format{4, 3}, 0x2d89bd858fb9753du, 0x0000a9cb85f10b7du, 0x0000a93446374ea5u},
    {format{3, 4}, 0x363a8546935ec264u, 0x0000a4e0d1441107u, 0x0000a445874f151au},
    {dv::fp8_e4m3_fnuz_format, 0x982e845f405cc4cau, 0x00000b0f9204d05eu, 0x00008ae47f9f9b86u},
    {dv::fp8_e5m2_fnuz_format, 0x30cd6800a6efeddau, 0x000014afd29a0546u, 0x00008d5ccb56b656u},
    {e4m3_b11, 0x79f03d14e90e8f16u, 0x00000af565327221u, 0x00008d72897787c6u},
    {dv::fp6_e3m2_format, 0x573e239e5587f1b7u, 0x00002b0879c6f0e9u, 0x00002b0879c6f0e9u},
    {dv::fp6_e2m3_format, 0x19bc288b848e5647u, 0x00002b0abec9f262u, 0x00002b0abec9f262u},
    {dv::fp4_e2m1_format, 0xf528cd128bfda12fu, 0x00000a4ce2579ccau, 0x00000a4ce2579ccau},
};

}  // namespace

TEST_CASE("case 70: all codes of every format of at most 8 bits, decoded as ml_dtypes and gfloat do") {
  for (const expected_hashes& expected : hashes) {
    CAPTURE(oracle::name(expected.numbers));
    CHECK(hash_of_numbers(expected.numbers) == expected.decoded);
  }
  for (std::uint64_t code = 0; code < 128; ++code) {
    oracle::tally tally("table");
    tally.compare(dv::decode(code, dv::fp8_e4m3_format), oracle::e4m3_codes[code], code);
    tally.compare(dv::decode(code, dv::fp8_e5m2_format), oracle::e5m2_codes[code], code);
    tally.expect(2);
  }
}

TEST_CASE("2^20 floats encoded as ml_dtypes does, saturating and not: every format of at most 8 bits") {
  for (const expected_hashes& expected : hashes) {
    CAPTURE(oracle::name(expected.numbers));
    const bool finite = expected.numbers.specials == special_values::finite_only;
    const overflow_rule own = expected.numbers.has_infinity() ? overflow_rule::infinity
                              : finite                        ? overflow_rule::saturate
                                                              : overflow_rule::nan;
    CHECK(hash_of_codes(expected.numbers, own) == expected.encoded);
    CHECK(hash_of_codes(expected.numbers, overflow_rule::saturate) == expected.saturated);
    if (finite) CHECK(hash_of_codes(expected.numbers, overflow_rule::infinity) == expected.encoded);
  }
}

TEST_CASE("encode is the inverse of decode, and both are the definition: every code of up to 16 bits") {
  for (const format& f :
       {dv::fp8_e4m3_format, dv::fp8_e5m2_format, dv::fp8_e4m3_fnuz_format, dv::fp8_e5m2_fnuz_format, e4m3_b11,
        dv::fp6_e3m2_format, dv::fp6_e2m3_format, dv::fp4_e2m1_format, dv::bf16_format, dv::fp16_format, format{2, 1},
        format{11, 4}, format{10, 5}, format{6, 9, special_values::nan_only}, format{5, 2}, format{3, 12}}) {
    const oracle::limits of(f);
    oracle::tally tally(oracle::name(f));
    for (std::uint64_t code = 0; code < std::uint64_t(1) << f.width(); ++code) {
      const double x = dv::decode(code, f);
      tally.compare(x, oracle::decoded(of, code), code);
      if (!std::isnan(x)) tally.compare(double(dv::encode(x, f)), double(code), x);
      if (std::isnan(x)) tally.compare(dv::decode(dv::encode(x, f), f), x, code);
    }
    tally.expect(long(1) << (f.width() + 1));
  }
}

TEST_CASE("encode and decode at 32, 64 and odd widths") {
  oracle::words random(64);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::bit_cast<double>(random.next());
    if (std::isnan(x)) continue;
    REQUIRE(dv::encode(x, dv::binary64) == oracle::bits_of(x));
    REQUIRE(oracle::bits_of(dv::decode(oracle::bits_of(x), dv::binary64)) == oracle::bits_of(x));
    const auto u = std::uint32_t(random.next());
    const float y = std::bit_cast<float>(u);
    if (std::isnan(y)) continue;
    REQUIRE(dv::encode(double(y), dv::binary32) == u);
    REQUIRE(oracle::bits_of(dv::decode(u, dv::binary32)) == oracle::bits_of(double(y)));
  }
  CHECK(dv::encode(-1.5, dv::e8m13_format) == 0x2ff000);
  CHECK(dv::decode(0x2ff000, dv::e8m13_format) == -1.5);
  CHECK(dv::encode(oracle::not_a_number, dv::binary64) == 0x7ff8000000000000u);
}

TEST_CASE("NaN, where a format has one code for it or none") {
  CHECK(dv::encode(oracle::not_a_number, dv::fp8_e4m3_format) == 0x7f);
  CHECK(dv::encode(oracle::not_a_number, dv::fp8_e5m2_format) == 0x7e);
  CHECK(dv::encode(-oracle::not_a_number, dv::fp8_e4m3_fnuz_format) == 0x80);
  CHECK(dv::encode(oracle::not_a_number, dv::fp8_e5m2_fnuz_format) == 0x80);
  CHECK_FALSE(std::signbit(dv::decode(0x80, dv::fp8_e4m3_fnuz_format)));
  // Finite formats keep a NaN in the carrier; its code is the largest number's.
  CHECK(std::isnan(double(dv::fp4_e2m1(oracle::not_a_number))));
  CHECK(std::isnan(double(dv::fp4_e2m1(0.0) / dv::fp4_e2m1(0.0))));
  CHECK(dv::encode(oracle::not_a_number, dv::fp4_e2m1_format) == 7);
  CHECK(dv::encode(oracle::not_a_number, dv::fp6_e3m2_format) == 31);
  CHECK(std::signbit(dv::decode(0xff, dv::fp8_e4m3_format)));
}

TEST_CASE("flushed subnormals decode to a zero of their sign; bits above the width are ignored") {
  constexpr format flushing{5, 2, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush};
  CHECK(dv::decode(0x03, flushing) == 0);
  CHECK(dv::decode(0x04, flushing) == 0x1p-14);
  CHECK(std::signbit(dv::decode(0x83, flushing)));
  CHECK(dv::decode(0xff01, dv::fp8_e4m3_format) == 0x1p-9);
}

TEST_CASE("fnuz formats: one zero, no infinity, maximum 240 and 57344") {
  using number = dv::fp8_e4m3_fnuz;
  const auto is_plus_zero = [](number x) { return oracle::bits_of(double(x)) == 0; };
  CHECK(is_plus_zero(number(-0.0)));
  CHECK(is_plus_zero(number(-0x1p-20)));
  CHECK(is_plus_zero(-number(0.0)));
  CHECK(is_plus_zero(number(1.0) * number(0.0)));
  CHECK(is_plus_zero(number(-1.0) * number(0.0)));
  CHECK(double(-number(3.0)) == -3);
  CHECK(double(number(240.0)) == 240);
  CHECK(double(number(247.0)) == 240);
  CHECK(std::isnan(double(number(248.0))));
  CHECK(std::isnan(double(number(oracle::infinite))));
  CHECK(double(dv::fp8_e5m2_fnuz(57344.0)) == 57344);
  CHECK(number::number_format.min_positive() == 0x1p-10);
  CHECK(dv::fp8_e5m2_fnuz_format.min_positive() == 0x1p-17);
}

TEST_CASE("limits of FP6, FP4, FP24 and 1-8-13") {
  CHECK(dv::fp6_e3m2_format.max_finite() == 28);
  CHECK(dv::fp6_e3m2_format.min_positive() == 0.0625);
  CHECK(dv::fp6_e2m3_format.max_finite() == 7.5);
  CHECK(dv::fp6_e2m3_format.min_positive() == 0.125);
  CHECK(dv::fp4_e2m1_format.max_finite() == 6);
  CHECK(dv::fp4_e2m1_format.min_positive() == 0.5);
  CHECK(dv::fp24_e8m15_format.width() == 24);
  CHECK(dv::fp24_e7m16_format.width() == 24);
  CHECK(dv::e8m13_format.width() == 22);
  CHECK(double(dv::fp4_e2m1(5.0)) == 4);
  CHECK(double(dv::fp4_e2m1(5.1)) == 6);
  CHECK(double(dv::fp4_e2m1(-oracle::infinite)) == -6);
}
