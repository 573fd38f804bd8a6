// SPDX-License-Identifier: Apache-2.0
/// \file block_oracle.hpp
/// \brief What a block is worth, by comparisons of exact products: no quotient, no rounding, nothing of the library.
///
/// An element is the one whose neighbouring midpoints, times the scale, enclose the value. Midpoints of at most 9 bits
/// times scales of at most 28 are exact in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <deviate/number/block_format.hpp>
#include <vector>

#include "number/oracle.hpp"

namespace oracle {

/// \brief The magnitudes of an element, ascending from 0; two more beyond the end, to tell saturation.
class magnitudes {
 public:
  /// Floating point: every code of the format and of one with the same spacing and a wider range.
  explicit magnitudes(const deviate::format& f) {
    const limits of(f);
    for (std::uint64_t code = 0; code < std::uint64_t(1) << (f.width() - 1); ++code) {
      const double x = decoded(of, code);
      if (std::isfinite(x)) all_.push_back(x);
    }
    largest_ = all_.size() - 1;
    // The next one of the same binade, or the first of the next.
    const double step = std::ldexp(1.0, std::ilogb(all_.back()) - f.fraction_bits);
    all_.push_back(all_[largest_] + step);
  }
  /// Integers 0 to n.
  explicit magnitudes(int n) {
    for (int i = 0; i <= n + 1; ++i) all_.push_back(i);
    largest_ = std::size_t(n);
  }

  double largest() const { return all_[largest_]; }
  double smallest() const { return all_[1]; }

  struct answer {
    double element;
    bool saturated, flushed;
  };
  /// \brief x ÷ scale to nearest, ties to the even place of the list (its last bit is the code's) or away from zero.
  answer nearest(double x, double scale, bool ties_away) const {
    const double magnitude = std::fabs(x);
    std::size_t low = 0;
    // all_[i] is passed where x lies beyond the midpoint above it.
    for (std::size_t i = 0; i <= largest_; ++i) {
      const double middle = (all_[i] + all_[i + 1]) / 2 * scale;
      const bool passes = magnitude > middle || (magnitude == middle && (ties_away || i % 2 == 1));
      if (!passes) break;
      low = i + 1;
    }
    const bool saturated = low > largest_;
    const double element = all_[std::min(low, largest_)];
    return {std::copysign(element, x), saturated, element == 0 && x != 0};
  }

 private:
  std::vector<double> all_;
  std::size_t largest_ = 0;
};

/// \brief A float anywhere near 2^exponent; one in two is short, so that ties happen.
inline float block_value(words& random, long exponent, long spread) {
  const std::uint64_t w = random.next();
  const long e = exponent - long(random.next() % std::uint64_t(spread + 1));
  const double fraction = double(w & 1 ? w >> 60 << 20 : w >> 41 << 1) / 0x1p24;
  const double x = std::ldexp(1 + fraction, int(e));
  return float(w & 2 ? -x : x);
}

}  // namespace oracle
