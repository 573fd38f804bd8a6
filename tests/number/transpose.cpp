// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/transpose.hpp>

#include <doctest/doctest.h>

namespace dv = deviate;

namespace {

template <class T, int W>
void check() {
  if constexpr (dv::transposes_in_registers<T, W>) {
    dv::pack<T, W> square[W];
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j) square[i].set(j, T(100 * i + j));
    dv::transpose(square);
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j) CHECK(square[i][j] == T(100 * j + i));
  }
}

}  // namespace

TEST_CASE("transpose: rows become columns, for every square that registers hold") {
  check<float, 2>();
  check<float, 4>();
  check<float, 8>();
  check<float, 16>();
  check<double, 2>();
  check<double, 8>();
}
