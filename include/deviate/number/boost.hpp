// SPDX-License-Identifier: Apache-2.0
/// \file boost.hpp
/// \brief Numbers of 50 and 100 decimal digits from Boost.Multiprecision, as scalars.
///
/// They are for references: to show that a golden in double is exact enough. They never stand in for a narrow format:
/// `cpp_bin_float` has no subnormals, and with few bits it truncates where it should round. Everything is rounded
/// outside Boost, once. Works with Boost 1.81.
///
/// A Boost number is its own carrier, so the primary template of scalar_traits serves it; exp, log and sqrt are found
/// beside it: within 2^12 units in the last place for |x| ≤ 700 (tests/number/boost.cpp, against MPFR). The aliases
/// switch expression templates off, since generic code takes `auto` and `const T&` of expressions.
// host only
#pragma once

#include <deviate/number/arithmetic.hpp>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include <limits>

namespace deviate {

/// \brief A binary floating-point number of at least 50 decimal digits (168 bits) and an exponent of 32 bits.
using real50 = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>, boost::multiprecision::et_off>;
/// \brief A binary floating-point number of at least 100 decimal digits (334 bits) and an exponent of 32 bits.
using real100 = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<100>, boost::multiprecision::et_off>;

namespace detail {

/// x as a double to odd, whatever its magnitude. Boost's exponents exceed those of double, so the nearest double may be
/// 0 or infinite where x is neither; to odd it is the smallest or the largest finite double, whose last bit is one.
/// `static_cast<double>` of these numbers rounds to nearest even, subnormals included (tests/number/boost.cpp).
template <class Real>
double real_to_odd(const Real& x) {
  const double d = static_cast<double>(x);
  if (d == 0 && x != 0) {
    constexpr double smallest = std::numeric_limits<double>::denorm_min();
    return x < 0 ? -smallest : smallest;
  }
  if (!is_finite(d)) {
    if (!isfinite(x)) return d;
    return x < 0 ? -largest_double : largest_double;
  }
  const Real error = x - Real(d);
  return to_odd(d, error > 0 ? 1.0 : error < 0 ? -1.0 : 0.0);
}

template <>
inline double software_to_odd(const real50& x) {
  return real_to_odd(x);
}
template <>
inline double software_to_odd(const real100& x) {
  return real_to_odd(x);
}

}  // namespace detail

}  // namespace deviate
