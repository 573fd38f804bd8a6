// SPDX-License-Identifier: Apache-2.0
// Arrays that sorting may find hard, and an order of numbers to sort them by that knows nothing of bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "generator.hpp"

namespace deviation_test {

// x before y: smaller, or a negative zero before a positive one.
template <class T>
bool less_or_minus_zero(T x, T y) {
  return x < y || (x == y && std::signbit(x) && !std::signbit(y));
}

template <class T>
bool same_bits(std::span<const T> x, std::span<const T> y) {
  return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size_bytes()) == 0);
}

// Any bit pattern but NaN's: subnormals, zeros and infinities of both signs are among them.
template <class T>
std::vector<T> random_patterns(std::uint64_t seed, std::size_t n) {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  generator g(seed);
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    do x[i] = std::bit_cast<T>(bits(g.bits() << 40 ^ g.bits() << 20 ^ g.bits()));
    while (std::isnan(x[i]));
    const T special[] = {T(0),
                         -T(0),
                         std::numeric_limits<T>::infinity(),
                         -std::numeric_limits<T>::infinity(),
                         std::numeric_limits<T>::denorm_min(),
                         -std::numeric_limits<T>::denorm_min(),
                         std::numeric_limits<T>::max()};
    if (const std::size_t which = g.bits() % 64; which < std::size(special)) x[i] = special[which];
  }
  return x;
}

// Few different values, each many times.
template <class T>
std::vector<T> ties(std::uint64_t seed, std::size_t n) {
  std::vector<T> x(n);
  generator g(seed);
  for (T& v : x) v = T(int(g.bits() % 7) - 3) / 4;
  return x;
}

}  // namespace deviation_test
