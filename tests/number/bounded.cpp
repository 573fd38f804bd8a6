// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/bounded.hpp>

#include <doctest/doctest.h>

#include <deviate/number/code.hpp>
#include <deviate/number/named.hpp>
#include <vector>

#include "number/oracle.hpp"

namespace dv = deviate;

namespace {

constexpr int W = 8;

// Every finite number of a format of at most 8 bits; of a wider one, the ends of every binade and random ones.
template <dv::format F>
std::vector<float> numbers() {
  std::vector<float> all;
  const auto take = [&](double x) {
    const float r = dv::emulated<F>(x).carrier();
    if (std::isfinite(r)) {
      all.push_back(r);
      all.push_back(-r);
    }
  };
  if constexpr (F.width() <= 8) {
    for (std::uint32_t code = 0; code < (1u << (F.width() - 1)); ++code) take(dv::decode(code, F));
  } else {
    for (int e = F.quantum_exponent(); e <= F.max_exponent(); ++e)
      for (const double m : {1.0, 1 + F.epsilon(), 1.5, 2 - 2 * F.epsilon(), 2 - F.epsilon()}) take(std::ldexp(m, e));
    oracle::words random(3);
    for (int i = 0; i < 400; ++i) take(std::ldexp(1 + double(random.next()) * 0x1p-64, int(random.next() % 40) - 20));
  }
  return all;
}

template <dv::format F>
dv::product_sum_bounds bounds(double terms = 1) {
  return {dv::rounding_constants<float>(F), terms};
}

dv::magnitudes of(float x) {
  const double a = std::abs(double(x));
  return {a, a > 0 ? a : std::numeric_limits<double>::infinity()};
}

// The general operations are the reference: tests/number/arithmetic.cpp holds them to MPFR. The sign of a zero is free.
template <class S, class Site>
void check_operations(const std::vector<float>& values, const dv::product_sum_bounds& one_product, const Site& site) {
  const dv::bounded_site<S> bounded(site);
  long products = 0;
  for (const float a : values) {
    for (std::size_t first = 0; first < values.size(); first += W) {
      dv::fragment<S, W> x = dv::fill<S, W>(a), y = dv::fill<S, W>(0.0f);
      bool allowed = true;
      for (std::size_t i = 0; i < W && first + i < values.size(); ++i) {
        y.value.set(int(i), values[first + i]);
        allowed = allowed && one_product.allow(of(a), of(values[first + i]));
      }
      if (!allowed) continue;
      const auto product = bounded.multiply(x, y), expected = site.multiply(x, y);
      const auto sum = bounded.add(x, y), expected_sum = site.add(x, y);
      bool same = true;
      for (int i = 0; i < W; ++i)
        same = same && product.value[i] == expected.value[i] &&
               (sum.value[i] == expected_sum.value[i] || !std::isfinite(expected_sum.value[i]) ||
                std::abs(double(x.value[i]) + double(y.value[i])) > 0x1p100);
      products += W;
      CAPTURE(a);
      CAPTURE(values[first]);
      if (!same) CHECK(same);
    }
  }
  CHECK(products > 40);
}

template <class S>
void check_format() {
  constexpr dv::format F = S::number_format;
  static_assert(dv::has_bounded_form<S>);
  check_operations<S>(numbers<F>(), bounds<F>(), dv::rounding_site<S>{});
}

}  // namespace

TEST_CASE("bounded products and sums: the numbers of the general operations") {
  check_format<dv::bf16>();
  check_format<dv::fp16>();
  check_format<dv::fp8_e5m2>();
  check_format<dv::fp8_e4m3>();
  check_format<dv::fp6_e3m2>();
  check_format<dv::fp4_e2m1>();
}

TEST_CASE("bounded products and sums of a format chosen at run time") {
  for (const dv::format f : {dv::bf16_format, dv::fp16_format, dv::format{6, 9}}) {
    const dv::rounding_site<dv::narrow_runtime> site{dv::scalar_traits<dv::narrow_runtime>::rounder(f, true)};
    const auto values = f == dv::fp16_format   ? numbers<dv::fp16_format>()
                        : f == dv::bf16_format ? numbers<dv::bf16_format>()
                                               : numbers<dv::format{6, 9}>();
    check_operations<dv::narrow_runtime>(values, {dv::rounding_constants<float>(f), 1}, site);
  }
}

TEST_CASE("bounds of sums of products: at the largest magnitudes allowed no step leaves the format") {
  const auto climb = []<dv::format F>() {
    for (const int n : {1, 3, 64, 1000}) {
      const auto limit = bounds<F>(n);
      const double b = F.max_finite() > 0x1p60 ? 0x1p40 : 2;
      const double a = limit.allowed_with({b, b}).largest;
      REQUIRE(a > 0);
      CHECK(limit.allow({a, a}, {b, b}));
      CHECK(!limit.allow({a * 1.01, a}, {b, b}));
      using S = dv::emulated<F>;
      S sum(0.0f);
      const S x(a), y(b);
      for (int i = 0; i < n; ++i) sum = sum + x * y;
      CHECK(std::isfinite(double(sum)));
      CHECK(double(sum) <= F.max_finite());
    }
  };
  climb.operator()<dv::bf16_format>();
  climb.operator()<dv::fp16_format>();
  climb.operator()<dv::fp8_e5m2_format>();
}

TEST_CASE("bounds: what is never allowed") {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto limit = bounds<dv::bf16_format>(64);
  CHECK(limit.allow({1, 1}, {1, 1}));
  CHECK(!limit.allow({}, {1, 1}));                                       // nothing known
  CHECK(!limit.allow({infinity, 1}, {1, 1}));                            // an infinite factor
  CHECK(!limit.allow({1, 0x1p-70}, {1, 0x1p-70}));                       // products below the smallest normal number
  CHECK(bounds<dv::fp16_format>(64).allow({1, 0x1p-24}, {1, 0x1p-24}));  // an anchor serves subnormals too
  CHECK(!dv::product_sum_bounds().allow({1, 1}, {1, 1}));
  // Other modes, flushed subnormals, more than 11 bits: the general operations.
  for (const dv::format f :
       {dv::bf16_format.rounded(dv::rounding_mode::toward_zero), dv::format{8, 11},
        dv::format{.exponent_bits = 5, .fraction_bits = 10, .subnormals = dv::subnormal_rule::flush}})
    CHECK(!dv::product_sum_bounds(dv::rounding_constants<float>(f), 1).allow({1, 1}, {1, 1}));
}
