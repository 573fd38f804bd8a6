// SPDX-License-Identifier: Apache-2.0
#include <deviate/accumulate/accumulation.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <deviate/math/site_operations.hpp>
#include <deviate/number/runtime_format.hpp>
#include <type_traits>
#include <vector>

#include "accumulate/sums.hpp"

using namespace accumulate_test;
using dv::accumulate::as_terms;
using dv::accumulate::lane_sums;
using dv::accumulate::pairwise;
using dv::accumulate::sequential;

namespace {

// ---- The same sums, written apart ----------------------------------------------------------------------------------

// S's own addition: native, or the operators of emulated numbers, which tests/number holds to MPFR.
template <class S>
S number(dv::carrier_of<S> x) {
  if constexpr (std::is_floating_point_v<S>)
    return x;
  else
    return S::from_carrier(x);
}
// With S's own addition: native, or the operators of emulated numbers, which tests/number holds to MPFR.
template <class S>
struct plain_sums {
  using C = dv::carrier_of<S>;

  static S one_by_one(const std::vector<C>& terms) {
    S s = number<S>(0);
    for (const C t : terms) s = s + number<S>(t);
    return s;
  }
  static S in_lanes(const std::vector<C>& terms, std::size_t k) {
    std::vector<S> lane(k, number<S>(0));
    for (std::size_t i = 0; i < terms.size(); ++i) lane[i % k] = lane[i % k] + number<S>(terms[i]);
    // Neighbours, then neighbours of those: the tree with the lower lane left.
    while (lane.size() > 1) {
      std::vector<S> half;
      for (std::size_t i = 0; i < lane.size(); i += 2) half.push_back(lane[i] + lane[i + 1]);
      lane = half;
    }
    return lane[0];
  }
  static S in_pairs(const std::vector<C>& terms) {
    std::size_t n = 1;
    while (n < terms.size()) n *= 2;
    return tree(terms, 0, n);
  }

 private:
  // Terms first … first + n − 1, n a power of two, zeros beyond the end.
  static S tree(const std::vector<C>& terms, std::size_t first, std::size_t n) {
    if (n == 1) return first < terms.size() ? number<S>(0) + number<S>(terms[first]) : number<S>(0);
    return tree(terms, first, n / 2) + tree(terms, first + n / 2, n / 2);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("every accumulation has the bits of a plain loop", S, float, double, dv::bf16, dv::fp16, dv::tf32,
                   dv::fp8_e5m2, dv::binary_number<6, 9>, dv::binary_number<11, 20>) {
  int orders_differ = 0;
  for (std::size_t n = 0; n <= 70; ++n) {
    const auto terms = terms_of<S>(n, n + 1);
    using plain = plain_sums<S>;
    const auto chain = carrier(plain::one_by_one(terms));
    CAPTURE(n);
    CHECK(same(sum<sequential<>, S>(terms), chain));
    CHECK(same(sum<lane_sums<1>, S, S>(terms), chain));
    CHECK(same(sum<lane_sums<2>, S, S>(terms), carrier(plain::in_lanes(terms, 2))));
    CHECK(same(sum<lane_sums<8>, S, S>(terms), carrier(plain::in_lanes(terms, 8))));
    CHECK(same(sum<lane_sums<16>, S, S>(terms), carrier(plain::in_lanes(terms, 16))));
    CHECK(same(sum<pairwise<>, S, S>(terms), carrier(plain::in_pairs(terms))));
    orders_differ += chain != carrier(plain::in_pairs(terms)) || chain != carrier(plain::in_lanes(terms, 8));
  }
  CHECK(orders_differ > 35);  // otherwise these terms would not tell one order from another
}

TEST_CASE_TEMPLATE("sums side by side have the bits of plain ones", S, float, double, dv::bf16, dv::fp16) {
  const auto check = [](auto accumulation, auto width) {
    using A = decltype(accumulation);
    constexpr int W = decltype(width)::value;
    for (const std::size_t n : {1u, 7u, 16u, 33u}) {
      const auto terms = terms_of<S>(n, 3 * n);
      const auto got = side_by_side<A, W, S>(terms);
      for (std::size_t w = 0; w < W; ++w) {
        std::vector<dv::carrier_of<S>> rotated;
        for (std::size_t i = 0; i < n; ++i) rotated.push_back(terms[(i + w) % n]);
        CHECK(same(got[w], sum<A, S, S>(rotated)));
      }
    }
  };
  const auto each_width = [&](auto accumulation) {
    check(accumulation, std::integral_constant<int, 4>{});
    check(accumulation, std::integral_constant<int, 8>{});
    check(accumulation, std::integral_constant<int, 16>{});
  };
  each_width(sequential<>{});
  each_width(lane_sums<4>{});
  each_width(pairwise<>{});
}

TEST_CASE_TEMPLATE("a row pushed in fragments has the bits of its terms one by one", S, float, double, dv::bf16,
                   dv::fp16) {
  const auto check = [](auto accumulation) {
    using A = decltype(accumulation);
    for (std::size_t n = 0; n <= 50; ++n) {
      const auto terms = terms_of<S>(n, 5 * n + 1);
      const auto expected = sum<A, S, S>(terms);
      CAPTURE(n);
      CHECK(same(along_a_row<A, 1, S>(terms), expected));
      CHECK(same(along_a_row<A, 4, S>(terms), expected));
      CHECK(same(along_a_row<A, 8, S>(terms), expected));
      CHECK(same(along_a_row<A, 16, S>(terms), expected));
    }
  };
  check(sequential<>{});
  check(pairwise<>{});
  check(lane_sums<2>{});
  check(lane_sums<8>{});
  check(lane_sums<16>{});
  check(lane_sums<32>{});
}

TEST_CASE_TEMPLATE("zero terms of either sign change nothing, and no sum is −0", A, sequential<>, pairwise<>,
                   lane_sums<1>, lane_sums<4>, lane_sums<16>) {
  const auto is_plus_zero = [](float x) { return x == 0 && !std::signbit(x); };
  CHECK(is_plus_zero(sum<A, float, float>({})));
  for (std::size_t n = 1; n <= 40; ++n) CHECK(is_plus_zero(sum<A, float, float>(std::vector<float>(n, -0.0f))));
  CHECK(is_plus_zero(sum<A, dv::bf16, dv::bf16>({-0.0f, -0.0f, -0.0f})));
  CHECK(is_plus_zero(sum<A, float, float>({1, -1, 0.5f, -0.5f})));
  CHECK(is_plus_zero(along_a_row<A, 4, float>({-0.0f, -0.0f, -0.0f, -0.0f, -0.0f})));

  // A zero in the place of a term, and zeros after the last.
  for (std::size_t n = 1; n <= 20; ++n) {
    auto with_zeros = terms_of<float>(n, n), with_minus_zeros = with_zeros;
    for (std::size_t i = 0; i < n; i += 3) {
      with_zeros[i] = 0;
      with_minus_zeros[i] = -0.0f;
    }
    CHECK(same(sum<A, float, float>(with_zeros), sum<A, float, float>(with_minus_zeros)));
    const auto before = sum<A, float, float>(with_zeros);
    for (int more = 0; more < 20; ++more) {
      with_zeros.push_back(more % 2 == 0 ? 0.0f : -0.0f);
      CHECK(same(sum<A, float, float>(with_zeros), before));
    }
  }
}

TEST_CASE("the precision inside a sum is its own") {
  static_assert(std::is_same_v<dv::accumulate::inside<sequential<>, dv::bf16>, dv::bf16>);
  static_assert(std::is_same_v<dv::accumulate::inside<sequential<float>, dv::bf16>, float>);
  static_assert(std::is_same_v<dv::accumulate::inside<lane_sums<4, double>, float>, double>);
  static_assert(std::is_same_v<dv::accumulate::inside<pairwise<dv::fp16>, float>, dv::fp16>);
  // 1 + 2^-8 is a tie in bf16 and goes to 1.
  const std::vector<float> terms{1, 0x1p-8f, 0x1p-8f};
  CHECK(sum<sequential<>, dv::bf16, dv::bf16>(terms) == 1);
  CHECK(sum<sequential<float>, float, dv::bf16>(terms) == 1 + 0x1p-7f);
  // Terms wider than the sum are added exactly and rounded once: 1 + (2^-8 + 2^-20) is above the tie.
  CHECK(sum<sequential<dv::bf16>, dv::bf16, float>({1, 0x1p-8f + 0x1p-20f}) == 1 + 0x1p-7f);
}

TEST_CASE("a format chosen at run time sums as the compile-time one") {
  const dv::rounding_site<dv::narrow_runtime> site(
      dv::scalar_traits<dv::narrow_runtime>::rounder(dv::bf16_format, true));
  const auto terms = terms_of<dv::bf16>(100, 9);
  const auto check = [&](auto accumulation) {
    using A = decltype(accumulation);
    typename A::template accumulator<dv::rounding_site<dv::narrow_runtime>, 1> total;
    for (const float t : terms) total.push(site, dv::fragment<dv::narrow_runtime, 1>{t});
    CHECK(same(total.total(site).value, sum<A, dv::bf16, dv::bf16>(terms)));
  };
  check(sequential<>{});
  check(pairwise<>{});
  check(lane_sums<8>{});
}

TEST_CASE("case 13: the order of a reduction decides where it stalls") {
  const auto ones = [](std::size_t n) { return std::vector<float>(n, 1); };
  // Sequential: adding 1 to 2^(t+1) is a tie that goes back.
  CHECK(sum<sequential<>, dv::fp16, dv::fp16>(ones(4096)) == 2048);
  CHECK(sum<sequential<>, dv::bf16, dv::bf16>(ones(70'000)) == 256);
  CHECK(sum<sequential<>, dv::tf32, dv::tf32>(ones(5000)) == 2048);
  CHECK(sum<sequential<>, dv::fp8_e4m3, dv::fp8_e4m3>(ones(100)) == 16);
  CHECK(sum<sequential<>, dv::fp8_e5m2, dv::fp8_e5m2>(ones(100)) == 8);
  // Eight lanes of 2500 stall at 2048 each.
  CHECK(sum<lane_sums<8>, dv::fp16, dv::fp16>(ones(20'000)) == 16384);
  // FP32 inside: the exact sum, rounded once.
  const auto rounded_once = [](float x) { return dv::bf16(x).carrier(); };
  CHECK(sum<sequential<float>, float, dv::bf16>(ones(70'000)) == 70'000);
  CHECK(rounded_once(sum<sequential<float>, float, dv::bf16>(ones(70'000))) == 70'144);
  // Pairwise: powers of two are exact; 20000 = 16384 + 2048 + 1024 + 512 + 32 joins from the small end without loss,
  // rounding to fp16's spacing of 16.
  CHECK(sum<pairwise<>, dv::fp16, dv::fp16>(ones(4096)) == 4096);
  CHECK(sum<pairwise<>, dv::fp16, dv::fp16>(ones(20'000)) == 20'000);
  CHECK(sum<pairwise<>, dv::bf16, dv::bf16>(ones(65'536)) == 65'536);
}

TEST_CASE("fused: one rounding for each product and sum; a term that is no product is added") {
  const dv::site_operations<float> site;
  dv::accumulate::fused<>::accumulator<dv::site_operations<float>, 1> sum;
  const auto f = [](float x) { return dv::fragment<float, 1>{x}; };
  // (1 + 2^−12)² = 1 + 2^−11 + 2^−24: the last bit is lost if the product is rounded first.
  dv::accumulate::push_product(sum, site, site, f(1 + 0x1p-12f), f(1 + 0x1p-12f));
  sum.push(site, f(-1 - 0x1p-11f));
  CHECK(sum.total(site).value == 0);
  dv::accumulate::fused<>::accumulator<dv::site_operations<float>, 1> other;
  other.push(site, f(-1 - 0x1p-11f));
  dv::accumulate::push_product(other, site, site, f(1 + 0x1p-12f), f(1 + 0x1p-12f));
  CHECK(other.total(site).value == 0x1p-24f);
  dv::accumulate::sequential<>::accumulator<dv::site_operations<float>, 1> rounded;
  rounded.push(site, f(-1 - 0x1p-11f));
  dv::accumulate::push_product(rounded, site, site, f(1 + 0x1p-12f), f(1 + 0x1p-12f));
  CHECK(rounded.total(site).value == 0);

  generator g(11);
  constexpr int W = 8;
  dv::accumulate::fused<>::accumulator<dv::site_operations<float>, W> side_by_side;
  float expected[W] = {};
  for (int i = 0; i < 100; ++i) {
    dv::fragment<float, W> a, b;
    for (int lane = 0; lane < W; ++lane) {
      const float x = float(g.two_sided()), y = float(g.two_sided());
      a.value.set(lane, x);
      b.value.set(lane, y);
      expected[lane] = std::fma(x, y, expected[lane]);
    }
    dv::accumulate::push_product(side_by_side, site, site, a, b);
  }
  for (int lane = 0; lane < W; ++lane) CHECK(side_by_side.total(site).value[lane] == expected[lane]);
}
