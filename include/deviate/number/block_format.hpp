// SPDX-License-Identifier: Apache-2.0
/// \file block_format.hpp
/// \brief What a block-scaled format is, as a value: elements × scales × how the scale is found.
///
/// A block is a set of numbers that share one scale: each is element · scale, or element · scale · tensor scale. Which
/// numbers share one (columns of a row, a row, a channel, a tensor …) is the affair of the caller and of
/// tensor/scale_groups.hpp.
#pragma once

#include <bit>
#include <cstdint>
#include <deviate/number/code.hpp>
#include <deviate/number/e8m0.hpp>
#include <deviate/number/format.hpp>

namespace deviate {

/// \brief The numbers that a block's elements may be: of a floating-point format, or integers.
///
/// An integer element is symmetric, −(2^(bits − 1) − 1) to 2^(bits − 1) − 1, in units of 2^unit_exponent; it has one
/// zero, and neither infinity nor NaN, and what overflows saturates. Its code is in two's complement.
struct element_format {
  format numbers;         ///< the format; of integers a format with their spacing, wider than they are
  int integer_bits = 0;   ///< width of an integer, its sign included; 0 for floating point
  int unit_exponent = 0;  ///< of integers: 1 stands for 2 to this

  /// \brief Numbers of a floating-point format, which says how they are rounded and what overflow becomes.
  static constexpr element_format floating(const format& f) { return {f, 0, 0}; }
  /// \brief Integers.
  /// \param bits 2 to 16
  /// \param rounding nearest_even, nearest_away or any other mode
  /// \param unit_exponent −6 in MXINT8, else 0
  static constexpr element_format integer(int bits, rounding_mode rounding, int unit_exponent = 0) {
    // Below its smallest normal number a format is a fixed-point one; here that is 2^bits units, beyond every integer.
    constexpr int exponent_bits = 4, ieee_bias = 7;
    return {format{exponent_bits, bits, special_values::ieee, overflow_rule::infinity, subnormal_rule::gradual,
                   rounding, 1 - bits - unit_exponent - ieee_bias},
            bits, unit_exponent};
  }

  /// \brief Equal in every field.
  friend constexpr bool operator==(const element_format&, const element_format&) = default;

  /// \brief True for integers.
  constexpr bool is_integer() const { return integer_bits != 0; }
  /// \brief Width of a code in bits.
  constexpr int width() const { return is_integer() ? integer_bits : numbers.width(); }
  /// \brief Largest magnitude.
  constexpr double largest() const {
    return is_integer() ? format::scaled((1 << (integer_bits - 1)) - 1, unit_exponent) : numbers.max_finite();
  }
  /// \brief Smallest positive number.
  constexpr double smallest() const { return is_integer() ? format::scaled(1, unit_exponent) : numbers.min_positive(); }
  /// \brief Exponent of the largest number: emax in the OCP specification.
  constexpr int largest_exponent() const {
    return is_integer() ? integer_bits - 2 + unit_exponent : numbers.max_exponent();
  }
  /// \brief True if an element can be NaN.
  constexpr bool has_nan() const { return !is_integer() && numbers.has_nan(); }
  /// \brief The same elements, rounded in another mode.
  constexpr element_format rounded(rounding_mode mode) const {
    return {numbers.rounded(mode), integer_bits, unit_exponent};
  }
  /// \brief The same spacing without the end of the range: what rounds beyond `largest` here overflows.
  constexpr format unbounded() const {
    if (is_integer()) return numbers;
    format wide{numbers.exponent_bits + 1,
                numbers.fraction_bits,
                special_values::ieee,
                overflow_rule::infinity,
                numbers.subnormals,
                numbers.rounding,
                numbers.bias_offset - (1 << (numbers.exponent_bits - 1))};
    return wide;
  }

  /// \brief The code of an element. A NaN that the format has no code for gets what `deviate::encode` gives it; an
  /// integer's gets 0.
  DEVIATE_HD constexpr std::uint32_t encode(double element) const {
    if (!is_integer()) return static_cast<std::uint32_t>(deviate::encode(element, numbers));
    if (element != element) return 0;
    const auto count = static_cast<std::int32_t>(element * power_of_two(-unit_exponent));
    return static_cast<std::uint32_t>(count) & ((std::uint32_t{1} << integer_bits) - 1);
  }
  /// \brief The element with a code.
  DEVIATE_HD constexpr double decode(std::uint32_t code) const {
    if (!is_integer()) return deviate::decode(code, numbers);
    const std::uint32_t sign = std::uint32_t{1} << (integer_bits - 1), used = code & (2 * sign - 1);
    return (static_cast<double>(used & (sign - 1)) - static_cast<double>(used & sign)) * power_of_two(unit_exponent);
  }

 private:
  static DEVIATE_HD constexpr double power_of_two(int e) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
  }
};

/// \brief The numbers that a block's scale may be. Scales are not negative and saturate.
struct scale_format {
  format numbers = {8, 23, special_values::ieee, overflow_rule::saturate};  ///< of E8M0 only its rounding mode counts
  bool is_e8m0 = false;                                                     ///< the scale is a power of two, `e8m0`

  /// \brief Equal in every field.
  friend constexpr bool operator==(const scale_format&, const scale_format&) = default;
  /// \brief The same scales, rounded in another mode.
  constexpr scale_format rounded(rounding_mode mode) const { return {numbers.rounded(mode), is_e8m0}; }
  /// \brief Width of a code in bits.
  constexpr int width() const { return is_e8m0 ? 8 : numbers.width(); }
  /// \brief Largest scale.
  constexpr double largest() const { return is_e8m0 ? 0x1p127 : numbers.max_finite(); }
  /// \brief Smallest positive scale.
  constexpr double smallest() const { return is_e8m0 ? 0x1p-127 : numbers.min_positive(); }
  /// \brief The code of a scale, NaN included.
  DEVIATE_HD constexpr std::uint32_t encode(double scale) const {
    return is_e8m0 ? e8m0::round(scale).code() : static_cast<std::uint32_t>(deviate::encode(scale, numbers));
  }
  /// \brief The scale with a code.
  DEVIATE_HD constexpr double decode(std::uint32_t code) const {
    return is_e8m0 ? double(e8m0::from_code(static_cast<std::uint8_t>(code))) : deviate::decode(code, numbers);
  }
};

/// \brief What the scale of a block is before it is rounded to the scale's format; amax is its largest magnitude.
enum class scaling_rule : std::uint8_t {
  floor_exponent,  ///< 2^(⌊log2 amax⌋ − emax of the element), as the OCP specification has it: an element above the
                   ///< largest saturates
  ceiling_exponent,  ///< 2^(⌈log2 amax⌉ − emax): nothing saturates
  ratio,             ///< amax ÷ the largest element; with a scale rounded upward nothing saturates
};

/// \brief How an element is divided by its scale, and amax by the largest element, before they are rounded.
enum class quotient_rule : std::uint8_t {
  exact,             ///< the exact quotient is rounded once
  float_quotient,    ///< the quotient is rounded to float first, as kernels do that divide
  float_reciprocal,  ///< float product with the float reciprocal, as kernels do that divide once in a block
};

/// \brief What an infinity or NaN does to its block.
enum class nonfinite_rule : std::uint8_t {
  whole_block,  ///< the scale becomes NaN, and with it every number of the block
  element,      ///< it does not count for amax, and becomes what the element's format makes of it, if that is an
                ///< infinity or NaN; otherwise as `whole_block`: it must not pass for a number
};

/// \brief A block-scaled format.
///
/// Decided cases, tested in tests/number/block_scaled.cpp and scaled_integer.cpp:
/// - A block of zeros has the scale that rounding 0 gives: 2^−127 in E8M0, 0 elsewhere. Its elements are zeros of their
///   signs, integers +0.
/// - A scale that is rounded to zero makes every element zero of its sign; they count as flushed. E8M0 has no zero.
/// - A scale beyond its format saturates; then elements saturate as well, and both are counted.
/// - A constant block of c: each element is c ÷ scale, rounded as any other. It is exact where the scale is a power of
///   two and c has no more significant bits than the element.
/// - Infinities and NaN: see `nonfinite_rule`. The scale's NaN is code 0xFF in E8M0, the format's own elsewhere; the
///   elements' codes are 0 then. This is the library's own choice.
struct block_format {
  element_format element;                         ///< of the elements
  scale_format scale;                             ///< of the scales
  scaling_rule rule = scaling_rule::ratio;        ///< how a scale is found
  int block = 0;                                  ///< elements in a block, neighbours in a row; 0: any number
  bool has_tensor_scale = false;                  ///< a second scale in FP32, of all blocks: see `tensor_scale`
  quotient_rule quotient = quotient_rule::exact;  ///< how quotients are computed
  nonfinite_rule nonfinite = nonfinite_rule::whole_block;  ///< what infinities and NaN do

  /// \brief Equal in every field.
  friend constexpr bool operator==(const block_format&, const block_format&) = default;
  /// \brief Bits of storage for an element with its share of the scale, the tensor's scale apart.
  /// \param elements in the block
  constexpr double bits_per_element(std::int64_t elements) const {
    return element.width() + double(scale.width()) / double(elements);
  }
  /// \brief Largest magnitude, where the tensor's scale is 1.
  constexpr double largest() const { return element.largest() * scale.largest(); }
  /// \brief Smallest positive magnitude, where the tensor's scale is 1.
  constexpr double smallest() const { return element.smallest() * scale.smallest(); }
  /// \brief The same with another scaling rule.
  constexpr block_format scaled_by(scaling_rule other) const {
    block_format f = *this;
    f.rule = other;
    return f;
  }
  /// \brief The same with scales rounded in another mode: `upward` and the rule `ratio` avoid saturation.
  constexpr block_format scales_rounded(rounding_mode mode) const {
    block_format f = *this;
    f.scale = scale.rounded(mode);
    return f;
  }
  /// \brief The same with elements rounded in another mode.
  constexpr block_format elements_rounded(rounding_mode mode) const {
    block_format f = *this;
    f.element = element.rounded(mode);
    return f;
  }
};

}  // namespace deviate
