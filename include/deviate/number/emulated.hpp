// SPDX-License-Identifier: Apache-2.0
/// \file emulated.hpp
/// \brief A number of any binary format, held in a native carrier.
#pragma once

#include <compare>
#include <concepts>
#include <deviate/number/exact.hpp>
#include <deviate/number/format.hpp>
#include <deviate/number/rounding.hpp>
#include <type_traits>

namespace deviate {

/// \brief A number of format F. Its carrier always holds a member of F, so comparisons are the carrier's own.
///
/// `+ − × ÷ √` and `fma` (arithmetic.hpp) round the exact result once, in the format's mode. Conversions round once: from double directly, never
/// through float. NaN has one representation; −0 is kept where the format has it. A format without NaN keeps it in the
/// carrier all the same.
/// \tparam F the format; at most 26 significand bits, so that double can compute with it
///
/// Runs on host and device with the same bits. tests/number/emulated.cpp holds every operation to MPFR.
template <format F>
class emulated {
  static_assert(F.exponent_bits >= 2 && F.exponent_bits <= 11 && F.fraction_bits >= 1 && F.fraction_bits <= 25,
                "an emulated format has 2 to 11 exponent bits and 1 to 25 fraction bits");
  static_assert(F.rounding != rounding_mode::stochastic, "operators have no random bits: see stochastic.hpp");

 public:
  static constexpr format number_format = F;  ///< the format
  /// \brief float where it holds every number of F, else double.
  using carrier_type = std::conditional_t<F.subset_of(binary32), float, double>;

  emulated() = default;
  /// \brief From float, in one rounding.
  DEVIATE_HD explicit emulated(float x) : value_(carrier_type(rounded(x))) {}
  /// \brief From double, in one rounding.
  DEVIATE_HD explicit emulated(double x) : value_(carrier_type(round_to<F>(x))) {}
  /// \brief From an integer of at most 64 bits, in one rounding.
  template <std::integral I>
  requires(sizeof(I) <= 8) DEVIATE_HD explicit emulated(I i) : emulated(exact(i)) {}
  /// \brief From another format, in one rounding.
  template <format G>
  DEVIATE_HD explicit emulated(const emulated<G>& x) : emulated(x.carrier()) {}

  /// \brief The number whose carrier is already a member of F.
  static DEVIATE_HD constexpr emulated from_carrier(carrier_type member) {
    emulated r;
    r.value_ = member;
    return r;
  }
  /// \brief The value, exactly, in the carrier.
  DEVIATE_HD constexpr carrier_type carrier() const { return value_; }
  /// \brief The value, rounded to float where the carrier is double.
  DEVIATE_HD explicit constexpr operator float() const { return float(value_); }
  /// \brief The value, exactly.
  DEVIATE_HD explicit constexpr operator double() const { return double(value_); }

  // clang-format off
  /// \name Comparisons
  /// @{

  /// \brief The carriers' comparison: the zeros are equal, NaN is unordered.
  ///
  /// The four order relations are the carrier's single instructions; g++ 12 makes eight of one that is derived from <=>.
  friend DEVIATE_HD constexpr bool operator==(const emulated& a, const emulated& b) { return a.value_ == b.value_; }
  friend DEVIATE_HD constexpr bool operator<(const emulated& a, const emulated& b) { return a.value_ < b.value_; }
  friend DEVIATE_HD constexpr bool operator>(const emulated& a, const emulated& b) { return a.value_ > b.value_; }
  friend DEVIATE_HD constexpr bool operator<=(const emulated& a, const emulated& b) { return a.value_ <= b.value_; }
  friend DEVIATE_HD constexpr bool operator>=(const emulated& a, const emulated& b) { return a.value_ >= b.value_; }
  friend DEVIATE_HD constexpr std::partial_ordering operator<=>(const emulated& a, const emulated& b) { return a.value_ <=> b.value_; }
  /// @}
  /// \brief The number with the other sign, exactly; NaN stays as it is, and so does the zero of a format with one zero.
  friend DEVIATE_HD constexpr emulated operator-(const emulated& a) {
    const carrier_type negated = F.has_negative_zero() ? -a.value_ : carrier_type(0) - a.value_;
    return from_carrier(a.value_ != a.value_ ? a.value_ : negated);
  }
  /// \brief The number itself.
  friend DEVIATE_HD constexpr emulated operator+(const emulated& a) { return a; }
  // clang-format on

 private:
  static DEVIATE_HD carrier_type rounded(float x) {
    if constexpr (F.subset_of(binary32)) return round_to<F>(x);
    return carrier_type(round_to<F>(double(x)));
  }
  template <std::integral I>
  static DEVIATE_HD double exact(I i) {
    if constexpr (sizeof(I) <= 4)
      return double(i);
    else if constexpr (std::is_signed_v<I>)
      return detail::integer_to_odd(std::int64_t(i));
    else
      return detail::integer_to_odd(std::uint64_t(i));
  }

  carrier_type value_;
};

}  // namespace deviate
