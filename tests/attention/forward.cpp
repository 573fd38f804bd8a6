// SPDX-License-Identifier: Apache-2.0
// Flash and Baseline in FP64 against attention written a second time, over masks, shapes, strides and schedules.
#include <deviate/attention/forward.hpp>

#include <doctest/doctest.h>

#include <deviate/attention/named_recipes.hpp>
#include <deviate/number/named.hpp>
#include <string>
#include <vector>

#include "attention/inputs.hpp"
#include "attention/reference.hpp"

using namespace attention_test;

namespace {

using fp64 = dv::uniform<double>;
using fp64_every_tile = dv::with<fp64, dv::normalized<dv::normalization::every_tile>>;

constexpr double largest_difference = 1e-14;
const dv::workers one{1};

// The largest relative difference of O, or difference of LSE, of Baseline and of both Flash orders under every schedule.
template <class Q, class K, class V>
double worst_of_all(const Q& q, const K& k, const V& v, const dv::problem& p,
                    std::initializer_list<std::int64_t> tiles = {1, 2, 3, 8, 16, 64, 1000}) {
  const reference_result want = reference(q, k, v, p);
  double worst = 0;
  const auto compare = [&](const auto& got) {
    worst = std::max(
        {worst, row_relative_difference(got.output, want.output), lse_difference(got.log_sum_exp, want.log_sum_exp)});
  };
  compare(dv::baseline_forward(fp64{}, q, k, v, p, one));
  for (const std::int64_t tile_key : tiles)
    for (const auto order : {dv::key_order::ascending, dv::key_order::descending}) {
      const dv::schedule plan{.tile_query = tile_key == 1000 ? 1000 : 5, .tile_key = tile_key, .order = order};
      compare(dv::flash_forward(fp64{}, q, k, v, p, plan, one));
      compare(dv::flash_forward(fp64_every_tile{}, q, k, v, p, plan, one));
    }
  return worst;
}

struct named_mask {
  const char* name;
  dv::mask mask;
};
constexpr named_mask masks[] = {
    {"none", {}},
    {"causal", dv::causal{}},
    {"causal, top-left", dv::causal{dv::alignment::top_left}},
    {"window (3, 0)", dv::window{3, 0}},
    {"window (0, 5), top-left", dv::window{0, 5, dv::alignment::top_left}},
    {"window (7, 2)", dv::window{7, 2}},
    {"window (2, all), top-left", dv::window{2, -1, dv::alignment::top_left}},
    {"window (all, 4)", dv::window{-1, 4}},
    {"the diagonal alone", dv::window{0, 0}},
};

}  // namespace

TEST_CASE("FP64 Flash and Baseline lie within 1e-14 of attention written apart: masks and ragged sizes") {
  for (const named_mask& m : masks)
    for (const std::int64_t n_query : {1, 3, 17, 64, 65})
      for (const std::int64_t n_key : {1, 3, 17, 65, 130}) {
        const auto in = gaussian_inputs({.n_query = n_query, .n_key = n_key, .d = 9, .d_v = 5}, 1);
        CAPTURE(std::string(m.name));
        CAPTURE(n_query);
        CAPTURE(n_key);
        CHECK(worst_of_all(in.q, in.k, in.v, {.mask = m.mask}, {1, 3, 8, 64, 1000}) < largest_difference);
      }
}

TEST_CASE("FP64 Flash and Baseline lie within 1e-14 of attention written apart: U(0,1) and N(0,1), d = 64") {
  for (const std::uint64_t seed : {1, 2}) {
    const sizes s{.n_query = 70, .n_key = 130, .d = 64, .d_v = 64};
    const auto uniform = uniform_inputs(s, seed);
    const auto gaussian = gaussian_inputs(s, seed);
    for (const named_mask& m : masks) {
      CAPTURE(std::string(m.name));
      CHECK(worst_of_all(uniform.q, uniform.k, uniform.v, {.mask = m.mask}, {2, 16, 64}) < largest_difference);
      CHECK(worst_of_all(gaussian.q, gaussian.k, gaussian.v, {.mask = m.mask}, {2, 16, 64}) < largest_difference);
    }
  }
}

TEST_CASE("FP64: key lengths and key masks, with and without a band, over two batches") {
  const std::int64_t n_key = 65;
  const auto in = gaussian_inputs(
      {.batch = 2, .query_heads = 2, .key_heads = 2, .n_query = 17, .n_key = n_key, .d = 8, .d_v = 3}, 3);
  std::vector<std::uint8_t> visible(2 * std::size_t(n_key));
  generator g(4);
  for (auto& x : visible) x = std::uint8_t(g.bits() % 3 != 0);
  for (std::size_t j = 20; j < 44; ++j) visible[j] = 0;  // whole tiles without a key
  for (const named_mask& m : masks)
    for (const std::vector<std::int64_t>& lengths :
         std::vector<std::vector<std::int64_t>>{{}, {65, 1}, {0, 64}, {33, 50}}) {
      CAPTURE(std::string(m.name));
      CAPTURE(lengths.size());
      CHECK(worst_of_all(in.q, in.k, in.v, {.mask = m.mask, .key_lengths = lengths}, {1, 8, 1000}) <
            largest_difference);
      CHECK(worst_of_all(in.q, in.k, in.v, {.mask = m.mask, .key_lengths = lengths, .key_visible = visible},
                         {1, 3, 16, 64}) < largest_difference);
    }
}

TEST_CASE("FP64: nine query heads share three key heads in contiguous groups") {
  const auto in =
      gaussian_inputs({.batch = 2, .query_heads = 9, .key_heads = 3, .n_query = 9, .n_key = 20, .d = 6, .d_v = 4}, 5);
  CHECK(worst_of_all(in.q, in.k, in.v, {.mask = dv::causal{}}) < largest_difference);
}

TEST_CASE("FP64: the head dimension of V is smaller, larger, 1") {
  for (const auto& [d, d_v] : {std::pair{64, 16}, {5, 80}, {1, 1}, {33, 1}, {1, 40}}) {
    const auto in = gaussian_inputs({.n_query = 7, .n_key = 19, .d = d, .d_v = d_v}, 6);
    CAPTURE(d);
    CAPTURE(d_v);
    CHECK(worst_of_all(in.q, in.k, in.v, {}) < largest_difference);
  }
}

TEST_CASE("FP64: the scale is used once, whatever its sign") {
  const auto in = gaussian_inputs({.n_query = 9, .n_key = 33, .d = 8, .d_v = 8}, 7);
  for (const double scale : {1.0, -1.0, 0.0, -0.0, 0.125, 3.7, -2.5, 1e-30})
    for (const auto& mask : {dv::mask{}, dv::mask(dv::causal{})}) {
      CAPTURE(scale);
      CHECK(worst_of_all(in.q, in.k, in.v, {.scale = scale, .mask = mask}) < largest_difference);
    }
  // Without one it is 1/√d: the reference above says so for d = 8, this says it in so many words.
  CHECK(same_bits(dv::flash_forward(fp64{}, in.q, in.k, in.v, {}),
                  dv::flash_forward(fp64{}, in.q, in.k, in.v, {.scale = 1 / std::sqrt(8.0)})));
}

TEST_CASE("strided views give the bits of contiguous tensors") {
  // Memory [batch, rows, heads, columns + 3]: every stride but the last differs, and rows have a gap that is NaN.
  const sizes s{.batch = 2, .query_heads = 4, .key_heads = 2, .n_query = 19, .n_key = 37, .d = 18, .d_v = 21};
  const auto in = gaussian_inputs(s, 8);
  const auto gap = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::vector<double>> memory;
  memory.reserve(3);
  const auto strided = [&](const dv::tensor<double>& t, std::int64_t step) {
    const dv::extents e = t.shape();
    const std::int64_t row = e.columns * step + 3;
    const dv::strides stride{e.rows * e.heads * row, row, e.heads * row, step};
    auto& m = memory.emplace_back(std::size_t(e.batch * e.rows * e.heads * row), gap);
    const dv::tensor_view<double> view(m.data(), e, stride);
    for (std::int64_t b = 0; b < e.batch; ++b)
      for (std::int64_t h = 0; h < e.heads; ++h)
        for (std::int64_t r = 0; r < e.rows; ++r)
          for (std::int64_t c = 0; c < e.columns; ++c) view(b, h, r, c) = t(b, h, r, c);
    return view;
  };
  for (const std::int64_t step : {1, 2}) {
    memory.clear();
    const auto q = strided(in.q, step), k = strided(in.k, step), v = strided(in.v, step);
    REQUIRE(!q.is_contiguous());
    const dv::problem p{.mask = dv::causal{}};
    const dv::schedule plan{.tile_query = 8, .tile_key = 16};
    CHECK(same_bits(dv::flash_forward(fp64{}, q, k, v, p, plan), dv::flash_forward(fp64{}, in.q, in.k, in.v, p, plan)));
    CHECK(same_bits(dv::baseline_forward(fp64{}, q, k, v, p), dv::baseline_forward(fp64{}, in.q, in.k, in.v, p)));
    CHECK(worst_of_all(q, k, v, p, {3, 16}) < largest_difference);
  }
}

TEST_CASE("elements of any type are rounded once, at the input site") {
  const sizes s{.n_query = 9, .n_key = 21, .d = 16, .d_v = 16};
  const auto wide = gaussian_inputs(s, 9);
  const auto narrow = gaussian_inputs<dv::bf16>(s, 9);
  const auto same_as_floats = gaussian_inputs<float>(s, 9);  // 24-bit inputs: a float holds them
  using recipe = dv::flash2_all<dv::bf16>;
  const auto from_double = dv::flash_forward(recipe{}, wide.q, wide.k, wide.v);
  CHECK(same_bits(from_double, dv::flash_forward(recipe{}, narrow.q, narrow.k, narrow.v)));
  CHECK(same_bits(from_double, dv::flash_forward(recipe{}, same_as_floats.q, same_as_floats.k, same_as_floats.v)));
  // 1 + 2^-8 + 2^-30 is above the tie for bf16; by way of float it would be the tie and go to 1.
  const auto one_key = column<double>({1 + 0x1p-8 + 0x1p-30});
  CHECK(dv::flash_forward(recipe{}, column<double>({0}), column<double>({0}), one_key).output.values()[0] ==
        1.0078125f);
}

TEST_CASE("no query, no key: empty results and empty rows") {
  const auto nothing = gaussian_inputs({.n_query = 0, .n_key = 5, .d = 4, .d_v = 4}, 1);
  CHECK(dv::flash_forward(fp64{}, nothing.q, nothing.k, nothing.v).output.count() == 0);
  CHECK(dv::baseline_forward(fp64{}, nothing.q, nothing.k, nothing.v).output.count() == 0);
  const auto no_key = gaussian_inputs({.n_query = 3, .n_key = 0, .d = 4, .d_v = 2}, 1);
  CHECK(worst_of_all(no_key.q, no_key.k, no_key.v, {}) == 0);
  CHECK(worst_of_all(no_key.q, no_key.k, no_key.v, {.mask = dv::causal{}}) == 0);
}

TEST_CASE("rescales counts how often the maximum rose after the first tile that a row saw") {
  // Scores of the one query are the keys: 1 3 | 2 2 | 5 0 | 5 4 | 7 7.
  const auto q = column<double>({1});
  const auto k = column<double>({1, 3, 2, 2, 5, 0, 5, 4, 7, 7});
  const auto rescales = [&](std::int64_t tile, dv::key_order order) {
    return dv::flash_forward(fp64{}, q, k, k, {.scale = 1}, {.tile_key = tile, .order = order}).rescales.values()[0];
  };
  CHECK(rescales(2, dv::key_order::ascending) == 2);
  CHECK(rescales(1, dv::key_order::ascending) == 3);
  CHECK(rescales(10, dv::key_order::ascending) == 0);
  CHECK(rescales(2, dv::key_order::descending) == 0);
  CHECK(dv::baseline_forward(fp64{}, q, k, k).rescales.values()[0] == 0);
}

namespace {

// What the call complains of; empty if it does not.
template <class Call>
std::string complaint(Call call) {
  try {
    call();
  } catch (const dv::contract_violation& e) {
    return e.what();
  }
  return "";
}
bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

std::string complaint_about(const sizes& s, const dv::problem& p = {}, const dv::schedule& plan = {}) {
  const auto in = gaussian_inputs(s, 1);
  const std::string flash = complaint([&] { dv::flash_forward(fp64{}, in.q, in.k, in.v, p, plan); });
  if (plan.tile_key == 64 && plan.tile_query == 64)
    CHECK(complaint([&] { dv::baseline_forward(fp64{}, in.q, in.k, in.v, p); }) == flash);
  return flash;
}

}  // namespace

TEST_CASE("wrong options are told with the argument's name") {
  const sizes s{.batch = 2, .query_heads = 4, .key_heads = 2, .n_query = 3, .n_key = 5, .d = 4, .d_v = 4};
  CHECK(complaint_about(s) == "");
  CHECK(says(complaint_about({.query_heads = 4, .key_heads = 3}), "query heads"));
  for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    CHECK(says(complaint_about(s, {.scale = bad}), "scale must be finite"));
  CHECK(says(complaint_about(s, {.mask = dv::window{-2, 0}}), "left -2"));
  CHECK(says(complaint_about(s, {.mask = dv::window{0, -7}}), "right -7"));
  const std::vector<std::int64_t> one_length{3}, too_long{3, 6}, negative{-1, 3};
  CHECK(says(complaint_about(s, {.key_lengths = one_length}), "key_lengths"));
  CHECK(says(complaint_about(s, {.key_lengths = too_long}), "key length 6 is not in 0 … 5"));
  CHECK(says(complaint_about(s, {.key_lengths = negative}), "key length -1 is not in 0 … 5"));
  const std::vector<std::uint8_t> too_few(9, 1);
  CHECK(says(complaint_about(s, {.key_visible = too_few}), "key_visible"));
  CHECK(says(complaint_about(s, {}, {.tile_query = 0}), "tile sizes must be at least 1"));
  CHECK(says(complaint_about(s, {}, {.tile_key = 0}), "tile sizes must be at least 1"));
  CHECK(says(complaint_about(s, {}, {.tile_key = -64}), "tile sizes must be at least 1"));
  CHECK(says(complaint_about(s, {}, {.tile_query = std::int64_t(1) << 40}), "tile sizes are too large"));
  CHECK(says(complaint_about(s, {}, {.tile_key = std::int64_t(1) << 40}), "tile sizes are too large"));
}

TEST_CASE("wrong shapes are told with all three shapes") {
  const auto shapes = [](const dv::extents& q, const dv::extents& k, const dv::extents& v) {
    const dv::tensor<double> a(q), b(k), c(v);
    const std::string flash = complaint([&] { dv::flash_forward(fp64{}, a, b, c); });
    CHECK(complaint([&] { dv::baseline_forward(fp64{}, a, b, c); }) == flash);
    return flash;
  };
  CHECK(shapes({1, 2, 3, 4}, {1, 1, 5, 4}, {1, 1, 5, 6}) == "");
  const std::string batch = shapes({2, 1, 3, 4}, {1, 1, 5, 4}, {1, 1, 5, 4});
  CHECK(says(batch, "batch"));
  CHECK(says(batch, "q [2, 1, 3, 4], k [1, 1, 5, 4], v [1, 1, 5, 4]"));
  CHECK(says(shapes({1, 1, 3, 4}, {1, 1, 5, 4}, {2, 1, 5, 4}), "batch"));
  CHECK(says(shapes({1, 2, 3, 4}, {1, 2, 5, 4}, {1, 1, 5, 4}), "k and v must have the same number of heads"));
  CHECK(says(shapes({1, 2, 3, 4}, {1, 0, 5, 4}, {1, 0, 5, 4}), "multiple of the number of key heads"));
  CHECK(says(shapes({1, 0, 3, 4}, {1, 1, 5, 4}, {1, 1, 5, 4}), "multiple of the number of key heads"));
  CHECK(says(shapes({1, 1, 3, 4}, {1, 1, 5, 4}, {1, 1, 6, 4}), "k and v must have the same number of rows"));
  CHECK(says(shapes({1, 1, 3, 4}, {1, 1, 5, 3}, {1, 1, 5, 4}), "head dimension"));
  CHECK(says(shapes({1, 1, 3, 0}, {1, 1, 5, 0}, {1, 1, 5, 4}), "head dimension"));
  CHECK(says(shapes({1, 1, 3, 4}, {1, 1, 5, 4}, {1, 1, 5, 0}), "head dimension of v"));
}
