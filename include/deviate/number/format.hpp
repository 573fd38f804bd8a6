// SPDX-License-Identifier: Apache-2.0
/// \file format.hpp
/// \brief What a binary floating-point format is, as a value: it can be a template argument or be chosen at run time.
#pragma once

#include <cstdint>
#include <deviate/config.hpp>

namespace deviate {

/// \brief Which codes of a format are not finite numbers.
enum class special_values : std::uint8_t {
  ieee,         ///< the largest exponent code holds ±infinity (fraction 0) and NaNs (the rest), as in IEEE 754
  nan_only,     ///< only the all-ones code is NaN, there is no infinity: OCP FP8 E4M3 ("fn")
  finite_only,  ///< every code is a finite number: OCP FP6 and FP4. What overflows saturates unless `overflow` says NaN.
  ///< No code holds a NaN: the carrier keeps it, so that an invalid result is seen, not taken for a number
  negative_zero_nan,  ///< the code of −0 is the only NaN, there is no infinity and no −0: the "fnuz" FP8 formats
};

/// \brief What a result beyond the largest finite number becomes.
enum class overflow_rule : std::uint8_t {
  infinity,  ///< ±infinity; NaN in formats without it, and the largest finite number where there is no NaN either
  nan,       ///< NaN, the non-saturating rule of OCP FP8; an infinite operand of a conversion becomes NaN as well
  saturate,  ///< ± the largest finite number, for infinite inputs of a conversion too
  saturate_finite,  ///< ± the largest finite number; an infinite input stays infinite, or becomes NaN where there is
                    ///< none
};

/// \brief What happens below the smallest normal number.
enum class subnormal_rule : std::uint8_t {
  gradual,  ///< subnormals are numbers of the format
  flush,    ///< every value below the smallest normal number becomes zero of its sign
};

/// \brief Which number of the format stands for a value between two of them.
enum class rounding_mode : std::uint8_t {
  nearest_even,  ///< the nearer one; of two equally near, the one with an even last bit
  nearest_away,  ///< the nearer one; of two equally near, the larger magnitude
  toward_zero,   ///< the smaller magnitude
  upward,        ///< the larger one
  downward,      ///< the smaller one
  to_odd,        ///< the one with an odd last bit: a second, coarser rounding then is one rounding
  stochastic,    ///< the larger magnitude with the probability by which the value lies towards it: stochastic.hpp
};

/// \brief True for the modes that take the nearer number.
constexpr bool is_nearest(rounding_mode mode) {
  return mode == rounding_mode::nearest_even || mode == rounding_mode::nearest_away;
}

/// \brief A binary floating-point format: the set of its numbers, and what happens outside the set.
///
/// The numbers are ±f·2^(e − fraction_bits) with f < 2^(fraction_bits + 1) and e between `min_exponent` and
/// `max_exponent`.
///
/// Underflow: a result below the smallest normal number is rounded to the spacing of the subnormals in the format's
/// mode; where they are flushed it becomes zero of its sign in every mode, as flushing hardware does.
/// Overflow (IEEE 754-2019, 7.4): a result that the mode rounds beyond the largest finite number ends as `overflow`
/// says. `toward_zero` and `to_odd` never round there, nor does `upward` below zero or `downward` above: they give the
/// largest finite number of that sign, with every overflow rule. An infinite value is not an overflow: no mode changes
/// it, `overflow` alone says what it becomes.
/// \pre 2 ≤ exponent_bits ≤ 11, 1 ≤ fraction_bits ≤ 52
struct format {
  int exponent_bits = 8;                             ///< width of the exponent field: 2 to 11
  int fraction_bits = 23;                            ///< width of the fraction field, without the hidden bit: 1 to 52
  special_values specials = special_values::ieee;    ///< which codes are not finite numbers
  overflow_rule overflow = overflow_rule::infinity;  ///< what lies beyond the largest number
  subnormal_rule subnormals = subnormal_rule::gradual;   ///< what lies below the smallest normal number
  rounding_mode rounding = rounding_mode::nearest_even;  ///< what stands for a value between two numbers
  int bias_offset = 0;  ///< what the exponent bias has beyond IEEE's: 1 in the fnuz FP8 formats

  /// \brief Equal in every field: the same numbers may be described by different formats.
  friend constexpr bool operator==(const format&, const format&) = default;

  /// \brief Significand bits, the hidden one included: p in the literature.
  constexpr int precision() const { return fraction_bits + 1; }
  /// \brief Exponent bias: 2^(exponent_bits − 1) − 1 + bias_offset.
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1 + bias_offset; }
  /// \brief Exponent of the smallest normal number, 2^min_exponent.
  constexpr int min_exponent() const { return 1 - bias(); }
  /// \brief Exponent of the largest finite number.
  constexpr int max_exponent() const {
    return (1 << exponent_bits) - (specials == special_values::ieee ? 2 : 1) - bias();
  }
  /// \brief Exponent of the spacing of subnormals (and of the smallest normals): the smallest positive number is 2 to
  /// it.
  constexpr int quantum_exponent() const { return min_exponent() - fraction_bits; }
  /// \brief Largest finite number, exactly.
  constexpr double max_finite() const {
    // All-ones significand, less one unit where that code is NaN.
    const double ulps = double((std::uint64_t(2) << fraction_bits) - (specials == special_values::nan_only ? 2 : 1));
    return scaled(ulps, max_exponent() - fraction_bits);
  }
  /// \brief Smallest positive normal number.
  constexpr double min_normal() const { return scaled(1, min_exponent()); }
  /// \brief Smallest positive number: subnormal where those are kept.
  constexpr double min_positive() const {
    return subnormals == subnormal_rule::flush ? min_normal() : scaled(1, quantum_exponent());
  }
  /// \brief Distance from 1 to the next larger number.
  constexpr double epsilon() const { return scaled(1, -fraction_bits); }
  /// \brief Width of a code in bits: sign, exponent, fraction.
  constexpr int width() const { return 1 + exponent_bits + fraction_bits; }
  /// \brief True if infinity is a number of the format.
  constexpr bool has_infinity() const { return specials == special_values::ieee; }
  /// \brief True if a code holds NaN.
  constexpr bool has_nan() const { return specials != special_values::finite_only; }
  /// \brief True if −0 is a number of the format, apart from +0.
  constexpr bool has_negative_zero() const { return specials != special_values::negative_zero_nan; }
  /// \brief The same numbers, rounded in another mode.
  constexpr format rounded(rounding_mode mode) const {
    format f = *this;
    f.rounding = mode;
    return f;
  }

  /// \brief True if every number of this format is a number of `other`, NaN apart.
  constexpr bool subset_of(const format& other) const {
    return fraction_bits <= other.fraction_bits && exponent_bits <= other.exponent_bits &&
           quantum_exponent() >= other.quantum_exponent() && max_finite() <= other.max_finite() &&
           (other.subnormals == subnormal_rule::gradual ||
            (subnormals == subnormal_rule::flush ? min_exponent() : quantum_exponent()) >= other.min_exponent()) &&
           (!has_infinity() || other.has_infinity()) && (!has_negative_zero() || other.has_negative_zero());
  }

  /// \brief x·2^e by exact steps, for constants; std::ldexp is not constexpr in C++20.
  static constexpr double scaled(double x, int e) {
    for (; e > 0; --e) x *= 2;
    for (; e < 0; ++e) x /= 2;
    return x;
  }
};

/// \brief IEEE binary32 and binary64 as formats.
inline constexpr format binary32{8, 23};   ///< float
inline constexpr format binary64{11, 52};  ///< double

/// \brief True if `+ − × ÷ √` computed in `working` and rounded again to `target` equal one rounding of the exact
/// result.
///
/// For operands in a p-bit target and a q-bit working format, both rounded to nearest, q ≥ 2p + 2 suffices (S. A.
/// Figueroa, "When is double rounding innocuous?", 1995; P. Roux, "Innocuous Double Rounding of Basic Arithmetic
/// Operations", 2014) where nothing underflows. A product that underflows in the working format keeps fewer bits, so
/// the working format must also hold every 2p-bit product down to half the target's quantum: quantum(target) − 1 − (2p
/// − 1) ≥ quantum(working). bf16 in binary32 just passes, tf32 does not. Where an overflow and an infinite operand end
/// differently, no result of finite operands may become infinite in the working format. Fused multiply-add is never
/// covered: its exact result has up to 3p bits and unbounded gaps. tests/number/format.cpp tries every pair of small
/// formats.
///
/// The theorem rests on the working result being a midpoint of the target only where the exact result is: how the
/// target then breaks the tie is its own affair, so it covers `nearest_even` and `nearest_away`. The other modes decide
/// at the target's numbers, which an inexact result may reach in the working format: they are never covered.
constexpr bool double_rounding_is_innocuous(const format& target, const format& working) {
  return is_nearest(target.rounding) && working.precision() >= 2 * target.precision() + 2 &&
         target.subset_of(working) &&
         target.quantum_exponent() - 2 * target.precision() >= working.quantum_exponent() &&
         (target.overflow != overflow_rule::saturate_finite ||
          // The largest product and the largest quotient lie below 2 to these.
          (2 * (target.max_exponent() + 1) <= working.max_exponent() + 1 &&
           target.max_exponent() + 1 - target.quantum_exponent() <= working.max_exponent() + 1));
}

}  // namespace deviate
