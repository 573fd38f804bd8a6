// SPDX-License-Identifier: Apache-2.0
/// \file site_operations.hpp
/// \brief The operations of one site of an algorithm: correctly rounded arithmetic, and exp and log rounded once.
#pragma once

#include <cstdint>
#include <deviate/math/exp.hpp>
#include <deviate/math/log.hpp>
#include <deviate/number/arithmetic.hpp>

namespace deviate {

/// \brief The base of an exponential.
enum class exponential_base : std::uint8_t { e, two };

/// \brief What an algorithm does at a site: every operation ends in one rounding to the site's scalar.
/// \tparam S scalar of the results
template <class S>
class site_operations : public rounding_site<S> {
 public:
  using rounding_site<S>::rounding_site;

  /// \brief e^x: the double result of math::exp, rounded once. Correctly rounded for every float x and up to 24 bits.
  template <class A, int W>
  DEVIATE_HD fragment<S, W> exp(const fragment<A, W>& x) const {
    // One rounding of a correct double or the correctly rounded float: the same number, which the latter has sooner.
    if constexpr (std::is_same_v<S, float> && detail::is_held_in_float<A>)
      return {math::exp(x.value)};
    else if constexpr (detail::is_held_in_float<S> && detail::is_held_in_float<A>)
      return this->unary([](const auto& v) DEVIATE_HD_LAMBDA { return math::exp_of_float(v); }, x);
    else
      return this->unary([](const auto& v) DEVIATE_HD_LAMBDA { return math::exp(v); }, x);
  }
  /// \brief A function of float lanes that stands for Base^x, of x rounded once to float; its result rounded to the
  /// site's scalar.
  template <exponential_base Base, class F, class A, int W>
  DEVIATE_HD fragment<S, W> apply_in_float(F f, const fragment<A, W>& x) const {
    static_assert(!detail::is_software<S> && !detail::is_software<A>, "a function of floats knows no software scalar");
    if constexpr (std::is_same_v<S, float> && detail::is_held_in_float<A>)
      return {f(x.value)};
    else
      return this->unary(
          [f](const auto& v) DEVIATE_HD_LAMBDA { return convert_lanes<double>(f(convert_lanes<float>(v))); }, x);
  }
  /// \brief log2 e as kernels hold it, a float.
  template <int W>
  static DEVIATE_HD fragment<float, W> log2_e() {
    return fill<float, W>(0x1.715476p+0f);
  }
  /// \brief Natural logarithm, rounded once: correctly for every float x and up to 24 bits.
  template <class A, int W>
  DEVIATE_HD fragment<S, W> log(const fragment<A, W>& x) const {
    return this->unary(
        [](const auto& v) DEVIATE_HD_LAMBDA {
          // Five floats have logarithms whose nearest double is a midpoint of floats: to odd keeps their direction.
          if constexpr (!std::is_same_v<S, double> && std::is_same_v<lane_value<std::decay_t<decltype(v)>>, double>)
            return math::log_to_odd(v);
          else
            return math::log(v);
        },
        x);
  }
};

/// \brief e^x of an emulated number, rounded once.
template <format F>
DEVIATE_HD emulated<F> exp(const emulated<F>& x) {
  return detail::emulated_result(site_operations<emulated<F>>{}.exp(detail::as_fragment(x)));
}
/// \brief Natural logarithm of an emulated number, rounded once.
template <format F>
DEVIATE_HD emulated<F> log(const emulated<F>& x) {
  return detail::emulated_result(site_operations<emulated<F>>{}.log(detail::as_fragment(x)));
}

}  // namespace deviate
