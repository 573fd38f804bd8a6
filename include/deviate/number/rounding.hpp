// SPDX-License-Identifier: Apache-2.0
/// \file rounding.hpp
/// \brief Rounding a carrier to a format in its mode, subnormals, overflow and NaN included, without a branch.
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

  int shift = 0;           ///< fraction bits to drop
  U lowest = 0;            ///< 1 if bits are dropped: selects the last kept bit for the tie
  U half_less_one = 0;     ///< half of the last kept bit, less one unit of the carrier
  U keep = ~U(0);          ///< mask of the kept bits
  C smallest_normal = 0;   ///< below it the spacing is fixed
  C fixed_spacing = 0;     ///< adding and subtracting it rounds to the subnormals' spacing; 0 with `flush`
  C quantum = 0;           ///< the subnormals' spacing
  C largest = 0;           ///< largest finite number
  C overflowed = 0;        ///< what a finite value rounded beyond it becomes
  C overflowed_below = 0;  ///< the same below zero, as a magnitude: upward and downward treat the signs differently
  C from_infinity = 0;     ///< what an infinite value becomes
  rounding_mode rounding = rounding_mode::nearest_even;  ///< which neighbour is taken
  bool flush = false;                                    ///< subnormals become zero
  bool one_zero = false;                                 ///< −0 becomes +0
  bool subnormals_as_carrier =
      false;                         ///< the carrier's own subnormals already have this format's spacing after masking
  bool overflow_as_carrier = false;  ///< the carry of masking already gives infinity where this format does
  bool infinity_apart = false;       ///< an infinite value becomes something else than a finite overflow
  bool anchored = false;             ///< nearest even by adding and subtracting a multiple of the value's power of two
  C anchor = 0;                      ///< that multiple: the spacing of the sum is the format's
  C first_overflow = 0;              ///< smallest magnitude that nearest even rounds beyond the largest number

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
    quantum = C(format::scaled(1, f.quantum_exponent()));
    largest = C(f.max_finite());
    flush = f.subnormals == subnormal_rule::flush;
    rounding = f.rounding;
    one_zero = !f.has_negative_zero();
    const C beyond = f.has_infinity() ? infinite : f.has_nan() ? not_a_number : largest;
    switch (f.overflow) {
      case overflow_rule::infinity: overflowed = from_infinity = beyond; break;
      case overflow_rule::nan: overflowed = from_infinity = not_a_number; break;
      case overflow_rule::saturate: overflowed = from_infinity = largest; break;
      case overflow_rule::saturate_finite:
        overflowed = largest;
        from_infinity = f.has_infinity() ? infinite : not_a_number;
        break;
    }
    overflowed_below = overflowed;
    const bool never = rounding == rounding_mode::toward_zero || rounding == rounding_mode::to_odd;
    if (never || rounding == rounding_mode::downward) overflowed = largest;
    if (never || rounding == rounding_mode::upward) overflowed_below = largest;
    subnormals_as_carrier = !flush && f.min_exponent() == carrier.min_exponent();
    anchor = C(format::scaled(1.5, shift));
    infinity_apart = f.overflow == overflow_rule::saturate_finite;
    anchored = shift >= 2 && !flush && f.max_exponent() + shift + 2 <= carrier.max_exponent();
    if (anchored) {
      first_overflow = C(f.max_finite() + format::scaled(0.5, f.max_exponent() - f.fraction_bits));
      if (f.specials == special_values::nan_only)  // the largest number is even: it takes the tie
        first_overflow = from_bits(U(bits(first_overflow) + 1));
    }
    overflow_as_carrier =
        f.overflow == overflow_rule::infinity && f.has_infinity() && f.exponent_bits == carrier.exponent_bits;
  }
};

namespace detail {

/// A value taken apart, for rounding its magnitude.
template <class L>
struct signed_magnitude {
  using B = lanes<same_size_unsigned<lane_value<L>>, lane_width<L>>;
  B sign, magnitude_bits;
  L magnitude;

  DEVIATE_HD explicit signed_magnitude(const L& x) {
    using U = lane_value<B>;
    const B u = bits(x);
    sign = u & broadcast<B>(U(1) << (8 * sizeof(U) - 1));
    magnitude_bits = u ^ sign;
    magnitude = from_bits(magnitude_bits);
  }
  /// All bits set in the lanes whose value is negative.
  DEVIATE_HD B negative() const { return broadcast<B>(0) - (sign >> int(8 * sizeof(lane_value<B>) - 1)); }
};

/// Both ends of the range, the sign and NaN; r holds the rounded magnitudes of x.
template <class L>
DEVIATE_HD L with_ends(L r, const L& overflowed, const L& x, const signed_magnitude<L>& of,
                       const rounding_constants<lane_value<L>>& c) {
  using C = lane_value<L>;
  if (!c.overflow_as_carrier) {
    const L finite_overflow = select(r > broadcast<L>(c.largest), overflowed, r);
    r = select(of.magnitude > broadcast<L>(std::numeric_limits<C>::max()), broadcast<L>(c.from_infinity),
               finite_overflow);
  }
  r = from_bits(bits(r) | of.sign);
  if (c.one_zero) r = select(r == broadcast<L>(C(0)), broadcast<L>(C(0)), r);
  // A NaN may have been carried to infinity or to a number: one canonical NaN, whatever the payload was.
  return select((x != x) | (r != r), broadcast<L>(std::numeric_limits<C>::quiet_NaN()), r);
}

/// The magnitude and sign of nearest even, where the format has the carrier's exponents: NaN is left to the caller.
///
/// Half the last place, a little less unless the last kept bit is odd: the carry rounds to nearest even, and runs on
/// into the exponent where the significand overflows, and from there into infinity.
template <class L>
DEVIATE_HD L carried_to_nearest_even(const L& x, const rounding_constants<lane_value<L>>& c) {
  using B = lanes<same_size_unsigned<lane_value<L>>, lane_width<L>>;
  const B u = bits(x);
  const B last = (u >> c.shift) & broadcast<B>(c.lowest);
  return from_bits((u + broadcast<B>(c.half_less_one) + last) & broadcast<B>(c.keep));
}

/// Nearest even of a magnitude that does not overflow; NaN gives NaN.
///
/// 2^e, the power of two of x (of the smallest normal number, where x is below it), times 1.5·2^shift has a last place
/// that is the format's spacing at x, and is far enough from both ends of its binade to keep it with x added. The
/// product is exact, so one sum rounds and the difference is exact.
template <class L>
DEVIATE_HD L anchored_to_nearest_even(const L& magnitude, const rounding_constants<lane_value<L>>& c) {
  using C = lane_value<L>;
  using B = lanes<same_size_unsigned<C>, lane_width<L>>;
  const L smallest = broadcast<L>(c.smallest_normal), anchor = broadcast<L>(c.anchor);
  const L unit = from_bits(bits(select(magnitude < smallest, smallest, magnitude)) &
                           broadcast<B>(bits(std::numeric_limits<C>::infinity())));
#if DEVIATE_NATIVE_FMA
  return multiply_add(-unit, anchor, multiply_add(unit, anchor, magnitude));
#else
  const L far = unit * anchor;
  return (magnitude + far) - far;
#endif
}

template <class L>
DEVIATE_HD L round_to_nearest_even(const L& x, const rounding_constants<lane_value<L>>& c) {
  using C = lane_value<L>;
  const L not_a_number = broadcast<L>(std::numeric_limits<C>::quiet_NaN());
  if (c.overflow_as_carrier && c.subnormals_as_carrier)
    // A NaN may have been carried to infinity or to a number: one canonical NaN, whatever the payload was.
    return select(x != x, not_a_number, carried_to_nearest_even(x, c));
  if (c.anchored) {
    using B = lanes<same_size_unsigned<C>, lane_width<L>>;
    const B sign = bits(x) & broadcast<B>(bits(C(-0.0)));
    const L magnitude = from_bits(bits(x) ^ sign);
    L r = select(magnitude >= broadcast<L>(c.first_overflow), broadcast<L>(c.overflowed),
                 anchored_to_nearest_even(magnitude, c));
    if (c.infinity_apart)
      r = select(magnitude > broadcast<L>(std::numeric_limits<C>::max()), broadcast<L>(c.from_infinity), r);
    r = from_bits(bits(r) | sign);
    if (c.one_zero) r = select(r == broadcast<L>(C(0)), broadcast<L>(C(0)), r);
    return select(r != r, not_a_number, r);
  }
  const signed_magnitude<L> of(x);
  using B = typename signed_magnitude<L>::B;
  const B last = (of.magnitude_bits >> c.shift) & broadcast<B>(c.lowest);
  L r = from_bits((of.magnitude_bits + broadcast<B>(c.half_less_one) + last) & broadcast<B>(c.keep));
  if (!c.subnormals_as_carrier) {
    const L spacing = broadcast<L>(c.fixed_spacing);
    const L subnormal = c.flush ? broadcast<L>(C(0)) : (of.magnitude + spacing) - spacing;
    r = select(of.magnitude < broadcast<L>(c.smallest_normal), subnormal, r);
  }
  return with_ends(r, broadcast<L>(c.overflowed), x, of, c);
}

/// A subnormal magnitude in a mode other than nearest even. The nearest multiple of the quantum and what the value has
/// beyond it, which is exact, tell both neighbours; `away` has all bits set in the lanes that round to the larger one.
template <class L, class B>
DEVIATE_HD L round_subnormal(const L& magnitude, const B& away, const rounding_constants<lane_value<L>>& c) {
  using C = lane_value<L>;
  const L spacing = broadcast<L>(c.fixed_spacing), quantum = broadcast<L>(c.quantum), zero = broadcast<L>(C(0));
  const L nearest = (magnitude + spacing) - spacing, beyond = magnitude - nearest;
  if (c.rounding == rounding_mode::nearest_away)
    return select(beyond == quantum * broadcast<L>(C(0.5)), nearest + quantum, nearest);
  const L truncated = select(beyond < zero, nearest - quantum, nearest);
  const B one = broadcast<B>(1);
  const B larger =
      c.rounding == rounding_mode::to_odd ? broadcast<B>(0) - ((bits(truncated + spacing) & one) ^ one) : away;
  const auto up = (beyond != zero) & (larger != broadcast<B>(0));
  return select(up, truncated + quantum, truncated);
}

/// Every mode but nearest even and stochastic.
template <class L>
DEVIATE_HD L round_in_other_mode(const L& x, const rounding_constants<lane_value<L>>& c) {
  using C = lane_value<L>;
  const signed_magnitude<L> of(x);
  using B = typename signed_magnitude<L>::B;
  const B dropped = broadcast<B>(~c.keep);
  B away = broadcast<B>(0);
  if (c.rounding == rounding_mode::upward) away = ~of.negative();
  if (c.rounding == rounding_mode::downward) away = of.negative();
  B sum = of.magnitude_bits;
  if (c.rounding == rounding_mode::to_odd)
    // Whatever is dropped carries into the last kept bit; where that is set already, it stays.
    sum = sum | ((sum + dropped) & broadcast<B>(lane_value<B>(c.lowest << c.shift)));
  else if (c.rounding == rounding_mode::nearest_away)
    sum = sum + broadcast<B>(lane_value<B>(c.half_less_one + c.lowest));
  else
    sum = sum + (dropped & away);
  L r = from_bits(sum & ~dropped);
  if (!c.subnormals_as_carrier) {
    const L subnormal = c.flush ? broadcast<L>(C(0)) : round_subnormal(of.magnitude, away, c);
    r = select(of.magnitude < broadcast<L>(c.smallest_normal), subnormal, r);
  }
  const L overflowed = select(of.sign == broadcast<B>(0), broadcast<L>(c.overflowed), broadcast<L>(c.overflowed_below));
  return with_ends(r, overflowed, x, of, c);
}

/// The same, out of line: where the mode is chosen at run time, the text around it stays as small as for nearest even.
template <class L>
__attribute__((noinline)) DEVIATE_BLOCK void round_in_place(L& x, const rounding_constants<lane_value<L>>& c) {
  x = round_in_other_mode(x, c);
}

}  // namespace detail

/// \brief Rounds lanes of float or double to a format fixed at compile time, in the format's mode.
/// \tparam F the format; a subset of the carrier's
/// \param x any value; a NaN becomes the canonical quiet NaN
/// \return the number of F that its mode asks for, in the same carrier. Exact: one rounding of the value given.
///
/// Runs on host and device with the same bits. tests/number/rounding.cpp and modes.cpp hold it to MPFR, exhaustively
/// where F is small.
template <format F, class L>
DEVIATE_HD L round_to(const L& x) {
  static_assert(F.subset_of(native_format<lane_value<L>>), "the carrier cannot hold every number of the format");
  static_assert(F.rounding != rounding_mode::stochastic, "stochastic rounding takes random bits: see stochastic.hpp");
  constexpr rounding_constants<lane_value<L>> c{F};
  if constexpr (F.rounding == rounding_mode::nearest_even)
    return detail::round_to_nearest_even(x, c);
  else
    return detail::round_in_other_mode(x, c);
}

/// \brief Rounds lanes of float or double with constants chosen at run time; the same bits as `round_to`.
/// \pre the mode is not stochastic
template <class L>
DEVIATE_HD L round_to(const L& x, const rounding_constants<lane_value<L>>& c) {
  if (c.rounding == rounding_mode::nearest_even) return detail::round_to_nearest_even(x, c);
  L r = x;
  detail::round_in_place(r, c);
  return r;
}

}  // namespace deviate
