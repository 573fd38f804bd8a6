// SPDX-License-Identifier: Apache-2.0
/// \file bounded.hpp
/// \brief Products and sums in a narrow format whose magnitudes are known to stay inside bounds: the same numbers, with
/// fewer operations.
///
/// Inside a long sum nothing is asked but its value, so the sign of a zero, NaN, infinity and overflow need no care once
/// the operands are known to be finite and bounded; see `product_sum_bounds`.
#pragma once

#include <cmath>
#include <deviate/number/arithmetic.hpp>
#include <deviate/number/runtime_format.hpp>

namespace deviate {

/// \brief Magnitudes of a set of numbers.
struct magnitudes {
  double largest = std::numeric_limits<double>::infinity();  ///< of all of them; infinite if unknown, or if one is NaN
  double smallest = 0;                                       ///< a lower bound of those that are not zero
};

/// \brief Bounds on the factors of sums of products, below which a `bounded_site` may compute them.
///
/// A product is at most |a||b|(1 + u), and each addition multiplies by at most 1 + u, with u = 2^−p: a running sum of n
/// products, rounded after each step, is below n·|a||b|·(1 + u)^(n + 1).
class product_sum_bounds {
 public:
  /// \brief Nothing is allowed.
  product_sum_bounds() = default;
  /// \param c constants of the format of the factors, the products and the sums
  /// \param terms most terms of a sum
  product_sum_bounds(const rounding_constants<float>& c, double terms) {
    const int precision = binary32.precision() - c.shift;
    const bool carried = c.subnormals_as_carrier && c.overflow_as_carrier;
    if (c.rounding != rounding_mode::nearest_even || precision > 11 || c.flush || c.one_zero) return;
    if (!c.anchored && !carried) return;
    unit_ = std::ldexp(1.0, -precision);
    quantum_ = double(c.quantum);
    smallest_normal_ = double(c.smallest_normal);
    const double growth = terms * std::pow(1 + unit_, terms + 1);
    if (c.anchored) {
      largest_product_ = double(c.largest) / growth;
      largest_factor_ = double(c.largest);
    } else {
      // Factors and sums are multiplied by 2^shift and more; subnormal products would need a fixed spacing.
      largest_factor_ = 0x1p125 / double(c.anchor);
      largest_product_ = largest_factor_ / growth;
      smallest_product_ = smallest_normal_;
    }
  }
  /// \brief The magnitudes of numbers once they are rounded to the format.
  magnitudes rounded(const magnitudes& x) const {
    return {x.largest * (1 + unit_) + quantum_, x.smallest >= smallest_normal_ ? x.smallest * (1 - unit_) : quantum_};
  }
  /// \brief True if sums of products of these numbers of the format are in bounds.
  bool allow(const magnitudes& a, const magnitudes& b) const {
    return a.largest * b.largest < largest_product_ && a.largest < largest_factor_ && b.largest < largest_factor_ &&
           a.smallest * b.smallest >= smallest_product_;
  }
  /// \brief Magnitudes a, as floats, that are allowed with b: below the largest, and zero or above the smallest. Where
  /// nothing is allowed the largest is negative.
  magnitudes allowed_with(const magnitudes& b) const {
    if (!(b.largest < largest_factor_)) return {-1, 0};
    // A little inside, so that rounding of the bounds themselves does not matter.
    const double most = b.largest > 0 ? largest_product_ / b.largest : largest_factor_;
    const double least = smallest_product_ > 0 ? smallest_product_ / b.smallest * (1 + 0x1p-20) : 0;
    return {(most < largest_factor_ ? most : largest_factor_) * (1 - 0x1p-20), least};
  }

 private:
  double largest_product_ = -1, largest_factor_ = -1, smallest_product_ = 0;
  double unit_ = 0, quantum_ = 0, smallest_normal_ = 0;
};

/// \brief True if scalars of type S have a bounded form: rounded to nearest even, held and computed in float.
template <class S>
inline constexpr bool has_bounded_form = false;
/// \brief Of an emulated format.
template <format F>
inline constexpr bool has_bounded_form<emulated<F>> =
    F.rounding == rounding_mode::nearest_even&& scalar_traits<emulated<F>>::innocuous_in_float&& F.precision() <= 11 &&
    (rounding_constants<float>(F).anchored || F.exponent_bits == binary32.exponent_bits) &&
    F.subnormals == subnormal_rule::gradual&& F.specials != special_values::negative_zero_nan;
/// \brief Of a format chosen at run time, which `product_sum_bounds` looks at.
template <>
inline constexpr bool has_bounded_form<narrow_runtime> = true;

/// \brief multiply and add of a site of S, where `product_sum_bounds` allow: the same values but for the sign of a zero.
/// \pre both operands are numbers of the format
template <class S>
requires has_bounded_form<S>
class bounded_site {
 public:
  using scalar_type = S;  ///< scalar of the results
  /// \brief The bounded form of a site.
  DEVIATE_HD explicit bounded_site(const rounding_site<S>& site) {
    if constexpr (scalar_traits<S>::is_runtime) constants_.c = site.rounder().float_constants();
  }
  /// \brief The site itself: it rounds without random bits.
  DEVIATE_HD const bounded_site& here(std::int64_t, std::int64_t, std::int64_t) const { return *this; }
  /// \brief The site itself.
  DEVIATE_HD const bounded_site& after(std::int64_t, std::int64_t, std::int64_t) const { return *this; }

  /// \brief a × b, rounded once.
  template <class A, class B, int W>
  DEVIATE_HD fragment<S, W> multiply(const fragment<A, W>& a, const fragment<B, W>& b) const {
    const auto& c = constants();
    if (c.anchored) return {anchored(a.value * b.value, c)};
    // a·b·(2^shift + 1) has its last place where the format has that of a·b, and a·b·2^shift, of 2p bits, is a multiple
    // of four of it: the one rounding is that of a·b, and the difference is exact. Both multiples of b are exact and are
    // computed once for all a.
    using L = lanes<float, W>;
    const float power = c.anchor / 1.5f;
    const L far = b.value * broadcast<L>(power + 1), exact = b.value * broadcast<L>(-power);
    return {multiply_add(a.value, exact, a.value * far)};
  }
  /// \brief a + b, rounded once.
  template <class A, class B, int W>
  DEVIATE_HD fragment<S, W> add(const fragment<A, W>& a, const fragment<B, W>& b) const {
    const auto& c = constants();
    const auto sum = a.value + b.value;
    if (c.anchored) return {anchored(sum, c)};
    // As there; below the smallest normal number a sum of numbers of the format is one, and 2^e reads as zero.
    const auto unit = power_of_two(sum);
    const auto anchor = broadcast<std::decay_t<decltype(sum)>>(c.anchor);
    return {multiply_add(unit, -anchor, multiply_add(unit, anchor, sum))};
  }

 private:
  struct carried_constants {
    rounding_constants<float> c;
  };
  struct nothing {};

  DEVIATE_HD decltype(auto) constants() const {
    if constexpr (scalar_traits<S>::is_runtime)
      return (constants_.c);
    else
      return rounding_constants<float>(S::number_format);
  }
  template <class L>
  static DEVIATE_HD L power_of_two(const L& x) {
    using B = lanes<std::uint32_t, lane_width<L>>;
    return from_bits(bits(x) & broadcast<B>(bits(std::numeric_limits<float>::infinity())));
  }
  /// As detail::anchored_to_nearest_even, of a number with its sign.
  template <class L>
  static DEVIATE_HD L anchored(const L& x, const rounding_constants<float>& c) {
    const L smallest = broadcast<L>(c.smallest_normal), anchor = broadcast<L>(c.anchor);
    const L power = power_of_two(x);
    const L unit = select(power < smallest, smallest, power);
    return multiply_add(unit, -anchor, multiply_add(unit, anchor, x));
  }

  [[no_unique_address]] std::conditional_t<scalar_traits<S>::is_runtime, carried_constants, nothing> constants_;
};

}  // namespace deviate
