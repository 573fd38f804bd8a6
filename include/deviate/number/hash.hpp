// SPDX-License-Identifier: Apache-2.0
/// \file hash.hpp
/// \brief std::hash of emulated numbers, double_double and E8M0: equal numbers have equal hashes, the two zeros included.
// host only
#pragma once

#include <deviate/number/double_double.hpp>
#include <deviate/number/e8m0.hpp>
#include <deviate/number/emulated.hpp>

#include <cstddef>
#include <functional>

/// \brief The hash of the carrier's value; all NaNs of a format have one.
template <deviate::format F>
struct std::hash<deviate::emulated<F>> {
  std::size_t operator()(const deviate::emulated<F>& x) const noexcept {
    return std::hash<typename deviate::emulated<F>::carrier_type>{}(x.carrier());
  }
};

/// \brief The hashes of both parts, mixed.
template <>
struct std::hash<deviate::double_double> {
  std::size_t operator()(const deviate::double_double& x) const noexcept {
    const std::size_t hi = std::hash<double>{}(x.hi());
    return hi ^ (std::hash<double>{}(x.lo()) + 0x9e3779b9 + (hi << 6) + (hi >> 2));
  }
};

/// \brief The code.
template <>
struct std::hash<deviate::e8m0> {
  std::size_t operator()(const deviate::e8m0& x) const noexcept { return x.code(); }
};
