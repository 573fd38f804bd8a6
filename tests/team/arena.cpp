// SPDX-License-Identifier: Apache-2.0
#include <deviate/team/arena.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace dv = deviate;

TEST_CASE("an arena hands out aligned pieces that neither overlap nor move") {
  dv::arena scratch;
  struct piece {
    unsigned char* at;
    std::size_t bytes;
  };
  std::vector<piece> pieces;
  unsigned char mark = 1;
  for (const std::size_t bytes : {1u, 64u, 65u, 0u, 500'000u, 700'000u, 3'000'000u, 8u}) {
    auto* at = static_cast<unsigned char*>(scratch.take(bytes));
    REQUIRE(at != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(at) % dv::arena::alignment == 0);
    std::memset(at, mark++, bytes);
    pieces.push_back({at, bytes});
  }
  mark = 1;
  for (const piece& p : pieces) {
    bool intact = true;
    for (std::size_t i = 0; i < p.bytes; ++i) intact = intact && p.at[i] == mark;
    CHECK(intact);
    ++mark;
  }
}

TEST_CASE("after a reset the arena hands out the same memory, in the same order") {
  dv::arena scratch;
  const auto take_all = [&] {
    std::vector<void*> at;
    for (const std::size_t bytes : {100u, 2'000'000u, 900'000u, 900'000u, 7u}) at.push_back(scratch.take(bytes));
    return at;
  };
  const std::vector<void*> first = take_all();
  scratch.reset();
  CHECK(take_all() == first);
  // Without a reset it is other memory.
  CHECK(take_all() != first);
}
