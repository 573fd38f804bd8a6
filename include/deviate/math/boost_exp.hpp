// SPDX-License-Identifier: Apache-2.0
/// \file boost_exp.hpp
/// \brief exp and exp2 by Boost.Multiprecision, correctly rounded to any scalar: the reference for the others.
// host only
#pragma once

#include <deviate/number/arithmetic.hpp>
#include <deviate/number/boost.hpp>

#include <cmath>
#include <type_traits>

namespace deviate::math {

namespace detail {

/// \brief e^x or 2^x of a double in a Boost number. Beyond ±800 and ±1200 every format of a double has over- or
/// underflowed, and Boost's exponents must not.
template <class Real>
struct boost_power {
  static Real exp(double x) { return Real(boost::multiprecision::exp(Real(x < -800 ? -800 : x > 800 ? 800 : x))); }
  static Real exp2(double x) {
    const double y = x < -1200 ? -1200 : x > 1200 ? 1200 : x, n = std::floor(y);
    const Real log2 = boost::multiprecision::log(Real(2));
    return Real(boost::multiprecision::ldexp(Real(boost::multiprecision::exp(Real((Real(y) - n) * log2))), int(n)));
  }
};

/// \brief The value that lies within `relative` of y, rounded to S; `decided` tells whether that is one number of S.
template <class S, class Real>
carrier_of<S> round_near(const Real& y, const Real& relative, bool& decided) {
  const rounding_site<S> site;
  const auto below = site.round(fragment<Real>{Real(y * (1 - relative))}).value;
  const auto above = site.round(fragment<Real>{Real(y * (1 + relative))}).value;
  decided = bits(below) == bits(above);
  return above;
}

/// \brief Ziv's strategy: 50 digits, and 100 where 50 leave the rounding open. Boost is within 2^12 of its units.
template <class S, class Function50, class Function100>
carrier_of<S> round_in_two_steps(double x, Function50 of_50, Function100 of_100) {
  bool decided = false;
  const auto near = round_near<S>(of_50(x), real50(boost::multiprecision::ldexp(real50(1), -150)), decided);
  if (decided) return near;
  return rounding_site<S>{}.round(fragment<real100>{of_100(x)}).value;
}

template <class S>
double exact_double(const S& x) {
  if constexpr (requires { x.carrier(); })
    return double(x.carrier());
  else
    return double(x);
}
template <class S>
S exact_scalar(const carrier_of<S>& x) {
  if constexpr (std::is_same_v<S, carrier_of<S>>)
    return x;
  else
    return S::from_carrier(x);
}

}  // namespace detail

/// \brief e^x, correctly rounded to S.
/// \tparam S float, double or an emulated number
/// \param x any value
/// \return e^x rounded once, by the rule of S where it overflows; exp(±0) = 1, exp(−∞) = +0, NaN of NaN
///
/// Computed with 50 digits, and with 100 where those leave the rounding open (A. Ziv, 1991); the value is never a number
/// of S nor a midpoint but at 0, because e^x is transcendental. Held by tests/math/boost_exp.cpp: every FP16 and BF16
/// input, and floats and doubles, against MPFR. Host only: some ten
/// microseconds a call.
template <class S>
S exp_exact(const S& x) {
  const double v = detail::exact_double(x);
  if (v != v || v == 0)
    return detail::exact_scalar<S>(rounding_site<S>{}.round(fragment<double>{v == 0 ? 1.0 : v}).value);
  return detail::exact_scalar<S>(
      detail::round_in_two_steps<S>(v, detail::boost_power<real50>::exp, detail::boost_power<real100>::exp));
}

/// \brief 2^x, correctly rounded to S.
/// \tparam S float, double or an emulated number
/// \param x any value
/// \return 2^x rounded once, by the rule of S where it overflows; exact for integers, exp2(−∞) = +0, NaN of NaN
///
/// As exp_exact; for an integer x the value is a power of two, and for any other it is irrational.
template <class S>
S exp2_exact(const S& x) {
  const double v = detail::exact_double(x);
  if (v != v) return detail::exact_scalar<S>(rounding_site<S>{}.round(fragment<double>{v}).value);
  if (v == std::floor(v)) {
    const int exponent = int(v < -1200 ? -1200 : v > 1200 ? 1200 : v);
    const real50 power = boost::multiprecision::ldexp(real50(1), exponent);
    return detail::exact_scalar<S>(rounding_site<S>{}.round(fragment<real50>{power}).value);
  }
  return detail::exact_scalar<S>(
      detail::round_in_two_steps<S>(v, detail::boost_power<real50>::exp2, detail::boost_power<real100>::exp2));
}

}  // namespace deviate::math
