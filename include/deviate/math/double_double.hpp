// SPDX-License-Identifier: Apache-2.0
/// \file math/double_double.hpp
/// \brief exp, exp2 and log of double_double, found by argument-dependent lookup, on host and device.
#pragma once

#include <deviate/config.hpp>
#include <deviate/number/double_double.hpp>

#include <cmath>
#include <concepts>
#include <limits>

namespace deviate {

namespace detail {

/// ln 2 as its first 42 bits, whose product with an exponent is exact in double, and a double_double of the rest.
inline constexpr double ln2_first_bits = 0x1.62e42fefa3800p-1;
DEVIATE_HD constexpr double_double ln2_rest() {
  return double_double::from_parts(0x1.ef35793c76730p-45, 0x1.f97b57a079a19p-103);
}
DEVIATE_HD constexpr double_double ln2() {
  return double_double::from_parts(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56);
}

/// \brief Σ cₙ·xⁿ for n = 0, 1, …: the terms of `leading` in double_double, those of `tail`, whose part of the sum is
/// below 2^−52, in double.
template <int Leading, int Tail>
DEVIATE_HD double_double polynomial(const double_double& x, const double (&leading)[Leading][2],
                                    const double (&tail)[Tail]) {
  double sum = tail[Tail - 1];
  for (int n = Tail - 2; n >= 0; --n) sum = tail[n] + x.hi() * sum;
  double_double r = sum;
  for (int n = Leading - 1; n >= 0; --n) r = double_double::from_parts(leading[n][0], leading[n][1]) + x * r;
  return r;
}

/// \brief e^r for |r| ≤ 0.35, by its Taylor series: the first term left out is below 2^−121.
DEVIATE_HD double_double exp_of_reduced(const double_double& r) {
  // 1/n! for n = 2 … 13, and for n = 14 … 24.
  constexpr double leading[12][2] = {{0x1.0000000000000p-1, 0x0.0p+0},
                                     {0x1.5555555555555p-3, 0x1.5555555555555p-57},
                                     {0x1.5555555555555p-5, 0x1.5555555555555p-59},
                                     {0x1.1111111111111p-7, 0x1.1111111111111p-63},
                                     {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
                                     {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
                                     {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
                                     {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
                                     {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
                                     {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
                                     {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
                                     {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87}};
  constexpr double tail[11] = {0x1.93974a8c07c9dp-37, 0x1.ae7f3e733b81fp-41, 0x1.ae7f3e733b81fp-45,
                               0x1.952c77030ad4ap-49, 0x1.6827863b97d97p-53, 0x1.2f49b46814157p-57,
                               0x1.e542ba4020225p-62, 0x1.71b8ef6dcf572p-66, 0x1.0ce396db7f853p-70,
                               0x1.761b41316381ap-75, 0x1.f2cf01972f578p-80};
  return double_double(1) + (r + r * r * polynomial(r, leading, tail));
}

/// \brief log(m) for √½ ≤ m < √2, as 2·artanh s with s = (m − 1)/(m + 1), |s| < 0.1716: the first term left out is
/// below 2^−111 of the result, which keeps its relative accuracy where m is near 1.
DEVIATE_HD double_double log_of_reduced(const double_double& m) {
  // 1/(2n + 1) for n = 1 … 9, and for n = 10 … 21.
  constexpr double leading[9][2] = {
      {0x1.5555555555555p-2, 0x1.5555555555555p-56},  {0x1.999999999999ap-3, -0x1.999999999999ap-57},
      {0x1.2492492492492p-3, 0x1.2492492492492p-57},  {0x1.c71c71c71c71cp-4, 0x1.c71c71c71c71cp-58},
      {0x1.745d1745d1746p-4, -0x1.745d1745d1746p-59}, {0x1.3b13b13b13b14p-4, -0x1.3b13b13b13b14p-58},
      {0x1.1111111111111p-4, 0x1.1111111111111p-60},  {0x1.e1e1e1e1e1e1ep-5, 0x1.e1e1e1e1e1e1ep-61},
      {0x1.af286bca1af28p-5, 0x1.af286bca1af28p-59}};
  constexpr double tail[12] = {0x1.8618618618618p-5, 0x1.642c8590b2164p-5, 0x1.47ae147ae147bp-5, 0x1.2f684bda12f68p-5,
                               0x1.1a7b9611a7b96p-5, 0x1.0842108421084p-5, 0x1.f07c1f07c1f08p-6, 0x1.d41d41d41d41dp-6,
                               0x1.bacf914c1bad0p-6, 0x1.a41a41a41a41ap-6, 0x1.8f9c18f9c18fap-6, 0x1.7d05f417d05f4p-6};
  // m − 1 is the sum of two doubles, hence exact.
  const double_double f = double_double::from_sum(m.hi() - 1, m.lo());
  const double_double s = f / (double_double(2) + f);
  const double_double z = s * s;
  const double_double twice = ldexp(s, 1);
  return twice + twice * z * polynomial(z, leading, tail);
}

}  // namespace detail

// The templates below take a double_double and nothing that merely converts to one: exp(1.0) is not theirs.

/// \brief e^x.
/// \return exp(±0) = 1, exp(−∞) = +0, exp(+∞) = +∞, exp(NaN) = NaN; from 709.78… on +∞, below −745.14 +0
///
/// Relative error at most 2^−103 for x ≥ −620; below, where the lo part leaves the range of double, 2^−1074 more. Held
/// by tests/number/double_double.cpp against MPFR. Runs on host and device with the same bits.
/// Reference: W. J. Cody and W. Waite, Software Manual for the Elementary Functions (1980), ch. 6: argument reduction.
template <std::same_as<double_double> T>
DEVIATE_HD T exp(const T& x) {
  if (isnan(x)) return x;
  if (x.hi() > 0x1.62e42fefa39efp+9) return std::numeric_limits<T>::infinity();
  if (x.hi() < -746) return 0;
  const double n = std::rint(x.hi() * 0x1.71547652b82fep+0);
  // Exact: the difference of the hi parts by the choice of ln2_first_bits, the sum as a sum of two doubles.
  const T coarse = T::from_sum(x.hi() - n * detail::ln2_first_bits, x.lo());
  return ldexp(detail::exp_of_reduced(coarse - T(n) * detail::ln2_rest()), int(n));
}

/// \brief 2^x.
/// \return exact for integers; exp2(±0) = 1, exp2(−∞) = +0, exp2(+∞) = +∞, exp2(NaN) = NaN; from 1024 on +∞, below
///   −1075 +0
///
/// Relative error at most 2^−103 for x ≥ −900; below, as for exp. Held by the same test.
template <std::same_as<double_double> T>
DEVIATE_HD T exp2(const T& x) {
  if (isnan(x)) return x;
  if (x.hi() >= 1024) return std::numeric_limits<T>::infinity();
  if (x.hi() < -1076) return 0;
  const double n = std::rint(x.hi());
  return ldexp(detail::exp_of_reduced(T::from_sum(x.hi() - n, x.lo()) * detail::ln2()), int(n));
}

/// \brief The natural logarithm of x.
/// \return log(1) = +0, log(±0) = −∞, log(+∞) = +∞; NaN of a negative number and of NaN
///
/// Relative error at most 2^−102 for every x > 2^−900, near 1 as well. Held by tests/number/double_double.cpp against
/// MPFR. Runs on host and device with the same bits.
template <std::same_as<double_double> T>
DEVIATE_HD T log(const T& x) {
  if (x.hi() == 0) return -std::numeric_limits<T>::infinity();
  if (!(x.hi() > 0)) return std::numeric_limits<T>::quiet_NaN();
  if (isinf(x)) return x;
  int n = 0;
  // x = 2^n·m with √½ ≤ m < √2, to within the lo part.
  if (std::frexp(x.hi(), &n) < 0x1.6a09e667f3bcdp-1) --n;
  const T log_m = detail::log_of_reduced(ldexp(x, -n));
  return T(n * detail::ln2_first_bits) + (T(n) * detail::ln2_rest() + log_m);
}

}  // namespace deviate
