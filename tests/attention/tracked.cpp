// SPDX-License-Identifier: Apache-2.0
// Tracked numbers through Flash and Baseline: the bits of the recipe without a record, the exact result as the shadow,
// and an error that says how far the one is from the other.
#include <deviate/math/tracked.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deviate/accumulate/compensated.hpp>
#include <deviate/accumulate/exact.hpp>
#include <deviate/accumulate/named_units.hpp>
#include <deviate/accumulate/tracked.hpp>
#include <deviate/accumulate/two_level.hpp>
#include <deviate/attention/forward.hpp>
#include <deviate/attention/golden.hpp>
#include <deviate/attention/named_recipes.hpp>
#include <deviate/math/exp2_polynomial.hpp>
#include <deviate/number/named.hpp>

#include "attention/inputs.hpp"
#include "number/error_by_group.hpp"

using namespace attention_test;
using namespace dv::accumulate;
using dv::at;
using dv::bf16;
using dv::fp16;
using dv::recipe;
using dv::site;
using dv::summed;
using dv::tracked;
using dv::with;

namespace {

const auto in = gaussian_inputs({.query_heads = 2, .key_heads = 1, .n_query = 7, .n_key = 43, .d = 8, .d_v = 5}, 1);
// A scale that bf16 does not hold, and a window.
const dv::problem p{.scale = 0.3, .mask = dv::window{20, 0}};
const dv::schedule plan{.tile_query = 3, .tile_key = 8};
const dv::workers one{1};
const auto golden = dv::golden(in.q, in.k, in.v, p, one);

struct found {
  bool same_bits = true;
  double shadow = 0;  // largest |shadow − golden|
  double wrong = 0;   // largest |(value − shadow) − error|
  double off = 0;     // largest |value − shadow|
};

template <class Tracked, class Plain>
found compare(const Tracked& got, const Plain& plain, const dv::attention_result<double>& exact = golden) {
  found f;
  const auto all = [&f](const auto& tracked_values, const auto& values, const auto& right) {
    REQUIRE(tracked_values.size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto& x = tracked_values[i];
      f.same_bits = f.same_bits && dv::bits(x.value()) == dv::bits(values[i]);
      f.shadow = std::max(f.shadow, x.shadow() == right[i] ? 0 : std::fabs(x.shadow() - right[i]));
      const double off = double(x) - x.shadow();
      f.off = std::max(f.off, std::fabs(off));
      f.wrong = std::max(f.wrong, std::fabs(off - double(x.error())));
    }
  };
  all(got.output.values(), plain.output.values(), exact.output.values());
  all(got.log_sum_exp.values(), plain.log_sum_exp.values(), exact.log_sum_exp.values());
  return f;
}
}  // namespace

namespace {
template <class Plain, class Tracked>
found flash(const Plain& plain = {}, const Tracked& recorded = {}) {
  return compare(dv::flash_forward(recorded, in.q, in.k, in.v, p, plan, one),
                 dv::flash_forward(plain, in.q, in.k, in.v, p, plan, one));
}
template <class Plain, class Tracked>
found baseline() {
  return compare(dv::baseline_forward(Tracked{}, in.q, in.k, in.v, p, one),
                 dv::baseline_forward(Plain{}, in.q, in.k, in.v, p, one));
}

// The record predicts value − shadow to `share` of the largest.
void check(const found& f, double share) {
  CHECK(f.same_bits);
  CHECK(f.shadow < 1e-12);
  CHECK(f.off > 0);
  CHECK(f.wrong <= share * f.off);
}

template <class S>
using every_tile = with<dv::uniform<S>, dv::normalized<dv::normalization::every_tile>>;
}  // namespace

// What is left out are products of errors: 2^-8 of the error in bf16 for each factor 1, here some ten of them.
TEST_CASE("uniform bf16: bits, shadow, error") {
  check(flash<dv::uniform<bf16>, dv::uniform<tracked<bf16>>>(), 0.05);
  check(baseline<dv::uniform<bf16>, dv::uniform<tracked<bf16>>>(), 0.05);
}

TEST_CASE("FlashAttention (1), and a division by way of 1 ÷ l") {
  using reciprocal = dv::divided<dv::division::reciprocal>;
  check(flash<with<every_tile<bf16>, reciprocal>, with<every_tile<tracked<bf16>>, reciprocal>>(), 0.05);
}

TEST_CASE("mixed recipes convert between tracked scalars") {
  check(flash<recipe<float, at<site::output_state, bf16>>,
              recipe<tracked<float>, at<site::output_state, tracked<bf16>>>>(),
        1e-4);
  check(flash<dv::flash2_fp32_state<fp16>, dv::flash2_fp32_state<tracked<fp16>>>(), 1e-2);
}

TEST_CASE("run-time formats are tracked, too") {
  const recipe<dv::narrow_runtime> plain(dv::fp16_format);
  const recipe<tracked<dv::narrow_runtime>> recorded(dv::fp16_format);
  check(flash(plain, recorded), 1e-2);
}

TEST_CASE("a site without a record among tracked ones starts a new one: golden on rounded inputs") {
  using plain = recipe<float, at<site::input, bf16>>;
  using recorded = recipe<tracked<float>, at<site::input, bf16>>;
  auto rounded = in;
  for (auto* t : {&rounded.q, &rounded.k, &rounded.v})
    for (double& x : t->values()) x = double(bf16(x));
  const auto f = compare(dv::flash_forward(recorded{}, in.q, in.k, in.v, p, plan, one),
                         dv::flash_forward(plain{}, in.q, in.k, in.v, p, plan, one),
                         dv::golden(rounded.q, rounded.k, rounded.v, p, one));
  check(f, 1e-5);
}

namespace {
template <class Score, class Row, class Value, class S>
using summed_by = with<dv::uniform<S>, summed<site::score, Score>, summed<site::row_sum_partial, Row>,
                       summed<site::value_partial, Value>>;
}  // namespace

TEST_CASE("every accumulation") {
  check(flash<summed_by<pairwise<>, compensated<float>, two_level<lane_sums<4>, 3, compensated<>>, fp16>,
              summed_by<pairwise<>, compensated<tracked<float>>, two_level<lane_sums<4>, 3, compensated<>>,
                        tracked<fp16>>>(),
        1e-2);
  // A matrix unit and an exact sum: one operation each.
  using unit = two_level<hopper_fp8, 8, sequential<float>>;
  using tracked_unit = two_level<tracked_sum<hopper_fp8>, 8, sequential<tracked<float>>>;
  check(flash<summed_by<ampere_fp16, exact<>, unit, float>,
              summed_by<tracked_sum<ampere_fp16>, tracked_sum<exact<>>, tracked_unit, tracked<float>>>(),
        1e-2);
}

namespace {
struct degree_3 {
  template <class L>
  DEVIATE_HD L operator()(const L& x) const {
    return dv::math::exp2_polynomial<3>(x);
  }
};
// 2^0 is 0.97, but no rescale factor of equal maxima is.
struct line {
  template <class L>
  DEVIATE_HD L operator()(const L& x) const {
    return dv::math::exp2_by<dv::math::exp2_line>(x);
  }
};
}  // namespace

TEST_CASE("an exponential's own error is local error; the shadow is of the exact one") {
  using fused = dv::exponential<dv::exponential_base2<degree_3, dv::exponent_form::fused>>;
  check(flash<recipe<float, fused>, recipe<tracked<float>, fused>>(), 1e-3);
  using rough = dv::exponential<dv::exponential_base2<line, dv::exponent_form::shifted>>;
  check(flash<with<every_tile<bf16>, rough>, with<every_tile<tracked<bf16>>, rough>>(), 0.2);
}

TEST_CASE("golden of tracked numbers, and hidden NaN") {
  const auto got = dv::golden<tracked<fp16>>(in.q, in.k, in.v, p, one);
  for (std::size_t i = 0; i < golden.output.values().size(); ++i) {
    CHECK(std::fabs(got.output.values()[i].shadow() - golden.output.values()[i]) < 1e-12);
    CHECK(std::fabs(double(got.output.values()[i]) - golden.output.values()[i] - got.output.values()[i].error()) <
          1e-4);
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto hidden = dv::flash_forward(dv::uniform<tracked<bf16>>{}, column<double>({1, 1, 1}),
                                        column<double>({2, nan}), column<double>({3, nan}), {.mask = dv::causal{}});
  const auto& output = hidden.output.values();
  CHECK((output[0].value() == 0 && output[0].shadow() == 0 && output[0].error() == 0));
  CHECK((output[1].value() == 3 && output[1].shadow() == 3 && output[1].error() == 0));
  CHECK((std::isnan(output[2].value()) && std::isnan(output[2].shadow()) && std::isnan(output[2].error())));
  const auto& lse = hidden.log_sum_exp.values()[0];
  CHECK((lse.value() == -std::numeric_limits<float>::infinity() && lse.error() == 0));
}

namespace {
// All in float, group 0, but O in bf16, group 1, or P in bf16, group 2, or both.
using error_test::error_of_group;
using output_in_bf16 = at<site::output_state, tracked<bf16, double, error_of_group<1>>>;
using operand_in_bf16 = at<site::probability_operand, tracked<bf16, double, error_of_group<2>>>;
template <class... Changes>
auto by_group() {
  const recipe<tracked<float, double, error_of_group<0>>, Changes...> r;
  return dv::flash_forward(r, in.q, in.k, in.v, p, plan, one).output.values();
}
}  // namespace

TEST_CASE("an error with an entry for each group of sites attributes the deviation") {
  const auto output = by_group<output_in_bf16>(), operand = by_group<operand_in_bf16>();
  const auto both = by_group<output_in_bf16, operand_in_bf16>();
  for (std::size_t i = 0; i < output.size(); ++i) {
    // Where one group rounds coarsely, its entry is the deviation, but for the roundings of float.
    const auto deviation = [](const auto& x) { return double(x) - x.shadow(); };
    CHECK(output[i].error().part[2] == 0);
    CHECK(std::fabs(output[i].error().part[1] - deviation(output[i])) < 1e-6);
    CHECK(operand[i].error().part[1] == 0);
    CHECK(std::fabs(operand[i].error().part[2] - deviation(operand[i])) < 1e-6);
    // Where both do, P is rounded as before; O is not.
    const auto& part = both[i].error().part;
    CHECK(std::fabs(part[0] + part[1] + part[2] - deviation(both[i])) < 1e-4);
    CHECK(std::fabs(part[2] - operand[i].error().part[2]) < 1e-4);
  }
}
