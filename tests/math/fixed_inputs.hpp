// SPDX-License-Identifier: Apache-2.0
/// \file fixed_inputs.hpp
/// \brief What the tests of math/ share: inputs fixed by their bits, a hash of result bits, packs against plain values.
///
/// A function under test F is described by a type with
///   template <class L> static L call(const L& x)                          ours, for lanes of double and of float
///   static int exact(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t mode)           MPFR's, where there is MPFR
#pragma once

#include <doctest/doctest.h>

#include <deviate/number/lanes.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace oracle {

/// \brief Fixed pseudo-random 64-bit words (Steele, Lea and Flood, 2014: SplitMix64).
class words {
 public:
  explicit words(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// \brief A multiple of 2^−53 below 1, scaled to [low, high).
  double uniform(double low, double high) { return low + double(next() >> 11) * 0x1p-53 * (high - low); }

 private:
  std::uint64_t state_;
};

/// \brief 64-bit FNV-1a over the bytes of the bit patterns, least significant byte first.
class fnv1a {
 public:
  template <class T>
  void add(T value) {
    auto pattern = deviate::bits(value);
    for (std::size_t i = 0; i < sizeof pattern; ++i) {
      hash_ = (hash_ ^ std::uint64_t(pattern & 0xffu)) * 0x100000001b3u;
      pattern >>= 8;
    }
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

/// \brief Special values, their neighbours, arbitrary bit patterns, and `count` values in [low, high).
inline std::vector<double> fixed_inputs(std::size_t count, double low, double high) {
  using limits = std::numeric_limits<double>;
  std::vector<double> x = {0.0,
                           1.0,
                           limits::infinity(),
                           limits::quiet_NaN(),
                           limits::denorm_min(),
                           limits::min(),
                           limits::max(),
                           0.5,
                           2.0,
                           0x1p-54,
                           0x1.6a09e667f3bcdp-1,
                           0x1.6a09e667f3bcdp+0,
                           0x1.62e42fefa39efp+9,
                           0x1.62e42fefa39f0p+9,
                           0x1.6232bdd7abcd2p+9,
                           0x1.6232bdd7abcd3p+9,
                           0x1.74910d52d3051p+9,
                           745.5,
                           746.0,
                           1022.0,
                           1023.0,
                           1024.0,
                           1074.0,
                           1075.0,
                           1076.0,
                           1080.0,
                           0x1p52,
                           0x1p63,
                           0x1p64};
  const std::size_t specials = x.size();
  for (std::size_t i = 0; i < specials; ++i) {
    x.push_back(std::nextafter(x[i], 0.0));
    x.push_back(std::nextafter(x[i], limits::infinity()));
  }
  const std::size_t positives = x.size();
  for (std::size_t i = 0; i < positives; ++i) x.push_back(-x[i]);
  words random(20250722);
  for (std::size_t i = 0; i < count; ++i) {
    x.push_back(deviate::from_bits(random.next()));
    x.push_back(random.uniform(low, high));
  }
  while (x.size() % 16 != 0) x.push_back(1.0);
  return x;
}

/// \brief Number of inputs for which some pack of C differs in its bits from the plain call.
template <class F, class C, int W>
int pack_differences(const std::vector<double>& inputs) {
  int different = 0;
  // By way of memory: g++ 12 at -O2 drops the rounding where two doubles, narrowed, become a vector that is widened
  // again.
  const std::vector<C> rounded(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i + W <= rounded.size(); i += W) {
    deviate::pack<C, W> x;
    for (int lane = 0; lane < W; ++lane) x.set(lane, rounded[i + std::size_t(lane)]);
    const auto y = F::call(x);
    for (int lane = 0; lane < W; ++lane)
      if (deviate::bits(C(y[lane])) != deviate::bits(F::call(C(x[lane])))) ++different;
  }
  return different;
}
template <class F>
void check_packs(const std::vector<double>& inputs) {
  CHECK(pack_differences<F, double, 2>(inputs) == 0);
  CHECK(pack_differences<F, double, 4>(inputs) == 0);
  CHECK(pack_differences<F, double, 8>(inputs) == 0);
  CHECK(pack_differences<F, double, 16>(inputs) == 0);
  CHECK(pack_differences<F, float, 2>(inputs) == 0);
  CHECK(pack_differences<F, float, 4>(inputs) == 0);
  CHECK(pack_differences<F, float, 8>(inputs) == 0);
  CHECK(pack_differences<F, float, 16>(inputs) == 0);
}

/// \brief Hash of the double and float results for the inputs.
template <class F>
std::uint64_t hash_of(const std::vector<double>& inputs) {
  fnv1a hash;
  for (const double x : inputs) {
    hash.add(F::call(x));
    hash.add(F::call(float(x)));
  }
  return hash.value();
}

}  // namespace oracle
