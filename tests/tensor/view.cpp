// SPDX-License-Identifier: Apache-2.0
#include <deviate/tensor/view.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace {

using deviate::extents;
using deviate::strides;
using deviate::tensor_view;

static_assert(std::is_trivially_copyable_v<tensor_view<float>>);
static_assert(std::is_convertible_v<tensor_view<float>, tensor_view<const float>>);
static_assert(!std::is_convertible_v<tensor_view<const float>, tensor_view<float>>);
// The whole view is usable in constant expressions.
static_assert(extents{2, 3, 4, 5}.count() == 120);
static_assert(strides::contiguous({2, 3, 4, 5}).batch == 60);
static_assert(tensor_view<float>(nullptr, {2, 3, 4, 5}).offset(1, 2, 3, 4) == 119);

}  // namespace

TEST_CASE("view: offsets are computed in 64 bits") {
  // No element is touched: only positions are asked for. 46340² is the last square below 2^31.
  for (const std::int64_t n : {46340, 46341, 46342}) {
    const tensor_view<char> square(nullptr, {1, 1, n, n});
    CAPTURE(n);
    CHECK(square.count() == n * n);
    CHECK(square.offset(0, 0, n - 1, n - 1) == n * n - 1);
    CHECK(square.stride().batch == n * n);
  }
  CHECK(tensor_view<char>(nullptr, {1, 1, 46342, 46342}).offset(0, 0, 46341, 46341) == std::int64_t{2147580963});
  CHECK(tensor_view<char>(nullptr, {1, 1, 46342, 46342}).offset(0, 0, 46341, 46341) > std::int64_t{INT32_MAX});
  // Heads and batches multiply as well.
  CHECK(tensor_view<char>(nullptr, {8, 64, 131072, 128}).offset(7, 63, 131071, 127) == std::int64_t{8589934591});
  const strides apart{std::int64_t{1} << 40, std::int64_t{1} << 33, 3, 1};
  CHECK(tensor_view<char>(nullptr, {2, 2, 2, 2}, apart).offset(1, 1, 1, 1) ==
        (std::int64_t{1} << 40) + (std::int64_t{1} << 33) + 4);
}

TEST_CASE("view: rows beyond 16 bits") {
  const tensor_view<char> tall(nullptr, {1, 1, 65538, 64});
  CHECK(tall.offset(0, 0, 65535, 63) == 4194303);
  CHECK(tall.offset(0, 0, 65536, 0) == 4194304);
  CHECK(tall.offset(0, 0, 65537, 1) == 4194369);
  std::vector<std::uint8_t> column(65538);
  column[65536] = 1;
  column[65537] = 2;
  const tensor_view<const std::uint8_t> one(column.data(), {1, 1, 65538, 1});
  CHECK(one(0, 0, 65536, 0) == 1);
  CHECK(one(0, 0, 65537, 0) == 2);
  CHECK(one(0, 0, 0, 0) == 0);
}

TEST_CASE("view: elements, heads and strides") {
  std::vector<int> values(120);
  for (int i = 0; i < 120; ++i) values[std::size_t(i)] = i;
  const tensor_view<int> v(values.data(), {2, 3, 4, 5});
  CHECK(v.is_contiguous());
  CHECK(v.count() == 120);
  int expected = 0;
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 3; ++h)
      for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 5; ++c) CHECK(v(b, h, r, c) == expected++);

  const auto head = v.head(1, 2);
  CHECK(head.shape() == extents{1, 1, 4, 5});
  CHECK(head.data() == values.data() + 100);
  CHECK(head(0, 0, 3, 4) == 119);
  head(0, 0, 3, 4) = -1;
  CHECK(values[119] == -1);
}

TEST_CASE("view: [batch, rows, heads, columns] in memory") {
  std::vector<int> values(120);
  for (int i = 0; i < 120; ++i) values[std::size_t(i)] = i;
  // In memory 2 × 4 × 3 × 5: batch, rows, heads, columns.
  const tensor_view<const int> v(values.data(), {2, 3, 4, 5}, {60, 5, 15, 1});
  CHECK_FALSE(v.is_contiguous());
  CHECK(v(1, 2, 3, 4) == 119);
  CHECK(v(1, 2, 0, 0) == 70);
  CHECK(v.head(1, 2)(0, 0, 1, 0) == 85);
  CHECK(v.head(1, 2).stride().rows == 15);
  // Transposed, and one row repeated.
  const tensor_view<const int> transposed(values.data(), {1, 1, 5, 4}, {0, 0, 1, 5});
  CHECK(transposed(0, 0, 4, 3) == 19);
  const tensor_view<const int> repeated(values.data(), {1, 1, 1000, 5}, {0, 0, 0, 1});
  CHECK(repeated(0, 0, 999, 3) == 3);
}

TEST_CASE("view: empty") {
  const tensor_view<float> none;
  CHECK(none.data() == nullptr);
  CHECK(none.count() == 0);
  CHECK(tensor_view<float>(nullptr, {3, 2, 0, 64}).count() == 0);
}
