// SPDX-License-Identifier: Apache-2.0
/// \file rounding.hpp
/// \brief Rounding a carrier to a format: to nearest even, subnormals, overflow and NaN included, without a branch.
#pragma once

#include <deviate/number/format.hpp>
#include <deviate/number/lanes.hpp>
#include <limits>
#include <type_traits>

namespace deviate {

/// \brief IEEE format of a native floating-point type.
template <class C>
inline constexpr format native_format = std::is_same_v<C, float> ? binary32 : binary64;

/// \brief The constants with which values of a carrier are rounded to a format, at compile time or at run time.
/// \tparam C carrier, float or double
template <class C>
struct rounding_constants {
  using U = detail::same_size_unsigned<C>;  ///< the carrier's bits

  int shift = 0;          ///< fraction bits to drop
  U lowest = 0;           ///< 1 if bits are dropped: selects the last kept bit for the tie
  U half_less_one = 0;    ///< half of the last kept bit, less one unit of the carrier
  U keep = ~U(0);         ///< mask of the kept bits
  C smallest_normal = 0;  ///< below it the spacing is fixed
  C fixed_spacing = 0;    ///< adding and subtracting it rounds to the subnormals' spacing; 0 with `flush`
  C largest = 0;          ///< largest finite number
  C overflowed = 0;       ///< what a finite value beyond it becomes
  C from_infinity = 0;    ///< what an infinite value becomes
  bool flush = false;     ///< subnormals become zero
  bool subnormals_as_carrier =
      false;                         ///< the carrier's own subnormals already have this format's spacing after masking
  bool overflow_as_carrier = false;  ///< the carry of masking already gives infinity where this format does

  constexpr rounding_constants() = default;
  /// \pre f is a subset of the carrier's format
  constexpr explicit rounding_constants(const format& f) {
    constexpr format carrier = native_format<C>;
    constexpr C infinite = std::numeric_limits<C>::infinity();
    constexpr C not_a_number = std::numeric_limits<C>::quiet_NaN();
    shift = carrier.fraction_bits - f.fraction_bits;
    lowest = shift > 0 ? 1 : 0;
    half_less_one = shift > 0 ? (U(1) << (shift - 1)) - 1 : 0;
    keep = ~((U(1) << shift) - 1);
    smallest_normal = C(f.min_normal());
    fixed_spacing = C(format::scaled(1, f.quantum_exponent() + carrier.fraction_bits));
    largest = C(f.max_finite());
    flush = f.subnormals == subnormal_rule::flush;
    switch (f.overflow) {
      case overflow_rule::infinity: overflowed = from_infinity = f.has_infinity() ? infinite : not_a_number; break;
      case overflow_rule::nan: overflowed = from_infinity = not_a_number; break;
      case overflow_rule::saturate: overflowed = from_infinity = largest; break;
      case overflow_rule::saturate_finite:
        overflowed = largest;
        from_infinity = f.has_infinity() ? infinite : not_a_number;
        break;
    }
    subnormals_as_carrier = !flush && f.min_exponent() == carrier.min_exponent();
    overflow_as_carrier =
        f.overflow == overflow_rule::infinity && f.has_infinity() && f.exponent_bits == carrier.exponent_bits;
  }
};

namespace detail {

/// Rounds lanes of a carrier; with constant `c` everything that cannot happen folds away.
template <class L>
DEVIATE_HD L round_lanes(const L& x, const rounding_constants<lane_value<L>>& c) {
  using C = lane_value<L>;
  using U = same_size_unsigned<C>;
  using B = lanes<U, lane_width<L>>;
  constexpr U sign_bit = U(1) << (8 * sizeof(U) - 1);
  const B u = bits(x);
  const B sign = u & broadcast<B>(sign_bit);
  const B magnitude_bits = u ^ sign;
  const B last = (magnitude_bits >> c.shift) & broadcast<B>(c.lowest);
  // Half the last place, a little less unless the last kept bit is odd: the carry rounds to nearest even, and runs on
  // into the exponent where the significand overflows.
  L r = from_bits((magnitude_bits + broadcast<B>(c.half_less_one) + last) & broadcast<B>(c.keep));
  const L magnitude = from_bits(magnitude_bits);
  if (!c.subnormals_as_carrier) {
    const L spacing = broadcast<L>(c.fixed_spacing);
    const L subnormal = c.flush ? broadcast<L>(C(0)) : (magnitude + spacing) - spacing;
    r = select(magnitude < broadcast<L>(c.smallest_normal), subnormal, r);
  }
  if (!c.overflow_as_carrier) {
    const L finite_overflow = select(r > broadcast<L>(c.largest), broadcast<L>(c.overflowed), r);
    r = select(magnitude > broadcast<L>(std::numeric_limits<C>::max()), broadcast<L>(c.from_infinity), finite_overflow);
  }
  r = from_bits(bits(r) | sign);
  // A NaN may have been carried to infinity or to a number: one canonical NaN, whatever the payload was.
  return select((x != x) | (r != r), broadcast<L>(std::numeric_limits<C>::quiet_NaN()), r);
}

}  // namespace detail

/// \brief Rounds lanes of float or double to a format fixed at compile time.
/// \tparam F the format; a subset of the carrier's
/// \param x any value; a NaN becomes the canonical quiet NaN
/// \return the nearest number of F, ties to even, in the same carrier. Exact: one rounding of the value given.
///
/// Runs on host and device with the same bits. tests/number/rounding.cpp holds it to MPFR, exhaustively where F is
/// small.
template <format F, class L>
DEVIATE_HD L round_to(const L& x) {
  static_assert(F.subset_of(native_format<lane_value<L>>), "the carrier cannot hold every number of the format");
  constexpr rounding_constants<lane_value<L>> c{F};
  return detail::round_lanes(x, c);
}

/// \brief Rounds lanes of float or double with constants chosen at run time; the same bits as `round_to`.
template <class L>
DEVIATE_HD L round_to(const L& x, const rounding_constants<lane_value<L>>& c) {
  return detail::round_lanes(x, c);
}

}  // namespace deviate
