// SPDX-License-Identifier: Apache-2.0
/// \file exp_fma.hpp
/// \brief exp and exp2 in single precision throughout, of multiply-adds, as device code computes them.
///
/// They show what an ordinary single-precision exp contributes to a deviation; `exp` and `exp2` of exp.hpp, computed in
/// double, are correctly rounded.
#pragma once

#include <deviate/config.hpp>
#include <deviate/math/detail/fused.hpp>
#include <deviate/number/lanes.hpp>

#include <cstdint>

namespace deviate::math {

namespace detail {

/// \brief e^r for |r| ≤ ln 2 / 2, relative error 2^−26.4 (tests/math/coefficients.py).
struct exp_fma_polynomial {
  static constexpr int degree = 6;
  static DEVIATE_HD constexpr float coefficient(int n) {
    constexpr float all[7] = {1.0f, 1.0f, 0.5f, 0x1.5554dcp-3f, 0x1.55551ap-5f, 0x1.120b6ep-7f, 0x1.6d110ap-10f};
    return all[n];
  }
};

/// \brief 2^f for |f| ≤ 1/2, relative error 2^−26.7 (tests/math/coefficients.py).
struct exp2_fma_polynomial {
  static constexpr int degree = 6;
  static DEVIATE_HD constexpr float coefficient(int n) {
    constexpr float all[7] = {1.0f,           0x1.62e430p-1f,  0x1.ebfbe0p-3f, 0x1.c6af6cp-5f,
                              0x1.3b2a54p-7f, 0x1.5f0890p-10f, 0x1.44138ap-13f};
    return all[n];
  }
};

}  // namespace detail

/// \brief e^x in float: argument reduction in two fused steps, a polynomial of degree 6 by Horner's rule.
/// \tparam L lanes of float: `float` or `pack<float, W>`
/// \param x any value
/// \return e^x; exp(±0) = 1, exp(−∞) = +0, exp(+∞) = +∞, exp(NaN) = the positive quiet NaN without payload; overflow to
///   +∞, subnormal results kept
///
/// Accuracy: 0.98 ulp at most over all 2^32 floats (subnormal results included, in units of 2^−149), 0.88 over all
/// numbers of FP16 and BF16. Held by tests/math/exp_fma.cpp, with the bits, which are the same on every host and device.
/// Reference: W. J. Cody and W. Waite, Software Manual for the Elementary Functions (1980), ch. 6.
template <detail::lanes_over<float> L>
DEVIATE_HD L exp_fma(const L& x) {
  const L y = detail::between(x, -104.0f, 89.0f);
  const L magic = broadcast<L>(detail::round_float_to_integer);
  const L shifted = detail::fused(y, broadcast<L>(0x1.715476p+0f), magic);
  const L n = shifted - magic;
  // ln 2 = the first 17 bits + the rest.
  const L coarse = detail::fused(n, broadcast<L>(-0x1.62e4p-1f), y);
  const L r = detail::fused(n, broadcast<L>(-0x1.7f7d1cp-20f), coarse);
  const L p = detail::fused_horner<detail::exp_fma_polynomial>(r);
  return detail::canonical_nan_where_nan(x, detail::scaled(p, bits(shifted) - bits(magic)));
}

/// \brief 2^x in float: the nearest integer to the exponent, a polynomial of degree 6 by Horner's rule.
/// \tparam L lanes of float: `float` or `pack<float, W>`
/// \param x any value
/// \return 2^x, exact for integers; exp2(−∞) = +0, exp2(+∞) = +∞, exp2(NaN) = the positive quiet NaN without payload;
///   overflow to +∞, subnormal results kept
///
/// Accuracy: 0.92 ulp at most over all 2^32 floats (subnormal results included, in units of 2^−149), 0.80 over all
/// numbers of FP16 and BF16. Held by tests/math/exp_fma.cpp, with the bits, which are the same on every host and device.
template <detail::lanes_over<float> L>
DEVIATE_HD L exp2_fma(const L& x) {
  const L y = detail::between(x, -151.0f, 129.0f);
  const L magic = broadcast<L>(detail::round_float_to_integer);
  const L shifted = y + magic;
  const L p = detail::fused_horner<detail::exp2_fma_polynomial>(y - (shifted - magic));
  return detail::canonical_nan_where_nan(x, detail::scaled(p, bits(shifted) - bits(magic)));
}

}  // namespace deviate::math
