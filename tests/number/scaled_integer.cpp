// SPDX-License-Identifier: Apache-2.0
// Integers with a scale: int8_scaled and its relatives of number/named_blocks.hpp.
#include <deviate/number/block_scaled.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <deviate/number/named_blocks.hpp>
#include <vector>

#include "number/block_oracle.hpp"

namespace dv = deviate;
using dv::block_format;
using dv::rounding_mode;

namespace {

static_assert(dv::int8_scaled.element.largest() == 127 && dv::int4_scaled.element.largest() == 7);
static_assert(dv::int8_scaled.element.decode(0x81) == -127 && dv::int8_scaled.element.decode(0x80) == -128);
static_assert(dv::int8_scaled.element.encode(-127) == 0x81 && dv::int4_scaled.element.encode(-7) == 9);

struct outcome {
  dv::block_scale scale;
  std::vector<float> numbers;
  std::vector<std::uint8_t> codes;
  dv::quantization_counts counts;
};
outcome quantized(const block_format& f, const std::vector<float>& x) {
  outcome r{{}, std::vector<float>(x.size()), std::vector<std::uint8_t>(x.size()), {}};
  r.scale = dv::quantize_block(dv::block_quantizer(f), std::span<const float>(x), std::span<float>(r.numbers),
                               std::span<std::uint8_t>(r.codes), r.counts);
  return r;
}

void expect_exact(const char* name, const block_format& f, int largest, bool ties_away) {
  const oracle::magnitudes integers(largest);
  oracle::words random{std::uint64_t(largest)};
  oracle::tally tally(name);
  long ties = 0;
  for (int n = 0; n < 400; ++n) {
    std::vector<float> x(24);
    const long top = random.between(-110, 120);
    for (float& v : x) v = oracle::block_value(random, top, 9);
    // Every other block has a scale of few bits, so that halves are exact, and ties.
    if (n % 2 == 0) {
      const double unit = std::ldexp(double(random.between(1, 255)), int(top) - 20);
      x[0] = float(largest * unit);
      for (std::size_t i = 1; i < x.size(); ++i)
        x[i] = float((double(random.between(-largest, largest - 1)) + 0.5) * unit);
    }
    double amax = 0;
    for (float v : x) amax = std::max(amax, std::fabs(double(v)));
    const outcome r = quantized(f, x);
    const float scale = float(amax) / float(largest);  // one rounding, IEEE 754
    tally.compare(r.scale.value, double(scale), amax);
    std::int64_t flushed = 0, zeros = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto right = integers.nearest(x[i], scale, ties_away);
      const double integer = right.element + 0.0;  // no −0
      tally.compare(r.numbers[i], float(integer * double(scale)), x[i], scale);
      tally.compare(r.codes[i], int(integer) & (largest == 7 ? 15 : 255), x[i], scale);
      flushed += right.flushed;
      zeros += integer == 0;
      ties += std::fabs(std::fmod(double(x[i]) / double(scale), 1)) == 0.5;
    }
    tally.compare(r.counts == dv::quantization_counts{24, 0, flushed, zeros, 0, 1, 0, 0, 0}, 1, "counts of", n);
  }
  tally.expect(400 * 48);
  CHECK(ties > 2000);
}

}  // namespace

TEST_CASE("integers: half away and nearest even by exact comparisons") {
  expect_exact("int8 away", dv::int8_scaled, 127, true);
  expect_exact("int8 even", dv::int8_scaled_even, 127, false);
  expect_exact("int4 away", dv::int4_scaled, 7, true);
  expect_exact("int4 even", dv::int4_scaled_even, 7, false);
}

TEST_CASE("integers: ties by hand, every other mode, two's complement") {
  const std::vector<float> x{127, 0.5f, -0.5f, 1.5f, -1.5f, 2.5f, -2.5f, 126.5f, -126.5f, -127};
  const outcome away = quantized(dv::int8_scaled, x), even = quantized(dv::int8_scaled_even, x);
  CHECK(away.numbers == std::vector<float>{127, 1, -1, 2, -2, 3, -3, 127, -127, -127});
  CHECK(even.numbers == std::vector<float>{127, 0, 0, 2, -2, 2, -2, 126, -126, -127});
  CHECK(away.codes == std::vector<std::uint8_t>{127, 1, 255, 2, 254, 3, 253, 127, 129, 129});
  CHECK(!std::signbit(even.numbers[2]));
  CHECK(even.counts == dv::quantization_counts{10, 0, 2, 2, 0, 1, 0, 0, 0});
  const auto in_mode = [&](rounding_mode mode) { return quantized(dv::int8_scaled.elements_rounded(mode), x).numbers; };
  CHECK(in_mode(rounding_mode::toward_zero) == std::vector<float>{127, 0, 0, 1, -1, 2, -2, 126, -126, -127});
  CHECK(in_mode(rounding_mode::upward) == std::vector<float>{127, 1, 0, 2, -1, 3, -2, 127, -126, -127});
  CHECK(in_mode(rounding_mode::downward) == std::vector<float>{127, 0, -1, 1, -2, 2, -3, 126, -127, -127});
  CHECK(in_mode(rounding_mode::to_odd) == std::vector<float>{127, 1, -1, 1, -1, 3, -3, 127, -127, -127});
}

TEST_CASE("integers: a double next to a tie, with two scales of 24 bits, is rounded by its exact quotient") {
  block_format f = dv::int8_scaled;
  f.has_tensor_scale = true;
  const dv::block_quantizer quantizer(f);
  oracle::words random(48);
  oracle::tally tally("two scales");
  int above = 0;
  for (int n = 0; n < 2000; ++n) {
    const auto float_of_24_bits = [&] { return float(random.next() >> 40 | 1); };
    const float scale = float_of_24_bits(), tensor_scale = float_of_24_bits() * 0x1p-60f;
    const double whole = double(scale) * double(tensor_scale), middle = double(random.between(0, 126)) + 0.5;
    const double x = middle * whole;  // rounded, as the tie has 56 bits; the multiply-add tells to which side
    const double beyond = std::fma(-middle, whole, x);
    above += beyond > 0;
    tally.compare(quantizer.element(x, scale, tensor_scale).value, beyond < 0 ? middle - 0.5 : middle + 0.5, x, whole);
    tally.compare(quantizer.element(-x, scale, tensor_scale).value + 0.0, beyond < 0 ? 0.5 - middle : -0.5 - middle, x);
  }
  tally.expect(4000);
  CHECK(above > 200);
  CHECK(above < 1800);
}

TEST_CASE("integers: blocks of zeros, constants, infinities and NaN") {
  for (const block_format& f : {dv::int8_scaled, dv::int8_scaled_even, dv::int4_scaled, dv::int4_scaled_even}) {
    const outcome zeros = quantized(f, {0, -0.0f, 0});
    CHECK(zeros.scale.value == 0);
    for (float y : zeros.numbers) CHECK(oracle::bits_of(y) == 0);
    CHECK(zeros.codes == std::vector<std::uint8_t>{0, 0, 0});
    CHECK(zeros.counts == dv::quantization_counts{3, 0, 0, 3, 0, 1, 0, 0, 0});
    // A constant is the largest integer; in float its number is off by the scale's rounding at most.
    for (float c : {1.0f, -3.7f, 0x1.234568p-100f, 0x1p127f}) {
      const outcome r = quantized(f, {c, c, c});
      const auto largest = std::uint8_t(f.element.largest());
      CHECK(r.codes[1] == (c > 0 ? largest : std::uint8_t(-largest & (f.element.width() == 4 ? 15 : 255))));
      CHECK(std::fabs(double(r.numbers[1]) - double(c)) <= 0x1p-23 * std::fabs(double(c)));
      CHECK(r.counts.saturated == 0);
    }
    for (float bad : {float(oracle::infinite), -float(oracle::infinite), float(oracle::not_a_number)}) {
      const outcome r = quantized(f, {1, bad});
      CHECK(std::isnan(r.scale.value));
      CHECK((std::isnan(r.numbers[0]) && std::isnan(r.numbers[1])));
      CHECK(r.codes == std::vector<std::uint8_t>{0, 0});
      CHECK(r.counts == dv::quantization_counts{2, 0, 0, 0, 2, 1, 0, 0, 1});
    }
    // A scale that underflows: everything is flushed.
    const outcome tiny = quantized(f, {0x1p-149f, -0x1p-149f});
    CHECK(tiny.scale.value == 0);
    CHECK(tiny.counts == dv::quantization_counts{2, 0, 2, 2, 0, 1, 0, 1, 0});
  }
}

TEST_CASE("case 21: a sum of INT8 activations times the scale exceeds fp16, which must saturate or be held in fp32") {
  const auto scaled_sum = [](float activation) {
    const outcome r = quantized(dv::int8_scaled, std::vector<float>(32, activation));
    double sum = 0;
    for (std::uint8_t code : r.codes) {
      CHECK(code == 127);
      sum += dv::int8_scaled.element.decode(code);
    }
    CHECK(sum == 4064);
    return float(sum * r.scale.value);
  };
  const float over = scaled_sum(2100), under = scaled_sum(2040);
  CHECK(over == 67200.0f);
  CHECK(under == 65280.0f);
  constexpr dv::format saturating{5, 10, dv::special_values::ieee, dv::overflow_rule::saturate};
  CHECK(std::isinf(dv::round_to<dv::fp16_format>(over)));
  CHECK(dv::round_to<saturating>(over) == 65504.0f);
  CHECK(dv::round_to<dv::fp16_format>(under) == 65280.0f);
}
