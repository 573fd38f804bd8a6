// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/boost.hpp>

#include <deviate/math/double_double.hpp>
#include <deviate/math/site_operations.hpp>
#include <deviate/number/double_double.hpp>
#include <deviate/number/named.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#if defined(DEVIATE_TEST_MPFR)
#include <mpfr.h>
#endif

namespace {

using deviate::bf16;
using deviate::double_double;
using deviate::fp16;
using deviate::fp8_e4m3;
using deviate::fragment;
using deviate::real100;
using deviate::real50;
using deviate::rounding_site;
using deviate::site_operations;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double largest = std::numeric_limits<double>::max();

static_assert(std::numeric_limits<real50>::digits >= 166 && std::numeric_limits<real100>::digits >= 332);
static_assert(deviate::scalar_traits<real50>::is_software && deviate::scalar_traits<real100>::is_software);
// No expression templates: a sum is a number.
static_assert(std::is_same_v<decltype(real50() + real50()), real50>);

/// 2^n.
template <class R>
R power(int n) {
  return ldexp(R(1), n);
}

template <class S, class R>
double rounded(const R& x) {
  return double(rounding_site<S>{}.round(fragment<R>{x}).value);
}

/// Every finite positive number of a format F of up to 16 bits and its successor: exactly half way between them, and to
/// either side of it by less than double can express.
template <deviate::format F, class R>
int wrong_near_midpoints() {
  using S = deviate::emulated<F>;
  int wrong = 0;
  for (int e = F.quantum_exponent(); e < F.max_exponent() - F.fraction_bits; ++e)
    for (int i = e == F.quantum_exponent() ? 0 : 1 << F.fraction_bits; i < 2 << F.fraction_bits; ++i) {
      const double low = std::ldexp(i, e), high = std::ldexp(i + 1, e);
      const double even = i % 2 == 0 ? low : high;
      const R middle = (R(low) + R(high)) / 2, little = power<R>(e - 100);
      wrong += rounded<S>(middle) != even;
      wrong += rounded<S>(R(middle - little)) != low;
      wrong += rounded<S>(R(middle + little)) != high;
      wrong += rounded<S>(R(-middle - little)) != -high;
    }
  return wrong;
}

}  // namespace

TEST_CASE_TEMPLATE("Boost: rounding to a format happens once", R, real50, real100) {
  // Through double, let alone float, both would be ties.
  CHECK(rounded<bf16>(R(R(1) + power<R>(-8) + power<R>(-60))) == 1.0078125);
  CHECK(rounded<bf16>(R(R(1) + power<R>(-8) - power<R>(-60))) == 1.0);
  CHECK(rounded<bf16>(R(R(1) + power<R>(-8))) == 1.0);
  CHECK(rounded<float>(R(R(1) + power<R>(-24) + power<R>(-90))) == double(1 + 0x1p-23f));
  CHECK(rounded<double>(R(R(1) + power<R>(-53) + power<R>(-120))) == 1 + 0x1p-52);
  CHECK(rounded<double>(R(R(1) + power<R>(-53) - power<R>(-120))) == 1.0);
  // In an operation, too: Boost computes, and the site rounds.
  const rounding_site<bf16> site;
  const fragment<R> tie{R(R(1) + power<R>(-8))}, little{power<R>(-60)};
  CHECK(site.add(tie, little).value == 1.0078125f);
  CHECK(site.subtract(tie, little).value == 1.0f);
  CHECK(site.add(tie, fragment<double>{0x1p-60}).value == 1.0078125f);
  CHECK(site.add(fragment<float>{0x1p-60f}, tie).value == 1.0078125f);
  CHECK(site.multiply(fragment<R>{R(1 + power<R>(-60))}, tie).value == 1.0078125f);
  CHECK(site.divide(fragment<R>{R(1)}, fragment<R>{R(3)}).value == 0.333984375f);
  CHECK(site.sqrt(fragment<R>{R(2)}).value == 1.4140625f);
}

TEST_CASE_TEMPLATE("Boost: right at every midpoint of small formats", R, real50, real100) {
  CHECK(wrong_near_midpoints<deviate::fp16_format, R>() == 0);
  CHECK(wrong_near_midpoints<deviate::fp8_e5m2_format, R>() == 0);
  CHECK(wrong_near_midpoints<deviate::fp8_e4m3_format, R>() == 0);
}

TEST_CASE_TEMPLATE("Boost: magnitudes beyond those of double", R, real50, real100) {
  using saturating = deviate::emulated<deviate::format{4, 3, deviate::special_values::nan_only,
                                                       deviate::overflow_rule::saturate_finite}>;
  const R tiny = power<R>(-5000), huge = power<R>(5000);
  CHECK(rounded<bf16>(tiny) == 0);
  CHECK_FALSE(std::signbit(rounded<bf16>(tiny)));
  CHECK(rounded<bf16>(R(-tiny)) == 0);
  CHECK(std::signbit(rounded<bf16>(R(-tiny))));
  CHECK(rounded<bf16>(huge) == infinity);
  CHECK(rounded<bf16>(R(-huge)) == -infinity);
  // A finite number saturates, an infinite one does not.
  CHECK(rounded<saturating>(huge) == 480 - 32);
  CHECK(rounded<saturating>(R(-huge)) == -448);
  CHECK(std::isnan(rounded<saturating>(std::numeric_limits<R>::infinity())));
  CHECK(std::isnan(rounded<fp8_e4m3>(huge)));
  CHECK(std::isnan(rounded<bf16>(std::numeric_limits<R>::quiet_NaN())));
  // e^−2000 has no double.
  CHECK(double(site_operations<bf16>{}.exp(fragment<R>{R(-2000)}).value) == 0);
  // To odd, neither zero nor infinity stands for another number.
  CHECK(deviate::detail::software_to_odd(tiny) == smallest);
  CHECK(deviate::detail::software_to_odd(R(-tiny)) == -smallest);
  CHECK(deviate::detail::software_to_odd(huge) == largest);
  CHECK(deviate::detail::software_to_odd(R(0)) == 0);
  CHECK(deviate::detail::software_to_odd(R(0.75)) == 0.75);
  CHECK(deviate::detail::software_to_odd(R(1 + power<R>(-100))) == 1 + 0x1p-52);
  CHECK(deviate::detail::software_to_odd(R(1 - power<R>(-100))) == 1 - 0x1p-53);
}

TEST_CASE_TEMPLATE("Boost: conversions from double are exact", R, real50, real100) {
  for (const double x :
       {0.0, -0.0, 0.1, -1e300, smallest, 3 * smallest, largest, 0x1.123456789abcdp-1030, infinity, -infinity}) {
    CAPTURE(x);
    CHECK(double(R(x)) == x);
    CHECK(double(R(x) * power<R>(-3000) * power<R>(3000)) == x);
    CHECK(double(R(float(x))) == double(float(x)));
  }
  CHECK(std::isnan(double(R(std::numeric_limits<double>::quiet_NaN()))));
}

TEST_CASE_TEMPLATE("Boost: a site of such numbers works exactly on floats", R, real50, real100) {
  const rounding_site<R> site;
  const R sum = site.add(fragment<float>{1.0f}, fragment<float>{0x1p-120f}).value;
  CHECK(sum == R(1) + power<R>(-120));
  CHECK(R(sum - 1) == power<R>(-120));
  CHECK(site.multiply(fragment<float>{1 + 0x1p-23f}, fragment<double>{1 + 0x1p-52}).value ==
        R(1) + power<R>(-23) + power<R>(-52) + power<R>(-75));
  CHECK(site.subtract(fragment<bf16>{0.5f}, fragment<R>{power<R>(-100)}).value == R(0.5) - power<R>(-100));
  CHECK(site.sqrt(fragment<float>{2.25f}).value == R(1.5));
  CHECK(site.round(fragment<bf16>{0.375f}).value == R(0.375));
}

TEST_CASE_TEMPLATE("Boost and double_double convert into each other", R, real50, real100) {
  const auto x = double_double::from_sum(1, 0x1p-100);
  CHECK(R(x) == R(1) + power<R>(-100));
  CHECK(double_double(R(x)) == x);
  CHECK(rounding_site<R>{}.add(fragment<double_double>{x}, fragment<float>{1.0f}).value == R(2) + power<R>(-100));
  CHECK(rounding_site<double_double>{}.subtract(fragment<R>{R(x)}, fragment<float>{1.0f}).value ==
        double_double(0x1p-100));
  CHECK(double_double(power<R>(5000)) == double_double(infinity));
  CHECK(R(double_double(-infinity)) == -std::numeric_limits<R>::infinity());
}

TEST_CASE_TEMPLATE("Boost: exp and log of the sites, rounded outside Boost", R, real50, real100) {
  // e^−0.5 = 0.60653…: the narrow cpp_bin_float types of Boost 1.81 throw or lose the value here.
  const fragment<R> x{R(-0.5)};
  CHECK(double(site_operations<fp16>{}.exp(x).value) == 0.6064453125);
  CHECK(double(site_operations<fp8_e4m3>{}.exp(x).value) == 0.625);
  CHECK(double(site_operations<fp16>{}.exp(fragment<double>{-0.5}).value) == 0.6064453125);
  CHECK(double(site_operations<fp8_e4m3>{}.exp(fragment<double>{-0.5}).value) == 0.625);
  const site_operations<R> site;
  CHECK(site.exp(fragment<double>{-3e304}).value == R(0));
  CHECK(double(site_operations<bf16>{}.exp(fragment<R>{R(-3e304)}).value) == 0);
  CHECK(site.exp(fragment<double>{-infinity}).value == R(0));
  CHECK(site.exp(fragment<double>{0}).value == R(1));
  CHECK_NOTHROW(CHECK(site.log(fragment<double>{0}).value == -std::numeric_limits<R>::infinity()));
  CHECK(double(site_operations<bf16>{}.log(fragment<R>{R(0)}).value) == -infinity);
  CHECK(site.log(fragment<double>{1}).value == R(0));
  CHECK(deviate::math::exp2(R(10)) == R(1024));
}

#if defined(DEVIATE_TEST_MPFR)

namespace {

/// |y − exact| / |exact|, by MPFR at 500 bits, through the decimal text of y.
template <class R, class Exact>
double relative_error(const R& y, double x, Exact exact) {
  mpfr_t v, w;
  mpfr_inits2(500, v, w, static_cast<mpfr_ptr>(nullptr));
  mpfr_set_d(v, x, MPFR_RNDN);
  exact(v, v, MPFR_RNDN);
  mpfr_set_str(w, y.str(130, std::ios_base::scientific).c_str(), 10, MPFR_RNDN);
  mpfr_sub(w, w, v, MPFR_RNDN);
  mpfr_div(w, w, v, MPFR_RNDN);
  const double error = std::fabs(mpfr_get_d(w, MPFR_RNDN));
  mpfr_clears(v, w, static_cast<mpfr_ptr>(nullptr));
  return error;
}

/// The double nearest to the sum of two doubles.
double nearest(double a, double b, int exponent) {
  mpfr_t v;
  mpfr_init2(v, 400);
  mpfr_set_d(v, a, MPFR_RNDN);
  mpfr_add_d(v, v, b, MPFR_RNDN);
  mpfr_mul_2si(v, v, exponent, MPFR_RNDN);
  const double d = mpfr_get_d(v, MPFR_RNDN);
  mpfr_clear(v);
  return d;
}

}  // namespace

TEST_CASE_TEMPLATE("Boost: conversion to double is to nearest even, subnormals included", R, real50, real100) {
  std::uint64_t state = 1;
  const auto next = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state ^ state >> 29;
  };
  int wrong = 0, subnormal = 0;
  for (int i = 0; i < 40'000; ++i) {
    // A midpoint of doubles, or of subnormals with fewer bits, with or without a little beside it.
    const int kept = 1 + int(next() % 53);
    const double a = std::ldexp(double(next() >> (64 - kept)) + 0.5, -kept);
    const double b = std::ldexp(double(int(next() % 3) - 1), -60 - int(next() % 40));
    const int exponent = next() % 2 == 0 ? kept - 1074 : int(next() % 2000) - 1000;
    const double expected = nearest(a, b, exponent);
    const R x = ldexp(R(R(a) + R(b)), exponent);
    wrong += static_cast<double>(x) != expected;
    wrong += static_cast<double>(R(-x)) != -expected;
    subnormal += std::fabs(expected) < 0x1p-1022;
  }
  CHECK(wrong == 0);
  CHECK(subnormal > 10'000);
}

TEST_CASE_TEMPLATE("Boost: exp, log and sqrt are right to the last digits", R, real50, real100) {
  const double bound = std::ldexp(1.0, 12 - std::numeric_limits<R>::digits);
  for (const double x : {-700.25, -20.0, -1.25, -0.5, 0x1p-40, 0.3, 1.5, 88.0, 600.0}) {
    CAPTURE(x);
    CHECK(relative_error(deviate::math::exp(R(x)), x, mpfr_exp) <= bound);
    CHECK(relative_error(deviate::math::log(R(x * x)), x * x, mpfr_log) <= bound);
    CHECK(relative_error(R(sqrt(R(x * x + 1))), x * x + 1, mpfr_sqrt) <= bound);
  }
}

#endif
