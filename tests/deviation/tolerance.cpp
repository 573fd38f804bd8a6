// SPDX-License-Identifier: Apache-2.0
#include <deviate/deviation/tolerance.hpp>
//
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deviate/number/named.hpp>
#include <limits>
#include <string>
#include <vector>

#include "generator.hpp"

using namespace deviate;
using deviation_test::generator;

namespace {

using numbers = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

tensor<double> row(const numbers& x) { return {{1, 1, 1, std::int64_t(x.size())}, x}; }

// A perfect kernel: golden rounded once.
template <class Number>
tensor<Number> rounded(const tensor<double>& golden) {
  tensor<Number> got(golden.shape());
  for (std::size_t i = 0; i < golden.values().size(); ++i) got.values()[i] = Number(golden.values()[i]);
  return got;
}

// n values of magnitude up to `largest`, itself included.
tensor<double> golden_up_to(double largest, std::int64_t n, std::uint64_t seed) {
  generator g(seed);
  tensor<double> golden({1, 1, 1, n});
  for (double& v : golden.values()) v = g.value() / 8 * largest;
  golden.values()[0] = largest;
  return golden;
}

template <class Number>
void check_perfect_kernels() {
  constexpr format f = Number::number_format;
  for (const double largest : {1e-3, 0.9, 1.9, 30.0, 31.97, 200.0}) {
    const tensor<double> golden = golden_up_to(largest, 20000, 81);
    const tensor<Number> got = rounded<Number>(golden);
    const tolerance t = recommended_tolerance(f, largest);
    CHECK(within(got, golden, t).passed());
    CHECK(within(got, golden, t.atol, 0).passed());
    if (largest > 0.5) CHECK(!within(got, golden, t.atol * 0.9, 0).passed());  // no smaller one would do
    // The largest relative error of rounding is u / (1 + u), u the unit roundoff.
    CHECK(!within(got, golden, 0, t.rtol / (1 + t.rtol) * 0.9).passed());
  }
}

}  // namespace

TEST_CASE("case 81: the recommended tolerance never falls below half an output ulp of max|O|") {
  const tolerance b = recommended_tolerance(bf16_format, 30);
  CHECK(b.atol >= 0.0625);
  CHECK(b.atol == 0.0625);
  CHECK(b.rtol == 0x1p-8);
  CHECK(b.because == "half an output ulp at max|O| = 30 is 0.0625; unit roundoff 2^-8");
  CHECK(recommended_tolerance(fp16_format, 30).rtol == 0x1p-11);
  CHECK(recommended_tolerance(fp16_format, 30).atol == 0x1p-7);
  CHECK(recommended_tolerance(fp8_e4m3_format, 1).rtol == 0x1p-4);
  CHECK(recommended_tolerance(fp16_format, 0).atol == 0x1p-25);
  check_perfect_kernels<bf16>();
  check_perfect_kernels<fp16>();
  check_perfect_kernels<fp8_e5m2>();
}

TEST_CASE("case 81: bf16 outputs in [16, 32) and atol 0.06 fail a perfect kernel") {
  generator g(811);
  tensor<double> golden({1, 1, 1, 100000});
  for (double& v : golden.values()) v = 24 + g.value();
  const tensor<bf16> got = rounded<bf16>(golden);
  // Errors are even over ± 0.0625, so 0.0025 / 0.0625 = 4 % of these elements are beyond 0.06.
  const tolerance_check low = within(got, golden, 0.06, 0);
  CHECK(low.share() == doctest::Approx(0.04).epsilon(0.005));
  CHECK(low.worst_excess == doctest::Approx(0.0025).epsilon(1e-5));
  CHECK(within(got, golden, recommended_tolerance(bf16_format, 32)).passed());
}

TEST_CASE("the recommended tolerance of a format that flushes, or overflows, says so") {
  format flushing = fp16_format;
  flushing.subnormals = subnormal_rule::flush;
  CHECK(recommended_tolerance(flushing, 0.01).atol == 0x1p-14);
  CHECK(recommended_tolerance(flushing, 0.01).because.find("flushed to zero") != std::string::npos);
  CHECK(recommended_tolerance(flushing, 1).atol == 0x1p-11);
  CHECK(recommended_tolerance(fp16_format, 65519).atol == 16);
  CHECK(recommended_tolerance(fp16_format, 65520).atol == infinity);
  CHECK(
      recommended_tolerance(fp8_e4m3_format, 500).because.find("beyond the largest number of the output format, 448") !=
      std::string::npos);
  for (const double wrong : {-1.0, infinity, not_a_number})
    CHECK_THROWS_AS(recommended_tolerance(bf16_format, wrong), contract_violation);
}

TEST_CASE("within counts what exceeds atol + rtol·|golden|, and by how much the worst does") {
  const tensor<double> golden = row({0, 1, -2, 4});
  const tolerance_check check = within(row({0.25, 1.5, -2.25, 3}), golden, 0.25, 0.125);
  CHECK(check.compared == 4);
  CHECK(check.failing == 2);  // 0.5 > 0.375 and 1 > 0.75; 0.25 at golden 0 is allowed exactly
  CHECK(check.share() == 0.5);
  CHECK(check.worst_excess == 0.25);
  CHECK(!check.passed());
  const tolerance_check room = within(golden, golden, 0.25, 0.125);
  CHECK(room.passed());
  CHECK(room.worst_excess == -0.25);
  // The share of golden counts, not of got.
  CHECK(within(row({3}), row({2}), 0, 0.5).passed());
  CHECK(!within(row({2}), row({1}), 0, 0.5).passed());
  // Strides are followed.
  const double memory[] = {1, 9, 2, 9, 3};
  CHECK(within(tensor_view<const double>(memory, {1, 1, 1, 3}, {0, 0, 0, 2}), row({1, 2, 3}), 0, 0).passed());
}

TEST_CASE("case 78: no tolerance lets a NaN or a wrong infinity pass") {
  for (const double atol : {0.0, 1e300, infinity}) {
    for (std::size_t where = 0; where < 3; ++where) {
      numbers with_nan{1, 2, 3};
      with_nan[where] = not_a_number;
      const tensor<double> broken = row(with_nan), plain = row({1, 2, 3});
      CHECK(within(broken, plain, atol, 0).failing == 1);
      CHECK(within(plain, broken, atol, 1).failing == 1);
      CHECK(std::isnan(within(broken, plain, atol, 0).worst_excess));
      CHECK(within(broken, broken, atol, 0).failing == 1);
      CHECK(within(broken, broken, atol, 0, true).passed());
      CHECK(!std::isnan(within(broken, broken, atol, 0, true).worst_excess));
    }
    CHECK(within(row({infinity}), row({infinity}), atol, 0.5).passed());
    CHECK(within(row({infinity}), row({infinity}), atol, 0).worst_excess == -atol);
    CHECK(within(row({-infinity}), row({infinity}), atol, 0.5).worst_excess == infinity);
    CHECK(within(row({infinity}), row({1}), atol, 0.5).failing == 1);
    CHECK(within(row({1}), row({infinity}), atol, 0.5).failing == 1);
  }
  CHECK(!within(row({}), row({}), 1, 1).passed());  // nothing compared is nothing shown
  CHECK_THROWS_AS(within(row({1}), row({1}), -1, 0), contract_violation);
  CHECK_THROWS_AS(within(row({1}), row({1}), 0, not_a_number), contract_violation);
  CHECK_THROWS_AS(within(row({1}), row({1, 2}), 0, 0), contract_violation);
}

TEST_CASE("case 55: twice the naive deviation and one output ulp") {
  const baseline_verdict v = compare_with_baseline(0.019, 0.01, fp16_format, 4);
  CHECK(v.floor == 0x1p-8);
  CHECK(v.allowed == 0.02 + 0x1p-8);
  CHECK(v.passed);
  CHECK(compare_with_baseline(0.02 + 0x1p-8, 0.01, fp16_format, 4).passed);
  CHECK(!compare_with_baseline(0.024, 0.01, fp16_format, 4).passed);
  CHECK(!compare_with_baseline(0.019, 0.01, fp16_format, 4, 1).passed);
  // With one key P is 1 and the naive gradient of V exact: the floor alone is left, and one ulp passes.
  const baseline_verdict single = compare_with_baseline(0x1p-7, 0, bf16_format, 1.5);
  CHECK(single.passed);
  CHECK(single.ratio == infinity);
  CHECK(single.allowed == 0x1p-7);
  CHECK(!compare_with_baseline(0x1.1p-7, 0, bf16_format, 1.5).passed);
  CHECK(compare_with_baseline(0, 0, bf16_format, 1.5).ratio == 0);
}

TEST_CASE("case 83: both deviations and their ratio stand side by side; a broken baseline excuses nothing") {
  const baseline_verdict v = compare_with_baseline(3e-4, 2e-4, fp16_format, 1);
  CHECK(v.fused == 3e-4);
  CHECK(v.naive == 2e-4);
  CHECK(v.ratio == doctest::Approx(1.5));
  for (const double broken : {infinity, not_a_number}) {
    CHECK(!compare_with_baseline(1, broken, fp16_format, 1).passed);
    CHECK(compare_with_baseline(0x1p-10, broken, fp16_format, 1).passed);
    CHECK(!compare_with_baseline(broken, 1, fp16_format, 1).passed);
    CHECK(!compare_with_baseline(broken, broken, fp16_format, 1).passed);
  }
  CHECK_THROWS_AS(compare_with_baseline(1, 1, fp16_format, not_a_number), contract_violation);
  CHECK_THROWS_AS(compare_with_baseline(1, 1, fp16_format, 1, -2), contract_violation);
}
