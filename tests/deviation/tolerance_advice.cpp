// SPDX-License-Identifier: Apache-2.0
// The rule by hand-made tensors; the forward wrapper by problems small enough to be worked out.
#include <deviate/deviation/forward_tolerance.hpp>
//
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
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

tensor<double> column(const numbers& x) { return {{1, 1, std::int64_t(x.size()), 1}, x}; }
tensor<double> row(const numbers& x) { return {{1, 1, 1, std::int64_t(x.size())}, x}; }

tensor<double> random_tensor(const extents& shape, std::uint64_t seed) {
  generator g(seed);
  tensor<double> x(shape);
  for (double& value : x.values()) value = g.gaussian();
  return x;
}

tensor<double> rounded(tensor<double> x, const format& f) {
  for (double& value : x.values()) value = round_to(value, rounding_constants<double>(f));
  return x;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("neighbour: the next number of a format on either side, by enumeration of all codes") {
  format flushing = fp8_e5m2_format;
  flushing.subnormals = subnormal_rule::flush;
  for (const format& f : {fp8_e5m2_format, fp8_e4m3_format, flushing}) {
    numbers all;
    // Every number up to 16 is a multiple of 2^-16; the larger ones are multiples of 1.
    for (int i = 0; i <= 1 << 20; ++i)
      for (const double x : {i * 0x1p-16, double(i)})
        if (x <= f.max_finite() && round_to(x, rounding_constants<double>(f)) == x) all.insert(all.end(), {x, -x});
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    REQUIRE(all.size() > 200);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool first = i == 0, last = i + 1 == all.size();
      CHECK(neighbour(all[i], f, true) == all[last ? i - 1 : i + 1]);
      CHECK(neighbour(all[i], f, false) == all[first ? 1 : i - 1]);
    }
    CHECK(!std::signbit(neighbour(-f.min_positive(), f, true)));
  }
  CHECK(neighbour(1, bf16_format, true) == 1 + 0x1p-7);
  CHECK(neighbour(1, bf16_format, false) == 1 - 0x1p-8);
  CHECK(neighbour(1, binary64, false) == std::nextafter(1, 0));
  CHECK(neighbour(infinity, bf16_format, false) == infinity);
  CHECK(std::isnan(neighbour(not_a_number, bf16_format, true)));
}

TEST_CASE("moved_by_one_ulp: every element moves, about half of them up, the same way every time") {
  const tensor<double> x = row(numbers(10000, 3));
  const tensor<double> moved = moved_by_one_ulp(x, bf16_format, stochastic_rounder(5));
  std::int64_t up = 0;
  for (const double value : moved.values()) {
    CHECK(std::fabs(value - 3) == 0x1p-6);
    up += value > 3;
  }
  CHECK(std::abs(up - 5000) < 250);  // five standard deviations of 50
  CHECK(moved.values() == moved_by_one_ulp(x, bf16_format, stochastic_rounder(5)).values());
  CHECK(moved.values() != moved_by_one_ulp(x, bf16_format, stochastic_rounder(6)).values());
}

TEST_CASE("advise_tolerance: the largest of floor, baseline and perturbation, and the line that says so") {
  const tensor<double> golden = row({1.5, -0.5});
  // Half an ulp of bf16 at 1.5 is 2^-8 = 0.00390625, rounded up in the third digit.
  const tolerance_advice floor = advise_tolerance(golden, golden, {}, bf16_format);
  CHECK(floor.decided == tolerance_source::floor);
  CHECK(floor.floor == 0x1p-8);
  CHECK(floor.advised.atol == 0.00391);
  CHECK(floor.advised.rtol == 0x1p-8);
  CHECK(advice_text(floor) ==
        "use atol=0.00391, rtol=0.00390625, because half an output ulp at max|O| = 1.5 is 0.00391, while 2 times the "
        "baseline's largest error is 0 and inputs were not moved");

  // 2 · 0.01 − 2^-8 · 0.5 = 0.018046875.
  const tensor<double> plain = row({1.51, -0.5});
  const tolerance_advice baseline = advise_tolerance(golden, plain, {row({1.5, -0.49})}, bf16_format);
  CHECK(baseline.decided == tolerance_source::baseline);
  CHECK(baseline.baseline_max_abs == doctest::Approx(0.01));
  CHECK(baseline.baseline == doctest::Approx(0.018046875));
  CHECK(baseline.advised.atol == 0.0181);
  CHECK(baseline.advised.because ==
        "2 times the baseline's largest error, less what rtol gives, is 0.0181, while the change by one ulp of every "
        "input is 0.0101 and half an output ulp at max|O| = 1.5 is 0.00391");
  // A kernel that errs twice as much, at the smallest element: just within. A little more is not.
  CHECK(within(row({1.5, -0.52}), golden, baseline.advised).passed());
  CHECK(within(row({1.5, -0.5201}), golden, baseline.advised).failing == 1);
  CHECK(advise_tolerance(golden, plain, {}, bf16_format, 3).baseline == doctest::Approx(0.028046875));
  CHECK(advise_tolerance(golden, plain, {}, bf16_format, 0).decided == tolerance_source::floor);

  // The largest draw counts, whichever it is, and nothing is taken off.
  for (const auto& draws : {std::vector{row({1.47, -0.5}), golden}, std::vector{golden, row({1.5, -0.53})}}) {
    const tolerance_advice perturbation = advise_tolerance(golden, plain, draws, bf16_format);
    CHECK(perturbation.decided == tolerance_source::perturbation);
    CHECK(perturbation.perturbation == doctest::Approx(0.03));
    CHECK(perturbation.advised.atol >= perturbation.perturbation);
    CHECK(perturbation.advised.atol <= 0.0301);
    CHECK(perturbation.advised.because.starts_with("the change by one ulp of every input is 0.03"));
  }
  const tolerance_check got = within(row({1.6, -0.5}), golden, floor.advised);
  CHECK(advice_text(floor, got).ends_with("; 50 % of the elements fail it (1 of 2)"));
}

TEST_CASE("advise_tolerance: what is not finite excuses nothing, and golden rounded once passes") {
  const tensor<double> golden = row({1.5, not_a_number, 1, infinity});
  for (const double broken : {infinity, not_a_number}) {
    const tolerance_advice a =
        advise_tolerance(golden, row({broken, 5, 1, 1}), {row({1.5, 0, broken, 0})}, bf16_format);
    CHECK(a.decided == tolerance_source::floor);
    CHECK(a.baseline == 0);
    CHECK(!std::isfinite(a.baseline_max_abs));
    CHECK(a.golden_not_finite == 2);
    CHECK(a.smallest_output == 1);
    CHECK(contains(a.advised.because, "the baseline is not finite and excuses nothing"));
    CHECK(a.rounded_golden.failing == 0);
    CHECK(a.baseline_within.failing == 3);
  }
  const tolerance_advice overflow = advise_tolerance(row({65520}), row({65504}), {}, fp16_format);
  CHECK(overflow.advised.atol == infinity);
  CHECK(contains(overflow.advised.because, "no finite bound holds"));
  format flushing = fp16_format;
  flushing.subnormals = subnormal_rule::flush;
  CHECK(contains(advise_tolerance(row({0.01}), row({0.01}), {}, flushing).advised.because, "flushed to zero, is"));

  for (const format& f : {bf16_format, fp16_format, fp8_e4m3_format, fp8_e5m2_format})
    for (const double scale : {1e-6, 1.0, 300.0}) {
      tensor<double> x = random_tensor({2, 2, 50, 5}, 3);
      for (double& value : x.values()) value *= scale / 8;
      const tolerance_advice a = advise_tolerance(x, x, {}, f);
      CHECK(a.rounded_golden.compared == 1000);
      CHECK(a.rounded_golden.failing == 0);
    }
  for (const double wrong : {-1.0, infinity, not_a_number})
    CHECK_THROWS_AS(advise_tolerance(golden, golden, {}, bf16_format, wrong), contract_violation);
  CHECK_THROWS_AS(advise_tolerance(golden, row({1}), {}, bf16_format), contract_violation);
  CHECK_THROWS_AS(advise_tolerance(golden, golden, {row({1})}, bf16_format), contract_violation);
}

TEST_CASE("the advised atol has three digits and is never below what it stands for") {
  generator g(9);
  for (int i = 0; i < 300; ++i) {
    const double x = std::exp(g.value() * 10);
    const double up = detail::rounded_up_to_three_digits(x);
    CHECK(up >= x);
    CHECK(up <= x * 1.01);
    std::string digits = detail::number_text(up).substr(0, detail::number_text(up).find('e'));
    std::erase_if(digits, [](char c) { return c == '.'; });
    const std::size_t first = digits.find_first_not_of('0'), last = digits.find_last_not_of('0');
    CHECK(last - first < 3);
  }
  for (const double kept : {0.0, 1.0, 0.001, 0.0625, 1e-300, 1e300, infinity})
    CHECK(detail::rounded_up_to_three_digits(kept) == kept);
  CHECK(detail::rounded_up_to_three_digits(0.00099999999999999999) == 0.001);
  CHECK(detail::rounded_up_to_three_digits(9.999) == 10);
  CHECK(detail::rounded_up_to_three_digits(5e-324) >= 5e-324);
}

TEST_CASE("one key: the baseline is exact, and the floor or one ulp of V is left") {
  const tensor<double> q = row({3, -1}), k = row({0.5, 2}), v = row({1.5, -0.75, 0.25});
  // Inputs in binary32: an ulp of V is 2^-23, and the floor is half an ulp of bf16.
  const auto exact = [&](const auto&, const auto&, const tensor<double>& rounded_v) { return rounded_v; };
  const forward_tolerance fine = advise_forward_tolerance(q, k, v, {}, binary32, bf16_format, exact);
  CHECK(fine.golden.values() == v.values());
  CHECK(fine.advice.baseline_max_abs == 0);
  CHECK(fine.advice.perturbation == 0x1p-23);
  CHECK(fine.advice.decided == tolerance_source::floor);
  CHECK(fine.advice.advised.atol == 0.00391);
  // Inputs in bf16: P is still 1, and O moves with V by an ulp of 2^-7 at 1.5.
  const forward_tolerance coarse = advise_forward_tolerance(baseline<bf16>{}, q, k, v);
  CHECK(coarse.baseline.values() == v.values());
  CHECK(coarse.advice.baseline_max_abs == 0);
  CHECK(coarse.advice.perturbation == 0x1p-7);
  CHECK(coarse.advice.decided == tolerance_source::perturbation);
  CHECK(coarse.advice.advised.atol == 0.00782);
}

TEST_CASE("large inputs whose scores cancel: the perturbation decides, as every pattern of moves shows") {
  // q·k = 64 − 64 = 0 for both keys: S, P = ½ and O = ½ are exact in bf16, but one ulp of q or k moves the score.
  const tensor<double> q = row({64, -64}), k({1, 1, 2, 2}, {1, 1, 1, 1}), v = column({1, 0});
  const problem p{.scale = 1.0};
  const double up64 = 64.5, down64 = 63.75, up1 = 1 + 0x1p-7, down1 = 1 - 0x1p-8, up0 = 0x1p-133;
  numbers changes;
  for (int pattern = 0; pattern < 256; ++pattern) {
    const auto bit = [&](int i) { return (pattern >> i & 1) != 0; };
    const double q0 = bit(0) ? up64 : down64, q1 = -(bit(1) ? up64 : down64);
    const auto score = [&](int i) { return q0 * (bit(i) ? up1 : down1) + q1 * (bit(i + 1) ? up1 : down1); };
    const double weight = 1 / (1 + std::exp(score(4) - score(2)));
    const double o = weight * (bit(6) ? up1 : down1) + (1 - weight) * (bit(7) ? up0 : -up0);
    changes.push_back(std::fabs(o - 0.5));
  }
  const auto is_a_change = [&](double x) {
    return std::any_of(changes.begin(), changes.end(), [&](double c) { return std::fabs(c - x) < 1e-14; });
  };
  const double largest = *std::max_element(changes.begin(), changes.end());
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const forward_tolerance r = advise_forward_tolerance(baseline<bf16>{}, q, k, v, p, {.draws = 1, .seed = seed});
    CHECK(r.advice.baseline_max_abs == 0);
    CHECK(r.advice.floor == 0x1p-9);
    CHECK(is_a_change(r.advice.perturbation));
  }
  const tolerance_advice many = advise_forward_tolerance(baseline<bf16>{}, q, k, v, p, {.draws = 1000}).advice;
  CHECK(many.perturbation == doctest::Approx(largest).epsilon(1e-12));
  CHECK(many.decided == tolerance_source::perturbation);
  CHECK(largest > 0.3);
  const tolerance_advice none = advise_forward_tolerance(baseline<bf16>{}, q, k, v, p, {.draws = 0}).advice;
  CHECK(none.perturbation == 0);
  CHECK(none.decided == tolerance_source::floor);
  CHECK_THROWS_AS(advise_forward_tolerance(baseline<bf16>{}, q, k, v, p, {.draws = -1}), contract_violation);
}

TEST_CASE("a kernel in FP32 passes, one with the wrong mask or scale fails; any number of threads advises the same") {
  const std::int64_t n = 48, d = 16;
  const tensor<double> q = random_tensor({1, 4, n, d}, 21), k = random_tensor({1, 2, n, d}, 22),
                       v = random_tensor({1, 2, n, d}, 23);
  const problem p{.mask = causal{}};
  const forward_tolerance r = advise_forward_tolerance(baseline<bf16>{}, q, k, v, p, {.workers = 1});
  const tolerance_advice& a = r.advice;
  CHECK(a.rounded_golden.failing == 0);
  CHECK(a.baseline_within.failing == 0);
  CHECK(a.advised.atol >= std::max({a.floor, a.baseline, a.perturbation}));
  CHECK(a.advised.atol < 0.1);
  const tensor<double> bq = rounded(q, bf16_format), bk = rounded(k, bf16_format), bv = rounded(v, bf16_format);
  CHECK(r.golden.values() == golden(bq, bk, bv, p).output.values());
  const auto failing = [&](const problem& other) {
    return within(rounded(golden(bq, bk, bv, other).output, bf16_format), r.golden, a.advised).share();
  };
  CHECK(failing(p) == 0);
  CHECK(failing({}) > 0.5);                                       // no mask
  CHECK(failing({.mask = window{-1, 1}}) > 0.1);                  // off by one
  CHECK(failing({.scale = 0.25 * 1.5, .mask = causal{}}) > 0.1);  // scale
  const forward_tolerance threads = advise_forward_tolerance(baseline<bf16>{}, q, k, v, p, {.workers = 3});
  CHECK(threads.advice.advised.atol == a.advised.atol);
  CHECK(threads.advice.perturbation == a.perturbation);
  CHECK(advise_forward_tolerance(baseline<bf16>{}, q, k, v, p, {.seed = 2}).advice.perturbation != a.perturbation);
}
