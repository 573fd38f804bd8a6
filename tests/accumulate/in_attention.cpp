// SPDX-License-Identifier: Apache-2.0
// Every accumulation serves every sum of the attention.
#include <doctest/doctest.h>

#include <cmath>
#include <deviate/accumulate/compensated.hpp>
#include <deviate/accumulate/exact.hpp>
#include <deviate/accumulate/named_units.hpp>
#include <deviate/accumulate/two_level.hpp>
#include <deviate/attention/forward.hpp>
#include <limits>
#include <vector>

#include "attention/inputs.hpp"

using namespace attention_test;
using namespace dv::accumulate;
using dv::at;
using dv::site;
using dv::summed;

namespace {
// Inputs and P in FP8, so that double holds every product.
template <class Accumulation>
using kernel =
    dv::recipe<float, at<site::input, dv::fp8_e4m3>, at<site::probability_operand, dv::fp8_e4m3>,
               at<site::score_product, double>, at<site::value_product, double>, summed<site::score, Accumulation>,
               summed<site::row_sum_partial, Accumulation>, summed<site::value_partial, Accumulation>>;

template <class Accumulation>
auto run(const inputs<>& in, const dv::problem& p, std::int64_t tile_key = 64) {
  return dv::flash_forward(kernel<Accumulation>{}, in.q, in.k, in.v, p, {.tile_query = 4, .tile_key = tile_key},
                           dv::workers{1});
}

// The first n rows of a matrix.
dv::tensor<double> head(const dv::tensor<double>& t, std::int64_t n, std::int64_t columns) {
  return matrix(n, columns, {t.values().begin(), t.values().begin() + n * columns});
}
}  // namespace

TEST_CASE_TEMPLATE("an accumulation in every sum of FlashAttention", A, compensated<>, compensated<float>, exact<>,
                   two_level<hopper_fp8, 32, sequential<float>>, ampere_fp16, hopper_fp8, to_fp16<v100_fp16>) {
  constexpr std::int64_t n_query = 5, n_key = 83, d = 24, d_v = 19, seen = 70;
  const auto in = gaussian_inputs({.n_query = n_query, .n_key = n_key, .d = d, .d_v = d_v}, 4);
  const auto all = run<A>(in, {.scale = 0.25});
  const auto right = run<exact<double>>(in, {.scale = 0.25});
  for (std::size_t i = 0; i < all.output.values().size(); ++i)
    CHECK(std::fabs(all.output.values()[i] - right.output.values()[i]) < 0.02f);

  // Hidden keys, NaN in their V, give the bits of a problem without them: their terms are zeros.
  std::vector<std::uint8_t> visible(n_key, 1);
  auto poisoned = in;
  for (std::int64_t key = seen; key < n_key; ++key) {
    visible[std::size_t(key)] = 0;
    for (std::int64_t c = 0; c < d_v; ++c)
      poisoned.v.values()[std::size_t(key * d_v + c)] = std::numeric_limits<double>::quiet_NaN();
  }
  const inputs<> fewer{in.q, head(in.k, seen, d), head(in.v, seen, d_v)};
  CHECK(same_bits(run<A>(poisoned, {.scale = 0.25, .key_visible = visible}), run<A>(fewer, {.scale = 0.25})));
}
