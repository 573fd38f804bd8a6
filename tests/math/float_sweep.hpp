// SPDX-License-Identifier: Apache-2.0
/// \file float_sweep.hpp
/// \brief Measures a function of float against a result in double, over floats by bit pattern.
///
/// A function under test F is described by a type with
///   template <class L> static L call(const L& x)        ours, for lanes of float
///   template <class L> static L reference(const L& x)   lanes of double, within 0.63 ulp (its own test holds that)
#pragma once

#include "fixed_inputs.hpp"

#include <deviate/number/lanes.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace oracle {

/// \brief What a sweep found.
struct float_errors {
  double largest_ulp = 0;         ///< of finite results, subnormal ones included, in spacings of float around the value
  float worst = 0;                ///< the input that has it
  double largest_relative = 0;    ///< of results that are 2^−126 or more
  std::uint64_t wrong_class = 0;  ///< results that are not NaN, +∞ or finite and ≥ 0 as they should be
  float first_wrong = 0;          ///< its first input

  /// \brief Takes one result y for x into account; v is the exact value.
  void add(float x, float y, double v) {
    const bool nan = std::isnan(v), overflows = v >= 0x1.ffffffp127;
    const bool right = nan         ? deviate::bits(y) == 0x7fc00000u
                       : overflows ? y == std::numeric_limits<float>::infinity()
                                   : std::isfinite(y) && y >= 0;
    // Where the value is within half an ulp of overflow, an approximation may overflow.
    const bool close = v >= 0x1.fffffep127 && y >= std::numeric_limits<float>::max();
    if (!right && !close && wrong_class++ == 0) first_wrong = x;
    if (nan || !std::isfinite(v) || !std::isfinite(y)) return;
    int exponent = 0;
    std::frexp(v, &exponent);
    const double error = std::fabs(double(y) - v);
    const double ulp = std::ldexp(error, -(exponent - 1 < -126 ? -149 : exponent - 24));
    if (ulp > largest_ulp) {
      largest_ulp = ulp;
      worst = x;
    }
    if (v >= 0x1p-126 && error > largest_relative * v) largest_relative = error / v;
  }
};

/// \brief F at every `stride`-th bit pattern of float, in packs of 16.
///
/// The error of lanes is first bounded in vectors; only lanes that exceed what was found go through `add`.
template <class F>
float_errors sweep_bits(std::uint32_t stride) {
  constexpr int W = 16;
  using D = deviate::pack<double, W>;
  using B = deviate::pack<std::uint64_t, W>;
  const D smallest = deviate::broadcast<D>(0x1p-126), limit = deviate::broadcast<D>(0x1p127);
  float_errors found;
  for (std::uint64_t first = 0; first < (std::uint64_t{1} << 32); first += std::uint64_t{W} * stride) {
    deviate::pack<std::uint32_t, W> pattern;
    for (int i = 0; i < W; ++i) pattern.set(i, std::uint32_t(first + std::uint64_t(i) * stride));
    const auto x = deviate::from_bits(pattern);
    const auto y = F::call(x);
    const D v = F::reference(deviate::convert_lanes<double>(x));
    const D difference = deviate::convert_lanes<double>(y) - v;
    const D size = deviate::from_bits(deviate::bits(difference) & deviate::broadcast<B>(~std::uint64_t{0} >> 1));
    // The spacing around v is 2^−23 of the power of two below it.
    const D power = deviate::from_bits(deviate::bits(deviate::select(v < smallest, smallest, v)) &
                                       deviate::broadcast<B>(0x7ff0000000000000u));
    const auto ordinary = (size <= power * deviate::broadcast<D>(found.largest_ulp * 0x1p-23)) &
                          (size <= v * deviate::broadcast<D>(found.largest_relative)) & (v < limit) &
                          (v >= deviate::broadcast<D>(0.0));
    const auto tiny = (v < smallest) & (size <= power * deviate::broadcast<D>(found.largest_ulp * 0x1p-23));
    // A quarter of all floats: infinite, as they should be.
    const D infinite = deviate::broadcast<D>(std::numeric_limits<double>::infinity());
    const auto overflowed = (v > deviate::broadcast<D>(0x1p129)) & (deviate::convert_lanes<double>(y) == infinite);
    const auto quiet = ordinary | tiny | overflowed;
    if (!deviate::any(!quiet)) continue;
    for (int i = 0; i < W; ++i) found.add(x[i], y[i], v[i]);
  }
  return found;
}

/// \brief F at every number of FP16 and of BF16, all of which are floats.
template <class F>
float_errors sweep_16_bits() {
  float_errors found;
  const auto add = [&](float x) { found.add(x, F::call(x), F::reference(double(x))); };
  for (std::uint32_t code = 0; code < 65536; ++code) {
    add(deviate::from_bits(code << 16));
    const std::uint32_t exponent = code >> 10 & 31, fraction = code & 1023;
    const float magnitude =
        exponent == 31  ? fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity()
         : exponent == 0 ? std::ldexp(float(fraction), -24)
                        : std::ldexp(float(1024 + fraction), int(exponent) - 25);
    add(code & 0x8000 ? -magnitude : magnitude);
  }
  return found;
}

/// \brief Number of inputs for which some pack of floats differs in its bits from the plain call.
template <class F>
int float_pack_differences(const std::vector<double>& inputs) {
  return pack_differences<F, float, 2>(inputs) + pack_differences<F, float, 4>(inputs) +
         pack_differences<F, float, 8>(inputs) + pack_differences<F, float, 16>(inputs);
}

/// \brief Hash of the float results for the inputs.
template <class F>
std::uint64_t float_hash_of(const std::vector<double>& inputs) {
  fnv1a hash;
  for (const double x : inputs) hash.add(F::call(float(x)));
  return hash.value();
}

}  // namespace oracle
