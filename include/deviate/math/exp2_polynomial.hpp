// SPDX-License-Identifier: Apache-2.0
/// \file exp2_polynomial.hpp
/// \brief exp2 as FlashAttention-4 computes it on the multiply-add units: a polynomial of degree 1 to 5 in the fraction.
///
/// It exists to be measured, not to be accurate; `exp2` of exp.hpp is correctly rounded.
/// Reference: T. Zadouri et al., FlashAttention-4 (2026), arXiv 2603.05451, the section on exponential emulation.
#pragma once

#include <deviate/config.hpp>
#include <deviate/math/detail/fused.hpp>
#include <deviate/number/lanes.hpp>

#include <cstdint>

namespace deviate::math {

/// \brief The polynomial in f that stands for 2^f on [0, 1), with constant term 1, so that integers are exact.
///
/// Degrees 3 and 5 are those published with FlashAttention-4. The others minimise the largest relative error with the
/// constant term held at 1 (a Remez exchange: tests/math/exp2_coefficients.py), their coefficients then rounded to
/// float; for degree 3 the same construction gives 8.56e-5, the published one 8.77e-5.
/// \tparam Degree 1 to 5
template <int Degree>
struct exp2_polynomial_of {
  static_assert(Degree >= 1 && Degree <= 5, "polynomials of degree 1 to 5 are tabulated; bring another as a type");
  static constexpr int degree = Degree;  ///< highest power
  /// \brief Factor of f^n.
  static DEVIATE_HD constexpr float coefficient(int n) {
    constexpr float all[5][6] = {
        {1, 0x1.d8dc72p-1f},
        {1, 0x1.54f8d6p-1f, 0x1.51d9ccp-2f},
        {1, 0.695146143436431884765625f, 0.227564394474029541015625f, 0.077119089663028717041015625f},
        {1, 0x1.62d6c6p-1f, 0x1.ee2450p-3f, 0x1.abf868p-5f, 0x1.b7f730p-7f},
        {1, 0.693151414394378662109375f, 0.24016360938549041748046875f, 5.5802188813686370849609375e-2f,
         9.01452265679836273193359375e-3f, 1.86810153536498546600341796875e-3f}};
    return all[Degree - 1][n];
  }
};

/// \brief The straight line of least relative error when its value at 0 is free: a(1 + f), a = 2/(1 + 2/(e·ln 2)).
///
/// Its error, 2.98e-2, is the one that is usually quoted for degree 1. No power of two is exact: 2^0 is 0.97018.
struct exp2_line {
  static constexpr int degree = 1;  ///< highest power
  /// \brief Factor of f^n.
  static DEVIATE_HD constexpr float coefficient(int) { return 0x1.f0bb46p-1f; }
};

/// \brief 2^x: the fraction of x through a polynomial, its floor added to the exponent.
///
///     x = max(x, −127);  s = x + (2^23 + 2^22), rounded down;  f = x − (s − (2^23 + 2^22))
///     p = polynomial(f) by Horner's rule, each step one fused multiply-add;  result = bits(p) + (s << 23)
///
/// \tparam Polynomial has `degree` and `static constexpr float coefficient(int n)`; its values on [0, 1] are in
///   [1/2, 2], at least 1 if results below 2^−126 matter
/// \tparam L lanes of float: `float` or `pack<float, W>`
/// \param x any value; the published kernels have x ≤ 127
/// \return for −126 ≤ x < 128, 2^x with the polynomial's error and a few roundings; from −126 to −127 the exponent field is
///   0 and the result is (p − 1)·2^−126 instead of p·2^−127, as on the device, then +0. What the kernels leave open is
///   decided here: from 128 on +∞, and NaN gives the positive quiet NaN (their maximum drops it).
///
/// f is rounded to nearest: for −2^−25 ≤ x < 0 it is 1, and the polynomial's value there, below 2, is the result's
/// significand. The fused multiply-add is correctly rounded without an instruction for it, so host, device, every width
/// and every flag give the same bits: held by tests/math/exp2_polynomial.cpp.
template <class Polynomial, detail::lanes_over<float> L>
DEVIATE_HD L exp2_by(const L& x) {
  using Bits = detail::float_bits<L>;
  const L top = broadcast<L>(128.0f), lowest = broadcast<L>(-127.0f);
  const L magic = broadcast<L>(detail::round_float_to_integer);
  const L above = select(x < lowest, lowest, x);
  const L y = select(above < top, above, lowest);
  // Rounding down is rounding to nearest, less one where that went up: all these integers are exact.
  const L nearest = y + magic;
  const Bits went_up =
      select((nearest - magic) > y, broadcast<Bits>(std::uint32_t{1}), broadcast<Bits>(std::uint32_t{0}));
  const Bits shifted = bits(nearest) - went_up;
  const L fraction = y - (from_bits(shifted) - magic);
  const L power = from_bits(bits(detail::fused_horner<Polynomial>(fraction)) + (shifted << 23));
  const L infinity = broadcast<L>(from_bits(std::uint32_t{0x7f800000}));
  return detail::canonical_nan_where_nan(x, select(x >= top, infinity, power));
}

/// \brief 2^x by the polynomial of a degree: `exp2_by<exp2_polynomial_of<Degree>>`.
/// \tparam Degree 1 to 5
/// \tparam L lanes of float: `float` or `pack<float, W>`
///
/// Largest relative error over all floats −126 ≤ x < 128: 3.83e-2, 2.06e-3, 8.78e-5, 2.98e-6 and 1.57e-7 for degrees 1 to
/// 5. Over the multiples of 2^−22 in [0, 1), where x − floor(x) is exact, 3.82e-2, 2.05e-3, 8.77e-5, 2.95e-6 and 1.44e-7,
/// and in the mean 2.39e-2, 1.30e-3, 5.43e-5, 1.84e-6 and 5.48e-8. Degree 3 then rounded to BF16: 3.90e-3 and, in the mean,
/// 1.41e-3. Held by tests/math/exp2_polynomial.cpp.
template <int Degree, detail::lanes_over<float> L>
DEVIATE_HD L exp2_polynomial(const L& x) {
  return exp2_by<exp2_polynomial_of<Degree>>(x);
}

}  // namespace deviate::math
