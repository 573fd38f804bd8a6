// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/hash.hpp>

#include <doctest/doctest.h>

#include <deviate/number/code.hpp>
#include <deviate/number/named.hpp>

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <unordered_set>

namespace dv = deviate;

namespace {

/// Equal numbers hash equal; of n different ones at least nine in ten have hashes of their own.
template <class T>
void check_every_code() {
  const std::hash<T> hash;
  std::unordered_set<T> numbers;
  std::unordered_set<std::size_t> hashes;
  constexpr dv::format f = T::number_format;
  for (std::uint64_t code = 0; code < std::uint64_t(1) << f.width(); ++code) {
    const T x(dv::decode(code, f));
    const auto [at, inserted] = numbers.insert(x);
    if (x != x) continue;
    if (!inserted) CHECK(hash(*at) == hash(x));
    CHECK(numbers.contains(x));
    hashes.insert(hash(x));
  }
  CHECK(10 * hashes.size() >= 9 * (numbers.size() - 1));
  CHECK(hash(T(0.0)) == hash(T(-0.0)));
  const T nan(std::numeric_limits<double>::quiet_NaN());
  CHECK(hash(nan) == hash(-nan));
}

}  // namespace

TEST_CASE("hash: equal numbers hash equal, others mostly not: every code") {
  check_every_code<dv::fp16>();
  check_every_code<dv::fp8_e4m3>();
  check_every_code<dv::fp8_e5m2_fnuz>();
  check_every_code<dv::emulated<dv::format{9, 2}>>();
}

TEST_CASE("hash: double_double and E8M0") {
  const std::hash<dv::double_double> hash;
  CHECK(hash(0.0) == hash(-0.0));
  const auto a = dv::double_double::from_sum(1, 0x1p-80), b = dv::double_double::from_sum(1, -0x1p-80);
  CHECK(hash(a) == hash(dv::double_double::from_sum(0x1p-80, 1)));
  CHECK(hash(a) != hash(b));
  CHECK(hash(dv::double_double::from_parts(1, 0.0)) == hash(dv::double_double::from_parts(1, -0.0)));
  CHECK(((a <=> b) == std::partial_ordering::greater && (b <=> a) < 0 && (a <=> a) == 0));
  CHECK((a <=> dv::double_double(std::numeric_limits<double>::quiet_NaN())) == std::partial_ordering::unordered);
  std::unordered_map<dv::e8m0, int> scales;
  for (int code = 0; code < 256; ++code) scales[dv::e8m0::from_code(std::uint8_t(code))] = code;
  CHECK(scales.size() == 256);
  CHECK(scales[dv::e8m0()] == 127);
}
