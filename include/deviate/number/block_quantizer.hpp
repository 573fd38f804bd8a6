// SPDX-License-Identifier: Apache-2.0
/// \file block_quantizer.hpp
/// \brief The steps of quantising to a block-scaled format, each a function of numbers: range, scale, element.
///
/// A team of threads finds the range of a block in any order, one of them the scale, and each its elements.
#pragma once

#include <cmath>
#include <cstdint>
#include <deviate/number/block_format.hpp>
#include <deviate/number/exact.hpp>
#include <deviate/number/stochastic.hpp>
#include <limits>

namespace deviate {

/// \brief What a scale depends on: the largest finite magnitude, and whether anything is not finite. The order of
/// inclusion and the grouping of merges do not matter.
struct block_range {
  double amax = 0;            ///< largest finite magnitude; 0 where there is none
  bool has_infinity = false;  ///< an infinity is among the values
  bool has_nan = false;       ///< a NaN is among the values

  /// \brief Includes a value.
  DEVIATE_HD constexpr void include(double x) {
    const double magnitude = x < 0 ? -x : x;
    const bool infinite = magnitude > std::numeric_limits<double>::max();
    has_infinity = has_infinity | infinite;
    has_nan = has_nan | (x != x);
    const bool larger = (magnitude > amax) & !infinite;
    amax = larger ? magnitude : amax;
  }
  /// \brief Includes another range.
  DEVIATE_HD constexpr void merge(const block_range& other) {
    if (other.amax > amax) amax = other.amax;
    has_infinity = has_infinity || other.has_infinity;
    has_nan = has_nan || other.has_nan;
  }
};

/// \brief The scale of a block.
struct block_scale {
  double value = 0;        ///< a number of the scale's format, the tensor's scale apart; NaN if the block is
  bool saturated = false;  ///< the rule's value is rounded beyond the largest scale
  bool flushed =
      false;  ///< the rule's value is not zero, but the scale is; in E8M0: it lies below 2^−127, the smallest
};

/// \brief One element of a block.
struct block_element {
  double value = 0;        ///< a number of the element's format, without the scale; NaN in a block whose scale is NaN
  bool saturated = false;  ///< the quotient is finite, and rounded beyond the largest element
  bool flushed = false;    ///< the input is not zero, but the element is
};

/// \brief How often something was lost.
struct quantization_counts {
  std::int64_t elements = 0;          ///< all of them
  std::int64_t saturated = 0;         ///< elements clipped at the largest
  std::int64_t flushed = 0;           ///< elements that became zero, and were not
  std::int64_t zeros = 0;             ///< elements that are zero, flushed ones included
  std::int64_t nonfinite = 0;         ///< elements that are NaN or infinite now, whole blocks included
  std::int64_t blocks = 0;            ///< scales
  std::int64_t scales_saturated = 0;  ///< scales clipped at the largest
  std::int64_t scales_flushed = 0;    ///< scales that became zero, or 2^−127 in E8M0 from below
  std::int64_t nan_blocks = 0;        ///< blocks whose scale is NaN

  /// \brief Equal in every count.
  friend constexpr bool operator==(const quantization_counts&, const quantization_counts&) = default;
  /// \brief Counts a scale.
  DEVIATE_HD constexpr void include(const block_scale& s) {
    ++blocks;
    scales_saturated += s.saturated;
    scales_flushed += s.flushed;
    nan_blocks += s.value != s.value;
  }
  /// \brief Counts an element.
  DEVIATE_HD constexpr void include(const block_element& e) {
    ++elements;
    saturated += e.saturated;
    flushed += e.flushed;
    zeros += e.value == 0;
    nonfinite += !(e.value - e.value == 0);
  }
  /// \brief Adds the counts of other blocks.
  DEVIATE_HD constexpr quantization_counts& operator+=(const quantization_counts& other) {
    elements += other.elements;
    saturated += other.saturated;
    flushed += other.flushed;
    zeros += other.zeros;
    nonfinite += other.nonfinite;
    blocks += other.blocks;
    scales_saturated += other.scales_saturated;
    scales_flushed += other.scales_flushed;
    nan_blocks += other.nan_blocks;
    return *this;
  }
};

/// \brief Quantises to a block-scaled format; the format may be a constant or chosen at run time.
///
/// Every result is one rounding of the exact quotient (with `quotient_rule::exact`). Inputs are doubles; the other
/// quotient rules take inputs that are floats. Runs on host and device with the same bits.
/// tests/number/block_scaled.cpp and scaled_integer.cpp hold scales and elements to MPFR and to other software.
class block_quantizer {
 public:
  /// \pre neither the element's nor the scale's mode is stochastic; the element's format has at most 10 exponent bits
  constexpr explicit block_quantizer(const block_format& f)
      : format_(f),
        element_(f.element.numbers),
        unbounded_(f.element.unbounded()),
        scale_(f.scale.numbers),
        unbounded_scale_(element_format::floating(f.scale.numbers).unbounded()),
        largest_(f.element.largest()),
        largest_scale_(f.scale.largest()),
        largest_exponent_(f.element.largest_exponent()) {}

  /// \brief The format.
  DEVIATE_HD constexpr const block_format& format() const { return format_; }

  /// \brief The scale of a whole tensor for formats that have one: amax ÷ (largest element · largest scale), rounded
  /// once to float, so that the largest block's scale is about the largest there is. 1 for formats without.
  /// \param whole the range of all blocks; an infinity or NaN in it affects only its own block
  /// \return 0 if amax is 0 or the quotient underflows; every number is 0 then
  DEVIATE_HD float tensor_scale(const block_range& whole) const {
    if (!format_.has_tensor_scale) return 1;
    if (whole.amax == 0) return 0;
    // To odd, so that the next rounding is the only one.
    const double ideal = quotient(whole.amax, largest_ * largest_scale_);
    constexpr float most = std::numeric_limits<float>::max();
    return ideal < double(most) ? static_cast<float>(ideal) : most;
  }

  /// \brief The scale of a block.
  /// \param of the range of its values
  /// \param tensor_scale of the tensor, finite and not negative
  DEVIATE_HD block_scale scale(const block_range& of, float tensor_scale = 1) const {
    const bool infinity_passes_for_a_number = !(element_.from_infinity > largest_) && !is_nan(element_.from_infinity);
    const bool whole = format_.nonfinite == nonfinite_rule::whole_block;
    if ((of.has_nan && (whole || !format_.element.has_nan())) ||
        (of.has_infinity && (whole || format_.element.is_integer() || infinity_passes_for_a_number)))
      return {std::numeric_limits<double>::quiet_NaN(), false, false};
    const bool vanishes = of.amax == 0 || tensor_scale == 0;
    block_scale s = rounded_scale(vanishes ? 0.0 : ideal_scale(of.amax, double(tensor_scale)));
    s.flushed = s.flushed || (vanishes && of.amax != 0);
    return s;
  }

  /// \brief One element of a block.
  /// \param x a value of the block
  /// \param scale of the block
  /// \param tensor_scale the one that gave `scale`
  DEVIATE_HD block_element element(double x, double scale, float tensor_scale = 1) const {
    return rounded_element(x, scale, tensor_scale, [](double q, const rounding_constants<double>& c) DEVIATE_HD_LAMBDA {
      return round_to(q, c);
    });
  }

  /// \brief The same, up or down at random, whatever the element's mode: see stochastic.hpp.
  /// \param x a value of the block
  /// \param scale of the block
  /// \param tensor_scale the one that gave `scale`
  /// \param random_bits how many of the low bits of `random` decide: 1 to 40
  /// \param random a word for this element alone, as `random_word` gives it
  DEVIATE_HD block_element element_at_random(double x, double scale, float tensor_scale, int random_bits,
                                             std::uint64_t random) const {
    return rounded_element(x, scale, tensor_scale,
                           [=](double q, const rounding_constants<double>& c)
                               DEVIATE_HD_LAMBDA { return round_stochastic(q, random_bits, random, c); });
  }

  /// \brief The number that an element stands for: element · scale · tensor scale, exactly, where the three have
  /// at most 53 significant bits together, as in all named formats.
  ///
  /// In float the product is exact too where the scale is a power of two and there is no tensor scale; elsewhere it is
  /// rounded once. An amax of almost 2^128 whose scale was rounded up can become infinite there, not in double.
  DEVIATE_HD double value(double element, double scale, float tensor_scale = 1) const {
    return element * (scale * double(tensor_scale));
  }

 private:
  static DEVIATE_HD bool is_nan(double x) { return x != x; }
  DEVIATE_HD bool has_one_zero() const { return format_.element.is_integer() || element_.one_zero; }
  DEVIATE_HD double signed_zero(double x) const { return has_one_zero() ? 0.0 : std::copysign(0.0, x); }

  template <class Round>
  DEVIATE_HD block_element rounded_element(double x, double scale, float tensor_scale, Round round) const {
    if (is_nan(scale) || is_nan(x)) return {std::numeric_limits<double>::quiet_NaN(), false, false};
    const double whole_scale = scale * double(tensor_scale);
    const bool finite = detail::is_finite(x);
    if (finite && (x == 0 || whole_scale == 0)) return {signed_zero(x), false, x != 0};
    const double q = finite ? quotient(x, whole_scale) : x, r = round(q, unbounded_);
    const bool beyond = std::fabs(r) > largest_;
    const double one_zero = has_one_zero() ? r + 0.0 : r;
    const double y = !beyond                        ? one_zero
                     : format_.element.is_integer() ? std::copysign(largest_, q)
                                                    : round(q, element_);
    return {y, beyond && finite, y == 0};
  }

  /// a ÷ b for finite a and b > 0, to odd where it is to be exact.
  DEVIATE_HD double quotient(double a, double b) const {
    if (format_.quotient != quotient_rule::exact) {
      const bool divides = format_.quotient == quotient_rule::float_quotient;
      const double q = double(divides ? float(a) / float(b) : float(a) * (1.0f / float(b)));
      // An overflow here is one of finite numbers, not an infinite input.
      return detail::is_finite(q) ? q : std::copysign(detail::largest_double, a);
    }
    // Where nothing comes near the ends of double's range the remainder needs no scaling.
    const auto is_moderate = [](double x)
                                 DEVIATE_HD_LAMBDA { return std::fabs(x) > 0x1p-400 && std::fabs(x) < 0x1p400; };
    if (!is_moderate(a) || !is_moderate(b)) return detail::divide_to_odd(a, b);
    const double q = a / b;
    return detail::to_odd(q, std::fma(-q, b, a));
  }

  DEVIATE_HD double ideal_scale(double amax, double tensor_scale) const {
    if (format_.rule == scaling_rule::ratio) return quotient(amax, largest_ * tensor_scale);
    int exponent = 0;
    const double a = tensor_scale == 1 ? amax : quotient(amax, tensor_scale);
    const bool power = std::frexp(a, &exponent) == 0.5;  // a lies in [2^(exponent − 1), 2^exponent)
    const int e = exponent - (format_.rule == scaling_rule::floor_exponent || power ? 1 : 0) - largest_exponent_;
    return std::ldexp(1.0, e < -1074 ? -1074 : e);
  }

  DEVIATE_HD block_scale rounded_scale(double ideal) const {
    if (!format_.scale.is_e8m0) {
      const double y = round_to(ideal, scale_);
      return {y, round_to(ideal, unbounded_scale_) > largest_scale_, y == 0 && ideal != 0};
    }
    const rounding_mode mode = scale_.rounding;
    const bool beyond = ideal >= 0x1p128 || e8m0::round(ideal, mode, overflow_rule::nan).is_nan();
    return {double(e8m0::round(ideal, mode, overflow_rule::saturate)), beyond, ideal != 0 && ideal < 0x1p-127};
  }

  block_format format_;
  rounding_constants<double> element_, unbounded_, scale_, unbounded_scale_;
  double largest_, largest_scale_;
  int largest_exponent_;
};

}  // namespace deviate
