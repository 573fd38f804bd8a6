// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/arrays.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <deviate/number/named.hpp>
#include <deviate/number/stochastic_arrays.hpp>
#include <vector>

#include "number/hard_inputs.hpp"

namespace dv = deviate;
using dv::format;
using dv::rounding_mode;

namespace {

/// Special values, then hard ones of the format; `count` of them.
template <class C>
std::vector<C> hard_array(const format& f, std::size_t count, std::uint64_t seed) {
  const oracle::limits of(f);
  oracle::words random(seed);
  std::vector<C> all = oracle::special_inputs<C>();
  while (all.size() < count) all.push_back(oracle::near_midpoint<C>(of, random));
  all.resize(count);
  return all;
}

/// f(from, to) on the first n elements of x, apart and in place, against each(x[i], i); nothing beyond n is written.
template <class C, class F, class Each>
void check_array(const std::vector<C>& x, std::size_t n, F f, Each each, oracle::tally& tally) {
  constexpr C untouched = C(-12345);
  std::vector<C> apart(x.size(), untouched), in_place = x;
  f(std::span<const C>(x.data(), n), std::span<C>(apart.data(), n));
  f(std::span<const C>(in_place.data(), n), std::span<C>(in_place.data(), n));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const C expected = i < n ? C(each(x[i], i)) : untouched;
    tally.compare(dv::bits(apart[i]) == dv::bits(expected), 1, double(x[i]), i, n);
    tally.compare(dv::bits(in_place[i]) == dv::bits(i < n ? expected : x[i]), 1, double(x[i]), i, n);
  }
}

template <format F>
void check_nearest() {
  oracle::tally tally(oracle::name(F) + " array");
  const auto narrow = hard_array<float>(F, 700, 1);
  const auto wide = hard_array<double>(F, 700, 2);
  const dv::rounding_constants<float> c(oracle::at_run_time(F));
  const dv::rounding_constants<double> d(oracle::at_run_time(F));
  // The scalar's own oracle, so that array and scalar cannot be wrong together.
  const oracle::float_rounder exact(F);
  const auto each = [](auto v, std::size_t) { return dv::round_to<F>(v); };
  for (std::size_t n : {0u, 1u, 2u, 7u, 15u, 16u, 17u, 31u, 33u, 64u, 100u, 699u, 700u}) {
    check_array(
        narrow, n, [](auto from, auto to) { dv::round_array<F>(from, to); }, each, tally);
    check_array(
        narrow, n, [&](auto from, auto to) { dv::round_array(from, to, c); }, each, tally);
    check_array(
        wide, n, [](auto from, auto to) { dv::round_array<F>(from, to); }, each, tally);
    check_array(
        wide, n, [&](auto from, auto to) { dv::round_array(from, to, d); }, each, tally);
  }
  if (F.rounding == rounding_mode::nearest_even)
    check_array(
        narrow, narrow.size(), [](auto from, auto to) { dv::round_array<F>(from, to); },
        [&](float v, std::size_t) {
          const double y = exact(v);
          return std::isnan(y) ? std::numeric_limits<float>::quiet_NaN()
                               : float(y == 0 && !F.has_negative_zero() ? 0 : y);
        },
        tally);
  tally.expect(40000);
}

template <format F, int N>
void check_stochastic() {
  oracle::tally tally(oracle::name(F) + " stochastic array");
  const auto x = hard_array<float>(F, 400, 3);
  const auto z = hard_array<double>(F, 200, 4);
  const dv::rounding_constants<float> c(oracle::at_run_time(F.rounded(rounding_mode::stochastic)));
  const dv::stochastic_rounder rounder(99);
  for (std::uint64_t first : {0u, 1u, 15u, 16u, 31u, 32u, 1000u})
    for (std::size_t n : {0u, 1u, 5u, 16u, 31u, 32u, 33u, 64u, 65u, 399u}) {
      const auto each = [&](float v, std::size_t i) {
        return dv::round_stochastic<F, N>(v, dv::random_bits_of_element(99, first + i, N));
      };
      check_array(
          x, n, [&](auto from, auto to) { dv::round_array<F, N>(from, to, rounder, first); }, each, tally);
      check_array(
          x, n, [&](auto from, auto to) { dv::round_array(from, to, rounder, N, c, first); }, each, tally);
      const auto of_double = [&](double v, std::size_t i) { return rounder.round<F, 2 * N>(v, first + i); };
      check_array(
          z, n % 200, [&](auto from, auto to) { dv::round_array<F, 2 * N>(from, to, rounder, first); }, of_double,
          tally);
    }
  tally.expect(50000);
}

template <format F>
void check_fma() {
  using S = dv::emulated<F>;
  oracle::tally tally(oracle::name(F) + " fma of arrays");
  const oracle::limits of(F);
  oracle::words random(11);
  const std::uint64_t codes = std::uint64_t(1) << (1 + F.exponent_bits + F.fraction_bits);
  const auto fill = [&](std::vector<S>& all, int kind) {
    for (S& x : all) {
      // kind 1: exponents near 1, so that sums cancel and no lane leaves the range of float; 0: any code.
      const double any = oracle::decoded(of, random.next() % codes);
      const double near = std::ldexp(double(random.between(-(2L << F.fraction_bits), 2L << F.fraction_bits)),
                                     int(random.between(-F.fraction_bits - 3, -F.fraction_bits)));
      x = S(kind == 0 ? any : random.next() % 16 == 0 ? 0.0 : near);
    }
  };
  for (int kind : {0, 1})
    for (std::size_t n : {0u, 1u, 15u, 16u, 17u, 100u, 4000u}) {
      std::vector<S> a(n), b(n), c(n), to(n);
      fill(a, kind);
      fill(b, kind);
      fill(c, kind);
      if (kind == 1)  // the nearest number to −a·b, half of the time
        for (std::size_t i = 0; i < n; i += 2) c[i] = -(a[i] * b[i]);
      dv::fma_array<F>(a, b, c, to);
      for (std::size_t i = 0; i < n; ++i)
        tally.compare(dv::bits(to[i].carrier()) == dv::bits(fma(a[i], b[i], c[i]).carrier()), 1, double(a[i]),
                      double(b[i]), double(c[i]));
      dv::fma_array<F>(a, b, c, c);
      for (std::size_t i = 0; i < n; ++i)
        tally.compare(dv::bits(to[i].carrier()) == dv::bits(c[i].carrier()), 1, double(a[i]), "in place");
    }
  tally.expect(16000);
}

}  // namespace

TEST_CASE("arrays: every length, apart and in place, has the bits of the function of one value") {
  check_nearest<dv::bf16_format>();
  check_nearest<dv::fp16_format>();
  check_nearest<dv::fp8_e4m3_format>();
  check_nearest<dv::fp8_e4m3_fnuz_format>();
  check_nearest<dv::fp4_e2m1_format>();
  check_nearest<dv::fp16_format.rounded(rounding_mode::upward)>();
  check_nearest<dv::bf16_format.rounded(rounding_mode::to_odd)>();
}

TEST_CASE("arrays: stochastic rounding from any index, in parts or at once, has the bits of one element's own words") {
  check_stochastic<dv::bf16_format, 16>();
  check_stochastic<dv::fp16_format, 13>();
  check_stochastic<dv::fp16_format, 20>();
  check_stochastic<dv::fp8_e4m3_format, 8>();
  check_stochastic<dv::fp8_e4m3_fnuz_format, 20>();
  check_stochastic<dv::fp4_e2m1_format, 1>();
}

TEST_CASE("arrays: elements share words, but no bits") {
  for (int n : {4, 16, 23}) {
    // Of 32 elements in a row every field is another one: with one bit set in a word exactly one element would change.
    std::vector<std::uint32_t> field(32);
    for (std::uint64_t i = 0; i < 32; ++i) field[i] = dv::random_bits_of_element(5, 64 + i, n);
    const std::uint64_t words = n > 16 ? 16 : 8, width = n > 16 ? 32 : 16;
    int matched = 0;
    for (std::uint64_t w = 0; w < words; ++w)
      for (std::uint64_t part = 0; part < 64; part += width) {
        const std::uint64_t place = width == 32 ? 2 * w + part / 32 : 2 * w + part / 32 + (part / 16 % 2) * 16;
        const std::uint64_t word = dv::random_word(5, words * 2 + w) >> part;
        matched += field[place] == std::uint32_t(word & ((std::uint64_t(1) << width) - 1)) >> (int(width) - n);
      }
    CHECK(matched == 32);
  }
}

TEST_CASE("arrays: the random bits of neighbours, and of elements that share a word, are uniform and independent") {
  // χ² of 256 cells with 2^18 draws: mean 255, standard deviation 22.6; ±5 of those.
  constexpr std::uint64_t draws = 1 << 18;
  for (std::uint64_t apart : {0u, 1u, 2u, 16u, 17u, 32u})
    for (int n : {16, 23}) {
      std::vector<double> cells(256);
      for (std::uint64_t i = 0; i < draws; ++i) {
        const std::uint32_t one = dv::random_bits_of_element(7, i, n) >> (n - 4);
        const std::uint32_t two = apart == 0 ? dv::random_bits_of_element(7, i, n) & 15
                                             : dv::random_bits_of_element(7, i + apart, n) >> (n - 4);
        ++cells[one * 16 + two];
      }
      double chi_squared = 0;
      constexpr double expected = double(draws) / 256;
      for (double cell : cells) chi_squared += (cell - expected) * (cell - expected) / expected;
      CAPTURE(apart);
      CAPTURE(n);
      CHECK(chi_squared > 142);
      CHECK(chi_squared < 368);
    }
}

TEST_CASE("arrays: fused multiply-adds of every element have the bits of one, tiny and huge products included") {
  check_fma<dv::bf16_format>();
  check_fma<dv::fp16_format>();
  check_fma<dv::tf32_format>();
  check_fma<dv::fp8_e4m3_format>();
  check_fma<dv::fp8_e5m2_fnuz_format>();
  check_fma<dv::bf16_format.rounded(rounding_mode::downward)>();
  check_fma<dv::bf16_format.rounded(rounding_mode::toward_zero)>();
  check_fma<format{8, 7, dv::special_values::ieee, dv::overflow_rule::saturate_finite}>();
  check_fma<format{8, 15}>();
}

TEST_CASE("arrays: unequal lengths, a wrong mode and too many random bits are refused") {
  std::vector<float> x(5), y(6);
  const dv::rounding_constants<float> nearest(dv::bf16_format),
      random(dv::bf16_format.rounded(rounding_mode::stochastic));
  const dv::stochastic_rounder rounder(1);
  CHECK_THROWS_AS(dv::round_array<dv::bf16_format>(x, y), dv::contract_violation);
  CHECK_THROWS_AS(dv::round_array(x, y, nearest), dv::contract_violation);
  CHECK_THROWS_AS(dv::round_array(x, x, random), dv::contract_violation);
  CHECK_THROWS_AS((dv::round_array<dv::bf16_format, 8>(x, y, rounder)), dv::contract_violation);
  CHECK_THROWS_AS(dv::round_array(x, x, rounder, 8, nearest), dv::contract_violation);
  CHECK_THROWS_AS(dv::round_array(x, x, rounder, 24, random), dv::contract_violation);
  CHECK_THROWS_AS(dv::round_array(x, x, rounder, 0, random), dv::contract_violation);
  std::vector<dv::bf16> a(4), b(4), c(3);
  CHECK_THROWS_AS(dv::fma_array<dv::bf16_format>(a, b, c, a), dv::contract_violation);
}
