// SPDX-License-Identifier: Apache-2.0
#include <deviate/attention/exponential.hpp>

#include <deviate/attention/flash.hpp>
#include <deviate/math/exp2_polynomial.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <deviate/number/named.hpp>
#include <limits>
#include <vector>

#include "attention/every_forward.hpp"

using namespace attention_test;
using dv::at;
using dv::exponent_form;
using dv::exponential;
using dv::recipe;
using dv::site;

namespace {

const dv::one_by_one<dv::plain_tile> one;

template <class Polynomial>
struct exp2_of {
  template <class L>
  DEVIATE_HD L operator()(const L& x) const {
    return dv::math::exp2_by<Polynomial>(x);
  }
};
struct correct_exp2 {
  template <class L>
  DEVIATE_HD L operator()(const L& x) const {
    return dv::math::exp2(x);
  }
};
/// exp(x) that never falls below 2^−24.
struct floored_exp {
  template <class L>
  DEVIATE_HD L operator()(const L& x) const {
    return dv::maximum(dv::math::exp(x), dv::broadcast<L>(0x1p-24f));
  }
};

template <class Function, exponent_form Form = exponent_form::shifted>
using with_exp2 = recipe<float, exponential<dv::exponential_base2<Function, Form>>>;
using degree_1 = with_exp2<exp2_of<dv::math::exp2_polynomial_of<1>>>;
using line = with_exp2<exp2_of<dv::math::exp2_line>>;

static_assert(dv::exponential_function<dv::natural_exponential>);
static_assert(!dv::exponential_function<correct_exp2>);

template <class Recipe>
double output_of(const Recipe& r, const std::vector<double>& scores, const std::vector<double>& values) {
  return double(dv::flash_forward(r, column<double>({1}), column(scores), column(values), {.scale = 1},
                                  {.tile_key = 1 << 20}, one)
                    .output.values()[0]);
}

/// Largest error of the weight of the second of two keys, relative to the exact weight, over score differences below 8.
template <class Recipe>
double largest_weight_error(const Recipe& r) {
  double largest = 0;
  for (int i = 1; i < 4000; ++i) {
    const double difference = double(float(-i * 0.002)), weight = std::exp(difference) / (1 + std::exp(difference));
    largest = std::fmax(largest, std::fabs(output_of(r, {0, difference}, {0, 1}) / weight - 1));
  }
  return largest;
}

}  // namespace

TEST_CASE("case 16: normalising does not cancel the error of an approximate exp") {
  CHECK(largest_weight_error(recipe<float>{}) < 1e-6);
  // The row maximum has P = exp2(0): exact for degree 1 with constant term 1, as wrong as 1 − 2.98e-2 for the line.
  const double pinned = largest_weight_error(degree_1{});
  MESSAGE("degree 1, constant term 1: ", pinned);
  CHECK(pinned > 1e-2);
  CHECK(pinned < 3.83e-2);
  const double free_constant = largest_weight_error(line{});
  MESSAGE("the line: ", free_constant);
  CHECK(free_constant > 2e-2);
  CHECK(free_constant < 1.02983 / 0.97017 - 1 + 1e-5);
}

TEST_CASE("case 16: equal scores give the exact mean, whatever the exp") {
  for (const double score : {0.0, 3.7, -200.0}) {
    CHECK(output_of(degree_1{}, {score, score, score, score}, {1, 2, 3, 6}) == 3);
    CHECK(output_of(line{}, {score, score, score, score}, {1, 2, 3, 6}) == 3);
  }
}

TEST_CASE("case 16: the error cancels where scores differ by integers times ln 2") {
  // The score is a float near −3·ln 2, so the argument of exp2 is −3 to within its rounding.
  const double ln2 = std::log(2.0);
  for (const int n : {1, 2, 3, 8}) {
    const double weight = std::ldexp(1.0, -n) / (1 + std::ldexp(1.0, -n));
    CHECK(std::fabs(output_of(degree_1{}, {0, -n * ln2}, {0, 1}) / weight - 1) < 4e-6);
    CHECK(std::fabs(output_of(line{}, {0, -n * ln2}, {0, 1}) / weight - 1) < 4e-6);
  }
}

TEST_CASE("case 17: a floor below exp lets keys far below the maximum in") {
  std::vector<double> scores(4096, -1000), values(4096, 1);
  scores[0] = values[0] = 0;
  using floored = recipe<float, exponential<dv::exponential_in_float<floored_exp>>>;
  CHECK(output_of(floored{}, scores, values) == doctest::Approx(2.4402e-4).epsilon(1e-4));
  CHECK(output_of(recipe<float>{}, scores, values) == 0);
}

TEST_CASE("case 1: a product that is fused for the score and rounded for the maximum") {
  using fused = with_exp2<correct_exp2, exponent_form::fused>;
  using two_step = with_exp2<correct_exp2, exponent_form::two_step>;
  const auto largest = [](auto r, double x) {
    const auto t = matrix<double>(1, 64, std::vector<double>(64, x));
    const auto got = dv::flash_forward(r, t, t, t, {.scale = 0.125}, {}, one);
    return double(got.output.values()[0]);
  };
  CHECK(std::isnan(largest(fused{}, 133120)));
  CHECK(largest(two_step{}, 133120) == 133120);
  CHECK(largest(fused{}, 64) == 64);
  using stored = dv::with<fused, at<site::probability_operand, dv::bf16>>;
  CHECK(largest(stored{}, 1000) / 1000 == doctest::Approx(0.9978).epsilon(1e-4));
}
