// SPDX-License-Identifier: Apache-2.0
#include <deviate/accumulate/exact.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "accumulate/sums.hpp"

#if defined(DEVIATE_TEST_MPFR)
#include <mpfr.h>
#endif

using namespace accumulate_test;
using dv::accumulate::exact;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

#if defined(DEVIATE_TEST_MPFR)
// Σ without any rounding in 2300 bits, then one rounding to nearest even by MPFR.
double by_mpfr(const std::vector<double>& terms, int precision, int min_exponent, int max_exponent) {
  mpfr_t total;
  mpfr_init2(total, 2300);
  mpfr_set_zero(total, 1);
  for (const double t : terms) mpfr_add_d(total, total, t, MPFR_RNDN);
  double result = 0;
  if (!mpfr_zero_p(total)) {
    const long quantum = std::max<long>(mpfr_get_exp(total) - 1, min_exponent) - (precision - 1);
    mpfr_mul_2si(total, total, -quantum, MPFR_RNDN);
    mpfr_rint(total, total, MPFR_RNDN);
    mpfr_mul_2si(total, total, quantum, MPFR_RNDN);
    result = mpfr_get_d(total, MPFR_RNDN);
    if (mpfr_regular_p(total) && mpfr_get_exp(total) - 1 > max_exponent) result = result < 0 ? -infinite : infinite;
  }
  mpfr_clear(total);
  return result;
}

template <class S>
void check_against_mpfr(int precision, int min_exponent, int max_exponent) {
  int wrong = 0, special = 0;
  generator g{std::uint64_t(precision)};
  struct range {
    int top, spread;
  };
  for (const range r : {range{1, 4}, range{60, 120}, range{1000, 2000}, range{1023, 4}, range{max_exponent + 1, 8},
                        range{min_exponent + 4, 30}, range{-1000, 70}})
    for (int i = 0; i < 300; ++i) {
      std::vector<double> terms(1 + g.bits() % 60);
      for (std::size_t k = 0; k < terms.size(); ++k) {
        terms[k] = std::ldexp(g.two_sided() + g.two_sided() * 0x1p-24 + g.two_sided() * 0x1p-48,
                              r.top - int(g.bits() % unsigned(r.spread)));
        if (g.bits() % 4 == 0 && k > 0) terms[k] = -terms[g.bits() % k];
      }
      const double expected = by_mpfr(terms, precision, min_exponent, max_exponent);
      wrong += double(sum<exact<>, S, double>(terms)) != expected;
      special += expected == 0 || std::fabs(expected) == infinite;
    }
  CHECK(wrong == 0);
  CHECK(special < 1500);
}
#endif

}  // namespace

#if defined(DEVIATE_TEST_MPFR)
TEST_CASE("the exact sum is rounded once, to every kind of scalar") {
  check_against_mpfr<double>(53, -1022, 1023);
  check_against_mpfr<float>(24, -126, 127);
  check_against_mpfr<dv::bf16>(8, -126, 127);
  check_against_mpfr<dv::fp16>(11, -14, 15);
  check_against_mpfr<dv::binary_number<11, 20>>(21, -1022, 1023);
}
#endif

TEST_CASE("the exact sum loses nothing on the way, and rounds ties to even") {
  const auto total = [](const std::vector<double>& t) { return sum<exact<>, double>(t); };
  CHECK(total({1e308, 1e308, -1e308, -1e308, 1}) == 1);
  CHECK(total({1, 0x1p-1074, -1}) == 0x1p-1074);
  CHECK(total({1, 0x1p-53}) == 1);
  CHECK(total({1, 0x1p-53, 0x1p-1074}) == 1 + 0x1p-52);
  CHECK(total({1 + 0x1p-52, 0x1p-53}) == 1 + 0x1p-51);
  CHECK(total({1, -0x1p-54, -0x1p-1074}) == 1 - 0x1p-53);
  CHECK(total({std::numeric_limits<double>::max(), 0x1p969}) == std::numeric_limits<double>::max());
  CHECK(total({std::numeric_limits<double>::max(), 0x1p970}) == infinite);
  CHECK(total({0x1p-1022, -0x1p-1074}) == 0x1p-1022 - 0x1p-1074);
  // Through double first, the second rounding would be a tie that goes down.
  CHECK(sum<exact<>, float, double>({1, 0x1p-24, 0x1p-100}) == 1 + 0x1p-23f);
  CHECK(sum<exact<dv::bf16>, dv::bf16, float>({1, 0x1p-8f, 0x1p-100f}) == 1 + 0x1p-7f);
  // Many carries: 10^6 times the largest 53 bits.
  std::vector<double> many(1'000'000, 0x1.fffffffffffffp0);
  CHECK(total(many) == 1e6 * 0x1.fffffffffffffp0);
  for (double& t : many) t = -t;
  CHECK(total(many) == -1e6 * 0x1.fffffffffffffp0);
}

TEST_CASE("infinities and NaN of the exact sum") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(sum<exact<>, double>({1, infinite, 2}) == infinite);
  CHECK(sum<exact<>, double>({-infinite, 1}) == -infinite);
  CHECK(std::isnan(sum<exact<>, double>({infinite, 1, -infinite})));
  CHECK(std::isnan(sum<exact<>, double>({1, nan})));
  CHECK(sum<exact<>, float, double>({infinite}) == infinite);
}

TEST_CASE_TEMPLATE("the exact sum depends on neither width nor arrangement; zeros change nothing", S, float, double,
                   dv::bf16, dv::fp16) {
  check_arrangements<exact<>, S>();
  check_arrangements<exact<>, S, double>();
  check_zeros<exact<>, S>();
  // Nor on the order of the terms.
  auto terms = terms_of<double>(60, 5);
  const auto before = sum<exact<>, S, double>(terms);
  std::reverse(terms.begin(), terms.end());
  CHECK(same(sum<exact<>, S, double>(terms), before));
}
