// SPDX-License-Identifier: Apache-2.0
#include <deviate/math/boost_exp.hpp>

#include <deviate/math/exp.hpp>
#include <deviate/number/named.hpp>

#include "fixed_inputs.hpp"
#if DEVIATE_TEST_MPFR
#include "oracle.hpp"
#endif

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

namespace dm = deviate::math;
using deviate::bits;

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class S>
double as_double(const S& x) {
  return dm::detail::exact_double(x);
}

}  // namespace

TEST_CASE("exp_exact and exp2_exact: special cases") {
  CHECK(dm::exp_exact(0.0) == 1);
  CHECK(dm::exp_exact(-0.0f) == 1);
  CHECK(dm::exp_exact(infinity) == infinity);
  CHECK(bits(dm::exp_exact(-infinity)) == bits(0.0));
  CHECK(bits(dm::exp_exact(-1e300)) == bits(0.0));
  CHECK(std::isnan(dm::exp_exact(std::nan(""))));
  CHECK(std::isnan(dm::exp2_exact(std::nanf(""))));
  CHECK(dm::exp2_exact(infinity) == infinity);
  CHECK(bits(dm::exp2_exact(-infinity)) == bits(0.0));
  for (int n = -1080; n <= 1030; ++n) CHECK(dm::exp2_exact(double(n)) == std::ldexp(1.0, n));
  // By the format's own rule: E4M3 has no infinity, and half of its smallest number is a tie.
  CHECK(as_double(dm::exp2_exact(deviate::fp8_e4m3(8.0f))) == 256);
  CHECK(std::isnan(as_double(dm::exp2_exact(deviate::fp8_e4m3(9.0f)))));
  CHECK(as_double(dm::exp2_exact(deviate::fp8_e4m3(-10.0f))) == 0);
}

TEST_CASE("exp_exact and exp2_exact: exp and exp2 of float are correctly rounded, as they say") {
  oracle::words random(4);
  int different = 0;
  for (int i = 0; i < 500; ++i) {
    const float x = float(random.uniform(-105, 89)), y = float(random.uniform(-151, 128));
    different += bits(dm::exp(x)) != bits(dm::exp_exact(x));
    different += bits(dm::exp2(y)) != bits(dm::exp2_exact(y));
  }
  for (const float x : {0x1.853a6ep-9f, -0x1.e7526ep-6f}) different += bits(dm::exp2(x)) != bits(dm::exp2_exact(x));
  CHECK(different == 0);
}

#if DEVIATE_TEST_MPFR

namespace {

/// Number of wrong results for S, whose numbers are floats of 16 bits.
template <class S>
int wrong_codes(const oracle::binary_format& format) {
  int wrong = 0;
  for (int code = 0; code < 65536; ++code) {
    const double x = as_double(S(deviate::from_bits(std::uint32_t(code) << 16)));
    if (!std::isfinite(x)) continue;
    oracle::real v{x};
    mpfr_exp(v, v, MPFR_RNDN);
    wrong += !oracle::is_rounded(v, as_double(dm::exp_exact(S(x))), format);
    mpfr_set_d(v, x, MPFR_RNDN);
    mpfr_exp2(v, v, MPFR_RNDN);
    wrong += !oracle::is_rounded(v, as_double(dm::exp2_exact(S(x))), format);
  }
  return wrong;
}
template <class S>
int wrong_between(double low, double high, const oracle::binary_format& format, int count) {
  oracle::words random(5);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const double x = as_double(S(random.uniform(low, high)));
    oracle::real v{x};
    mpfr_exp(v, v, MPFR_RNDN);
    wrong += !oracle::is_rounded(v, as_double(dm::exp_exact(S(x))), format);
    mpfr_set_d(v, x, MPFR_RNDN);
    mpfr_exp2(v, v, MPFR_RNDN);
    wrong += !oracle::is_rounded(v, as_double(dm::exp2_exact(S(x))), format);
  }
  return wrong;
}

}  // namespace

TEST_CASE("exp_exact and exp2_exact: correct against MPFR") {
  CHECK(wrong_between<float>(-160, 130, oracle::fp32, 5000) == 0);
  CHECK(wrong_between<double>(-1100, 1100, oracle::fp64, 5000) == 0);
  CHECK(wrong_between<double>(-1e-3, 1e-3, oracle::fp64, 2000) == 0);
  CHECK(wrong_between<deviate::fp16>(-20, 17, oracle::fp16, 2000) == 0);
  CHECK(wrong_between<deviate::bf16>(-140, 130, oracle::bf16, 2000) == 0);
}

TEST_CASE("exp_exact and exp2_exact: correct for every number of BF16 and FP16") {
  CHECK(wrong_codes<deviate::bf16>(oracle::bf16) == 0);
  int wrong = 0;
  for (int code = 0; code < 1 << 16; ++code) {
    const int exponent = code >> 10 & 31, fraction = code & 1023;
    if (exponent == 31) continue;
    const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    const deviate::fp16 x(code & 0x8000 ? -magnitude : magnitude);
    oracle::real v{as_double(x)};
    mpfr_exp(v, v, MPFR_RNDN);
    wrong += !oracle::is_rounded(v, as_double(dm::exp_exact(x)), oracle::fp16);
    mpfr_set_d(v, as_double(x), MPFR_RNDN);
    mpfr_exp2(v, v, MPFR_RNDN);
    wrong += !oracle::is_rounded(v, as_double(dm::exp2_exact(x)), oracle::fp16);
  }
  CHECK(wrong == 0);
}

#endif  // DEVIATE_TEST_MPFR
