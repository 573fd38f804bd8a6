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
/// (held in float, computed in double) and `wide_runtime` (held and computed in double). \tparam Carrier float or
/// double: holds the value \tparam Working float or double: computes the operations
template <class Carrier, class Working>
class runtime_scalar {
 public:
  runtime_scalar() = default;
  static DEVIATE_HD runtime_scalar from_carrier(Carrier member) {
    runtime_scalar r;
    r.value_ = member;
    return r;
  }
  DEVIATE_HD Carrier carrier() const { return value_; }
  DEVIATE_HD explicit operator float() const { return float(value_); }
  DEVIATE_HD explicit operator double() const { return double(value_); }

 private:
  Carrier value_;
};

using narrow_runtime = runtime_scalar<float, float>;
using medium_runtime = runtime_scalar<float, double>;
using wide_runtime = runtime_scalar<double, double>;

/// \brief A run-time site carries its format as rounding constants.
template <class Carrier, class Working>
struct scalar_traits<runtime_scalar<Carrier, Working>> {
  static constexpr bool is_software = false;
  static constexpr bool is_runtime = true;
  using carrier_type = Carrier;
  using working_type = Working;
  static constexpr format holds = native_format<Carrier>;
  /// Types alone never say that an operand has the site's own format.
  static constexpr bool contains(const format&) { return false; }

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

    bool operands_are_members = false;

    template <class L>
    DEVIATE_HD auto from_working(const L& x) const {
      return from_odd(x);
    }
    template <class L>
    DEVIATE_HD auto from_odd(const L& x) const {
      if constexpr (std::is_same_v<lane_value<L>, double>)
        return convert_lanes<Carrier>(round_to(x, wide_));
      else if constexpr (std::is_same_v<Carrier, float>)
        return round_to(x, narrow_);
      else
        return round_to(convert_lanes<double>(x), wide_);
    }

   private:
    rounding_constants<double> wide_{binary64};
    rounding_constants<float> narrow_{binary32};
  };
};

}  // namespace deviate
