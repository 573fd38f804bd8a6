// SPDX-License-Identifier: Apache-2.0
// What Baseline rounds and where, against the same steps written out for one row.
#include <deviate/attention/baseline.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <deviate/attention/forward.hpp>
#include <deviate/attention/named_recipes.hpp>
#include <deviate/number/named.hpp>

#include "attention/inputs.hpp"
#include "attention/lowered_sites.hpp"

using namespace attention_test;
using dv::bf16;

TEST_CASE("baseline<bf16> stores S, P ÷ l and O in bf16; everything between is FP32") {
  const std::int64_t n = 21, d = 8;
  const auto in = gaussian_inputs<bf16>({.n_query = 5, .n_key = n, .d = d, .d_v = 3}, 1);
  const auto got = dv::baseline_forward(dv::baseline<bf16>{}, in.q, in.k, in.v, {.scale = 0.4});
  const auto rounded = [](float x) { return float(bf16(x)); };
  for (std::int64_t i = 0; i < 5; ++i) {
    std::vector<float> p;
    float m = -std::numeric_limits<float>::infinity();
    for (std::int64_t j = 0; j < n; ++j) {
      float s = 0;
      for (std::int64_t c = 0; c < d; ++c) s += float(in.q(0, 0, i, c)) * float(in.k(0, 0, j, c));
      // The product with the scale is rounded once, to bf16: in double it is exact.
      p.push_back(float(bf16(double(s) * double(0.4f))));
      m = std::max(m, p.back());
    }
    float lane[16] = {};
    for (std::size_t j = 0; j < p.size(); ++j) {
      p[j] = float(std::exp(double(p[j] - m)));
      lane[j % 16] += p[j];
    }
    for (int distance = 1; distance < 16; distance *= 2)
      for (int a = 0; a < 16; a += 2 * distance) lane[a] += lane[a + distance];
    const float l = lane[0];
    // P ÷ l is rounded once as well; a quotient of floats in double is nowhere near a tie of bf16.
    for (float& x : p) x = float(bf16(double(x) / double(l)));
    for (std::int64_t c = 0; c < 3; ++c) {
      float o = 0;
      for (std::int64_t j = 0; j < n; ++j) o += p[std::size_t(j)] * float(in.v(0, 0, j, c));
      CHECK(got.output(0, 0, i, c) == rounded(o));
    }
    CHECK(got.log_sum_exp(0, 0, i, 0) == float(double(m) + double(float(std::log(double(l))))));
  }
}

TEST_CASE("Baseline: every site in bf16 alone changes what depends on it; it has no running state") {
  every_site<fp64>(all_sites, baseline, false);
}
