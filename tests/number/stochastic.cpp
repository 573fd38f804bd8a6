// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/stochastic.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <deviate/number/named.hpp>
#include <vector>

#include "number/hard_inputs.hpp"

namespace dv = deviate;
using dv::format;
using dv::overflow_rule;
using dv::rounding_mode;
using dv::special_values;
using dv::subnormal_rule;

namespace {

// Published SplitMix64 outputs for the state 0 are those of mix(0) = 0 with the indices 0, 1, 2.
static_assert(dv::random_word(0, 0) == 0xe220a8397b1dcdafu);
static_assert(dv::random_word(0, 1) == 0x6e789e6aa1b965f4u);
static_assert(dv::random_word(0, 2) == 0x06c45d188009454fu);

template <class C>
dv::rounding_constants<C> constants_of(const format& f) {
  return dv::rounding_constants<C>(oracle::at_run_time(f.rounded(rounding_mode::stochastic)));
}
template <class C>
C toward_zero(const format& f, C x) {
  return dv::round_to(x, dv::rounding_constants<C>(f.rounded(rounding_mode::toward_zero)));
}
template <class C>
C away_from_zero(const format& f, C x) {
  const auto mode = x < 0 ? rounding_mode::downward : rounding_mode::upward;
  return dv::round_to(x, dv::rounding_constants<C>(f.rounded(mode)));
}

template <class Function>
void for_each_stochastic_format(Function f) {
  oracle::for_each_format<dv::bf16_format, dv::fp16_format, dv::fp8_e4m3_format, dv::fp8_e5m2_format,
                          dv::fp8_e4m3_fnuz_format, dv::fp4_e2m1_format, format{5, 20}, dv::tf32_format>(f);
}

/// All 2^n words: the larger magnitude for ⌊f·2^n⌋ of them, the smaller for the rest.
template <format F, int N, class C>
void check_counts(int inputs, std::uint64_t seed) {
  const oracle::limits of(F);
  const auto constants = constants_of<C>(F);
  oracle::words random(seed);
  oracle::tally tally(oracle::name(F) + " stochastic");
  using U = dv::detail::same_size_unsigned<C>;
  for (int i = 0; i < inputs; ++i) {
    const C x = oracle::near_midpoint<C>(of, random);
    if (!(std::fabs(double(x)) < of.largest)) continue;
    const C low = toward_zero(F, x), high = away_from_zero(F, x);
    const double gap = double(high) - double(low);
    // Exact: gap is a power of two.
    const double share = low == high ? 0 : (double(x) - double(low)) / gap;
    long larger = 0, others = 0;
    for (U word = 0; word < U(1) << N; ++word) {
      const C y = dv::round_stochastic<F, N>(x, word);
      larger += low != high && y == high;
      others += y != low && y != high;
      tally.compare(dv::bits(y) == dv::bits(dv::round_stochastic(x, N, U(word | ~U(0) << N), constants)), 1, x, word);
    }
    tally.compare(double(larger), std::floor(std::ldexp(share, N)), x, "of share", share);
    tally.compare(double(others), 0, x);
  }
  tally.expect(inputs);
}

}  // namespace

TEST_CASE("stochastic: of all words of n random bits, exactly floor(f 2^n) round away from zero, subnormals included") {
  for_each_stochastic_format([]<format F>() {
    check_counts<F, 1, float>(2000, 1);
    check_counts<F, 3, float>(2000, 2);
    check_counts<F, 8, float>(500, 3);
    check_counts<F, 11, double>(50, 4);
    check_counts<F, 6, double>(1000, 5);
  });
  check_counts<format{11, 25}, 6, double>(1000, 6);
  check_counts<format{10, 24}, 6, double>(1000, 7);
}

TEST_CASE("stochastic: numbers of the format, infinities and NaN are not changed, with any random bits") {
  for_each_stochastic_format([]<format F>() {
    const oracle::limits of(F);
    const dv::stochastic_rounder rounder(3);
    oracle::words random(8);
    oracle::tally tally(oracle::name(F));
    for (std::uint64_t i = 0; i < 20000; ++i) {
      const double x = oracle::decoded(of, random.next());
      if (!oracle::is_member(of, x)) continue;
      tally.compare(double(rounder.round<F, 23>(float(x), i)), double(dv::round_to<F>(float(x))), x);
      tally.compare(rounder.round<F, 52>(x, i), dv::round_to<F>(x), x);
      tally.compare(rounder.round<F, 1>(x, i), dv::round_to<F>(x), x);
    }
    for (double x : {oracle::infinite, -oracle::infinite, oracle::not_a_number})
      tally.compare(rounder.round<F, 23>(x, 0), dv::round_to<F>(x), x);
    tally.expect(20000);
  });
}

TEST_CASE("stochastic: the mean of 2^16 roundings lies within four standard errors of the value, subnormals too") {
  const auto check = []<format F>(double x) {
    const double low = toward_zero(F, x), high = away_from_zero(F, x), gap = std::fabs(high - low);
    const double share = std::fabs(x - low) / gap;
    constexpr int draws = 65536;
    const dv::stochastic_rounder rounder(1949);
    double sum = 0;
    for (int i = 0; i < draws; ++i) sum += rounder.round<F, 20>(float(x), std::uint64_t(i));
    const double error = sum / draws - x, deviation = gap * std::sqrt(share * (1 - share) / draws);
    CAPTURE(x);
    CHECK(std::fabs(error) < 4 * deviation);
    CHECK(deviation > 0);
  };
  for (double x : {1.001, -1.001, 3.14159, 1000.3, -0.1}) {
    check.operator()<dv::bf16_format>(double(float(x)));
    check.operator()<dv::fp16_format>(double(float(x)));
  }
  for (double x : {0.3 * 0x1p-24, 0.9 * 0x1p-24, 5.7 * 0x1p-24, -1000.2 * 0x1p-24})
    check.operator()<dv::fp16_format>(x);
  for (double x : {0.01, 0.3, 1.1, 5.9}) check.operator()<dv::fp4_e2m1_format>(double(float(x)));
  for (double x : {0.3 * 0x1p-133, 100.6 * 0x1p-133}) check.operator()<dv::bf16_format>(double(float(x)));
}

TEST_CASE("case 65: 0.9999 in bf16 has no bias when it is rounded at random") {
  const dv::stochastic_rounder rounder(65);
  double sum = 0;
  for (std::uint64_t i = 0; i < 1 << 20; ++i) sum += rounder.round<dv::bf16_format, 16>(0.9999f, i);
  // To nearest +1.0e-4, toward zero -3.8e-3.
  CHECK(std::fabs(sum / (1 << 20) - double(0.9999f)) < 3e-6);
}

TEST_CASE("stochastic: packs have the bits of plain values, streams differ, and are reproducible") {
  const dv::stochastic_rounder rounder(7);
  for_each_stochastic_format([&]<format F>() {
    const oracle::limits of(F);
    oracle::words random(9);
    oracle::tally tally(oracle::name(F) + " in lanes");
    for (std::uint64_t i = 0; i < 4000; ++i) {
      dv::pack<float, 8> x;
      dv::pack<double, 4> z;
      for (int lane = 0; lane < 8; ++lane) x.set(lane, oracle::near_midpoint<float>(of, random));
      for (int lane = 0; lane < 4; ++lane) z.set(lane, oracle::near_midpoint<double>(of, random));
      const auto y = rounder.round<F, 16>(x, 8 * i);
      const auto w = rounder.round<F, 40>(z, 4 * i);
      for (int lane = 0; lane < 8; ++lane)
        tally.compare(double(y[lane]), double(rounder.round<F, 16>(x[lane], 8 * i + std::uint64_t(lane))), x[lane]);
      for (int lane = 0; lane < 4; ++lane)
        tally.compare(w[lane], rounder.round<F, 40>(z[lane], 4 * i + std::uint64_t(lane)), z[lane]);
    }
    tally.expect(40000);
  });
  CHECK(rounder.stream(1).seed() != rounder.stream(2).seed());
  CHECK(rounder.stream(1).stream(2).seed() != rounder.stream(2).stream(1).seed());
  CHECK(rounder.stream(1).seed() == dv::stochastic_rounder(7).stream(1).seed());
  int same = 0;
  for (std::uint64_t i = 0; i < 10000; ++i)
    same += rounder.stream(1).round<dv::bf16_format, 16>(1 + 0x1p-8f, i) ==
            rounder.stream(2).round<dv::bf16_format, 16>(1 + 0x1p-8f, i);
  CHECK(std::abs(same - 5000) < 250);
}

TEST_CASE("stochastic: overflow, saturation and flushing") {
  constexpr format flushing{5, 10, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush};
  const std::uint32_t all = (1u << 16) - 1;
  CHECK(dv::round_stochastic<dv::fp16_format, 16>(65519.0f, all) == float(oracle::infinite));
  CHECK(dv::round_stochastic<dv::fp16_format, 16>(65535.0f, 0u) == 65504.0f);
  CHECK(dv::round_stochastic<dv::fp16_format, 16>(65536.0f, 0u) == float(oracle::infinite));
  CHECK(dv::round_stochastic<dv::fp8_e4m3_saturating_format, 16>(479.0f, all) == 448.0f);
  CHECK(std::isnan(dv::round_stochastic<dv::fp8_e4m3_format, 16>(479.0f, all)));
  CHECK(dv::round_stochastic<dv::fp8_e4m3_format, 16>(479.0f, 0u) == 448.0f);
  CHECK(dv::round_stochastic<flushing, 16>(0x1.ffp-15f, all) == 0.0f);
  CHECK(dv::bits(dv::round_stochastic<dv::fp8_e4m3_fnuz_format, 16>(-0x1p-30f, 0u)) == 0u);
}
