// SPDX-License-Identifier: Apache-2.0
/// \file tracked_error.hpp
/// \brief rounded − exact, of one operation: in double by error-free transformations, else in the wider type itself.
#pragma once

#include <deviate/config.hpp>
#include <deviate/number/exact.hpp>

#include <cmath>
#include <type_traits>

namespace deviate::detail {

/// A double and what rounding to it has lost.
struct rounded_double {
  double value;
  double lost;
};
/// a + b (D. E. Knuth, "The Art of Computer Programming", volume 2, 4.2.2: 2Sum).
DEVIATE_HD rounded_double sum_and_lost(double a, double b) {
  const double s = a + b, of_a = s - b;
  return {s, (a - of_a) + (b - (s - of_a))};
}
/// a × b (T. J. Dekker, 1971, with a fused multiply-add).
DEVIATE_HD rounded_double product_and_lost(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}

template <class R>
DEVIATE_HD R root(const R& x) {
  if constexpr (std::is_same_v<R, double>) {
    return std::sqrt(x);
  } else {
    return R(sqrt(x));
  }
}

/// \name rounded − exact, where the operands are finite; else unspecified
/// @{
template <class R>
DEVIATE_HD R error_of_sum(const R& rounded, const R& a, const R& b) {
  if constexpr (std::is_same_v<R, double>) {
    const rounded_double s = sum_and_lost(a, b);
    return (rounded - s.value) - s.lost;
  } else {
    return rounded - (a + b);
  }
}
template <class R>
DEVIATE_HD R error_of_product(const R& rounded, const R& a, const R& b) {
  if constexpr (std::is_same_v<R, double>) {
    const rounded_double p = product_and_lost(a, b);
    return (rounded - p.value) - p.lost;
  } else {
    return rounded - a * b;
  }
}
/// Zero for a divisor that is infinite: the quotient is 0 exactly.
template <class R>
DEVIATE_HD R error_of_quotient(const R& rounded, const R& a, const R& b) {
  if (!is_finite(static_cast<double>(b))) return R(0);
  if constexpr (std::is_same_v<R, double>) {
    const rounded_double back = product_and_lost(rounded, b);
    return ((back.value - a) + back.lost) / b;
  } else {
    return rounded - a / b;
  }
}
template <class R>
DEVIATE_HD R error_of_fma(const R& rounded, const R& a, const R& b, const R& c) {
  if constexpr (std::is_same_v<R, double>) {
    const rounded_double p = product_and_lost(a, b), s = sum_and_lost(p.value, c);
    return ((rounded - s.value) - s.lost) - p.lost;
  } else {
    return rounded - (a * b + c);
  }
}
template <class R>
DEVIATE_HD R error_of_root(const R& rounded, const R& x) {
  const R nearest = root(x);
  if (nearest == R(0)) return rounded - nearest;
  if constexpr (std::is_same_v<R, double>) {
    const rounded_double square = product_and_lost(rounded, rounded);
    return ((square.value - x) + square.lost) / (rounded + nearest);
  } else {
    return rounded - nearest;
  }
}
/// @}

}  // namespace deviate::detail
