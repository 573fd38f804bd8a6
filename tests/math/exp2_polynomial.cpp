// SPDX-License-Identifier: Apache-2.0
#include <deviate/math/exp2_polynomial.hpp>

#include <deviate/math/exp.hpp>
#include <deviate/number/named.hpp>
#include <deviate/number/rounding.hpp>

#include "fixed_inputs.hpp"
#include "float_sweep.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

namespace dm = deviate::math;
using deviate::bits;

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class Polynomial>
struct by {
  template <class L>
  static L call(const L& x) {
    return dm::exp2_by<Polynomial>(x);
  }
  template <class L>
  static L reference(const L& x) {
    return dm::exp2(x);
  }
};
template <int Degree>
using degree = by<dm::exp2_polynomial_of<Degree>>;

struct errors_over_unit_interval {
  double largest = 0, mean = 0, largest_in_bf16 = 0, mean_in_bf16 = 0;
};

/// Relative errors over the 2^22 multiples of 2^−22 in [0, 1), as the publication measures: equally spaced.
template <class F>
errors_over_unit_interval measure() {
  constexpr int count = 1 << 22;
  errors_over_unit_interval found;
  for (int i = 0; i < count; ++i) {
    const float x = float(i) / count;
    const double exact = dm::exp2(double(x));
    const float y = F::call(x);
    const double error = std::fabs(double(y) / exact - 1);
    const double in_bf16 = std::fabs(double(deviate::round_to<deviate::bf16::number_format>(y)) / exact - 1);
    found.largest = std::fmax(found.largest, error);
    found.largest_in_bf16 = std::fmax(found.largest_in_bf16, in_bf16);
    found.mean += error / count;
    found.mean_in_bf16 += in_bf16 / count;
  }
  return found;
}

/// Equal to the three digits given.
bool to_three_digits(double found, double given) {
  const double unit = std::pow(10.0, std::floor(std::log10(given)) - 2);
  return std::fabs(found - given) <= 0.5 * unit;
}

/// The largest relative error over inputs in [−126, 128).
template <class F>
double largest_relative(std::uint32_t stride) {
  const auto found = oracle::sweep_bits<F>(stride);
  CHECK(found.wrong_class == 0);
  return found.largest_relative;
}

// The published algorithm as a kernel has it, with the rounding-down addition written as its definition.
float as_published(float x, const float (&c)[4]) {
  x = std::fmax(x, -127.0f);
  const double sum = std::floor(double(x)) + 0x1.8p23;
  const float shifted = float(sum), fraction = x - (shifted - 0x1.8p23f);
  const float p = std::fma(std::fma(std::fma(c[3], fraction, c[2]), fraction, c[1]), fraction, c[0]);
  return deviate::from_bits(bits(p) + (bits(shifted) << 23));
}

}  // namespace

TEST_CASE("fused multiply-add of floats: the bits of std::fma, near midpoints, tiny and huge") {
  oracle::words random(1);
  int different = 0;
  const auto differs = [](float a, float b, float c) {
    const float expected = std::fma(a, b, c), without = dm::detail::fused_in_double(a, b, c);
    const float with = dm::detail::fused(a, b, c);
    if (std::isnan(expected)) return !std::isnan(with) || !std::isnan(without);
    return bits(with) != bits(expected) || bits(without) != bits(expected);
  };
  for (int i = 0; i < 1'000'000; ++i) {
    const float a = deviate::from_bits(std::uint32_t(random.next()));
    const float b = deviate::from_bits(std::uint32_t(random.next()));
    const float c = deviate::from_bits(std::uint32_t(random.next()));
    // An addend that leaves a·b + c beside a midpoint of floats, by far less than double can see.
    const float near_one = 1 + float(random.next() % 4096) * 0x1p-12f,
                half_ulp = 1 + float(random.next() % 4096) * 0x1p-12f;
    const float tiny = std::ldexp(b == b ? std::copysign(1.0f, b) : 1.0f, -int(random.next() % 120));
    different += differs(a, b, c) + differs(near_one, half_ulp, tiny) +
                 differs(near_one, std::ldexp(half_ulp, -100), std::ldexp(tiny, -40));
  }
  CHECK(different == 0);
}

TEST_CASE("exp2_polynomial: degree 3 has the published errors") {
  const auto found = measure<degree<3>>();
  CHECK(to_three_digits(found.largest, 8.77e-5));
  CHECK(to_three_digits(found.mean, 5.43e-5));
  CHECK(to_three_digits(found.largest_in_bf16, 3.90e-3));
  CHECK(to_three_digits(found.mean_in_bf16, 1.41e-3));
}

TEST_CASE("exp2_polynomial: the largest and mean error of the other degrees") {
  const double largest[] = {3.82e-2, 2.05e-3, 8.77e-5, 2.95e-6, 1.44e-7};
  const double mean[] = {2.39e-2, 1.30e-3, 5.43e-5, 1.84e-6, 5.48e-8};
  const errors_over_unit_interval found[] = {measure<degree<1>>(), measure<degree<2>>(), measure<degree<3>>(),
                                             measure<degree<4>>(), measure<degree<5>>()};
  for (int i = 0; i < 5; ++i) {
    CAPTURE(i + 1);
    CHECK(to_three_digits(found[i].largest, largest[i]));
    CHECK(to_three_digits(found[i].mean, mean[i]));
  }
  CHECK(to_three_digits(measure<by<dm::exp2_line>>().largest, 2.98e-2));
}

TEST_CASE("exp2_polynomial: special cases and the ends of the range") {
  const auto check = [](auto function) {
    for (int n = -126; n < 128; ++n) CHECK(function(float(n)) == std::ldexp(1.0f, n));
    for (const float x : {128.0f, 1e9f, std::numeric_limits<float>::max(), infinity}) CHECK(function(x) == infinity);
    for (const float x : {-127.0f, -128.0f, -1e30f, -infinity}) CHECK(bits(function(x)) == 0);
    for (const float x : {std::nanf(""), -std::nanf("")}) CHECK(bits(function(x)) == 0x7fc00000u);
    CHECK(function(std::nextafter(128.0f, 0.0f)) < infinity);
    CHECK(function(-0.0f) == 1);
    CHECK(function(-0x1p-149f) < 1.0f);  // the fraction rounds to 1
  };
  check([](float x) { return dm::exp2_polynomial<1>(x); });
  check([](float x) { return dm::exp2_polynomial<2>(x); });
  check([](float x) { return dm::exp2_polynomial<3>(x); });
  check([](float x) { return dm::exp2_polynomial<4>(x); });
  check([](float x) { return dm::exp2_polynomial<5>(x); });
  // Below 2^−126 the exponent field is 0: (p − 1)·2^−126.
  CHECK(dm::exp2_polynomial<3>(-126.5f) == (dm::exp2_polynomial<3>(0.5f) - 1) * 0x1p-126f);
}

TEST_CASE("exp2_polynomial: the bits of the published text") {
  constexpr float c[] = {1, 0.695146143436431884765625f, 0.227564394474029541015625f, 0.077119089663028717041015625f};
  int different = 0;
  oracle::words random(2);
  for (int i = 0; i < 1'000'000; ++i) {
    const float x = float(random.uniform(-140, 127)), tiny = float(random.uniform(-1e-6, 1e-6));
    different += bits(dm::exp2_polynomial<3>(x)) != bits(as_published(x, c));
    different += bits(dm::exp2_polynomial<3>(tiny)) != bits(as_published(tiny, c));
  }
  CHECK(different == 0);
}

TEST_CASE("exp2_polynomial: packs have the bits of the plain value") {
  const auto inputs = oracle::fixed_inputs(100'000, -140, 140);
  CHECK(oracle::float_pack_differences<degree<1>>(inputs) == 0);
  CHECK(oracle::float_pack_differences<degree<3>>(inputs) == 0);
  CHECK(oracle::float_pack_differences<degree<5>>(inputs) == 0);
}

TEST_CASE("exp2_polynomial: every compiler, flag and machine gives these bits") {
  const auto inputs = oracle::fixed_inputs(100'000, -140, 140);
  CHECK(oracle::float_hash_of<degree<1>>(inputs) == 0x3bc4d50d5af54121u);
  CHECK(oracle::float_hash_of<degree<2>>(inputs) == 0x535aac3d63bae325u);
  CHECK(oracle::float_hash_of<degree<3>>(inputs) == 0xc43b7d727e48274u);
  CHECK(oracle::float_hash_of<degree<4>>(inputs) == 0xa94a9b47190e3c75u);
  CHECK(oracle::float_hash_of<degree<5>>(inputs) == 0x5bc21f6a52f1b552u);
}

TEST_CASE("exp2_polynomial: the stated relative error over the whole range, for every 257th float") {
  CHECK(largest_relative<degree<1>>(257) < 3.83e-2);
  CHECK(largest_relative<degree<2>>(257) < 2.06e-3);
  CHECK(largest_relative<degree<3>>(257) < 8.78e-5);
  CHECK(largest_relative<degree<4>>(257) < 2.98e-6);
  CHECK(largest_relative<degree<5>>(257) < 1.57e-7);
}

TEST_CASE("exp2_polynomial: the stated relative error for every number of FP16 and BF16") {
  CHECK(oracle::sweep_16_bits<degree<1>>().largest_relative < 3.83e-2);
  CHECK(oracle::sweep_16_bits<degree<2>>().largest_relative < 2.06e-3);
  CHECK(oracle::sweep_16_bits<degree<3>>().largest_relative < 8.78e-5);
  CHECK(oracle::sweep_16_bits<degree<4>>().largest_relative < 2.98e-6);
  CHECK(oracle::sweep_16_bits<degree<5>>().largest_relative < 1.57e-7);
}

TEST_CASE("slow: exp2_polynomial: the stated relative error over all 2^32 floats") {
  CHECK(largest_relative<degree<1>>(1) < 3.83e-2);
  CHECK(largest_relative<degree<2>>(1) < 2.06e-3);
  CHECK(largest_relative<degree<3>>(1) < 8.78e-5);
  CHECK(largest_relative<degree<4>>(1) < 2.98e-6);
  CHECK(largest_relative<degree<5>>(1) < 1.57e-7);
}
