// SPDX-License-Identifier: Apache-2.0
#include <deviate/tensor/scale_groups.hpp>

#include <doctest/doctest.h>

namespace dv = deviate;
using dv::extents;
using dv::interleaved_rows;
using dv::scale_boxes;

namespace {

static_assert(dv::scale_groups<scale_boxes> && dv::scale_groups<interleaved_rows> && !dv::scale_groups<int>);

constexpr extents shape{2, 3, 70, 40};
static_assert(scale_boxes::per_tensor().scales(shape) == extents{1, 1, 1, 1});
static_assert(scale_boxes::per_head().scales(shape) == extents{2, 3, 1, 1});
static_assert(scale_boxes::per_row().scales(shape) == extents{2, 3, 70, 1});
static_assert(scale_boxes::per_token().scales(shape) == extents{2, 1, 70, 1});
static_assert(scale_boxes::per_channel().scales(shape) == extents{2, 3, 1, 40});
static_assert(scale_boxes::along_row(16).scales(shape) == extents{2, 3, 70, 3});
static_assert(scale_boxes::along_row(32).scales(shape) == extents{2, 3, 70, 2});
static_assert(scale_boxes::block(64).scales(shape) == extents{2, 3, 2, 1});
static_assert(scale_boxes::block(16, 16).scales(shape) == extents{2, 3, 5, 3});
static_assert(scale_boxes::per_tensor().scales({0, 1, 1, 1}) == extents{0, 1, 1, 1});
static_assert(scale_boxes::block(16, 16).scale_of(shape, 1, 2, 69, 39) == extents{1, 2, 4, 2});
static_assert(scale_boxes::per_channel().scale_of(shape, 1, 2, 69, 39) == extents{1, 2, 0, 39});

}  // namespace

TEST_CASE("scale groups: the scales of a warp's threads") {
  // Queries: row r of a tile of 16 belongs to thread group r mod 8. Keys: two neighbours of eight to each of four.
  const interleaved_rows queries{16, 8, 1}, keys{64, 8, 2};
  CHECK(queries.groups() == 8);
  CHECK(keys.groups() == 4);
  CHECK(queries.scales(shape) == extents{2, 3, 5 * 8, 1});
  CHECK(keys.scales(shape) == extents{2, 3, 2 * 4, 1});
  for (std::int64_t r = 0; r < 70; ++r) {
    CHECK(queries.scale_of(shape, 1, 2, r, 33) == extents{1, 2, 8 * (r / 16) + r % 8, 0});
    CHECK(keys.scale_of(shape, 1, 2, r, 33) == extents{1, 2, 4 * (r / 64) + r % 8 / 2, 0});
  }
  const interleaved_rows ragged{10, 5, 2};  // runs of 2, 2 and 1
  CHECK(ragged.groups() == 3);
  constexpr std::int64_t groups[] = {0, 0, 1, 1, 2, 0, 0, 1, 1, 2, 3, 3};
  for (std::int64_t r = 0; r < 12; ++r) CHECK(ragged.scale_of(shape, 0, 0, r, 0).rows == groups[r]);
  // The pattern begins anew in each tile.
  CHECK(interleaved_rows{12, 8, 1}.scale_of(shape, 0, 0, 11, 0).rows == 3);
  CHECK(interleaved_rows{12, 8, 1}.scale_of(shape, 0, 0, 12, 0).rows == 8);
}
