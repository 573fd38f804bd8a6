// SPDX-License-Identifier: Apache-2.0
/// \file stochastic.hpp
/// \brief Stochastic rounding: random bits decide between the two neighbours, unbiased, and reproducible by a seed and an
/// index.
///
/// With n random bits a value at the fraction f of the way from one number of the format to the next larger magnitude
/// goes there for ⌊f·2^n⌋ of the 2^n words, as when the random bits are added to the dropped ones and the carry decides.
/// The expected result is the value exactly where the value has at most n bits beyond the last kept one, and lies less
/// than 2^−n of a last place nearer to zero elsewhere. Numbers of the format (f = 0), infinities and NaN are not changed.
/// Subnormals follow the same rule with their own fixed spacing. A value that is carried beyond the largest number
/// overflows as the format says.
#pragma once

#include <deviate/number/rounding.hpp>

namespace deviate {

namespace detail {

inline constexpr std::uint64_t word_step = 0x9e3779b97f4a7c15u;

/// The function of SplitMix64 that makes a word of a counter, for a plain value or in lanes.
template <class B>
DEVIATE_HD constexpr B mixed(B z) {
  const auto constant = [](std::uint64_t c) DEVIATE_HD_LAMBDA {
    if constexpr (lane_width<B> == 1)
      return c;
    else
      return broadcast<B>(c);
  };
  z = (z ^ (z >> 30)) * constant(0xbf58476d1ce4e5b9u);
  z = (z ^ (z >> 27)) * constant(0x94d049bb133111ebu);
  return z ^ (z >> 31);
}

}  // namespace detail

/// \brief 64 random bits for an index of a stream, without state: SplitMix64's output function (G. Steele, D. Lea and C.
/// Flood, "Fast splittable pseudorandom number generators", 2014) of mix(seed) + (index + 1)·0x9e3779b97f4a7c15.
///
/// Runs on host and device with the same bits; any order of indices and any number of threads gives the same words.
DEVIATE_HD constexpr std::uint64_t random_word(std::uint64_t seed, std::uint64_t index) {
  return detail::mixed(detail::mixed(seed) + (index + 1) * detail::word_step);
}

/// \brief Most random bits that rounding lanes of C can use: 23 for float, 52 for double.
template <class C>
inline constexpr int most_random_bits = native_format<C>.fraction_bits;

namespace detail {

/// The magnitude that the carry of random bits below the last kept one gives, for at most as many as a normal number
/// drops. With the smallest normal number added, a subnormal's last kept bit is the quantum; the sum is truncated, so
/// that no bit beyond the random ones counts.
template <class L, class B>
DEVIATE_HD L carried_at_random(const L& magnitude, const B& aligned, const rounding_constants<lane_value<L>>& c) {
  const L smallest = broadcast<L>(c.smallest_normal), zero = broadcast<L>(lane_value<L>(0));
  const L added = select(magnitude < smallest, smallest, zero);
  const L sum = magnitude + added;
  const B above = select(sum - added > magnitude, broadcast<B>(1), broadcast<B>(0));
  return L(from_bits((bits(sum) - above + aligned) & broadcast<B>(c.keep))) - added;
}

/// Both ends of the range, the sign and NaN; r holds magnitudes, and no less than infinity's where x is infinite.
template <class L>
DEVIATE_HD L with_stochastic_ends(L r, const L& x, const signed_magnitude<L>& of,
                                  const rounding_constants<lane_value<L>>& c) {
  using C = lane_value<L>;
  if (c.overflow_as_carrier || bits(c.overflowed) != bits(c.from_infinity))
    return with_ends(r, broadcast<L>(c.overflowed), x, of, c);
  const L not_a_number = broadcast<L>(std::numeric_limits<C>::quiet_NaN());
  const auto beyond = r > broadcast<L>(c.largest);
  const bool beyond_is_nan = c.overflowed != c.overflowed;
  if (!beyond_is_nan) r = select(beyond, broadcast<L>(c.overflowed), r);
  r = from_bits(bits(r) | of.sign);
  if (c.one_zero) r = select(r == broadcast<L>(C(0)), broadcast<L>(C(0)), r);
  return beyond_is_nan ? select((x != x) | beyond, not_a_number, r) : select(x != x, not_a_number, r);
}

/// x rounded with `used`, random_bits of them and none beyond.
template <class L, class B>
DEVIATE_HD L round_with_random_bits(const L& x, int random_bits, const B& used,
                                    const rounding_constants<lane_value<L>>& c) {
  using C = lane_value<L>;
  const signed_magnitude<L> of(x);
  // The random bits below the last kept one; where fewer are dropped, as many of their top bits.
  const B aligned = random_bits > c.shift ? used >> (random_bits - c.shift) : used << (c.shift - random_bits);
  if (!c.subnormals_as_carrier && !c.flush && random_bits <= c.shift)
    return with_stochastic_ends(carried_at_random(of.magnitude, aligned, c), x, of, c);
  L r = from_bits((of.magnitude_bits + aligned) & broadcast<B>(c.keep));
  if (!c.subnormals_as_carrier) {
    const L spacing = broadcast<L>(c.fixed_spacing), quantum = broadcast<L>(c.quantum), zero = broadcast<L>(C(0));
    const L nearest = (of.magnitude + spacing) - spacing;
    const L truncated = select(of.magnitude < nearest, nearest - quantum, nearest);
    // The carry of f + used/2^n: f ≥ 1 − used/2^n. All three are exact: 1 + used/2^n is a significand.
    const B significand = broadcast<B>(bits(C(1))) | used << (most_random_bits<C> - random_bits);
    const L threshold = (broadcast<L>(C(2)) - L(from_bits(significand))) * quantum;
    const L subnormal = c.flush ? zero : select(of.magnitude - truncated >= threshold, truncated + quantum, truncated);
    r = select(of.magnitude < broadcast<L>(c.smallest_normal), subnormal, r);
  }
  return with_stochastic_ends(r, x, of, c);
}

}  // namespace detail

/// \brief Rounds lanes of float or double up or down at random.
/// \param x any value; a NaN becomes the canonical quiet NaN
/// \param random_bits n: how many of the low bits of `random` decide, 1 to most_random_bits
/// \param random one unsigned integer of x's size for each lane; the bits above the n low ones are ignored
/// \param c constants of the format in the mode `stochastic`
/// \return one of the two numbers of the format that enclose x. tests/number/stochastic.cpp counts every outcome.
template <class L>
DEVIATE_HD L round_stochastic(const L& x, int random_bits,
                              const lanes<detail::same_size_unsigned<lane_value<L>>, lane_width<L>>& random,
                              const rounding_constants<lane_value<L>>& c) {
  using B = lanes<detail::same_size_unsigned<lane_value<L>>, lane_width<L>>;
  const B used = random & broadcast<B>(lane_value<B>((lane_value<B>(1) << random_bits) - 1));
  return detail::round_with_random_bits(x, random_bits, used, c);
}

/// \brief The same to a format fixed at compile time; its own mode does not matter.
template <format F, int RandomBits, class L>
DEVIATE_HD L round_stochastic(const L& x,
                              const lanes<detail::same_size_unsigned<lane_value<L>>, lane_width<L>>& random) {
  using C = lane_value<L>;
  static_assert(F.subset_of(native_format<C>), "the carrier cannot hold every number of the format");
  static_assert(RandomBits >= 1 && RandomBits <= most_random_bits<C>, "1 to 23 random bits for float, 52 for double");
  constexpr rounding_constants<C> c{F.rounded(rounding_mode::stochastic)};
  return round_stochastic(x, RandomBits, random, c);
}

/// \brief A stream of random roundings: element `index` of a stream is always rounded with the same random bits.
///
/// Equal seeds and indices give equal bits on host and device, in any order. The index must name the rounding, not the
/// time at which it happens: `stream(site).stream(row)` with the index column + columns · step gives each rounding of
/// an algorithm words of its own, whatever tiles or threads it runs in.
class stochastic_rounder {
 public:
  stochastic_rounder() = default;
  /// \brief The stream of a seed.
  DEVIATE_HD constexpr explicit stochastic_rounder(std::uint64_t seed) : seed_(seed) {}
  /// \brief The k-th of the streams within this one.
  DEVIATE_HD constexpr stochastic_rounder stream(std::uint64_t k) const {
    return stochastic_rounder(random_word(~seed_, k));
  }
  /// \brief The seed.
  DEVIATE_HD constexpr std::uint64_t seed() const { return seed_; }

  /// \brief Lane i of x rounded to F with the random bits of element index + i: the top ones of its word.
  template <format F, int RandomBits, class L>
  DEVIATE_HD L round(const L& x, std::uint64_t index) const {
    return round_stochastic<F, RandomBits>(x, words<L>(RandomBits, index));
  }
  /// \brief The same with a format chosen at run time.
  /// \param x the value
  /// \param random_bits how many of the top bits of the word decide
  /// \param index of lane 0
  /// \param c constants of a format in the mode `stochastic`
  template <class L>
  DEVIATE_HD L round(const L& x, int random_bits, std::uint64_t index,
                     const rounding_constants<lane_value<L>>& c) const {
    return round_stochastic(x, random_bits, words<L>(random_bits, index), c);
  }

 private:
  template <class L>
  DEVIATE_HD auto words(int random_bits, std::uint64_t index) const {
    using U = detail::same_size_unsigned<lane_value<L>>;
    if constexpr (lane_width<L> == 1) {
      return U(random_word(seed_, index) >> (64 - random_bits));
    } else {
      lanes<U, lane_width<L>> r;
      for (int lane = 0; lane < lane_width<L>; ++lane)
        r.set(lane, U(random_word(seed_, index + std::uint64_t(lane)) >> (64 - random_bits)));
      return r;
    }
  }

  std::uint64_t seed_ = 0;
};

}  // namespace deviate
