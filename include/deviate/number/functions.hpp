// SPDX-License-Identifier: Apache-2.0
/// \file functions.hpp
/// \brief What generic code expects beside the operators: assignments, and the exact ones of the C library's functions.
#pragma once

#include <deviate/number/arithmetic.hpp>

namespace deviate {

// clang-format off
/// \name Assignments of emulated numbers
/// @{

/// \brief The operation, rounded once, into x.
template <format F> DEVIATE_HD emulated<F>& operator+=(emulated<F>& x, const emulated<F>& y) { return x = x + y; }
template <format F> DEVIATE_HD emulated<F>& operator-=(emulated<F>& x, const emulated<F>& y) { return x = x - y; }
template <format F> DEVIATE_HD emulated<F>& operator*=(emulated<F>& x, const emulated<F>& y) { return x = x * y; }
template <format F> DEVIATE_HD emulated<F>& operator/=(emulated<F>& x, const emulated<F>& y) { return x = x / y; }
/// @}
/// \name Classes and magnitudes of emulated numbers
/// @{

/// \brief As for the carrier.
template <format F> DEVIATE_HD constexpr bool isnan(const emulated<F>& x) { return x.carrier() != x.carrier(); }
template <format F> DEVIATE_HD constexpr bool isfinite(const emulated<F>& x) { return x.carrier() - x.carrier() == 0; }
template <format F> DEVIATE_HD constexpr bool isinf(const emulated<F>& x) { return !isfinite(x) && !isnan(x); }
template <format F> DEVIATE_HD constexpr bool signbit(const emulated<F>& x) { return bits(double(x)) >> 63 != 0; }
/// \brief |x|, exact; +0 for −0, and NaN for NaN.
template <format F> DEVIATE_HD constexpr emulated<F> abs(const emulated<F>& x) { return !isnan(x) && signbit(x) ? -x : x; }
/// @}
// clang-format on

}  // namespace deviate
