// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/block_scaled.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <deviate/number/named_blocks.hpp>
#include <string>
#include <vector>

#include "number/block_fixture.hpp"
#include "number/block_oracle.hpp"

namespace dv = deviate;
using dv::block_format;
using dv::nonfinite_rule;
using dv::overflow_rule;
using dv::rounding_mode;
using dv::scaling_rule;
using oracle::infinite;
using oracle::not_a_number;

namespace {

// emax, the largest element and the storage of the OCP specification's table 1 and section 5.3.
static_assert(dv::mxfp8_e4m3.element.largest_exponent() == 8 && dv::mxfp8_e4m3.element.largest() == 448);
static_assert(dv::mxfp8_e5m2.element.largest_exponent() == 15 && dv::mxfp8_e5m2.element.largest() == 57344);
static_assert(dv::mxfp6_e3m2.element.largest_exponent() == 4 && dv::mxfp6_e3m2.element.largest() == 28);
static_assert(dv::mxfp6_e2m3.element.largest_exponent() == 2 && dv::mxfp6_e2m3.element.largest() == 7.5);
static_assert(dv::mxfp4.element.largest_exponent() == 2 && dv::mxfp4.element.largest() == 6);
static_assert(dv::mxint8.element.largest_exponent() == 0 && dv::mxint8.element.largest() == 1.984375);
static_assert(dv::mxfp8_e4m3.bits_per_element(32) == 8.25 && dv::mxfp6_e2m3.bits_per_element(32) == 6.25);
static_assert(dv::mxfp4.bits_per_element(32) == 4.25 && dv::nvfp4.bits_per_element(16) == 4.5);
static_assert(dv::nvfp4.largest() == 2688 && dv::nvfp4.smallest() == 0x1p-10);
static_assert(dv::mxfp8_e4m3.smallest() == 0x1p-136 && dv::mxfp8_e4m3.largest() == 448 * 0x1p127);

/// What one block gives.
struct outcome {
  dv::block_scale scale;
  std::uint32_t scale_code = 0;
  std::vector<double> numbers;
  std::vector<std::uint8_t> codes;
  dv::quantization_counts counts;
};
template <class T>
outcome quantized(const block_format& f, const std::vector<T>& x, float tensor_scale = 1) {
  const dv::block_quantizer quantizer(f);
  outcome r;
  r.numbers.resize(x.size());
  r.codes.resize(x.size());
  r.scale = dv::quantize_block(quantizer, std::span<const T>(x), std::span<double>(r.numbers),
                               std::span<std::uint8_t>(r.codes), r.counts, tensor_scale);
  r.scale_code = f.scale.encode(r.scale.value);
  return r;
}

std::string in_hexadecimal(const outcome& r) {
  std::string text(66, '0');
  const auto put = [&](std::size_t i, unsigned byte) { std::snprintf(&text[2 * i], 3, "%02x", byte & 255); };
  put(0, r.scale_code);
  for (std::size_t i = 0; i < 32; ++i) put(i + 1, r.codes[i]);
  return text;
}

void expect_fixture(const block_format& f, const oracle::block_fixture& right) {
  std::uint64_t hash = 0;
  for (std::uint64_t n = 0; n < 2048; ++n) {
    const auto x = oracle::fixture_block(n);
    const outcome r = quantized(f, std::vector<float>(x.begin(), x.end()));
    if (n < 6) CHECK(in_hexadecimal(r) == right.first[n]);
    hash = (hash ^ r.scale_code) * 0x100000001b3u;
    for (std::uint8_t code : r.codes) hash = (hash ^ code) * 0x100000001b3u;
  }
  CHECK(hash == right.hash);
}

}  // namespace

TEST_CASE("MX formats: 65536 elements and their scales as gfloat encodes them") {
  expect_fixture(dv::mxfp8_e4m3, oracle::mxfp8_e4m3_fixture);
  expect_fixture(dv::mxfp8_e5m2, oracle::mxfp8_e5m2_fixture);
  expect_fixture(dv::mxfp6_e3m2, oracle::mxfp6_e3m2_fixture);
  expect_fixture(dv::mxfp6_e2m3, oracle::mxfp6_e2m3_fixture);
  expect_fixture(dv::mxfp4, oracle::mxfp4_fixture);
  expect_fixture(dv::mxint8, oracle::mxint8_fixture);
}

namespace {

/// The scale that a rule asks for, from exact comparisons with powers of two, or from MPFR's one rounding.
dv::block_scale right_scale(const block_format& f, double amax, double largest, double tensor_scale) {
  if (f.scale.is_e8m0) {
    if (amax == 0) return {0x1p-127, false, false};
    int e = -300;
    if (f.rule == scaling_rule::ratio) {  // upward: the smallest power whose product with the largest reaches amax
      while (std::ldexp(largest, e) < amax) ++e;
      return {std::ldexp(1.0, std::max(e, -127)), false, amax < largest * 0x1p-127};
    }
    while (std::ldexp(1.0, e + 1) <= amax) ++e;
    if (f.rule == scaling_rule::ceiling_exponent && std::ldexp(1.0, e) != amax) ++e;
    e -= std::ilogb(largest);
    return {std::ldexp(1.0, std::max(e, -127)), false, e < -127};
  }
#if defined(DEVIATE_TEST_MPFR)
  const double scale = oracle::judge(f.scale.numbers).apply(oracle::operation::divide, amax, largest * tensor_scale);
#else
  const double scale = dv::block_quantizer(f).scale({amax, false, false}, float(tensor_scale)).value;
#endif
  // 464 is the tie beyond 448; no other scale ends within these inputs.
  return {scale, f.scale.width() == 8 && amax > 464 * (largest * tensor_scale), scale == 0};
}

void expect_exact(const std::string& name, const block_format& f, long low, long high, bool with_tensor_scale = false) {
  const oracle::magnitudes elements(f.element.numbers);
  oracle::words random(std::uint64_t(low + 1000 * int(f.rule)));
  oracle::tally tally(name);
  dv::quantization_counts total;
  for (int n = 0; n < 300; ++n) {
    const long top = random.between(low, high), spread = random.between(0, 40);
    std::vector<float> x(32);
    for (float& v : x) v = oracle::block_value(random, top, spread);
    if (n % 7 == 0) x[5] = -0.0f;
    double amax = 0;
    for (float v : x) amax = std::max(amax, std::fabs(double(v)));
    const float tensor_scale = with_tensor_scale ? std::fabs(oracle::block_value(random, top - 11, 3)) : 1;
    const outcome r = quantized(f, x, tensor_scale);
    total += r.counts;

    const dv::block_scale expected = right_scale(f, amax, elements.largest(), tensor_scale);
    const double scale = expected.value;
    tally.compare(r.scale.value, scale, amax, tensor_scale);
    std::int64_t saturated = 0, flushed = 0, zeros = 0;
    std::vector<double> back(32);
    dv::dequantize_block(f, r.scale_code, std::span<const std::uint8_t>(r.codes), std::span<double>(back),
                         tensor_scale);
    for (std::size_t i = 0; i < 32; ++i) {
      const auto right = elements.nearest(x[i], scale * tensor_scale, false);
      tally.compare(r.numbers[i], right.element * (scale * tensor_scale), x[i], scale);
      tally.compare(r.codes[i], double(oracle::encoded(oracle::limits(f.element.numbers), right.element)), x[i]);
      tally.compare(back[i], r.numbers[i], "back from the code of", x[i]);
      saturated += right.saturated;
      flushed += right.flushed;
      zeros += right.element == 0;
      // A power of two does not take a float beyond its precision.
      if (f.scale.is_e8m0) tally.compare(double(float(r.numbers[i])), r.numbers[i], "float of", x[i]);
    }
    const dv::quantization_counts right{32, saturated, flushed, zeros, 0, 1, expected.saturated, expected.flushed, 0};
    tally.compare(r.counts == right, 1, "counts of block", n);
    if (f.rule == scaling_rule::ceiling_exponent || f.scale.numbers.rounding == rounding_mode::upward)
      tally.compare(double(r.counts.saturated), 0, "a rule that never saturates", n);
  }
  tally.expect(300 * 98);
  // Neither is a test without its cases.
  CHECK(total.flushed > 0);
  if (f.rule == scaling_rule::floor_exponent && low > -140 && f.element.numbers != dv::mxfp8_e5m2.element.numbers)
    CHECK(total.saturated > 0);
}

}  // namespace

TEST_CASE("MX formats: floor, ceiling and rounded-up scales, elements, codes and counts by exact comparisons") {
  const struct {
    const char* name;
    block_format f;
  } formats[] = {{"mxfp8_e4m3", dv::mxfp8_e4m3},
                 {"mxfp8_e5m2", dv::mxfp8_e5m2},
                 {"mxfp6_e3m2", dv::mxfp6_e3m2},
                 {"mxfp6_e2m3", dv::mxfp6_e2m3},
                 {"mxfp4", dv::mxfp4}};
  for (const auto& [name, f] : formats) {
    for (long low : {-149L, -20L, 100L}) {
      const std::string text = std::string(name) + " from 2^" + std::to_string(low);
      expect_exact(text, f, low, low + 26);
      expect_exact(text + " ceiling", f.scaled_by(scaling_rule::ceiling_exponent), low, low + 26);
      expect_exact(text + " upward", f.scaled_by(scaling_rule::ratio).scales_rounded(rounding_mode::upward), low,
                   low + 26);
    }
  }
}

TEST_CASE("NVFP4 and FP8 with FP32 scales: scales by MPFR, elements, codes and counts by exact comparisons") {
  expect_exact("nvfp4", dv::nvfp4, -3, 8);
  expect_exact("nvfp4 with a tensor scale", dv::nvfp4, -100, 100, true);
  expect_exact("fp8_e4m3_scaled", dv::fp8_e4m3_scaled, -100, 127);
  expect_exact("fp8_e5m2_scaled", dv::fp8_e5m2_scaled, -100, 127);
}

TEST_CASE("NVFP4 by hand") {
  // 2688 = 6 · 448 is the tensor's largest: tensor scale 1. Block: amax 7 → 7/6 → E4M3 1.125 (its neighbour is 1.25).
  const dv::block_quantizer quantizer(dv::nvfp4);
  CHECK(quantizer.tensor_scale({2688, false, false}) == 1);
  CHECK(quantizer.tensor_scale({5376, false, false}) == 2);
  CHECK(quantizer.tensor_scale({1, false, false}) == 1.0f / 2688);
  CHECK(quantizer.tensor_scale({}) == 0);
  CHECK(quantizer.tensor_scale({0x1.fffffep127, true, true}) == 0x1.fffffep127f / 2688);
  const std::vector<float> x{7, -7, 3.5f, 1, 0.5f, 0.25f, -0.2f, 0, -0.0f, 5.625f, 2.8125f, 2, 1.5f, 4, 6, 6.75f};
  const outcome one = quantized(dv::nvfp4, x);
  CHECK(one.scale.value == 1.125);
  CHECK(one.scale_code == 0x39);
  // x/1.125: 6.2 3.1 .89 .44 .22 .18 0 0 | 5 is a tie of 4 and 6 → 4; 2.5 of 2 and 3 → 2; 1.78 1.33 3.56 5.33 6
  const std::vector<double> elements{6, -6, 3, 1, 0.5, 0, -0.0, 0, -0.0, 4, 2, 2, 1.5, 4, 6, 6};
  const std::vector<std::uint8_t> codes{7, 15, 5, 2, 1, 0, 8, 0, 8, 6, 4, 4, 3, 6, 7, 7};
  CHECK(one.codes == codes);
  for (std::size_t i = 0; i < 16; ++i) CHECK(oracle::bits_of(one.numbers[i]) == oracle::bits_of(elements[i] * 1.125));
  CHECK(one.counts == dv::quantization_counts{16, 0, 2, 4, 0, 1, 0, 0, 0});
  // The same numbers in a tensor 2^-40 as large.
  std::vector<float> small = x;
  for (float& v : small) v *= 0x1p-40f;
  const outcome scaled = quantized(dv::nvfp4, small, 0x1p-40f);
  CHECK(scaled.codes == codes);
  CHECK(scaled.scale_code == 0x39);
  CHECK(scaled.numbers[0] == 6.75 * 0x1p-40);
  // Saturation: amax/6 = 500 > 464, the tie beyond which E4M3 ends.
  const outcome large = quantized(dv::nvfp4, std::vector<float>{3000, 1, 2688, 3100});
  CHECK(large.scale.value == 448);
  CHECK(large.counts == dv::quantization_counts{4, 0, 1, 1, 0, 1, 1, 0, 0});
  CHECK(quantized(dv::nvfp4, std::vector<float>{4000, 3200}).counts.saturated == 2);  // 7.14 is nearer to 8 than to 6
  CHECK(quantized(dv::nvfp4, std::vector<float>{3136}).counts.saturated == 1);        // 7, the tie of 6 and 8
  CHECK(quantized(dv::nvfp4, std::vector<float>{3135.5f}).counts.saturated == 0);
  // A scale that is rounded to zero flushes its block: amax/6 ≤ 2^-10.
  const outcome lost = quantized(dv::nvfp4, std::vector<float>{6 * 0x1p-10f, -0x1p-12f});
  CHECK(lost.scale.value == 0);
  CHECK(lost.scale_code == 0);
  CHECK(lost.counts == dv::quantization_counts{2, 0, 2, 2, 0, 1, 0, 1, 0});
  CHECK(oracle::bits_of(lost.numbers[1]) == oracle::bits_of(-0.0));
  CHECK(quantized(dv::nvfp4, std::vector<float>{6.01f * 0x1p-10f}).scale.value == 0x1p-9);
}

TEST_CASE("blocks of zeros, constants, infinities and NaN have defined results") {
  for (const block_format& f :
       {dv::mxfp8_e4m3, dv::mxfp8_e5m2, dv::mxfp6_e3m2, dv::mxfp6_e2m3, dv::mxfp4, dv::nvfp4, dv::fp8_e4m3_scaled}) {
    const outcome zeros = quantized(f, std::vector<float>{0, -0.0f, 0});
    CHECK(zeros.scale.value == (f.scale.is_e8m0 ? 0x1p-127 : 0));
    CHECK(zeros.scale_code == 0);
    CHECK(oracle::bits_of(zeros.numbers[0]) == 0);
    CHECK(oracle::bits_of(zeros.numbers[1]) == oracle::bits_of(-0.0));
    CHECK(zeros.codes[1] == 1u << (f.element.width() - 1));
    CHECK(zeros.counts == dv::quantization_counts{3, 0, 0, 3, 0, 1, 0, 0, 0});

    // A constant with as many bits as the element has is exact with every scale that is a power of two.
    if (f.scale.is_e8m0)
      for (double c : {1.5, -3.0, 0x1.8p-120, 0x1.8p100}) {
        const outcome constant = quantized(f, std::vector<double>(32, c));
        for (double y : constant.numbers) CHECK(y == c);
      }
    const std::uint32_t nan_code = f.scale.is_e8m0 ? 255 : f.scale.width() == 8 ? 127 : 0x7fc00000;
    for (double bad : {infinite, -infinite, not_a_number}) {
      const outcome r = quantized(f, std::vector<double>{1, bad, 2});
      CHECK(r.scale_code == nan_code);
      for (double y : r.numbers) CHECK(std::isnan(y));
      for (std::uint8_t code : r.codes) CHECK(code == 0);
      CHECK(r.counts == dv::quantization_counts{3, 0, 0, 0, 3, 1, 0, 0, 1});
      std::vector<double> back(3);
      dv::dequantize_block(f, r.scale_code, std::span<const std::uint8_t>(r.codes), std::span<double>(back));
      for (double y : back) CHECK(std::isnan(y));
    }
  }
  CHECK(quantized(dv::mxfp8_e4m3, std::vector<float>(32, 460.0f)).numbers[0] == 448);
  CHECK(quantized(dv::mxfp8_e4m3, std::vector<float>(32, 500.0f)).counts.saturated == 32);
  CHECK(quantized(dv::nvfp4, std::vector<float>(16, 7.0f)).numbers[0] == 6.75);
}

TEST_CASE("infinities and NaN that stay elements where the format has them, and never pass for numbers") {
  const auto keeping = [](block_format f) {
    f.nonfinite = nonfinite_rule::element;
    return f;
  };
  const std::vector<double> with_infinity{4, -infinite, 3}, with_nan{4, not_a_number, 3};
  const outcome five = quantized(keeping(dv::mxfp8_e5m2), with_infinity);
  CHECK(five.scale_code == 127 + 2 - 15);
  CHECK(five.numbers == with_infinity);
  CHECK(five.codes[1] == 0xfc);
  CHECK(five.counts == dv::quantization_counts{3, 0, 0, 0, 1, 1, 0, 0, 0});
  const outcome nan = quantized(keeping(dv::mxfp8_e5m2), with_nan);
  CHECK(nan.codes[1] == 0x7e);
  CHECK((nan.numbers[0] == 4 && std::isnan(nan.numbers[1]) && nan.numbers[2] == 3));
  // E4M3 has no infinity: NaN. FP4 has neither: the block.
  for (const auto& x : {with_infinity, with_nan}) {
    const outcome four = quantized(keeping(dv::mxfp8_e4m3), x);
    CHECK(four.codes[1] == 0x7f);
    CHECK((four.numbers[0] == 4 && std::isnan(four.numbers[1]) && four.numbers[2] == 3));
    for (const block_format& f : {dv::mxfp4, dv::mxfp6_e3m2, dv::mxint8, dv::int8_scaled}) {
      const outcome r = quantized(keeping(f), x);
      CHECK(r.counts.nan_blocks == 1);
      CHECK(std::isnan(r.numbers[0]));
    }
  }
  // Saturating E4M3 would make 448 of an infinity: it is no result either.
  block_format saturating = keeping(dv::mxfp8_e4m3);
  saturating.element = dv::element_format::floating(dv::fp8_e4m3_saturating_format);
  CHECK(quantized(saturating, with_infinity).counts.nan_blocks == 1);
  CHECK(quantized(saturating, with_nan).counts.nan_blocks == 0);
  // The fnuz formats have one zero, and NaN for an infinity.
  block_format fnuz = keeping(dv::fp8_e4m3_scaled);
  fnuz.element = dv::element_format::floating(dv::fp8_e4m3_fnuz_format);
  const outcome one_zero = quantized(fnuz, std::vector<double>{240, -0.0, -0x1p-30, 247, -infinite});
  CHECK(one_zero.scale.value == double(247.0f / 240.0f));
  for (std::size_t i = 1; i < 3; ++i) CHECK((one_zero.codes[i] == 0 && oracle::bits_of(one_zero.numbers[i]) == 0));
  CHECK(one_zero.codes[4] == 0x80);
  CHECK(one_zero.codes[3] == 0x7f);
  // Nothing finite: the scale of zeros.
  const outcome only = quantized(keeping(dv::mxfp8_e5m2), std::vector<double>{infinite, -infinite});
  CHECK(only.scale_code == 0);
  CHECK((only.numbers[0] == infinite && only.numbers[1] == -infinite));
}

TEST_CASE("case 73: a block's scale has no zero, and what is tiny is flushed or kept to its spacing") {
  const outcome tiny = quantized(dv::mxfp4, std::vector<float>{0x1p-149f, 0x1p-128f, -0x1.8p-127f});
  CHECK(tiny.scale.value == 0x1p-127);
  CHECK(tiny.numbers == std::vector<double>{0, 0x1p-128, -0x1.8p-127});
  CHECK(tiny.counts == dv::quantization_counts{3, 0, 1, 1, 0, 1, 0, 1, 0});
  // Doubles beyond both ends of the scale.
  const outcome huge = quantized(dv::mxfp4, std::vector<double>{0x1p1023, 0x1p129, 1});
  CHECK(huge.scale.value == 0x1p127);
  CHECK(huge.numbers == std::vector<double>{6 * 0x1p127, 0x1p129, 0});
  CHECK(huge.counts == dv::quantization_counts{3, 1, 1, 1, 0, 1, 1, 0, 0});
  const outcome least = quantized(dv::mxfp8_e4m3, std::vector<double>{0x1p-1074, -0x1p-136});
  CHECK(least.numbers == std::vector<double>{0, -0x1p-136});
  CHECK(quantized(dv::fp8_e4m3_scaled, std::vector<double>{0x1p-1074}).counts.scales_flushed == 1);
  CHECK(quantized(dv::fp8_e4m3_scaled, std::vector<double>{0x1p1000}).counts.scales_saturated == 1);
}

TEST_CASE("elements at random: of all words of four bits, as many round away from zero as the exact quotient says") {
  for (const block_format& f : {dv::nvfp4, dv::mxfp8_e5m2, dv::int8_scaled, dv::int4_scaled}) {
    const dv::block_quantizer quantizer(f);
    oracle::words random(4);
    oracle::tally tally("at random");
    for (int n = 0; n < 400; ++n) {
      const double scale = f.scale.is_e8m0 ? 0.25 : 1 / double(random.between(3, 99)),
                   x = oracle::block_value(random, 0, 9);
      if (std::fabs(x) > scale * f.element.largest()) continue;
      const double s = double(float(scale));
      const auto toward_zero = dv::block_quantizer(f.elements_rounded(rounding_mode::toward_zero)).element(x, s);
      const double low = std::fabs(toward_zero.value);
      std::uint32_t code = f.element.encode(low);
      const double high = f.element.decode(code + 1), sixteenth = (high - low) / 16;
      if (!(low * s <= std::fabs(x) && std::fabs(x) < high * s)) continue;
      int expected = 0, larger = 0;
      while (expected < 15 && (low + (expected + 1) * sixteenth) * s <= std::fabs(x)) ++expected;
      for (std::uint64_t word = 0; word < 16; ++word) {
        const double y = quantizer.element_at_random(x, s, 1, 4, word).value;
        larger += std::fabs(y) == high;
        tally.compare(std::fabs(y) == low || std::fabs(y) == high, 1, x, s);
      }
      tally.compare(larger, expected, x, s, low);
    }
    tally.expect(1000);
  }
}

TEST_CASE("quotients in float, as kernels compute them, differ from the exact one where they should") {
  block_format divided = dv::int8_scaled, multiplied = dv::int8_scaled;
  divided.quotient = dv::quotient_rule::float_quotient;
  multiplied.quotient = dv::quotient_rule::float_reciprocal;
  oracle::words random(11);
  int differ = 0;
  for (int n = 0; n < 2000; ++n) {
    std::vector<float> x(16);
    for (float& v : x) v = oracle::block_value(random, 3, 4);
    float amax = 0;
    for (float v : x) amax = std::max(amax, std::fabs(v));
    // A value near a tie, where the last bit of the quotient decides.
    for (std::size_t i = 1; i < 16; ++i) x[i] = float((double(random.between(0, 126)) + 0.5) * (double(amax) / 127));
    x[0] = amax;
    const outcome exact = quantized(dv::int8_scaled, x), a = quantized(divided, x), b = quantized(multiplied, x);
    const float scale = amax / 127.0f, by_reciprocal = amax * (1.0f / 127.0f);
    CHECK(a.scale.value == double(scale));
    CHECK(exact.scale.value == double(scale));
    CHECK(b.scale.value == double(by_reciprocal));
    for (std::size_t i = 0; i < 16; ++i) {
      CHECK(a.codes[i] == std::uint8_t(std::round(x[i] / scale)));
      CHECK(b.codes[i] == std::uint8_t(std::min(127.0f, std::round(x[i] * (1.0f / by_reciprocal)))));
      differ += a.codes[i] != exact.codes[i];
    }
  }
  CHECK(differ > 1000);
  // A reciprocal that overflows saturates.
  CHECK(quantized(multiplied, std::vector<float>{0x1p-140f, 0}).codes == std::vector<std::uint8_t>{127, 0});
}
