// SPDX-License-Identifier: Apache-2.0
/// \file perturbation.hpp
/// \brief Inputs moved by one ulp: how far results of equally good inputs lie apart.
#pragma once

#include <deviate/deviation/ulp.hpp>
#include <deviate/number/format.hpp>
#include <deviate/number/stochastic.hpp>
#include <deviate/tensor/tensor.hpp>

#include <cmath>
#include <cstdint>

namespace deviate {

/// \brief The number of a format next to x, above or below it.
///
/// Decided cases: zero moves to the smallest positive number or its negative; the smallest positive number moves to +0,
/// never to −0; the largest finite number, moved outwards, moves inwards instead, so that every result is finite; an
/// infinity or NaN stays. The neighbour of a power of two towards zero is half an ulp away, as the spacing there is.
/// \param x a number of the format
/// \param f the format; its rounding mode does not matter
/// \param up true for the next larger number, false for the next smaller
inline double neighbour(double x, const format& f, bool up) {
  if (!std::isfinite(x)) return x;
  const double magnitude = std::fabs(x);
  if (magnitude == 0) return up ? f.min_positive() : -f.min_positive();
  const bool outwards = up == (x > 0);
  const double outer = magnitude + ulp(magnitude, f);
  double moved = outer;
  if (!outwards || outer > f.max_finite()) {
    moved = magnitude - ulp(std::nextafter(magnitude, 0.0), f);
    if (moved < f.min_positive()) return 0;  // beyond the smallest normal number where subnormals are flushed, too
  }
  return std::copysign(moved, x);
}

/// \brief Every element moved to a neighbour in a format, up or down by a random sign.
///
/// The sign of element i is the top bit of `random_word(signs.seed(), i)`: the same for any order and any thread.
/// \param x numbers of the format
/// \param f the format
/// \param signs the stream of random words
inline tensor<double> moved_by_one_ulp(tensor<double> x, const format& f, const stochastic_rounder& signs) {
  std::uint64_t index = 0;
  for (double& value : x.values()) value = neighbour(value, f, random_word(signs.seed(), index++) >> 63 != 0);
  return x;
}

}  // namespace deviate
