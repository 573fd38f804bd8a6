// SPDX-License-Identifier: Apache-2.0
#include <deviate/tensor/quantize.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deviate/number/named_blocks.hpp>
#include <map>
#include <tuple>

#include "number/oracle.hpp"

namespace dv = deviate;
using dv::extents;
using dv::scale_boxes;
using dv::tensor;

namespace {

constexpr extents shape{2, 3, 21, 40};

tensor<float> inputs(std::uint64_t seed, const extents& of = shape) {
  tensor<float> x(of);
  oracle::words random(seed);
  for (float& v : x.values()) {
    const int exponent = int(random.between(-6, 3));
    v = std::ldexp(float(random.between(-4095, 4095)), exponent);
  }
  return x;
}

using key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

/// INT8 with ties away in each group that `of` tells apart, from IEEE operations on float and double alone.
template <class Groups, class Key>
void expect_groups(const char* name, const Groups& groups, std::size_t number, Key of) {
  const tensor<float> x = inputs(number);
  std::map<key, float> largest;
  const auto visit = [&](auto f) {
    for (std::int64_t b = 0; b < shape.batch; ++b)
      for (std::int64_t h = 0; h < shape.heads; ++h)
        for (std::int64_t r = 0; r < shape.rows; ++r)
          for (std::int64_t c = 0; c < shape.columns; ++c) f(b, h, r, c);
  };
  visit([&](auto... at) {
    float& a = largest[of(at...)];
    a = std::max(a, std::fabs(x(at...)));
  });
  const auto q = dv::quantize<float>(x.view(), dv::int8_scaled, groups);
  oracle::tally tally(name);
  visit([&](auto... at) {
    const float scale = largest[of(at...)] / 127.0f;
    // Two floats' quotient in double is on the same side of every half as the exact one.
    const double integer = scale == 0 ? 0 : std::round(double(x(at...)) / double(scale)) + 0.0;
    const auto [b, h, r, c] = groups.scale_of(shape, at...);
    tally.compare(q.scales(b, h, r, c), double(scale), at...);
    tally.compare(q.numbers(at...), float(integer * double(scale)), at...);
    tally.compare(q.codes(at...), int(integer) & 255, at...);
  });
  tally.expect(3 * shape.count());
  CHECK(largest.size() == number);
  CHECK(q.counts.elements == shape.count());
  CHECK(q.counts.saturated == 0);
  CHECK(q.counts.blocks == q.scales.count());
  CHECK(q.tensor_scale == 1);
}

}  // namespace

TEST_CASE("quantize: INT8 with a scale for a tensor, head, row, token, channel, block and thread group") {
  using I = std::int64_t;
  expect_groups("tensor", scale_boxes::per_tensor(), 1, [](I, I, I, I) { return key{}; });
  expect_groups("head", scale_boxes::per_head(), 6, [](I b, I h, I, I) { return key{b, h, 0, 0}; });
  expect_groups("row", scale_boxes::per_row(), 126, [](I b, I h, I r, I) { return key{b, h, r, 0}; });
  expect_groups("token", scale_boxes::per_token(), 42, [](I b, I, I r, I) { return key{b, 0, r, 0}; });
  expect_groups("channel", scale_boxes::per_channel(), 240, [](I b, I h, I, I c) { return key{b, h, 0, c}; });
  expect_groups("block", scale_boxes::block(8), 18, [](I b, I h, I r, I) { return key{b, h, r >> 3, 0}; });
  expect_groups("box", scale_boxes::block(4, 16), 108, [](I b, I h, I r, I c) { return key{b, h, r >> 2, c >> 4}; });
  expect_groups("1 x 16", scale_boxes::along_row(16), 378, [](I b, I h, I r, I c) { return key{b, h, r, c >> 4}; });
  expect_groups("1 x 32", scale_boxes::along_row(32), 252, [](I b, I h, I r, I c) { return key{b, h, r, c >> 5}; });
  // Tiles of 16 rows, the second with 5: threads 0 to 7, and 0 to 4.
  expect_groups("threads", dv::interleaved_rows{16, 8, 1}, 78, [](I b, I h, I r, I) {
    return key{b, h, r >> 4, r & 7};
  });
}

namespace {

/// A division of the caller's own: even and odd columns.
struct by_parity {
  extents scales(const extents&) const { return {1, 1, 1, 2}; }
  extents scale_of(const extents&, std::int64_t, std::int64_t, std::int64_t, std::int64_t c) const {
    return {0, 0, 0, c % 2};
  }
};

}  // namespace

TEST_CASE("quantize: groups of the caller's own") {
  expect_groups("parity", by_parity{}, 2, [](std::int64_t, std::int64_t, std::int64_t, std::int64_t c) {
    return key{0, 0, 0, c & 1};
  });
}

TEST_CASE("quantize: the blocks of MX formats, the last shorter, in any strides") {
  const tensor<float> x({1, 1, 2, 40}, [] {
    std::vector<float> v(80, 1.0f);
    v[3] = 448;     // row 0, block 0: scale 1
    v[39] = 0.25f;  // row 0, block 1: 8 elements, scale 2^-8
    v[40] = 896;    // row 1, block 0: scale 2
    v[41] = 0x1p-9f;
    v[77] = 1000;  // row 1, block 1: 500 in a scale of 2: saturates
    return v;
  }());
  const auto q = dv::quantize<double>(x.view(), dv::mxfp8_e4m3);
  CHECK(q.scales.shape() == extents{1, 1, 2, 2});
  CHECK(q.scales.values() == std::vector<double>{1, 0x1p-8, 2, 2});
  CHECK(q.numbers(0, 0, 0, 3) == 448);
  CHECK(q.numbers(0, 0, 0, 39) == 0.25);
  CHECK(q.numbers(0, 0, 1, 1) == 0);
  CHECK(q.numbers(0, 0, 1, 37) == 896);
  CHECK(q.codes(0, 0, 1, 37) == 0x7e);
  CHECK(q.counts == dv::quantization_counts{80, 1, 1, 1, 0, 4, 0, 0, 0});
  // Columns first in memory, and writable: the same numbers.
  tensor<float> turned({1, 1, 40, 2});
  for (std::int64_t r = 0; r < 2; ++r)
    for (std::int64_t c = 0; c < 40; ++c) turned(0, 0, c, r) = x(0, 0, r, c);
  const dv::tensor_view<float> columns_first(turned.data(), {1, 1, 2, 40}, {0, 0, 1, 2});
  const auto same = dv::quantize<double>(columns_first, dv::mxfp8_e4m3);
  CHECK(same.numbers.values() == q.numbers.values());
  CHECK(same.codes.values() == q.codes.values());
}

TEST_CASE("quantize: NVFP4 has the tensor's scale, which an infinity elsewhere does not touch") {
  tensor<float> x({1, 2, 2, 16}, 0.5f);
  x(0, 0, 0, 0) = 5376;  // 2 · 2688
  x(0, 1, 1, 3) = -float(oracle::infinite);
  x(0, 1, 0, 3) = 12;
  const auto q = dv::quantize<float>(x.view(), dv::nvfp4);
  CHECK(q.tensor_scale == 2);
  CHECK(q.scales(0, 0, 0, 0) == 448);
  CHECK(q.scales(0, 1, 0, 0) == 1);
  CHECK(std::isnan(q.scales(0, 1, 1, 0)));
  CHECK(q.scales(0, 0, 1, 0) == 0x1.6p-5);  // 0.5 ÷ 12 = 0.041667 between 0.0390625 and 0.04296875
  CHECK(q.numbers(0, 0, 0, 0) == 5376);
  CHECK(q.numbers(0, 0, 0, 1) == 0);  // 0.5 in units of 896
  CHECK(q.numbers(0, 1, 0, 3) == 12);
  CHECK(q.numbers(0, 1, 0, 0) == 0);  // 0.25 in units of 1: the tie of 0 and 0.5
  CHECK(q.numbers(0, 0, 1, 5) == 6 * 0x1.6p-5f * 2);
  CHECK(std::isnan(q.numbers(0, 1, 1, 0)));
  CHECK(q.counts == dv::quantization_counts{64, 0, 30, 30, 16, 4, 0, 0, 1});
  // A tensor of zeros.
  const auto zeros = dv::quantize<float>(tensor<float>({1, 1, 1, 16}).view(), dv::nvfp4);
  CHECK(zeros.tensor_scale == 0);
  CHECK(zeros.numbers.values() == std::vector<float>(16, 0));
  CHECK(zeros.counts == dv::quantization_counts{16, 0, 0, 16, 0, 1, 0, 0, 0});
}

TEST_CASE("quantize: empty tensors, and what is refused") {
  const tensor<float> empty({1, 2, 0, 16}), none({1, 1, 3, 0});
  CHECK(dv::quantize<float>(empty.view(), dv::mxfp4).counts == dv::quantization_counts{});
  CHECK(dv::quantize<float>(none.view(), dv::int8_scaled, scale_boxes::per_tensor()).counts.elements == 0);
  CHECK(dv::quantize<float>(none.view(), dv::int8_scaled, dv::interleaved_rows{2, 2, 1}).scales.count() == 0);
  const tensor<float> x({1, 1, 2, 2});
  CHECK_THROWS_WITH_AS(dv::quantize<float>(x.view(), dv::int8_scaled),
                       "quantize: the format leaves its blocks open; say which elements share a scale",
                       dv::contract_violation);
  CHECK_THROWS_AS(dv::quantize<float>(x.view(), dv::mxfp4, scale_boxes::along_row(0)), dv::contract_violation);
  CHECK_THROWS_AS(dv::quantize<float>(x.view(), dv::mxfp4, dv::interleaved_rows{16, 0, 1}), dv::contract_violation);
}
