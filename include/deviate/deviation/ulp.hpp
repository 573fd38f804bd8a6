// SPDX-License-Identifier: Apache-2.0
/// \file ulp.hpp
/// \brief Units in the last place of a stated format: the spacing at a value, the distance of two values, a histogram.
#pragma once

#include <deviate/number/format.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace deviate {

/// \brief Exact 2^e, subnormals included.
/// \pre −1074 ≤ e ≤ 1023
constexpr double power_of_two(int e) {
  return e >= -1022 ? std::bit_cast<double>(std::uint64_t(e + 1023) << 52)
                    : std::bit_cast<double>(std::uint64_t(1) << (e + 1074));
}

/// \brief The ulp of x in a format: the spacing of its numbers in the binade that holds |x|.
///
/// x need not be a number of the format. A power of two has the spacing above it. Decided cases:
/// - 2^e ≤ |x| < 2^(e+1), normal in the format: 2^(e − fraction_bits);
/// - below the smallest normal number, and at zero: the spacing of the subnormals, or, for a format that flushes them,
///   the smallest normal number, which is then the only neighbour of zero;
/// - above the largest finite number: the spacing if the exponent range went on;
/// - x infinite: +infinity; x NaN: NaN.
/// \param x any double
/// \param f the format in which one ulp is counted
/// \return the spacing, exactly; it is a power of two
constexpr double ulp(double x, const format& f) {
  const int biased = int((std::bit_cast<std::uint64_t>(x) >> 52) & 0x7ff);
  if (biased == 0x7ff) return x < 0 ? -x : x;  // NaN stays NaN, an infinity becomes +infinity
  const int e = biased - 1023;                 // a subnormal double lies below every format's smallest normal number
  if (e >= f.min_exponent()) return power_of_two(e - f.fraction_bits);
  return power_of_two(f.subnormals == subnormal_rule::flush ? f.min_exponent() : f.quantum_exponent());
}

/// \brief Distance of two values in ulps of the reference: |got − reference| / ulp(reference), not rounded to a whole.
///
/// Neither value need be a number of the format: against an unrounded reference a correctly rounded result lies within ½.
/// Decided cases: NaN on either side, NaN; equal infinities, 0; any other infinity, +infinity. The quotient is exact
/// except for the rounding of the difference; it is +infinity where it exceeds the largest double.
/// \param got the value that is judged
/// \param reference the value whose ulp is the unit
/// \param f the format in which ulps are counted
inline double ulp_distance(double got, double reference, const format& f) {
  if (std::isnan(got) || std::isnan(reference)) return std::numeric_limits<double>::quiet_NaN();
  if (got == reference) return 0;
  if (std::isinf(got) || std::isinf(reference)) return std::numeric_limits<double>::infinity();
  return std::fabs(got - reference) / ulp(reference, f);
}

/// \brief How many distances fall into each power-of-two bin: 0, (0, ½], (½, 1], (1, 2], (2, 4], …, (2^22, ∞].
struct ulp_histogram {
  /// \brief Number of bins, the one for 0 and the open one at the end included.
  static constexpr std::size_t bins = 26;

  std::array<std::int64_t, bins> counts{};  ///< distances in each bin

  /// \brief Largest distance that belongs to a bin: 0, ½, 1, 2, 4, … and +infinity for the last.
  static constexpr double upper(std::size_t bin) {
    if (bin == 0) return 0;
    return bin + 1 < bins ? power_of_two(int(bin) - 2) : std::numeric_limits<double>::infinity();
  }
  /// \brief The bin of a distance: the first whose upper end is not below it. NaN belongs to the last one.
  /// \pre distance ≥ 0, or NaN
  static constexpr std::size_t bin_of(double distance) {
    if (distance <= 0.5) return distance > 0 ? 1 : 0;
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(distance);
    const bool is_power_of_two = (bits << 12) == 0;
    const std::size_t bin = std::size_t(bits >> 52) + (is_power_of_two ? 2 : 3) - 1023;
    return bin < bins ? bin : bins - 1;
  }
  /// \brief Counts one distance.
  /// \pre distance ≥ 0, or NaN
  constexpr void add(double distance) { ++counts[bin_of(distance)]; }
  /// \brief Number of distances counted.
  constexpr std::int64_t total() const {
    std::int64_t sum = 0;
    for (const std::int64_t count : counts) sum += count;
    return sum;
  }

  /// \brief True if every bin holds as many.
  friend constexpr bool operator==(const ulp_histogram&, const ulp_histogram&) = default;
};

}  // namespace deviate
