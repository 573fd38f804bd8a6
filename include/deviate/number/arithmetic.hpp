// SPDX-License-Identifier: Apache-2.0
/// \file arithmetic.hpp
/// \brief The correctly rounded operations: one definition for every scalar, every width, host and device.
#pragma once

#include <deviate/number/exact.hpp>
#include <deviate/number/scalar.hpp>

namespace deviate {

namespace detail {

template <class S>
inline constexpr bool is_software = scalar_traits<S>::is_software;

/// A software value as a double to odd, so that a narrower format is reached in one rounding. Its exponents may exceed
/// those of double: what is neither 0 nor infinite becomes the smallest or the largest finite double, whose last bit is
/// one.
template <class T>
double software_to_odd(const T& x) {
  const double d = static_cast<double>(x);
  const double sign = x < T(0) ? -1.0 : 1.0;
  if (d == 0) return x == T(0) ? d : sign * std::numeric_limits<double>::denorm_min();
  if (!is_finite(d)) return x - x == T(0) ? sign * largest_double : d;
  const T error = x - T(d);
  return to_odd(d, error > T(0) ? 1.0 : error < T(0) ? -1.0 : 0.0);
}

template <class A>
inline constexpr bool is_held_in_float = std::is_same_v<carrier_of<A>, float>;

struct add_operation {
  template <class L>
  static DEVIATE_HD L plain(const L& a, const L& b) {
    return a + b;
  }
  template <bool FromFloat, class L>
  static DEVIATE_HD L odd(const L& a, const L& b) {
    return add_to_odd(a, b);
  }
};
struct subtract_operation {
  template <class L>
  static DEVIATE_HD L plain(const L& a, const L& b) {
    return a - b;
  }
  template <bool FromFloat, class L>
  static DEVIATE_HD L odd(const L& a, const L& b) {
    return add_to_odd(a, -b);
  }
};
struct multiply_operation {
  template <class L>
  static DEVIATE_HD L plain(const L& a, const L& b) {
    return a * b;
  }
  /// 24 × 24 bits are exact in 53.
  template <bool FromFloat, class L>
  static DEVIATE_HD L odd(const L& a, const L& b) {
    if constexpr (FromFloat)
      return a * b;
    else
      return per_lane([](double x, double y) { return multiply_to_odd(x, y); }, a, b);
  }
};
struct divide_operation {
  template <class L>
  static DEVIATE_HD L plain(const L& a, const L& b) {
    return a / b;
  }
  /// A quotient of 24-bit numbers is at least 2^−51 (relative) from every midpoint of 26 bits: double cannot land on
  /// one.
  template <bool FromFloat, class L>
  static DEVIATE_HD L odd(const L& a, const L& b) {
    if constexpr (FromFloat)
      return a / b;
    else
      return per_lane([](double x, double y) { return divide_to_odd(x, y); }, a, b);
  }
};

}  // namespace detail

/// \brief The operations of one site: each gives the exact result, rounded once to the site's scalar.
///
/// Operands may be of any scalar. Where their types (or a run-time rounder) say that they are members of the result's
/// format and the theorem at `double_rounding_is_innocuous` holds, the working type computes and one more rounding
/// follows; else the exact result is taken to odd in double first. The values are the same; only the speed differs.
/// \tparam S scalar of the results
template <class S>
class rounding_site {
  using traits = scalar_traits<S>;

 public:
  using scalar_type = S;                          ///< scalar of the results
  using rounder_type = typename traits::rounder;  ///< what it rounds with: empty but for run-time formats

  rounding_site() = default;
  /// \brief A site that rounds with r; only run-time formats need one.
  DEVIATE_HD explicit constexpr rounding_site(const rounder_type& r) : rounder_(r) {}

  // clang-format off
  /// \name Correctly rounded operations
  /// @{

  /// \brief The exact result, rounded once, lane by lane.
  template <class A, class B, int W> DEVIATE_HD fragment<S, W> add(const fragment<A, W>& a, const fragment<B, W>& b) const { return binary<detail::add_operation>(a, b); }
  template <class A, class B, int W> DEVIATE_HD fragment<S, W> subtract(const fragment<A, W>& a, const fragment<B, W>& b) const { return binary<detail::subtract_operation>(a, b); }
  template <class A, class B, int W> DEVIATE_HD fragment<S, W> multiply(const fragment<A, W>& a, const fragment<B, W>& b) const { return binary<detail::multiply_operation>(a, b); }
  template <class A, class B, int W> DEVIATE_HD fragment<S, W> divide(const fragment<A, W>& a, const fragment<B, W>& b) const { return binary<detail::divide_operation>(a, b); }
  /// @}
  // clang-format on

  /// \brief x, rounded once to the site's scalar.
  template <class A, int W>
  DEVIATE_HD fragment<S, W> round(const fragment<A, W>& x) const {
    if constexpr (std::is_same_v<A, S> && !traits::is_runtime) {
      return {x.value};
    } else if constexpr (detail::is_software<S>) {
      return {S(x.value)};
    } else if constexpr (detail::is_software<A>) {
      return from_software(x.value);
    } else {
      return {rounder_.from_odd(x.value)};
    }
  }

  /// \brief √x, correctly rounded.
  template <class A, int W>
  DEVIATE_HD fragment<S, W> sqrt(const fragment<A, W>& x) const {
    if constexpr (detail::is_software<S> || detail::is_software<A>)
      return unary(
          [](const auto& v) {
            using std::sqrt;
            return sqrt(v);
          },
          x);
    else if constexpr (std::is_same_v<S, double>)
      return {per_lane([](double v) { return std::sqrt(v); }, convert_lanes<double>(x.value))};
    else
      return {
          rounder_.from_odd(per_lane([](double v) { return detail::sqrt_to_odd(v); }, convert_lanes<double>(x.value)))};
  }

  /// \brief What it rounds with.
  DEVIATE_HD const rounder_type& rounder() const { return rounder_; }

 protected:
  /// f of the operand in double (or in its software type), rounded once.
  template <class F, class A, int W>
  DEVIATE_HD fragment<S, W> unary(F f, const fragment<A, W>& x) const {
    if constexpr (detail::is_software<S>) {
      return {f(S(x.value))};
    } else if constexpr (detail::is_software<A>) {
      return from_software(f(x.value));
    } else {
      return {rounder_.from_odd(f(convert_lanes<double>(x.value)))};
    }
  }

 private:
  template <class T>
  fragment<S, 1> from_software(const T& x) const {
    if constexpr (std::is_same_v<S, double>)
      return {static_cast<double>(x)};
    else
      return {rounder_.from_odd(detail::software_to_odd(x))};
  }

  template <class Operation, class A, class B, int W>
  DEVIATE_HD fragment<S, W> binary(const fragment<A, W>& a, const fragment<B, W>& b) const {
    if constexpr (detail::is_software<S>) {
      return {Operation::plain(S(a.value), S(b.value))};
    } else if constexpr (detail::is_software<A>) {
      return from_software(Operation::plain(a.value, A(b.value)));
    } else if constexpr (detail::is_software<B>) {
      return from_software(Operation::plain(B(a.value), b.value));
    } else {
      using working = typename traits::working_type;
      constexpr bool members = traits::contains(scalar_traits<A>::holds) && traits::contains(scalar_traits<B>::holds);
      if constexpr (members) {
        return {
            rounder_.from_working(Operation::plain(convert_lanes<working>(a.value), convert_lanes<working>(b.value)))};
      } else {
        if constexpr (traits::is_runtime && std::is_same_v<A, S> && std::is_same_v<B, S>)
          if (rounder_.operands_are_members)
            return {rounder_.from_working(
                Operation::plain(convert_lanes<working>(a.value), convert_lanes<working>(b.value)))};
        constexpr bool from_float = detail::is_held_in_float<A> && detail::is_held_in_float<B>;
        return {rounder_.from_odd(
            Operation::template odd<from_float>(convert_lanes<double>(a.value), convert_lanes<double>(b.value)))};
      }
    }
  }

  rounder_type rounder_{};
};

namespace detail {
template <format F>
DEVIATE_HD emulated<F> emulated_result(const fragment<emulated<F>, 1>& x) {
  return emulated<F>::from_carrier(x.value);
}
template <format F>
DEVIATE_HD fragment<emulated<F>, 1> as_fragment(const emulated<F>& x) {
  return {x.carrier()};
}
}  // namespace detail

// clang-format off
/// \name Operators of emulated numbers: correctly rounded, to nearest even
/// @{

/// \brief The exact result, rounded once.
template <format F> DEVIATE_HD emulated<F> operator+(const emulated<F>& a, const emulated<F>& b) { return detail::emulated_result(rounding_site<emulated<F>>{}.add(detail::as_fragment(a), detail::as_fragment(b))); }
template <format F> DEVIATE_HD emulated<F> operator-(const emulated<F>& a, const emulated<F>& b) { return detail::emulated_result(rounding_site<emulated<F>>{}.subtract(detail::as_fragment(a), detail::as_fragment(b))); }
template <format F> DEVIATE_HD emulated<F> operator*(const emulated<F>& a, const emulated<F>& b) { return detail::emulated_result(rounding_site<emulated<F>>{}.multiply(detail::as_fragment(a), detail::as_fragment(b))); }
template <format F> DEVIATE_HD emulated<F> operator/(const emulated<F>& a, const emulated<F>& b) { return detail::emulated_result(rounding_site<emulated<F>>{}.divide(detail::as_fragment(a), detail::as_fragment(b))); }
template <format F> DEVIATE_HD emulated<F> sqrt(const emulated<F>& x) { return detail::emulated_result(rounding_site<emulated<F>>{}.sqrt(detail::as_fragment(x))); }
/// @}
// clang-format on

}  // namespace deviate
