// SPDX-License-Identifier: Apache-2.0
/// \file tracked.hpp
/// \brief A number that remembers what it would be without rounding, and the first-order error of all roundings so far.
///
/// For c = a ∘ b the site rounds the values as it does without a record, computes the shadows in a wider type, and adds
///
///     error(c) = ∂c/∂a · error(a) + ∂c/∂b · error(b) + (rounded c − exact c of the rounded operands)
///
/// so that value − shadow = error up to products of errors. The derivatives are taken at the rounded operands. The last
/// term is exact up to a relative 2^−52 where the shadow is double and values are held in float (error-free
/// transformations), else up to the shadow's own rounding.
///
/// *Where scalars mix.* A tracked site takes any operand: one without a record is taken as exact. A site without a
/// record takes no tracked operand: it would lose the record, and does not compile; read `value()` to drop it on
/// purpose. A tracked site of another scalar, shadow or error type converts: the value is rounded once, the rounding
/// joins the error.
///
/// *Decisions follow the value*: comparisons, maxima, masks, and tests against 1. Where an algorithm skips a product
/// because the factor's value is 1, the record is that of the product (`times_one`).
#pragma once

#include <deviate/number/arithmetic.hpp>
#include <deviate/number/detail/tracked_error.hpp>

#include <concepts>
#include <type_traits>

namespace deviate {

/// \brief A value of scalar S, its shadow, and its first-order error.
///
/// A software scalar (fragments have one lane) whose value has the bits of the same computation in S. Runs on host and
/// device where Shadow and Error do. tests/number/tracked.cpp holds local and propagated errors to MPFR.
/// \tparam S scalar of the value: float, double, an emulated or run-time format, or a software scalar
/// \tparam Shadow type of the computation without rounding. It has roundings of its own, so it must be wider than S to
///   be of use: `tracked<double, double_double>`; a `tracked<double>` among narrower sites is exact to double.
/// \tparam Error type of the first-order error: a scalar like Shadow, or any type with `Error{}` zero, `Error(Shadow)` a
///   local error, `Error + Error` and `Shadow * Error`, converting from the error types it meets. One that keeps an entry
///   for each group of sites, and puts local errors into its own group's, attributes the error to the groups.
template <class S, class Shadow = double, class Error = Shadow>
class tracked {
 public:
  using scalar_type = S;             ///< scalar of the value
  using shadow_type = Shadow;        ///< type of the shadow
  using error_type = Error;          ///< type of the first-order error
  using value_type = carrier_of<S>;  ///< type that holds the value

  tracked() = default;
  /// \brief x, rounded to S; the shadow is x itself, and the error that of the rounding. A run-time format is not known
  /// here: x is rounded to its carrier only.
  template <class X>
  requires(std::is_floating_point_v<X> || (std::integral<X> && sizeof(X) <= 4)) DEVIATE_HD explicit tracked(X x)
      : tracked(rounding_site<tracked>{}.round(fragment<std::conditional_t<std::is_same_v<X, float>, float, double>>{
            std::conditional_t<std::is_same_v<X, float>, float, double>(x)})) {}
  /// \brief Another tracked number, its value rounded to S once.
  template <class T, class OtherShadow, class OtherError>
  DEVIATE_HD explicit tracked(const tracked<T, OtherShadow, OtherError>& x)
      : tracked(rounding_site<tracked>{}.round(fragment<tracked<T, OtherShadow, OtherError>>{x})) {}

  /// \brief The number with these parts, unchecked.
  static DEVIATE_HD tracked from_parts(const value_type& value, const Shadow& shadow, const Error& error) {
    tracked r;
    r.value_ = value;
    r.shadow_ = shadow;
    r.error_ = error;
    return r;
  }

  /// \brief The value, in the carrier of S: what the computation in S gives.
  DEVIATE_HD const value_type& value() const { return value_; }
  /// \brief What the value would be if nothing had been rounded to S.
  DEVIATE_HD const Shadow& shadow() const { return shadow_; }
  /// \brief value − shadow to first order. Where the value is not finite it is value − shadow itself, 0 if they are equal.
  DEVIATE_HD const Error& error() const { return error_; }
  /// \brief The value.
  DEVIATE_HD explicit operator double() const { return static_cast<double>(value_); }

 private:
  DEVIATE_HD explicit tracked(const fragment<tracked>& x) : tracked(x.value) {}

  value_type value_;
  Shadow shadow_;
  Error error_;
};

namespace detail {
template <class S, class Shadow, class Error>
inline constexpr bool keeps_record<tracked<S, Shadow, Error>> = true;

/// An operand of a tracked site: its value as a fragment of its own scalar, that value as a Shadow, and its record.
template <class T, class Shadow, class Error>
struct recorded_operand {
  fragment<T> value;
  Shadow rounded;
  Shadow shadow;
  Error error;
};
template <class Shadow, class Error, class A>
DEVIATE_HD recorded_operand<A, Shadow, Error> recorded(const fragment<A>& a) {
  const Shadow exact = static_cast<Shadow>(a.value);
  return {a, exact, exact, Error{}};
}
template <class Shadow, class Error, class S, class OtherShadow, class OtherError>
DEVIATE_HD recorded_operand<S, Shadow, Error> recorded(const fragment<tracked<S, OtherShadow, OtherError>>& a) {
  return {{a.value.value()},
          static_cast<Shadow>(a.value.value()),
          static_cast<Shadow>(a.value.shadow()),
          static_cast<Error>(a.value.error())};
}

/// Value, shadow and error as a number; the error of what is not finite is decided here.
template <class S, class Shadow, class Error>
DEVIATE_HD fragment<tracked<S, Shadow, Error>> with_record(const fragment<S>& value, const Shadow& shadow,
                                                           const Error& propagated, const Shadow& local) {
  using number = tracked<S, Shadow, Error>;
  if (is_finite(static_cast<double>(value.value)))
    return {number::from_parts(value.value, shadow, propagated + Error(local))};
  const Shadow held = static_cast<Shadow>(value.value);
  return {number::from_parts(value.value, shadow, held == shadow ? Error{} : Error(held - shadow))};
}
}  // namespace detail

/// \brief A tracked number is its own carrier; a site of a run-time format keeps that format.
template <class S, class Shadow, class Error>
struct scalar_traits<tracked<S, Shadow, Error>> {
  static constexpr bool is_software = true;                         ///< one lane
  static constexpr bool is_runtime = scalar_traits<S>::is_runtime;  ///< as S
  using carrier_type = tracked<S, Shadow, Error>;                   ///< itself
  using wide_type = tracked<wide_scalar<S>, Shadow, Error>;         ///< the same record, a value not rounded to S
  using rounder = typename scalar_traits<S>::rounder;               ///< that of S
};

/// \brief The operations of a site whose results keep a record.
template <class S, class Shadow, class Error>
class rounding_site<tracked<S, Shadow, Error>> {
 public:
  using scalar_type = tracked<S, Shadow, Error>;            ///< scalar of the results
  using rounder_type = typename scalar_traits<S>::rounder;  ///< what the value is rounded with

  rounding_site() = default;
  /// \brief A site that rounds with r; only run-time formats need one.
  DEVIATE_HD explicit constexpr rounding_site(const rounder_type& r) : plain_(r) {}

  /// \name Operations: the value as at a site of S, with its record
  /// @{

  /// \brief The exact sum, rounded once.
  template <class A, class B>
  DEVIATE_HD fragment<scalar_type> add(const fragment<A, 1>& a, const fragment<B, 1>& b) const {
    const auto x = operand(a);
    const auto y = operand(b);
    const fragment<S> c = plain_.add(x.value, y.value);
    return detail::with_record<S, Shadow, Error>(c, x.shadow + y.shadow, x.error + y.error,
                                                 detail::error_of_sum(held(c), x.rounded, y.rounded));
  }
  /// \brief The exact difference, rounded once.
  template <class A, class B>
  DEVIATE_HD fragment<scalar_type> subtract(const fragment<A, 1>& a, const fragment<B, 1>& b) const {
    const auto x = operand(a);
    const auto y = operand(b);
    const fragment<S> c = plain_.subtract(x.value, y.value);
    return detail::with_record<S, Shadow, Error>(c, x.shadow - y.shadow, x.error + Shadow(-1) * y.error,
                                                 detail::error_of_sum(held(c), x.rounded, Shadow(-y.rounded)));
  }
  /// \brief The exact product, rounded once.
  template <class A, class B>
  DEVIATE_HD fragment<scalar_type> multiply(const fragment<A, 1>& a, const fragment<B, 1>& b) const {
    const auto x = operand(a);
    const auto y = operand(b);
    const fragment<S> c = plain_.multiply(x.value, y.value);
    return detail::with_record<S, Shadow, Error>(c, x.shadow * y.shadow, y.rounded * x.error + x.rounded * y.error,
                                                 detail::error_of_product(held(c), x.rounded, y.rounded));
  }
  /// \brief The exact quotient, rounded once.
  template <class A, class B>
  DEVIATE_HD fragment<scalar_type> divide(const fragment<A, 1>& a, const fragment<B, 1>& b) const {
    const auto x = operand(a);
    const auto y = operand(b);
    const fragment<S> c = plain_.divide(x.value, y.value);
    const Shadow slope = Shadow(1) / y.rounded, slope_of_divisor = -(x.rounded / y.rounded) * slope;
    return detail::with_record<S, Shadow, Error>(c, x.shadow / y.shadow, slope * x.error + slope_of_divisor * y.error,
                                                 detail::error_of_quotient(held(c), x.rounded, y.rounded));
  }
  /// \brief a × b + c, rounded once.
  template <class A, class B, class C>
  DEVIATE_HD fragment<scalar_type> fma(const fragment<A, 1>& a, const fragment<B, 1>& b,
                                       const fragment<C, 1>& c) const {
    const auto x = operand(a);
    const auto y = operand(b);
    const auto z = operand(c);
    const fragment<S> r = plain_.fma(x.value, y.value, z.value);
    return detail::with_record<S, Shadow, Error>(r, x.shadow * y.shadow + z.shadow,
                                                 y.rounded * x.error + x.rounded * y.error + z.error,
                                                 detail::error_of_fma(held(r), x.rounded, y.rounded, z.rounded));
  }
  /// \brief √x, rounded once. At 0, where √ has no derivative, the operand's error is left out.
  template <class A>
  DEVIATE_HD fragment<scalar_type> sqrt(const fragment<A, 1>& a) const {
    const auto x = operand(a);
    const fragment<S> r = plain_.sqrt(x.value);
    const Shadow root = detail::root(x.rounded);
    const Shadow slope = root == Shadow(0) ? Shadow(0) : Shadow(Shadow(0.5) / root);
    return detail::with_record<S, Shadow, Error>(r, detail::root(x.shadow), slope * x.error,
                                                 detail::error_of_root(held(r), x.rounded));
  }
  /// \brief x, its value rounded once to S; a number without a record becomes its own shadow.
  template <class A>
  DEVIATE_HD fragment<scalar_type> round(const fragment<A, 1>& a) const {
    const auto x = operand(a);
    const fragment<S> r = plain_.round(x.value);
    return detail::with_record<S, Shadow, Error>(r, x.shadow, x.error, held(r) - x.rounded);
  }
  /// @}

  /// \brief What the value is rounded with.
  DEVIATE_HD const rounder_type& rounder() const { return plain_.rounder(); }

 protected:
  /// An operand with its record, or as exact.
  template <class A>
  static DEVIATE_HD auto operand(const fragment<A>& a) {
    return detail::recorded<Shadow, Error>(a);
  }
  /// A value as a shadow, exactly.
  static DEVIATE_HD Shadow held(const fragment<S>& x) { return static_cast<Shadow>(x.value); }

 private:
  rounding_site<S> plain_;
};

/// \brief factor × x where the factor's value is 1: nothing rounds, but the record is that of the product.
template <class T, class S, class Shadow, class Error>
DEVIATE_HD tracked<S, Shadow, Error> times_one(const T& factor, const tracked<S, Shadow, Error>& x) {
  const auto f = detail::recorded<Shadow, Error>(fragment<T>{factor});
  return tracked<S, Shadow, Error>::from_parts(x.value(), f.shadow * x.shadow(),
                                               x.error() + static_cast<Shadow>(x.value()) * f.error);
}

namespace detail {
template <class A>
concept arithmetic_or_tracked = std::is_arithmetic_v<A> || keeps_record<A>;
template <class A, class B>
concept compared_by_value = arithmetic_or_tracked<A> && arithmetic_or_tracked<B> &&(keeps_record<A> || keeps_record<B>);
template <class A>
DEVIATE_HD auto value_of(const A& x) {
  if constexpr (keeps_record<A>)
    return x.value();
  else
    return x;
}
}  // namespace detail

// clang-format off
/// \name Operators and functions of tracked numbers
/// @{

/// \brief As at a site of the same scalar.
template <class S, class Shadow, class Error> requires(!scalar_traits<S>::is_runtime) DEVIATE_HD tracked<S, Shadow, Error> operator+(const tracked<S, Shadow, Error>& a, const tracked<S, Shadow, Error>& b) { using T = tracked<S, Shadow, Error>; return rounding_site<T>{}.add(fragment<T>{a}, fragment<T>{b}).value; }
template <class S, class Shadow, class Error> requires(!scalar_traits<S>::is_runtime) DEVIATE_HD tracked<S, Shadow, Error> operator-(const tracked<S, Shadow, Error>& a, const tracked<S, Shadow, Error>& b) { using T = tracked<S, Shadow, Error>; return rounding_site<T>{}.subtract(fragment<T>{a}, fragment<T>{b}).value; }
template <class S, class Shadow, class Error> requires(!scalar_traits<S>::is_runtime) DEVIATE_HD tracked<S, Shadow, Error> operator*(const tracked<S, Shadow, Error>& a, const tracked<S, Shadow, Error>& b) { using T = tracked<S, Shadow, Error>; return rounding_site<T>{}.multiply(fragment<T>{a}, fragment<T>{b}).value; }
template <class S, class Shadow, class Error> requires(!scalar_traits<S>::is_runtime) DEVIATE_HD tracked<S, Shadow, Error> operator/(const tracked<S, Shadow, Error>& a, const tracked<S, Shadow, Error>& b) { using T = tracked<S, Shadow, Error>; return rounding_site<T>{}.divide(fragment<T>{a}, fragment<T>{b}).value; }
template <class S, class Shadow, class Error> requires(!scalar_traits<S>::is_runtime) DEVIATE_HD tracked<S, Shadow, Error> fma(const tracked<S, Shadow, Error>& a, const tracked<S, Shadow, Error>& b, const tracked<S, Shadow, Error>& c) { using T = tracked<S, Shadow, Error>; return rounding_site<T>{}.fma(fragment<T>{a}, fragment<T>{b}, fragment<T>{c}).value; }
template <class S, class Shadow, class Error> requires(!scalar_traits<S>::is_runtime) DEVIATE_HD tracked<S, Shadow, Error> sqrt(const tracked<S, Shadow, Error>& x) { using T = tracked<S, Shadow, Error>; return rounding_site<T>{}.sqrt(fragment<T>{x}).value; }
/// \brief −x, exactly.
template <class S, class Shadow, class Error> DEVIATE_HD tracked<S, Shadow, Error> operator-(const tracked<S, Shadow, Error>& x) { return tracked<S, Shadow, Error>::from_parts(-x.value(), -x.shadow(), Shadow(-1) * x.error()); }

/// \brief Of the values; the zeros are equal, NaN is unordered.
template <class A, class B> requires detail::compared_by_value<A, B> DEVIATE_HD bool operator==(const A& a, const B& b) { return detail::value_of(a) == detail::value_of(b); }
template <class A, class B> requires detail::compared_by_value<A, B> DEVIATE_HD bool operator!=(const A& a, const B& b) { return detail::value_of(a) != detail::value_of(b); }
template <class A, class B> requires detail::compared_by_value<A, B> DEVIATE_HD bool operator<(const A& a, const B& b) { return detail::value_of(a) < detail::value_of(b); }
template <class A, class B> requires detail::compared_by_value<A, B> DEVIATE_HD bool operator>(const A& a, const B& b) { return detail::value_of(a) > detail::value_of(b); }
template <class A, class B> requires detail::compared_by_value<A, B> DEVIATE_HD bool operator<=(const A& a, const B& b) { return detail::value_of(a) <= detail::value_of(b); }
template <class A, class B> requires detail::compared_by_value<A, B> DEVIATE_HD bool operator>=(const A& a, const B& b) { return detail::value_of(a) >= detail::value_of(b); }
/// @}
// clang-format on

}  // namespace deviate
