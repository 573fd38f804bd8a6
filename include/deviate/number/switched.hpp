// SPDX-License-Identifier: Apache-2.0
/// \file switched.hpp
/// \brief A scalar whose site rounds to a format, to float, or not at all, as it is told at run time: for inner loops.
#pragma once

#include <cstdint>
#include <deviate/number/arithmetic.hpp>

namespace deviate {

/// \brief A number held and computed in double, then rounded to the format that only its site knows: binary64 is exact
/// double, binary32 one conversion, any other format the general rounding.
///
/// Quicker than `wide_runtime`, because it starts from the double result instead of the exact one. The bits are those of
/// the exact result rounded once wherever double rounding is innocuous, to nearest: sums, differences, products, quotients and roots
/// of numbers of at most 25 significand bits, and a·b + c where a·b has at most 24 bits as c has (S. Figueroa, "When is
/// double rounding innocuous?", 1995; see `double_rounding_is_innocuous`). Elsewhere a result may be rounded twice.
class switched {
 public:
  switched() = default;
  /// \brief The number whose carrier is already a member of the site's format.
  static DEVIATE_HD switched from_carrier(double member) {
    switched r;
    r.value_ = member;
    return r;
  }
  /// \brief The value, exactly.
  DEVIATE_HD double carrier() const { return value_; }
  /// \brief The value, rounded to float.
  DEVIATE_HD explicit operator float() const { return float(value_); }
  /// \brief The value, exactly.
  DEVIATE_HD explicit operator double() const { return value_; }

 private:
  double value_;
};

/// \brief How a switched site rounds.
enum class switch_position : std::uint8_t {
  exact,      ///< not at all: the double result
  to_float,   ///< to binary32, nearest even
  to_format,  ///< to any format, in any mode but stochastic
};

/// \brief A run-time site: held in double, its position follows from its format.
template <>
struct scalar_traits<switched> {
  static constexpr bool is_software = false;  ///< the processor computes
  static constexpr bool is_runtime = true;    ///< only the site knows the format
  using carrier_type = double;                ///< holds the value
  using working_type = double;                ///< computes every operation
  static constexpr format holds = binary64;   ///< a format that contains every value
  /// \brief Types alone never say that an operand has the site's own format.
  static constexpr bool contains(const format&) { return false; }

  /// \brief Makes numbers of the site's format from results.
  class rounder {
   public:
    rounder() = default;
    /// \param f the format; a subset of binary64
    constexpr explicit rounder(const format& f, bool = false)
        : position_(f == binary64   ? switch_position::exact
                    : f == binary32 ? switch_position::to_float
                                    : switch_position::to_format),
          constants_(f) {}

    /// \brief How it rounds.
    DEVIATE_HD constexpr switch_position position() const { return position_; }
    /// \brief A zero sum of different signs is +0 in every mode.
    static constexpr bool rounds_downward() { return false; }
    /// \brief A double result, in a position known at compile time.
    template <switch_position Position, class L>
    DEVIATE_HD L rounded(const L& x) const {
      if constexpr (Position == switch_position::exact)
        return x;
      else if constexpr (Position == switch_position::to_float)
        return convert_lanes<double>(convert_lanes<float>(x));
      else
        return round_to(x, constants_);
    }
    /// \brief Any value: double, or float, which double holds.
    template <class L>
    DEVIATE_HD auto from_odd(const L& value) const {
      const auto x = convert_lanes<double>(value);
      switch (position_) {
        case switch_position::exact: return x;
        case switch_position::to_float: return rounded<switch_position::to_float>(x);
        default: return rounded<switch_position::to_format>(x);
      }
    }

   private:
    switch_position position_ = switch_position::exact;
    rounding_constants<double> constants_{binary64};
  };
};

/// \brief The operations of a switched site in a position known at compile time, so that no loop asks for it.
/// \tparam Position how it rounds
template <switch_position Position>
class fixed_switched_site {
 public:
  using scalar_type = switched;  ///< scalar of the results
  /// \brief The site in this position.
  DEVIATE_HD explicit fixed_switched_site(const scalar_traits<switched>::rounder& r) : rounder_(r) {}
  /// \brief The site itself: it rounds without random bits.
  DEVIATE_HD const fixed_switched_site& here(std::int64_t, std::int64_t, std::int64_t) const { return *this; }
  /// \brief The site itself.
  DEVIATE_HD const fixed_switched_site& after(std::int64_t, std::int64_t, std::int64_t) const { return *this; }

  // clang-format off
  /// \name The double result, rounded
  /// @{

  /// \brief As at the site itself.
  template <class A, class B, int W> DEVIATE_HD fragment<switched, W> add(const fragment<A, W>& a, const fragment<B, W>& b) const { return {rounded(wide(a) + wide(b))}; }
  template <class A, class B, int W> DEVIATE_HD fragment<switched, W> multiply(const fragment<A, W>& a, const fragment<B, W>& b) const { return {rounded(wide(a) * wide(b))}; }
  template <class A, class B, class C, int W> DEVIATE_HD fragment<switched, W> fma(const fragment<A, W>& a, const fragment<B, W>& b, const fragment<C, W>& c) const { return {rounded(multiply_add(wide(a), wide(b), wide(c)))}; }
  /// @}
  // clang-format on

 private:
  template <class A, int W>
  static DEVIATE_HD auto wide(const fragment<A, W>& x) {
    return convert_lanes<double>(x.value);
  }
  template <class L>
  DEVIATE_HD L rounded(const L& x) const {
    return rounder_.template rounded<Position>(x);
  }

  scalar_traits<switched>::rounder rounder_;
};

/// \brief The operations of a switched site.
template <>
class rounding_site<switched> {
 public:
  using scalar_type = switched;                           ///< scalar of the results
  using rounder_type = scalar_traits<switched>::rounder;  ///< how it rounds

  rounding_site() = default;
  /// \brief A site that rounds with r.
  DEVIATE_HD explicit constexpr rounding_site(const rounder_type& r) : rounder_(r) {}

  // clang-format off
  /// \name The double result, rounded
  /// @{

  /// \brief The operation in double, then one rounding to the site's format.
  template <class A, class B, int W> DEVIATE_HD fragment<switched, W> add(const fragment<A, W>& a, const fragment<B, W>& b) const { return rounded(wide(a) + wide(b)); }
  template <class A, class B, int W> DEVIATE_HD fragment<switched, W> subtract(const fragment<A, W>& a, const fragment<B, W>& b) const { return rounded(wide(a) - wide(b)); }
  template <class A, class B, int W> DEVIATE_HD fragment<switched, W> multiply(const fragment<A, W>& a, const fragment<B, W>& b) const { return rounded(wide(a) * wide(b)); }
  template <class A, class B, int W> DEVIATE_HD fragment<switched, W> divide(const fragment<A, W>& a, const fragment<B, W>& b) const { return rounded(wide(a) / wide(b)); }
  template <class A, class B, class C, int W> DEVIATE_HD fragment<switched, W> fma(const fragment<A, W>& a, const fragment<B, W>& b, const fragment<C, W>& c) const { return rounded(multiply_add(wide(a), wide(b), wide(c))); }
  template <class A, int W> DEVIATE_HD fragment<switched, W> round(const fragment<A, W>& x) const { return rounded(wide(x)); }
  template <class A, int W> DEVIATE_HD fragment<switched, W> sqrt(const fragment<A, W>& x) const { return rounded(per_lane([](double v) { return std::sqrt(v); }, wide(x))); }
  /// @}
  // clang-format on

  /// \brief How it rounds.
  DEVIATE_HD const rounder_type& rounder() const { return rounder_; }

 protected:
  /// f of the operand in double, rounded.
  template <class F, class A, int W>
  DEVIATE_HD fragment<switched, W> unary(F f, const fragment<A, W>& x) const {
    return rounded(f(wide(x)));
  }

 private:
  template <class A, int W>
  static DEVIATE_HD auto wide(const fragment<A, W>& x) {
    static_assert(!detail::is_software<A>, "a switched site takes native, emulated and run-time operands");
    return convert_lanes<double>(x.value);
  }
  template <class L>
  DEVIATE_HD fragment<switched, lane_width<L>> rounded(const L& x) const {
    return {rounder_.from_odd(x)};
  }

  rounder_type rounder_{};
};

/// \brief use(site), with the switched site in its present position, known at compile time from there on.
template <class Use>
DEVIATE_HD auto in_position(const rounding_site<switched>& site, Use use) {
  switch (site.rounder().position()) {
    case switch_position::exact: return use(fixed_switched_site<switch_position::exact>(site.rounder()));
    case switch_position::to_float: return use(fixed_switched_site<switch_position::to_float>(site.rounder()));
    default: return use(fixed_switched_site<switch_position::to_format>(site.rounder()));
  }
}

}  // namespace deviate
