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
  return to_odd(d, T(0) < error ? 1.0 : error < T(0) ? -1.0 : 0.0);
}

/// A tracked operand at a site of another kind would lose its shadow and its error without a word.
template <class... Operands>
DEVIATE_HD constexpr void expects_no_record() {
  static_assert((!keeps_record<Operands> && ...),
                "a tracked operand meets a site without a record: make the site's scalar tracked, or take value()");
}

template <class A>
inline constexpr bool is_held_in_float = std::is_same_v<carrier_of<A>, float>;

/// A sum in double, where rounding is downward: an exact zero of terms with different signs is −0 (IEEE 754-2019, 6.3).
/// A sum is zero only where its terms are opposite or both zero: it is +0 only if neither has the sign bit.
template <class L>
DEVIATE_HD L zero_sum_downward(const L& sum, const L& a, const L& b) {
  using B = lanes<std::uint64_t, lane_width<L>>;
  const L zero = from_bits((bits(a) | bits(b)) & broadcast<B>(std::uint64_t(1) << 63));
  return select(sum == broadcast<L>(0.0), zero, sum);
}

struct add_operation {
  static constexpr bool is_sum = true;
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
  static constexpr bool is_sum = true;
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
  static constexpr bool is_sum = false;
  template <class L>
  static DEVIATE_HD L plain(const L& a, const L& b) {
    return a * b;
  }
  template <bool FromFloat, class L>
  static DEVIATE_HD L odd(const L& a, const L& b) {
    static_assert(2 * binary32.precision() <= binary64.precision(), "a product of floats is exact in double");
    if constexpr (FromFloat)
      return a * b;
    else
      return per_lane([](double x, double y) { return multiply_to_odd(x, y); }, a, b);
  }
};
struct divide_operation {
  static constexpr bool is_sum = false;
  template <class L>
  static DEVIATE_HD L plain(const L& a, const L& b) {
    return a / b;
  }
  /// A quotient of 24-bit numbers is at least 2^−50 (relative) from every other number of 26 bits, and 2^−51 from every
  /// midpoint: double, within 2^−53 of it, can land on neither, so every mode decides as for the exact quotient.
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
/// Modes other than to nearest, and `fma` in every mode, always start from the exact result.
/// tests/number/arithmetic_modes.cpp and fma.cpp hold every mode to MPFR.
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
    detail::expects_no_record<A>();
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
    detail::expects_no_record<A>();
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

  /// \brief a × b + c, rounded once. Where a software scalar takes part, its own product and its own sum.
  template <class A, class B, class C, int W>
  DEVIATE_HD fragment<S, W> fma(const fragment<A, W>& a, const fragment<B, W>& b, const fragment<C, W>& c) const {
    using detail::is_software;
    detail::expects_no_record<A, B, C>();
    if constexpr (is_software<S> || is_software<A> || is_software<B> || is_software<C>) {
      return add(multiply_in_software<C>(a, b), c);
    } else if constexpr (std::is_same_v<S, double>) {
      return {
          multiply_add(convert_lanes<double>(a.value), convert_lanes<double>(b.value), convert_lanes<double>(c.value))};
    } else if constexpr (DEVIATE_NATIVE_FMA && std::is_same_v<S, float> && detail::is_held_in_float<A> &&
                         detail::is_held_in_float<B> && detail::is_held_in_float<C>) {
      return {multiply_add(a.value, b.value, c.value)};
    } else {
      using L = lanes<double, W>;
      using bit_lanes = lanes<std::uint64_t, W>;
      static_assert(2 * binary32.precision() <= binary64.precision(), "a product of floats is exact in double");
      const L x = convert_lanes<double>(a.value), y = convert_lanes<double>(b.value),
              z = convert_lanes<double>(c.value);
      L r;
      if constexpr (detail::is_held_in_float<A> && detail::is_held_in_float<B>)
        r = detail::add_to_odd(x * y, z);
      else
        r = per_lane([](double u, double v, double w) { return detail::fma_to_odd(u, v, w); }, x, y, z);
      if (rounder_.rounds_downward()) {
        const bit_lanes product_sign = bits(x) ^ bits(y);
        r = detail::zero_sum_downward(r, L(from_bits(product_sign)), z);
      }
      return {rounder_.from_odd(r)};
    }
  }

  /// \brief What it rounds with.
  DEVIATE_HD const rounder_type& rounder() const { return rounder_; }

 protected:
  /// f of the operand in double (or in its software type), rounded once.
  template <class F, class A, int W>
  DEVIATE_HD fragment<S, W> unary(F f, const fragment<A, W>& x) const {
    detail::expects_no_record<A>();
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

  /// The product of a fused multiply-add in which software takes part: in the software type itself, unrounded.
  template <class C, class A, class B>
  static auto multiply_in_software(const fragment<A, 1>& a, const fragment<B, 1>& b) {
    using T = std::conditional_t<
        detail::is_software<S>, S,
        std::conditional_t<detail::is_software<A>, A, std::conditional_t<detail::is_software<B>, B, C>>>;
    return fragment<T, 1>{T(a.value) * T(b.value)};
  }

  template <class Operation, class A, class B, int W>
  DEVIATE_HD fragment<S, W> binary(const fragment<A, W>& a, const fragment<B, W>& b) const {
    detail::expects_no_record<A, B>();
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
        const auto x = convert_lanes<double>(a.value), y = convert_lanes<double>(b.value);
        auto r = Operation::template odd<from_float>(x, y);
        if constexpr (Operation::is_sum)
          if (rounder_.rounds_downward())
            r = detail::zero_sum_downward(r, x, std::is_same_v<Operation, detail::add_operation> ? y : -y);
        return {rounder_.from_odd(r)};
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
/// \name Operators of emulated numbers: correctly rounded in the format's mode
/// @{

/// \brief The exact result, rounded once.
template <format F> DEVIATE_HD emulated<F> operator+(const emulated<F>& a, const emulated<F>& b) { return detail::emulated_result(rounding_site<emulated<F>>{}.add(detail::as_fragment(a), detail::as_fragment(b))); }
template <format F> DEVIATE_HD emulated<F> operator-(const emulated<F>& a, const emulated<F>& b) { return detail::emulated_result(rounding_site<emulated<F>>{}.subtract(detail::as_fragment(a), detail::as_fragment(b))); }
template <format F> DEVIATE_HD emulated<F> operator*(const emulated<F>& a, const emulated<F>& b) { return detail::emulated_result(rounding_site<emulated<F>>{}.multiply(detail::as_fragment(a), detail::as_fragment(b))); }
template <format F> DEVIATE_HD emulated<F> operator/(const emulated<F>& a, const emulated<F>& b) { return detail::emulated_result(rounding_site<emulated<F>>{}.divide(detail::as_fragment(a), detail::as_fragment(b))); }
template <format F> DEVIATE_HD emulated<F> fma(const emulated<F>& a, const emulated<F>& b, const emulated<F>& c) { return detail::emulated_result(rounding_site<emulated<F>>{}.fma(detail::as_fragment(a), detail::as_fragment(b), detail::as_fragment(c))); }
template <format F> DEVIATE_HD emulated<F> sqrt(const emulated<F>& x) { return detail::emulated_result(rounding_site<emulated<F>>{}.sqrt(detail::as_fragment(x))); }
/// @}
// clang-format on

}  // namespace deviate
