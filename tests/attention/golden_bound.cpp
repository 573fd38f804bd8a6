// SPDX-License-Identifier: Apache-2.0
// The error bounds of the golden against 50 digits: they hold in every row, and are not far above the errors.
#include <deviate/attention/golden.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deviate/math/double_double.hpp>
#include <deviate/number/boost.hpp>
#include <deviate/number/double_double.hpp>
#include <deviate/number/named.hpp>
#include <limits>
#include <vector>

#include "attention/inputs.hpp"

using namespace attention_test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// How the bounds of some rows stand to the errors.
struct comparison {
  bool hold = true;           // every bound holds
  double output_ratio = 0;    // bound ÷ error, O: the largest bound over the largest error of all rows
  double lse_ratio = 0;       // likewise, LSE
  double largest_output = 0;  // bound
  double output_error = 0, lse_error = 0;
};

template <class Real, class T>
comparison compare(const inputs<T>& in, const dv::problem& p, const std::vector<std::int64_t>& rows) {
  const auto got = dv::golden<Real>(in.q, in.k, in.v, p, {2}, rows);
  const auto want = dv::golden<dv::real50>(in.q, in.k, in.v, p, {2}, rows);
  const auto distance = [](const Real& x, const dv::real50& y) {
    return double(dv::real50(abs(dv::real50(dv::real50(x) - y))));
  };
  comparison c;
  double lse_bound = 0;
  for (std::int64_t h = 0; h < got.output.shape().heads; ++h)
    for (const std::int64_t i : rows) {
      double error = 0;
      for (std::int64_t j = 0; j < got.output.shape().columns; ++j)
        error = std::max(error, distance(got.output(0, h, i, j), want.output(0, h, i, j)));
      const double off = distance(got.log_sum_exp(0, h, i, 0), want.log_sum_exp(0, h, i, 0));
      const double bound = got.output_bound(0, h, i, 0), bound_of_lse = got.log_sum_exp_bound(0, h, i, 0);
      c.hold = c.hold && error <= bound && off <= bound_of_lse;
      c.output_error = std::max(c.output_error, error);
      c.lse_error = std::max(c.lse_error, off);
      c.largest_output = std::max(c.largest_output, bound);
      lse_bound = std::max(lse_bound, bound_of_lse);
    }
  c.output_ratio = c.largest_output / c.output_error;
  c.lse_ratio = lse_bound / c.lse_error;
  MESSAGE("bound / error: O " << c.output_ratio << " (bound " << c.largest_output << "), LSE " << c.lse_ratio);
  return c;
}

const std::vector<std::int64_t> some_rows{3, 50, 121, 199};
const sizes medium{.n_query = 200, .n_key = 200, .d = 64, .d_v = 16};

}  // namespace

TEST_CASE("the bound of FP64 holds on plain inputs, masked or not, and is at most 2000 times the error") {
  const sizes s{.query_heads = 2, .key_heads = 1, .n_query = 200, .n_key = 200, .d = 64, .d_v = 32};
  for (const auto& in : {uniform_inputs(s, 1), gaussian_inputs(s, 1)})
    for (const auto& mask : {dv::mask{}, dv::mask(dv::causal{}), dv::mask(dv::window{40, 3})}) {
      const comparison c = compare<double>(in, {.mask = mask}, some_rows);
      CHECK(c.hold);
      CHECK(c.output_ratio < 2000);
      CHECK(c.lse_ratio < 200);
      CHECK(c.largest_output < 1e-12);
    }
}

TEST_CASE("the bound of FP64 holds on large scores") {
  // Scores of some 700 and of several thousand, either sign of the scale, and outliers.
  for (const double size : {9.0, 20.0}) {
    const auto large = draw_inputs<dv::bf16>(medium, 2, [&](generator& g) { return size * g.gaussian(); });
    for (const double scale : {0.125, -1.0}) {
      const comparison c = compare<double>(large, {.scale = scale}, some_rows);
      CHECK(c.hold);
      CHECK(c.largest_output < 3e-8);
    }
  }
  const auto outliers = draw_inputs<dv::bf16>(medium, 3, [](generator& g) {
    const double x = g.gaussian();
    return g.bits() % 1000 == 0 ? x + 10 * g.gaussian() : x;
  });
  CHECK(compare<double>(outliers, {}, some_rows).hold);
  // Equal keys: large scores that all compete, so the error of each counts.
  auto equal = draw_inputs<dv::bf16>(medium, 4, [](generator& g) { return 8 * g.gaussian(); });
  for (std::int64_t j = 1; j < medium.n_key; ++j)
    for (std::int64_t c = 0; c < medium.d; ++c) equal.k(0, 0, j, c) = equal.k(0, 0, 0, c);
  const comparison c = compare<double>(equal, {}, some_rows);
  CHECK(c.hold);
}

TEST_CASE("the bound of FP64 holds where scores cancel and where V cancels") {
  // q and k in halves of opposite sign: a score is the difference of two sums of about 10^6.
  auto scores = gaussian_inputs(medium, 5);
  for (std::int64_t i = 0; i < medium.n_key; ++i)
    for (std::int64_t c = 0; c < 32; ++c) {
      scores.q(0, 0, i, c) *= 300;
      scores.k(0, 0, i, c) *= 300;
      scores.q(0, 0, i, c + 32) = scores.q(0, 0, i, c);
      scores.k(0, 0, i, c + 32) = -scores.k(0, 0, i, c) * (1 + 0x1p-20 * double(c % 3));
    }
  const comparison of_scores = compare<double>(scores, {.scale = 1}, some_rows);
  CHECK(of_scores.hold);
  CHECK(of_scores.largest_output > 1e-12);
  // V of ±10^8 with a mean near 0; weights are almost equal.
  auto values = gaussian_inputs(medium, 6);
  for (std::int64_t j = 0; j < medium.n_key; ++j)
    for (std::int64_t c = 0; c < medium.d_v; ++c) values.v(0, 0, j, c) += (j % 2 == 0 ? 1e8 : -1e8);
  const comparison of_values = compare<double>(values, {.scale = 0.001}, some_rows);
  CHECK(of_values.hold);
  CHECK(of_values.output_ratio < 5000);
}

TEST_CASE("no term of the bound of FP64 can be left out: scores, sums of values, sums of weights, underflow") {
  constexpr double u = 0x1p-53;
  const sizes one_tile{.n_query = 1, .n_key = 128, .d = 1, .d_v = 1};
  auto in = gaussian_inputs(one_tile, 15);
  // Scores (step 1): products of 2^40 cancel to a few units, so their roundings are all that matters. All other terms: a
  // difference below 8 and exp err by less than 10 u, which counts twice, a sum of weights has 20 additions and one of
  // values 129.
  const sizes two_columns{.n_query = 1, .n_key = 128, .d = 2, .d_v = 1};
  auto cancel = gaussian_inputs(two_columns, 16);
  for (std::int64_t c = 0; c < 2; ++c) cancel.q(0, 0, 0, c) = c == 0 ? 0x1.8p40 : -0x1.8p40;
  for (std::int64_t j = 0; j < 128; ++j) {
    cancel.k(0, 0, j, 1) = 1 + double(j) * 0.007;
    cancel.k(0, 0, j, 0) = cancel.k(0, 0, j, 1) + double(j % 5) * 0x1p-40;
    cancel.v(0, 0, j, 0) = j % 2 == 0 ? 1 : -1;
  }
  const comparison scores = compare<double>(cancel, {.scale = 1.0 / 3}, {0});
  CHECK(scores.hold);
  CHECK(scores.output_error > (2 * 10 + 20 + 129 + 1) * u);
  // Values: equal weights of exactly 1, and 1 + u + u + … loses every u but the first term. Without step 5 there remain
  // 20 additions of weights, the quotient and twice the error of exp.
  in.q(0, 0, 0, 0) = 0;
  for (std::int64_t j = 0; j < 128; ++j) in.v(0, 0, j, 0) = j == 0 ? 1 : u;
  const comparison values = compare<double>(in, {.scale = 1}, {0});
  CHECK(values.hold);
  CHECK(values.output_error > (20 + 1 + 2 * 1.26) * u / 128);
  CHECK(values.output_ratio < 1.3);
  // Weights: 1 in each of the 8 lanes, then 15 of them just below u, which all get lost. Without step 5 there remain in
  // LSE twice the error of exp, log's of ln 8, and the last sum's.
  in.q(0, 0, 0, 0) = 1;
  for (std::int64_t j = 0; j < 128; ++j) in.k(0, 0, j, 0) = j < 8 ? 0 : -36.75;
  const comparison weights = compare<double>(in, {.scale = 1}, {0});
  CHECK(weights.hold);
  CHECK(weights.lse_error > (2 * 1.26 + 1.3 * std::log(8.0) + std::log(8.0)) * u);
  CHECK(weights.lse_ratio < 2);
  // Underflow: relative errors of the smallest number are nothing, but every weight of 0.6 times it is rounded up to it.
  for (std::int64_t j = 0; j < 128; ++j) in.k(0, 0, j, 0) = j == 0 ? 0 : -0.5;
  for (std::int64_t j = 0; j < 128; ++j) in.v(0, 0, j, 0) = 0x1p-1074;
  const comparison small = compare<double>(in, {.scale = 1}, {0});
  CHECK(small.hold);
  CHECK(small.output_error == 0x1p-1074);
}

TEST_CASE("the bound of FP64 holds at the ends of the range") {
  const auto in = gaussian_inputs(medium, 7);
  const auto scaled = [&](double of_q, double of_k, double of_v) {
    auto x = in;
    for (double& y : x.q.values()) y *= of_q;
    for (double& y : x.k.values()) y *= of_k;
    for (double& y : x.v.values()) y *= of_v;
    return x;
  };
  CHECK(compare<double>(scaled(1e-160, 1e-160, 1), {.scale = 1e300}, some_rows).hold);
  CHECK(compare<double>(scaled(1e-100, 1e100, 1e300), {}, some_rows).hold);
  CHECK(compare<double>(scaled(1, 1, 1e-300), {}, some_rows).hold);
  CHECK(compare<double>(scaled(1, 1, 1e-318), {}, some_rows).hold);
  CHECK(compare<double>(scaled(1, 1e-3, 1e-318), {}, some_rows).hold);
  // Scores so large that FP64 cannot tell which key is first: what remains is that O lies among the rows of V.
  const comparison lost = compare<double>(scaled(1e9, 1e9, 1), {}, some_rows);
  CHECK(lost.hold);
  CHECK(lost.largest_output < 12);
  // Scores that may overflow on the way have no bound.
  const std::vector<std::int64_t> row{3};
  const auto huge = dv::golden(scaled(1e200, 1e200, 1).q, scaled(1e200, 1e200, 1).k, in.v, {}, {}, row);
  CHECK(huge.output_bound(0, 0, 3, 0) == infinity);
  CHECK(huge.log_sum_exp_bound(0, 0, 3, 0) == infinity);
}

TEST_CASE("the bound of FP64 holds over 65536 keys") {
  const sizes s{.n_query = 2, .n_key = 65536, .d = 8, .d_v = 3};
  CHECK(compare<double>(uniform_inputs(s, 8), {}, {0, 1}).hold);
  const comparison c = compare<double>(gaussian_inputs(s, 9), {}, {0, 1});
  CHECK(c.hold);
  CHECK(c.largest_output < 1e-12);
  auto far = gaussian_inputs(s, 10);
  for (double& x : far.q.values()) x *= 200;
  for (std::int64_t j = 0; j < s.n_key; ++j) far.v(0, 0, j, 0) = j % 2 == 0 ? 1e6 : -1e6;
  CHECK(compare<double>(far, {}, {0, 1}).hold);
}

TEST_CASE("the bound of double_double holds, and lies below 1e-26") {
  const sizes s{.n_query = 60, .n_key = 60, .d = 16, .d_v = 4};
  for (const auto& in : {uniform_inputs(s, 11), gaussian_inputs(s, 12)}) {
    const comparison c = compare<dv::double_double>(in, {.mask = dv::causal{}}, {0, 17, 59});
    CHECK(c.hold);
    CHECK(c.largest_output < 1e-26);
  }
  auto large = draw_inputs<dv::bf16>(s, 13, [](generator& g) { return 30 * g.gaussian(); });
  CHECK(compare<dv::double_double>(large, {}, {0, 17, 59}).hold);
}

TEST_CASE("rows that are not finite have no bound, rows without a key an exact one, other scalars none at all") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto in = gaussian_inputs({.n_query = 9, .n_key = 9, .d = 4, .d_v = 2}, 14);
  in.v(0, 0, 5, 1) = nan;
  in.k(0, 0, 7, 1) = infinity;
  const auto got = dv::golden(in.q, in.k, in.v, {.mask = dv::causal{}});
  const auto pairs = dv::golden<dv::double_double>(in.q, in.k, in.v, {.mask = dv::causal{}});
  for (std::int64_t i = 0; i < 9; ++i) {
    CHECK(std::isfinite(got.output_bound(0, 0, i, 0)) == (i < 5));
    CHECK(std::isfinite(pairs.output_bound(0, 0, i, 0)) == (i < 5));
  }
  const std::vector<std::int64_t> none{0};
  const auto empty = dv::golden(in.q, in.k, in.v, {.key_lengths = none});
  CHECK(empty.output_bound(0, 0, 3, 0) == 0);
  CHECK(empty.log_sum_exp_bound(0, 0, 3, 0) == 0);
  CHECK(dv::golden<dv::real50>(in.q, in.k, in.v, {.key_lengths = none}).output_bound.values().empty());
}
