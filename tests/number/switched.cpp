// SPDX-License-Identifier: Apache-2.0
// Switched sites against correctly rounded ones, where double rounding is innocuous; and what each position does.
#include <deviate/number/switched.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <deviate/number/named.hpp>

#include "attention/inputs.hpp"

namespace dv = deviate;

namespace {

using pack = dv::fragment<dv::switched, 4>;

dv::rounding_site<dv::switched> site_of(const dv::format& f) {
  return dv::rounding_site<dv::switched>(dv::scalar_traits<dv::switched>::rounder(f));
}

// A member of F with an exponent around 0, in the carrier of S.
template <class S>
dv::fragment<S> drawn(attention_test::generator& g) {
  return dv::rounding_site<S>{}.round(dv::fragment<double>{std::ldexp(g.two_sided(), int(g.bits() % 12) - 6)});
}

// The same value, or NaN both.
bool differs(double a, double b) { return !(a == b || (std::isnan(a) && std::isnan(b))); }

template <class S>
void check_operations(const dv::format& f) {
  attention_test::generator g(7);
  const auto site = site_of(f);
  const dv::rounding_site<S> right{};
  int wrong = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto a = drawn<S>(g), b = drawn<S>(g);
    if (b.value == 0) continue;
    wrong += differs(site.add(a, b).value, double(right.add(a, b).value));
    wrong += differs(site.subtract(a, b).value, double(right.subtract(a, b).value));
    wrong += differs(site.multiply(a, b).value, double(right.multiply(a, b).value));
    wrong += differs(site.divide(a, b).value, double(right.divide(a, b).value));
    const dv::fragment<S> square{std::fabs(a.value)};
    wrong += differs(site.sqrt(square).value, double(right.sqrt(square).value));
    // The same in a position known at compile time, and in every lane of a pack.
    const auto four = [](double x) { return pack{dv::broadcast<dv::pack<double, 4>>(x)}; };
    dv::in_position(site, [&](const auto& fixed) {
      wrong += differs(fixed.add(a, b).value, site.add(a, b).value);
      wrong += differs(fixed.multiply(four(a.value), four(b.value)).value[i % 4], site.multiply(a, b).value);
      wrong += differs(fixed.fma(four(a.value), four(b.value), four(a.value)).value[i % 4], site.fma(a, b, a).value);
    });
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("switched sites have the bits of correctly rounded ones: numbers of at most 25 bits") {
  check_operations<dv::bf16>(dv::bf16_format);
  check_operations<dv::fp16>(dv::fp16_format);
  check_operations<dv::fp8_e4m3>(dv::fp8_e4m3_format);
  check_operations<float>(dv::binary32);
}

TEST_CASE("products of two 11-bit numbers fused into an FP32 sum are rounded once") {
  attention_test::generator g(11);
  const auto site = site_of(dv::binary32);
  int wrong = 0;
  float sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const auto a = drawn<dv::fp16>(g), b = drawn<dv::fp16>(g);
    wrong += site.fma(a, b, dv::fragment<float>{sum}).value != double(std::fma(a.value, b.value, sum));
    sum = std::fma(a.value, b.value, sum);
  }
  CHECK(wrong == 0);
}

TEST_CASE("exact: the double result, unrounded") {
  const auto site = site_of(dv::binary64);
  const dv::fragment<double> a{0.1}, b{0.3};
  CHECK(site.add(a, b).value == 0.1 + 0.3);
  CHECK(site.multiply(a, b).value == 0.1 * 0.3);
  CHECK(site.round(a).value == 0.1);
  CHECK(site_of(dv::binary32).round(a).value == double(0.1f));
}
