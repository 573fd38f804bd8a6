// SPDX-License-Identifier: Apache-2.0
// Recipes over numbers of many digits: what the algorithms compute when nothing rounds.
#include <deviate/number/boost.hpp>

#include <doctest/doctest.h>

#include <deviate/attention/forward.hpp>
#include <deviate/attention/golden.hpp>
#include <deviate/attention/named_recipes.hpp>
#include <deviate/math/double_double.hpp>
#include <deviate/number/double_double.hpp>
#include <deviate/number/named.hpp>

#include "attention/inputs.hpp"

using namespace attention_test;
using dv::at;
using dv::real50;
using dv::site;

namespace {

template <class Real>
double largest_difference(const dv::attention_result<Real>& a, const dv::attention_result<Real>& b) {
  double worst = 0;
  const auto compare = [&](const auto& x, const auto& y) {
    REQUIRE(x.values().size() == y.values().size());
    for (std::size_t i = 0; i < x.values().size(); ++i)
      worst = std::max(worst, std::fabs(static_cast<double>(Real(x.values()[i] - y.values()[i]))));
  };
  compare(a.output, b.output);
  compare(a.log_sum_exp, b.log_sum_exp);
  return worst;
}

template <class Real>
void check_digits(double tolerance) {
  using once = dv::uniform<Real>;
  using every = dv::with<once, dv::normalized<dv::normalization::every_tile>, dv::divided<dv::division::reciprocal>>;
  const auto in = gaussian_inputs({.query_heads = 2, .key_heads = 1, .n_query = 7, .n_key = 23, .d = 5, .d_v = 3}, 1);
  for (const auto& mask : {dv::mask{}, dv::mask(dv::window{9, 0})}) {
    const dv::problem p{.scale = 0.75, .mask = mask};
    const auto baseline = dv::baseline_forward(once{}, in.q, in.k, in.v, p);
    CHECK(largest_difference(baseline, dv::golden<Real>(in.q, in.k, in.v, p)) < tolerance);
    for (const std::int64_t tile_key : {1, 4, 64}) {
      const dv::schedule plan{.tile_query = 3, .tile_key = tile_key, .order = dv::key_order::descending};
      CHECK(largest_difference(dv::flash_forward(once{}, in.q, in.k, in.v, p, plan), baseline) < tolerance);
      CHECK(largest_difference(dv::flash_forward(every{}, in.q, in.k, in.v, p, plan), baseline) < tolerance);
    }
  }
}

}  // namespace

TEST_CASE("with 50 digits both Flash orders and Baseline agree to 40") { check_digits<real50>(1e-40); }

TEST_CASE("with double_double both Flash orders and Baseline agree to 28 digits") {
  check_digits<dv::double_double>(1e-28);
}

TEST_CASE("one narrow site among sites of 50 digits") {
  // O in bf16 between tiles, all else exact: case 5, tie and third term, without any other rounding.
  using suspect = dv::with<dv::uniform<real50>, at<site::output_state, dv::bf16>>;
  const auto got = dv::flash_forward(suspect{}, column<double>({1}), column<double>({0, 0, -10}),
                                     column<double>({-2.40625, -2.296875, -2}), {.scale = 1});
  const real50 l = 2 + exp(real50(-10));
  CHECK(abs(real50(got.output.values()[0] - real50(-4.71875) / l)) < 1e-45);
  // An output of bf16 from exact state is the exact result, rounded once.
  using rounded_output = dv::with<dv::uniform<real50>, at<site::output, dv::bf16>>;
  const auto in = gaussian_inputs({.n_query = 4, .n_key = 9, .d = 3, .d_v = 3}, 2);
  const auto exact = dv::golden(in.q, in.k, in.v);
  const auto rounded = dv::flash_forward(rounded_output{}, in.q, in.k, in.v);
  for (std::size_t i = 0; i < exact.output.values().size(); ++i)
    CHECK(rounded.output.values()[i] == dv::bf16(exact.output.values()[i]).carrier());
}

TEST_CASE("rows without a key and hidden NaN, in software scalars too") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto got = dv::flash_forward(dv::uniform<real50>{}, column<double>({1, 1, 1}), column<double>({2, nan}),
                                     column<double>({3, nan}), {.mask = dv::causal{}});
  CHECK(got.output.values()[0] == 0);
  CHECK(got.log_sum_exp.values()[0] == -std::numeric_limits<real50>::infinity());
  CHECK(got.output.values()[1] == 3);
  CHECK(got.output.values()[2] != got.output.values()[2]);
}
