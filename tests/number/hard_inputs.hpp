// SPDX-License-Identifier: Apache-2.0
/// \file hard_inputs.hpp
/// \brief Values that are hard to round: on and beside midpoints and numbers of a format, at the ends of its range,
/// special.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deviate/number/rounding.hpp>
#include <limits>
#include <vector>

#include "number/oracle.hpp"

namespace oracle {

/// The format as the compiler cannot know it.
[[gnu::noinline]] inline deviate::format at_run_time(deviate::format f) {
  volatile int exponent_bits = f.exponent_bits;
  f.exponent_bits = exponent_bits;
  return f;
}

/// A float or double on a midpoint of the format, on a number of it, or a little beside, at any exponent.
template <class C>
C near_midpoint(const limits& of, words& random) {
  constexpr int fraction = deviate::native_format<C>.fraction_bits;
  constexpr long bias = deviate::native_format<C>.bias();
  const long exponent = random.next() % 4 == 0
                            ? (random.next() & 1 ? of.max_exponent : of.min_exponent) + random.between(-2, 2)
                            : random.between(of.quantum_exponent - 3, of.max_exponent + 2);
  const long code = std::clamp(exponent + bias, 0L, 2 * bias);
  const long kept = std::min(of.precision, exponent - of.quantum_exponent + 1) - 1;
  std::uint64_t significand = 0;  // the fraction field
  if (kept >= 0 && kept < fraction) {
    const std::uint64_t unit = std::uint64_t(1) << (fraction - kept);
    if (kept > 0 && random.next() % 8 != 0) significand = random.next() >> (64 - kept) << (fraction - kept);
    if (random.next() % 8 == 0) significand = (std::uint64_t(1) << fraction) - unit;
    if (random.next() % 4 != 0) significand |= unit / 2;
  } else if (kept >= fraction) {
    significand = random.next() >> (64 - fraction);
  }
  using U = deviate::detail::same_size_unsigned<C>;
  U u = U(std::uint64_t(code) << fraction | significand);
  switch (random.next() % 6) {
    case 0: break;
    case 1: u = U(u + 1); break;
    case 2: u = U(u - (u != 0)); break;
    case 3: u = U(u + (U(1) << random.between(0, fraction - 1))); break;
    case 4: u = U(u - std::min(u, U(U(1) << random.between(0, fraction - 1)))); break;
    default: u = U(u ^ (random.next() >> (64 - fraction / 2))); break;
  }
  const C x = deviate::from_bits(u);
  return random.next() & 1 ? -x : x;
}

/// Values at which something special happens in some format, with their neighbours, both signs and odd NaNs.
template <class C>
std::vector<C> special_inputs() {
  std::vector<C> all;
  using range = std::numeric_limits<C>;
  for (C x : {C(0),          range::denorm_min(),
              range::min(),  C(1),
              C(448),        C(464),
              C(480),        C(65504),
              C(65520),      C(61440),
              C(57344),      C(0x1.fep127),
              C(0x1.ffp127), C(0x1p-133),
              C(0x1p-134),   C(0x1p-126),
              C(0x1p-14),    C(0x1p-24),
              C(0x1p-25),    C(0x1p-9),
              C(0x1p-10),    C(0x1p-6),
              range::max(),  range::infinity()})
    for (C y : {x, std::nextafter(x, C(0)), std::nextafter(x, range::infinity())}) {
      all.push_back(y);
      all.push_back(-y);
    }
  for (std::uint32_t u : {0x7F800001u, 0x7FFFFFFFu, 0xFFC00000u, 0x7FC00000u, 0xFF800001u, 0xFFFFFFFFu, 0x7FBFFFFFu}) {
    if constexpr (sizeof(C) == 4)
      all.push_back(deviate::from_bits(u));
    else
      // The same sign, exponent and extremes of the payload in double.
      all.push_back(deviate::from_bits((std::uint64_t(u) << 32 & 0xFFF8000000000000u) | 0x7FF0000000000000u |
                                       ((u & 1) != 0 ? (u & 2) != 0 ? 0x7FFFFFFFFFFFFu : 1u : 0x8000000000000u)));
  }
  return all;
}

}  // namespace oracle
