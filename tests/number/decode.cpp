// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/code.hpp>

#include <deviate/number/named.hpp>

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace {

using deviate::decode;
using deviate::format;

const format e4m3 = deviate::fp8_e4m3_format;
const format e5m2 = deviate::fp8_e5m2_format;

// The positive finite numbers in the order of their codes, in units of the smallest, as ml_dtypes 0.6.0 decodes them.
constexpr std::array<std::int64_t, 127> e4m3_in_units_of_2_to_minus_9{
    0,      1,      2,      3,      4,      5,      6,      7,     8,     9,     10,    11,    12,     13,     14,
    15,     16,     18,     20,     22,     24,     26,     28,    30,    32,    36,    40,    44,     48,     52,
    56,     60,     64,     72,     80,     88,     96,     104,   112,   120,   128,   144,   160,    176,    192,
    208,    224,    240,    256,    288,    320,    352,    384,   416,   448,   480,   512,   576,    640,    704,
    768,    832,    896,    960,    1024,   1152,   1280,   1408,  1536,  1664,  1792,  1920,  2048,   2304,   2560,
    2816,   3072,   3328,   3584,   3840,   4096,   4608,   5120,  5632,  6144,  6656,  7168,  7680,   8192,   9216,
    10240,  11264,  12288,  13312,  14336,  15360,  16384,  18432, 20480, 22528, 24576, 26624, 28672,  30720,  32768,
    36864,  40960,  45056,  49152,  53248,  57344,  61440,  65536, 73728, 81920, 90112, 98304, 106496, 114688, 122880,
    131072, 147456, 163840, 180224, 196608, 212992, 229376,
};
constexpr std::array<std::int64_t, 124> e5m2_in_units_of_2_to_minus_16{
    0,          1,          2,          3,          4,          5,          6,          7,         8,
    10,         12,         14,         16,         20,         24,         28,         32,        40,
    48,         56,         64,         80,         96,         112,        128,        160,       192,
    224,        256,        320,        384,        448,        512,        640,        768,       896,
    1024,       1280,       1536,       1792,       2048,       2560,       3072,       3584,      4096,
    5120,       6144,       7168,       8192,       10240,      12288,      14336,      16384,     20480,
    24576,      28672,      32768,      40960,      49152,      57344,      65536,      81920,     98304,
    114688,     131072,     163840,     196608,     229376,     262144,     327680,     393216,    458752,
    524288,     655360,     786432,     917504,     1048576,    1310720,    1572864,    1835008,   2097152,
    2621440,    3145728,    3670016,    4194304,    5242880,    6291456,    7340032,    8388608,   10485760,
    12582912,   14680064,   16777216,   20971520,   25165824,   29360128,   33554432,   41943040,  50331648,
    58720256,   67108864,   83886080,   100663296,  117440512,  134217728,  167772160,  201326592, 234881024,
    268435456,  335544320,  402653184,  469762048,  536870912,  671088640,  805306368,  939524096, 1073741824,
    1342177280, 1610612736, 1879048192, 2147483648, 2684354560, 3221225472, 3758096384,
};

void check_nan(double value, bool negative) {
  CHECK(std::isnan(value));
  CHECK(std::signbit(value) == negative);
}

}  // namespace

TEST_CASE("case 70: all 256 codes of e4m3") {
  for (std::uint32_t code = 0; code < 127; ++code) {
    const double expected = static_cast<double>(e4m3_in_units_of_2_to_minus_9[code]) / 512;
    CHECK(decode(code, e4m3) == expected);
    CHECK(decode(code | 0x80, e4m3) == -expected);
  }
  CHECK(std::signbit(decode(0x80, e4m3)));
  check_nan(decode(0x7f, e4m3), false);
  check_nan(decode(0xff, e4m3), true);
}

TEST_CASE("case 70: all 256 codes of e5m2") {
  for (std::uint32_t code = 0; code < 124; ++code) {
    const double expected = static_cast<double>(e5m2_in_units_of_2_to_minus_16[code]) / 65536;
    CHECK(decode(code, e5m2) == expected);
    CHECK(decode(code | 0x80, e5m2) == -expected);
  }
  CHECK(std::signbit(decode(0x80, e5m2)));
  CHECK(decode(0x7c, e5m2) == HUGE_VAL);
  CHECK(decode(0xfc, e5m2) == -HUGE_VAL);
  for (std::uint32_t code = 0x7d; code <= 0x7f; ++code) {
    check_nan(decode(code, e5m2), false);
    check_nan(decode(code | 0x80, e5m2), true);
  }
}

TEST_CASE("case 69: the ends of e4m3") {
  CHECK(decode(0x7e, e4m3) == 448);
  CHECK(decode(0x01, e4m3) == std::ldexp(1, -9));
  CHECK(decode(0x08, e4m3) == std::ldexp(1, -6));
  CHECK(decode(0x7e, e4m3) == e4m3.max_finite());
  CHECK(decode(0x01, e4m3) == e4m3.min_positive());
  CHECK(decode(0x08, e4m3) == e4m3.min_normal());
  CHECK(decode(0x7b, e5m2) == 57344);
}

TEST_CASE("every bf16 is the upper half of a binary32") {
  const format bf16 = deviate::bf16_format;
  for (std::uint32_t code = 0; code <= 0xffff; ++code) {
    const float expected = std::bit_cast<float>(code << 16);
    const double value = decode(code, bf16);
    const bool same = std::isnan(expected) ? std::isnan(value) : value == static_cast<double>(expected);
    if (!same || std::signbit(value) != std::signbit(expected)) FAIL_CHECK("code ", code, " is ", value);
  }
}

TEST_CASE("every fp16, its fields moved into a binary32") {
  const format fp16 = deviate::fp16_format;
  for (std::uint32_t code = 0; code <= 0xffff; ++code) {
    // The exponent field keeps its value under a bias that is 112 larger; the product restores it, subnormals included.
    float expected = std::bit_cast<float>((code & 0x7fff) << 13) * 0x1p112f;
    if ((code & 0x7c00) == 0x7c00) expected = std::bit_cast<float>(0x7f800000 | (code & 0x3ff) << 13);
    expected = std::copysign(expected, (code & 0x8000) != 0 ? -1.0f : 1.0f);
    const double value = decode(code, fp16);
    const bool same = std::isnan(expected) ? std::isnan(value) : value == static_cast<double>(expected);
    if (!same || std::signbit(value) != std::signbit(expected)) FAIL_CHECK("code ", code, " is ", value);
  }
}

TEST_CASE("formats without a name, and flushed subnormals") {
  CHECK(decode(0x01, format{2, 1}) == 0.5);  // e2m1 with infinity: 0, 0.5, 1, 1.5, 2, 3, inf, nan
  CHECK(decode(0x05, format{2, 1}) == 3);
  CHECK(decode(0x06, format{2, 1}) == HUGE_VAL);
  CHECK(decode(0x0001, format{11, 4}) == 0x1p-1026);  // below the range of float
  CHECK(decode(0x7fef, format{11, 4}) == 0x1.fp1023);
  const format flushed{5, 2, deviate::special_values::ieee, deviate::overflow_rule::infinity,
                       deviate::subnormal_rule::flush};
  CHECK(decode(0x03, flushed) == 0);
  CHECK(decode(0x04, flushed) == 0x1p-14);
  CHECK(std::signbit(decode(0x83, flushed)));
  CHECK(decode(0xff01, e4m3) == decode(0x01, e4m3));  // bits above the width are ignored
}
