// SPDX-License-Identifier: Apache-2.0
// One fused addition of a matrix unit.
#pragma once

#include <cstdint>
#include <deviate/accumulate/unit_rounding.hpp>
#include <deviate/number/exact.hpp>
#include <deviate/number/format.hpp>
#include <limits>
#include <type_traits>

namespace deviate::accumulate::detail {

/// The exponent that zeros have, and the smallest that a fused addition aligns to.
inline constexpr int zero_exponent = -126;

/// A term and the exponent that it brings to the alignment.
struct unit_term {
  double value;
  int exponent;
};

/// ⌊log₂ |x|⌋ of a normal double; far below every other exponent for a smaller one.
DEVIATE_HD int exponent_of(double x) { return int(bits(x) >> 52 & 0x7ff) - 1023; }

/// A plain number brings the exponent of its value, an exact_product that of its factors.
template <class T>
DEVIATE_HD unit_term as_term(const T& x) {
  if constexpr (requires { x.factor_exponents(); }) {
    return {double(x), x.factor_exponents()};
  } else {
    static_assert(std::is_floating_point_v<T>, "the terms of a matrix unit are held in float, double or exact_product");
    return {double(x), exponent_of(double(x))};
  }
}

/// x ÷ 2^unit, truncated toward zero. \pre |x| < 2^(unit + 52)
DEVIATE_HD std::int64_t truncated(double x, int unit) {
  const std::uint64_t u = bits(x);
  const int shift = unit - (exponent_of(x) - 52);
  if (shift > 52) return 0;
  const std::uint64_t one = std::uint64_t(1) << 52;
  const std::int64_t magnitude = std::int64_t(((u & (one - 1)) | one) >> shift);
  return (u >> 63) != 0 ? -magnitude : magnitude;
}

/// n·2^unit, rounded to a format within float; beyond its largest number, infinite. \pre |n| < 2^53
template <format F, unit_rounding Rounding>
DEVIATE_HD float normalised(std::int64_t n, int unit) {
  std::int64_t kept = n < 0 ? -n : n;
  if (kept == 0) return 0;
  const int by_width = exponent_of(double(kept)) + 1 - F.precision(), by_quantum = F.quantum_exponent() - unit;
  const int drop = by_width > by_quantum ? by_width : by_quantum;
  if (drop > 54) return 0;
  if (drop > 0) {
    const std::int64_t rest = kept & ((std::int64_t(1) << drop) - 1), half = std::int64_t(1) << (drop - 1);
    kept >>= drop;
    unit += drop;
    if (Rounding == unit_rounding::nearest_even && (rest > half || (rest == half && (kept & 1) != 0))) ++kept;
    if (kept == 0) return 0;
  }
  constexpr double largest = F.max_finite();
  // 2^unit alone exceeds every float from 2^128 on.
  const double magnitude =
      unit > 128 ? std::numeric_limits<double>::infinity() : double(kept) * from_bits(std::uint64_t(unit + 1023) << 52);
  const float r = magnitude > largest ? std::numeric_limits<float>::infinity() : float(magnitude);
  return n < 0 ? -r : r;
}

template <format F, int FractionBits, unit_rounding Rounding>
DEVIATE_HD float fused_add(float sum, const unit_term* term, int count) {
  const double start = sum;
  int largest = zero_exponent;
  if (start != 0) {
    const int exponent = exponent_of(start) < F.min_exponent() ? F.min_exponent() : exponent_of(start);
    if (exponent > largest) largest = exponent;
  }
  bool finite = deviate::detail::is_finite(start);
  double special = finite ? 0 : start;
  for (int i = 0; i < count; ++i) {
    if (!deviate::detail::is_finite(term[i].value)) {
      finite = false;
      special += term[i].value;
    }
    if (term[i].value != 0 && term[i].exponent > largest) largest = term[i].exponent;
  }
  if (!finite) return special == special ? float(special) : std::numeric_limits<float>::quiet_NaN();

  const int unit = largest - FractionBits;
  std::int64_t aligned = truncated(start, unit);
  for (int i = 0; i < count; ++i) aligned += truncated(term[i].value, unit);
  return normalised<F, Rounding>(aligned, unit);
}

}  // namespace deviate::accumulate::detail
