// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/pack.hpp>

#include <doctest/doctest.h>

#include <bit>

#include "number/oracle.hpp"

namespace dv = deviate;

namespace {

static_assert(sizeof(dv::pack<float, 8>) == 32 && sizeof(dv::pack<double, 16>) == 128 &&
              sizeof(dv::pack<float, 2>) == 8);
static_assert(std::is_trivially_copyable_v<dv::pack<float, 8>>);
static_assert(std::is_same_v<dv::pack_mask<double, 4>, dv::pack<std::int64_t, 4>>);
static_assert(dv::pack<float, 16>::parts * dv::pack<float, 16>::part_lanes == 16);

template <class T>
using word = dv::detail::same_size_unsigned<T>;

/// Any bits: NaNs, infinities, zeros and subnormals are among them.
template <class T>
T any_value(oracle::words& random) {
  const auto u = word<T>(random.next());
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T chosen[] = {T(0),
                            -T(0),
                            T(1),
                            std::numeric_limits<T>::infinity(),
                            std::numeric_limits<T>::quiet_NaN(),
                            std::numeric_limits<T>::denorm_min()};
    if (random.next() % 4 == 0) return chosen[random.next() % 6];
    return std::bit_cast<T>(u);
  } else {
    return T(u);
  }
}

/// Bits of a result, all NaNs alike: which of two NaN operands survives is the compiler's choice.
template <class T>
word<T> settled(T x) {
  return x != x ? std::bit_cast<word<T>>(std::numeric_limits<T>::quiet_NaN()) : std::bit_cast<word<T>>(x);
}

template <class T, int W, class Check>
void with_lanes(Check check) {
  oracle::words random(8);
  for (int i = 0; i < 2000; ++i) {
    dv::pack<T, W> a, b;
    T x[W], y[W];
    for (int lane = 0; lane < W; ++lane) {
      a.set(lane, x[lane] = any_value<T>(random));
      b.set(lane, y[lane] = random.next() % 8 == 0 ? x[lane] : any_value<T>(random));
    }
    check(a, b, x, y);
  }
}

template <class T, int W>
void check_floating() {
  bool right = true;
  with_lanes<T, W>([&](const auto& a, const auto& b, const T* x, const T* y) {
    const auto sum = a + b, difference = a - b, product = a * b, quotient = a / b, negative = -a;
    const auto less = a<b, greater = a> b, at_most = a <= b, at_least = a >= b, equal = a == b, unequal = a != b;
    for (int i = 0; i < W; ++i) {
      right = right && settled(a[i]) == settled(x[i]) && settled(sum[i]) == settled(x[i] + y[i]) &&
              settled(difference[i]) == settled(x[i] - y[i]) && settled(product[i]) == settled(x[i] * y[i]) &&
              settled(quotient[i]) == settled(x[i] / y[i]) &&
              std::bit_cast<word<T>>(negative[i]) == (std::bit_cast<word<T>>(x[i]) ^ word<T>(1) << (8 * sizeof(T) - 1));
      right = right && less[i] == -(x[i] < y[i]) && greater[i] == -(x[i] > y[i]) && at_most[i] == -(x[i] <= y[i]) &&
              at_least[i] == -(x[i] >= y[i]) && equal[i] == -(x[i] == y[i]) && unequal[i] == -(x[i] != y[i]);
    }
  });
  CHECK(right);
}

template <class T, int W>
void check_integer() {
  bool right = true;
  with_lanes<T, W>([&](const auto& a, const auto& b, const T* x, const T* y) {
    const auto both = a & b, either = a | b, one = a ^ b, complement = ~a, denied = !a, down = a >> 5, up = a << 7;
    for (int i = 0; i < W; ++i)
      right = right && both[i] == (x[i] & y[i]) && either[i] == (x[i] | y[i]) && one[i] == (x[i] ^ y[i]) &&
              complement[i] == T(~x[i]) && denied[i] == T(~x[i]) && down[i] == T(x[i] >> 5) && up[i] == T(x[i] << 7);
  });
  CHECK(right);
}

template <int W>
void check_width() {
  check_floating<float, W>();
  check_floating<double, W>();
  check_integer<std::uint32_t, W>();
  check_integer<std::uint64_t, W>();
}

}  // namespace

TEST_CASE("each lane of an operation is the operation on the lane, whatever the machine's vectors are") {
  check_width<2>();
  check_width<4>();
  check_width<8>();
  check_width<16>();
}

TEST_CASE("setting a lane leaves the others") {
  dv::pack<double, 8> x;
  for (int i = 0; i < 8; ++i) x.set(i, i);
  x.set(5, -1);
  for (int i = 0; i < 8; ++i) CHECK(x[i] == (i == 5 ? -1 : i));
}
