// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/lanes.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "number/oracle.hpp"

namespace dv = deviate;

namespace {

static_assert(std::is_same_v<dv::lanes<float, 1>, float> && std::is_same_v<dv::lanes<float, 4>, dv::pack<float, 4>>);
static_assert(std::is_same_v<dv::lane_value<double>, double> &&
              std::is_same_v<dv::lane_value<dv::pack<double, 4>>, double>);
static_assert(dv::lane_width<float> == 1 && dv::lane_width<dv::pack<float, 16>> == 16);
static_assert(dv::bits(1.0f) == 0x3F800000u && dv::from_bits(std::uint64_t(0x4000000000000000u)) == 2.0);

template <class T>
constexpr T specials[] = {T(0),
                          -T(0),
                          T(1.1),
                          T(-2.5),
                          std::numeric_limits<T>::infinity(),
                          -std::numeric_limits<T>::infinity(),
                          std::numeric_limits<T>::quiet_NaN(),
                          -std::numeric_limits<T>::quiet_NaN(),
                          std::numeric_limits<T>::denorm_min(),
                          -std::numeric_limits<T>::denorm_min(),
                          std::numeric_limits<T>::max(),
                          T(1 + 0x1p-24),
                          T(0x1p-149),
                          T(0x1p-150),
                          T(3 * 0x1p-150),
                          T(0x1.ffffffp127)};

template <class T, int W>
void check_broadcast() {
  for (T x : specials<T>) {
    const auto all = dv::broadcast<dv::lanes<T, W>>(x);
    for (int i = 0; i < W; ++i) CHECK(dv::bits(all[i]) == dv::bits(x));
  }
}

template <class To, class From, int W>
void check_convert() {
  constexpr int count = int(sizeof(specials<From>) / sizeof(From));
  for (int start = 0; start < count; ++start) {
    dv::pack<From, W> x;
    for (int i = 0; i < W; ++i) x.set(i, specials<From>[(start + i) % count]);
    const auto y = dv::convert_lanes<To>(x);
    for (int i = 0; i < W; ++i) CHECK(dv::bits(y[i]) == dv::bits(To(x[i])));
  }
}

template <int W>
void check_width() {
  check_broadcast<float, W>();
  check_broadcast<double, W>();
  check_convert<float, double, W>();
  check_convert<double, float, W>();
  check_convert<double, double, W>();
}

}  // namespace

TEST_CASE("broadcast and conversion keep every bit of every lane, signs of zeros and NaNs included") {
  check_width<2>();
  check_width<4>();
  check_width<8>();
  check_width<16>();
  CHECK(dv::broadcast<float>(-0.0f) == 0);
  CHECK(dv::broadcast<dv::pack<std::uint64_t, 4>>(7u)[3] == 7);
}

// Not inlined, so that the compiler cannot compute it beforehand.
template <int W>
__attribute__((noinline)) void through_float(const double* from, double* to) {
  dv::pack<double, W> x;
  std::memcpy(&x, from, sizeof x);
  x = dv::convert_lanes<double>(dv::convert_lanes<float>(x + x));
  std::memcpy(to, &x, sizeof x);
}
template <int W>
void check_through_float() {
  double from[W], to[W];
  for (int i = 0; i < W; ++i) from[i] = 0.1 + i;
  through_float<W>(from, to);
  for (int i = 0; i < W; ++i) CHECK(to[i] == double(float(2 * from[i])));
}

TEST_CASE("narrowing that is widened again is not optimised away") {
  check_through_float<2>();
  check_through_float<4>();
  check_through_float<8>();
  check_through_float<16>();
}

TEST_CASE("narrowing is one rounding to nearest even, in a pack as for one value") {
  CHECK(dv::convert_lanes<float>(1 + 0x1p-24) == 1);
  CHECK(dv::convert_lanes<float>(1 + 3 * 0x1p-24) == 1 + 0x1p-22f);
  CHECK(dv::convert_lanes<float>(0x1p-150) == 0);
  CHECK(dv::convert_lanes<float>(3 * 0x1p-150) == 0x1p-148f);
}

TEST_CASE("select and any") {
  CHECK(dv::select(true, 1.0f, 2.0f) == 1);
  CHECK(dv::select(false, 1.0f, 2.0f) == 2);
  dv::pack<double, 4> a, b;
  for (int i = 0; i < 4; ++i) {
    a.set(i, i);
    b.set(i, 2.0);
  }
  const auto chosen = dv::select(a < b, a, -b);
  CHECK(chosen[0] == 0);
  CHECK(chosen[1] == 1);
  CHECK(chosen[2] == -2);
  CHECK(chosen[3] == -2);
  CHECK(dv::any(a < b));
  CHECK(dv::any(a == b));
  CHECK_FALSE(dv::any(a > dv::broadcast<dv::pack<double, 4>>(3.0)));
  CHECK(dv::any(true));
}

TEST_CASE("bits and from_bits are inverse, NaN payloads included") {
  oracle::words random(4);
  for (int i = 0; i < 1000; ++i) {
    dv::pack<std::uint32_t, 8> u;
    for (int lane = 0; lane < 8; ++lane) u.set(lane, std::uint32_t(random.next()) | (i % 2 ? 0x7F800000u : 0u));
    const auto back = dv::bits(dv::from_bits(u));
    for (int lane = 0; lane < 8; ++lane) REQUIRE(back[lane] == u[lane]);
  }
}

TEST_CASE("per_lane calls the function once for each lane") {
  dv::pack<float, 4> a, b;
  for (int i = 0; i < 4; ++i) {
    a.set(i, float(i));
    b.set(i, 10);
  }
  const auto sum = dv::per_lane([](float x, float y) { return double(x + y); }, a, b);
  static_assert(std::is_same_v<decltype(sum), const dv::pack<double, 4>>);
  for (int i = 0; i < 4; ++i) CHECK(sum[i] == 10 + i);
  CHECK(dv::per_lane([](float x) { return -x; }, 3.0f) == -3);
}

TEST_CASE("maximum: NaN on either side is the result; of two zeros, the first") {
  const auto check = []<class T>(T) {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    const T left[] = {1, 2, nan, 1, T(0), -T(0), -std::numeric_limits<T>::infinity(), nan};
    const T right[] = {2, 1, 1, nan, -T(0), T(0), -1, nan};
    dv::pack<T, 8> a, b;
    for (int i = 0; i < 8; ++i) {
      a.set(i, left[i]);
      b.set(i, right[i]);
    }
    const auto m = dv::maximum(a, b);
    for (int i = 0; i < 8; ++i) CHECK(dv::bits(m[i]) == dv::bits(dv::maximum(left[i], right[i])));
    CHECK(m[0] == 2);
    CHECK(m[1] == 2);
    CHECK(std::isnan(m[2]));
    CHECK(std::isnan(m[3]));
    CHECK_FALSE(std::signbit(m[4]));
    CHECK(std::signbit(m[5]));
    CHECK(m[6] == -1);
    CHECK(std::isnan(m[7]));
  };
  check(float{});
  check(double{});
}

template <int W>
void check_folds() {
  dv::pack<float, W> x;
  for (int i = 0; i < W; ++i) x.set(i, float(i + 1));
  // Neither commutative nor associative: the tree shows in the result.

  std::vector<float> halves, neighbours;
  for (int i = 0; i < W; ++i) halves.push_back(x[i]);
  neighbours = halves;
  for (std::size_t n = W / 2; n > 0; n /= 2)
    for (std::size_t i = 0; i < n; ++i) {
      halves[i] = 2 * halves[i] - halves[i + n];
      neighbours[i] = 2 * neighbours[2 * i] - neighbours[2 * i + 1];
    }
  const auto twice_less = [](const auto& a, const auto& b) {
    if constexpr (dv::lane_width<std::decay_t<decltype(a)>> == 1)
      return 2 * a - b;
    else
      return a + a - b;
  };
  CHECK(dv::fold(x, twice_less) == halves[0]);
  CHECK(dv::fold_neighbours(x, twice_less) == neighbours[0]);
  for (int i = 0; i < W / 2; ++i) {
    if constexpr (W > 2) {
      CHECK(dv::every_other<0>(x)[i] == float(2 * i + 1));
      CHECK(dv::every_other<1>(x)[i] == float(2 * i + 2));
    }
  }
  dv::pack<std::int32_t, W> mask = dv::broadcast<dv::pack<std::int32_t, W>>(0);
  CHECK(!dv::any(mask));
  for (int i = 0; i < W; ++i) {
    auto one = mask;
    one.set(i, -1);
    CHECK(dv::any(one));
  }
}

template <class T, int W>
void check_multiply_add() {
  oracle::words random(7);
  for (int round = 0; round < 200; ++round) {
    dv::pack<T, W> a, b, c;
    for (int i = 0; i < W; ++i) {
      a.set(i, T(double(random.next()) * 0x1p-64 - 0.5));
      b.set(i, T(double(random.next()) * 0x1p-64 - 0.5));
      c.set(i, -a[i] * b[i]);
    }
    const auto r = dv::multiply_add(a, b, c);
    // What the product lost is left: nothing, had it been rounded first.
    for (int i = 0; i < W; ++i) CHECK(r[i] == std::fma(a[i], b[i], c[i]));
  }
}

TEST_CASE("folds: halves and neighbours, the lower lane left, over one vector and several") {
  check_folds<2>();
  check_folds<4>();
  check_folds<16>();
  check_folds<32>();
}

TEST_CASE("multiply_add: one rounding in every lane") {
  check_multiply_add<float, 2>();
  check_multiply_add<float, 16>();
  check_multiply_add<float, 32>();
  check_multiply_add<double, 8>();
  check_multiply_add<double, 16>();
}
