// SPDX-License-Identifier: Apache-2.0
/// \file runtime_format.hpp
/// \brief A scalar whose format is chosen at run time, by the site that produces it.
#pragma once

#include <deviate/number/scalar.hpp>

namespace deviate {

/// \brief A value of a format that only the site knows; the type says how it is held and in what operations are
/// computed.
///
/// Three forms serve every format: `narrow_runtime` (at most 11 significand bits, computed in float), `medium_runtime`
/// (held in float, computed in double) and `wide_runtime` (held and computed in double).
/// \tparam Carrier float or double: holds the value
/// \tparam Working float or double: computes the operations
template <class Carrier, class Working>
class runtime_scalar {
 public:
  runtime_scalar() = default;
  /// \brief The number whose carrier is already a member of the site's format.
  static DEVIATE_HD runtime_scalar from_carrier(Carrier member) {
    runtime_scalar r;
    r.value_ = member;
    return r;
  }
  /// \brief The value, exactly, in the carrier.
  DEVIATE_HD Carrier carrier() const { return value_; }
  /// \brief The value, rounded to float where the carrier is double.
  DEVIATE_HD explicit operator float() const { return float(value_); }
  /// \brief The value, exactly.
  DEVIATE_HD explicit operator double() const { return double(value_); }

 private:
  Carrier value_;
};

using narrow_runtime = runtime_scalar<float, float>;   ///< up to 11 significand bits
using medium_runtime = runtime_scalar<float, double>;  ///< any subset of binary32
using wide_runtime = runtime_scalar<double, double>;   ///< any subset of binary64

/// \brief A run-time site carries its format as rounding constants.
template <class Carrier, class Working>
struct scalar_traits<runtime_scalar<Carrier, Working>> {
  static constexpr bool is_software = false;               ///< the processor computes
  static constexpr bool is_runtime = true;                 ///< only the site knows the format
  using carrier_type = Carrier;                            ///< float or double
  using working_type = Working;                            ///< computes where the theorem allows
  static constexpr format holds = native_format<Carrier>;  ///< a format that contains every value
  /// \brief Types alone never say that an operand has the site's own format.
  static constexpr bool contains(const format&) { return false; }

  /// \brief Makes numbers of the site's format from results.
  class rounder {
   public:
    rounder() = default;
    /// \param f the format; a subset of the carrier's
    /// \param operands_share_it true promises that run-time operands of the site's operations are members of f too,
    /// which lets the working type compute wherever the theorem covers f
    constexpr explicit rounder(const format& f, bool operands_share_it = false)
        : operands_are_members(operands_share_it && double_rounding_is_innocuous(f, native_format<Working>)), wide_(f) {
      if constexpr (std::is_same_v<Carrier, float>) narrow_ = rounding_constants<float>(f);
    }

    bool operands_are_members = false;  ///< run-time operands are members and the theorem covers the format

    /// \brief True if a zero sum of different signs is −0.
    DEVIATE_HD constexpr bool rounds_downward() const { return wide_.rounding == rounding_mode::downward; }
    /// \brief The result of an operation in the working type.
    template <class L>
    DEVIATE_HD auto from_working(const L& x) const {
      return from_odd(x);
    }
    /// \brief Any value, exact or to odd.
    template <class L>
    DEVIATE_HD auto from_odd(const L& x) const {
      if constexpr (std::is_same_v<lane_value<L>, double>)
        return convert_lanes<Carrier>(round_to(x, wide_));
      else if constexpr (std::is_same_v<Carrier, float>)
        return round_to(x, narrow_);
      else
        return round_to(convert_lanes<double>(x), wide_);
    }

    /// \brief The constants for values held in float.
    DEVIATE_HD constexpr const rounding_constants<float>& float_constants() const { return narrow_; }

   private:
    rounding_constants<double> wide_{binary64};
    rounding_constants<float> narrow_{binary32};
  };
};

}  // namespace deviate
