// SPDX-License-Identifier: Apache-2.0
#include <deviate/accumulate/compensated.hpp>

#include <doctest/doctest.h>

#include <deviate/accumulate/exact.hpp>
#include <deviate/number/runtime_format.hpp>
#include <limits>
#include <vector>

#include "accumulate/sums.hpp"

using namespace accumulate_test;
using dv::accumulate::compensated;
using dv::accumulate::exact;
using dv::accumulate::sequential;

namespace {

// The loop as A. Neumaier gives it, over S's own operators, which tests/number holds to MPFR.
template <class S>
dv::carrier_of<S> plain(const std::vector<dv::carrier_of<S>>& terms) {
  S s = number<S>(0), c = number<S>(0);
  for (const auto x : terms) {
    const S t = number<S>(x), u = s + t;
    if (std::fabs(carrier(s)) >= std::fabs(carrier(t)))
      c = c + ((s - u) + t);
    else
      c = c + ((t - u) + s);
    s = u;
  }
  return carrier(s + c);
}

}  // namespace

TEST_CASE_TEMPLATE("a compensated sum has the bits of a plain loop", S, float, double, dv::bf16, dv::fp16, dv::tf32,
                   dv::fp8_e5m2, dv::binary_number<11, 20>) {
  int differs = 0;
  for (std::size_t n = 0; n <= 200; ++n) {
    const auto terms = terms_of<S>(n, n + 1);
    CHECK(same(sum<compensated<>, S>(terms), plain<S>(terms)));
    differs += !same(sum<compensated<>, S>(terms), sum<sequential<>, S>(terms));
  }
  CHECK(differs > 100);
}

TEST_CASE("a compensated sum depends on neither width nor arrangement; zeros change nothing") {
  check_arrangements<compensated<>, float>();
  check_arrangements<compensated<>, dv::bf16>();
  check_arrangements<compensated<>, dv::binary_number<11, 20>>();
  check_zeros<compensated<>, float>();
  check_zeros<compensated<>, dv::fp16>();
}

TEST_CASE("the terms of a compensated sum may be wider or narrower than the sum") {
  check_arrangements<compensated<dv::bf16>, dv::bf16, double>();
  check_arrangements<compensated<double>, double, dv::bf16>();
  check_zeros<compensated<dv::bf16>, dv::bf16, float>();
  // The correction takes what the sum's own 8 bits lose of a term.
  CHECK(sum<compensated<dv::bf16>, dv::bf16, float>({1 + 0x1p-9f, -1}) == 0x1p-9f);
  CHECK(sum<sequential<dv::bf16>, dv::bf16, float>({1 + 0x1p-9f, -1}) == 0);
}

TEST_CASE_TEMPLATE("the error of a compensated sum is within its bound", S, float, dv::tf32, dv::fp16, dv::bf16) {
  const dv::format f = dv::scalar_traits<S>::holds;
  const double unit = std::ldexp(1.0, -f.precision());
  double worst = 0, worst_plain = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const std::size_t n = 10 + seed % 60;
    auto terms = terms_of<S>(n, seed);
    if (seed % 2 == 0)  // cancelling: all but the last few leave again
      for (std::size_t i = n / 2; i + 3 < n; ++i) terms[i] = -terms[i - n / 2];
    const std::vector<double> wide(terms.begin(), terms.end());
    const double right = sum<exact<>, double>(wide);
    double magnitudes = 0;
    for (const double t : wide) magnitudes += std::fabs(t);
    const double gamma = double(n - 1) * unit / (1 - double(n - 1) * unit);
    const double allowed = unit * std::fabs(right) + gamma * gamma * magnitudes;
    const double error = std::fabs(double(sum<compensated<>, S>(terms)) - right);
    CHECK(error <= allowed);
    worst = std::max(worst, error / allowed);
    worst_plain = std::max(worst_plain, std::fabs(double(sum<sequential<>, S>(terms)) - right) / allowed);
  }
  MESSAGE("largest share of the bound: compensated " << worst << ", sequential " << worst_plain);
  CHECK(worst > 0.1);
}

TEST_CASE("a compensated sum forgets neither the small nor the order") {
  CHECK(sum<compensated<>, double>({1, 1e100, 1, -1e100}) == 2);  // Kahan's own loop gives 0
  CHECK(sum<compensated<>, float>({0x1p24f, 1, -0x1p24f}) == 1);
  // Ones stall the sum, and then the correction, which is a plain sum too: it doubles the reach, no more.
  CHECK(sum<compensated<>, dv::bf16>(std::vector<float>(500, 1)) == 500);
  CHECK(sum<compensated<>, dv::bf16>(std::vector<float>(4096, 1)) == 512);
  CHECK(sum<compensated<>, dv::fp16>(std::vector<float>(20'000, 1)) == 4096);
}

TEST_CASE("infinities, NaN and overflow end as in a plain sum") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  CHECK(sum<compensated<>, float>({1, inf, 2}) == inf);
  CHECK(sum<compensated<>, float>({-inf, 1}) == -inf);
  CHECK(std::isnan(sum<compensated<>, float>({inf, 1, -inf})));
  CHECK(std::isnan(sum<compensated<>, float>({1, std::numeric_limits<float>::quiet_NaN()})));
  CHECK(sum<compensated<>, dv::fp16>({65504, 65504, 1}) == inf);
  CHECK(std::isnan(sum<compensated<>, dv::fp8_e4m3>({448, 448})));
  CHECK(sum<compensated<>, dv::fp8_e4m3_saturating>({448, 448}) == 448);
}

TEST_CASE("a format chosen at run time compensates as the compile-time one") {
  const dv::rounding_site<dv::narrow_runtime> site(
      dv::scalar_traits<dv::narrow_runtime>::rounder(dv::bf16_format, true));
  const auto terms = terms_of<dv::bf16>(100, 9);
  compensated<>::accumulator<dv::rounding_site<dv::narrow_runtime>, 1> total;
  for (const float t : terms) total.push(site, dv::fragment<dv::narrow_runtime, 1>{t});
  CHECK(same(total.total(site).value, sum<compensated<>, dv::bf16>(terms)));
}
