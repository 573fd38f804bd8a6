// SPDX-License-Identifier: Apache-2.0
// The maximum known first, lazy rescaling, and rows taken out of a longer sequence.
#include <doctest/doctest.h>

#include <cmath>
#include <deviate/attention/forward.hpp>
#include <deviate/attention/golden.hpp>
#include <deviate/attention/named_recipes.hpp>
#include <deviate/number/named.hpp>

#include "attention/inputs.hpp"

using namespace attention_test;

namespace {

// Scores grow along the keys, so a running maximum is replaced in every tile.
const auto in = [] {
  generator g(3);
  inputs<float> x{drawn<float>({1, 1, 20, 8}, [&] { return g.gaussian(); }),
                  drawn<float>({1, 1, 60, 8}, [&] { return g.gaussian(); }),
                  drawn<float>({1, 1, 60, 8}, [&] { return g.gaussian(); })};
  for (std::int64_t i = 0; i < 20; ++i) x.q(0, 0, i, 0) = 4;
  for (std::int64_t j = 0; j < 60; ++j) x.k(0, 0, j, 0) = 0.25f * float(j);
  return x;
}();

template <class Recipe>
double largest_error(const Recipe& r, const dv::schedule& plan, const dv::problem& p, std::int64_t& rescales) {
  const auto got = dv::flash_forward(r, in.q, in.k, in.v, p, plan);
  const auto right = dv::golden(in.q, in.k, in.v, p);
  double most = 0;
  for (std::size_t i = 0; i < got.output.values().size(); ++i)
    most = std::fmax(most, std::fabs(double(got.output.values()[i]) - right.output.values()[i]));
  for (std::size_t i = 0; i < got.log_sum_exp.values().size(); ++i)
    if (!std::isinf(right.log_sum_exp.values()[i]))
      most = std::fmax(most, std::fabs(double(got.log_sum_exp.values()[i]) - right.log_sum_exp.values()[i]));
  rescales = 0;
  for (const auto n : got.rescales.values()) rescales += n;
  return most;
}

using every_tile = dv::with<dv::uniform<double>, dv::normalized<dv::normalization::every_tile>>;

}  // namespace

TEST_CASE("the maximum known first: nothing is rescaled, O and LSE are the same") {
  for (const dv::problem& p :
       {dv::problem{}, dv::problem{.mask = dv::causal{}}, dv::problem{.mask = dv::window{9, 0}}}) {
    std::int64_t running = 0, known = 0;
    CHECK(largest_error(dv::uniform<double>{}, {.tile_key = 8}, p, running) < 1e-13);
    CHECK(running > 20);
    const dv::schedule plan{.tile_key = 8, .maximum = dv::row_maximum::known};
    CHECK(largest_error(dv::uniform<double>{}, plan, p, known) < 1e-13);
    CHECK(known == 0);
    CHECK(largest_error(every_tile{}, plan, p, known) < 1e-13);
    CHECK(known == 0);
  }
}

TEST_CASE(
    "the known maximum in BF16: the first tile that holds it has P = 1 there, and one tile has the running bits") {
  const dv::flash2_all<dv::bf16> r;
  const auto running = dv::flash_forward(r, in.q, in.k, in.v, {}, {.tile_key = 60});
  const auto known = dv::flash_forward(r, in.q, in.k, in.v, {}, {.tile_key = 60, .maximum = dv::row_maximum::known});
  CHECK(same_bits(running, known));
}

TEST_CASE("lazy rescaling: fewer rescales, the same result; P may reach exp(threshold)") {
  std::int64_t always = 0, lazy = 0, never = 0;
  CHECK(largest_error(dv::uniform<double>{}, {.tile_key = 4}, {}, always) < 1e-13);
  CHECK(largest_error(dv::uniform<double>{}, {.tile_key = 4, .rescale_threshold = 8 * std::log(2.0)}, {}, lazy) <
        1e-12);
  CHECK(largest_error(dv::uniform<double>{}, {.tile_key = 4, .rescale_threshold = 1000}, {}, never) < 1e-9);
  CHECK(lazy > 0);
  CHECK(lazy < always / 2);
  CHECK(never == 0);
}

TEST_CASE("a threshold below 0, or where O is normalised after every tile, is refused") {
  CHECK_THROWS_AS(dv::flash_forward(dv::uniform<double>{}, in.q, in.k, in.v, {}, {.rescale_threshold = -1}),
                  dv::contract_violation);
  CHECK_THROWS_AS(dv::flash_forward(every_tile{}, in.q, in.k, in.v, {}, {.rescale_threshold = 1}),
                  dv::contract_violation);
}

TEST_CASE("rows taken out of a longer sequence see the keys that they saw there, bit for bit") {
  const dv::flash2_all<dv::bf16> r;
  for (const dv::mask& mask :
       {dv::mask(dv::causal{}), dv::mask(dv::window{7, 2}), dv::mask(dv::causal{dv::alignment::top_left})}) {
    const dv::problem whole{.mask = mask};
    const auto all = dv::flash_forward(r, in.q, in.k, in.v, whole, {.tile_key = 8});
    const std::vector<std::int64_t> rows{3, 11, 19};
    std::vector<std::int64_t> diagonals;
    dv::tensor<float> q({1, 1, 3, 8});
    for (std::size_t i = 0; i < 3; ++i) {
      diagonals.push_back(rows[i] + (mask.align == dv::alignment::bottom_right ? 40 : 0));
      for (std::int64_t c = 0; c < 8; ++c) q(0, 0, std::int64_t(i), c) = in.q(0, 0, rows[i], c);
    }
    dv::problem part = whole;
    part.diagonals = diagonals;
    const auto some = dv::flash_forward(r, q, in.k, in.v, part, {.tile_key = 8});
    const auto right = dv::golden(q, in.k, in.v, part), all_right = dv::golden(in.q, in.k, in.v, whole);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::int64_t c = 0; c < 8; ++c) {
        CHECK(some.output(0, 0, std::int64_t(i), c) == all.output(0, 0, rows[i], c));
        CHECK(right.output(0, 0, std::int64_t(i), c) == all_right.output(0, 0, rows[i], c));
      }
  }
  dv::problem wrong;
  const std::vector<std::int64_t> two{1, 2};
  wrong.diagonals = two;
  CHECK_THROWS_AS(dv::flash_forward(r, in.q, in.k, in.v, wrong), dv::contract_violation);
}
