// SPDX-License-Identifier: Apache-2.0
/// \file math/tracked.hpp
/// \brief exp and log of tracked numbers: at a site, and found by argument-dependent lookup.
#pragma once

#include <deviate/math/site_operations.hpp>
#include <deviate/number/tracked.hpp>

namespace deviate {

/// \brief The operations of a site whose results keep a record: arithmetic, exp and log.
///
/// The local error is the value less the exp or log of the rounded operand in the shadow's type: in double it is known to
/// 2^−52 of the result.
template <class S, class Shadow, class Error>
class site_operations<tracked<S, Shadow, Error>> : public rounding_site<tracked<S, Shadow, Error>> {
  using base = rounding_site<tracked<S, Shadow, Error>>;

 public:
  using scalar_type = tracked<S, Shadow, Error>;  ///< scalar of the results
  using base::base;

  /// \brief e^x, the value as at a site of S.
  template <class A>
  DEVIATE_HD fragment<scalar_type> exp(const fragment<A, 1>& a) const {
    const auto x = base::operand(a);
    return power<exponential_base::e>(x, plain().exp(x.value));
  }
  /// \brief A function of floats that stands for base^x, the value as at a site of S. What the function is off is local
  /// error, as its rounding is.
  template <exponential_base Base, class F, class A>
  DEVIATE_HD fragment<scalar_type> apply_in_float(F f, const fragment<A, 1>& a) const {
    const auto x = base::operand(a);
    return power<Base>(x, plain().template apply_in_float<Base>(f, x.value));
  }
  /// \brief Natural logarithm, the value as at a site of S.
  template <class A>
  DEVIATE_HD fragment<scalar_type> log(const fragment<A, 1>& a) const {
    const auto x = base::operand(a);
    const fragment<S> r = plain().log(x.value);
    return detail::with_record<S, Shadow, Error>(r, math::log(x.shadow), Shadow(Shadow(1) / x.rounded) * x.error,
                                                 base::held(r) - math::log(x.rounded));
  }

  /// \brief log2 e as kernels hold it, a float; its shadow is log2 e, and its error the rounding.
  template <int W>
  static DEVIATE_HD auto log2_e() {
    using number = tracked<float, Shadow, Error>;
    const float c = site_operations<S>::template log2_e<1>().value;
    const Shadow exact = Shadow(1) / math::log(Shadow(2));
    return fragment<number, W>{number::from_parts(c, exact, Error(static_cast<Shadow>(c) - exact))};
  }

 private:
  DEVIATE_HD site_operations<S> plain() const { return site_operations<S>{this->rounder()}; }

  template <exponential_base Base, class Operand>
  DEVIATE_HD fragment<scalar_type> power(const Operand& x, const fragment<S>& r) const {
    const auto of = [](const Shadow& v)
                        DEVIATE_HD_LAMBDA { return Base == exponential_base::e ? math::exp(v) : math::exp2(v); };
    const Shadow exact = of(x.rounded);
    const Shadow slope = Base == exponential_base::e ? exact : Shadow(exact * math::log(Shadow(2)));
    return detail::with_record<S, Shadow, Error>(r, of(x.shadow), slope * x.error, base::held(r) - exact);
  }
};

/// \brief A rescale factor e^(from − to) whose operands have the same value, so that nothing is computed: the value is
/// `one`, with the record of the factor.
template <class S, class Shadow, class Error, class A, class B>
DEVIATE_HD tracked<S, Shadow, Error> exp_of_equals(const tracked<S, Shadow, Error>& one, const A& from, const B& to) {
  using number = tracked<S, Shadow, Error>;
  if (!detail::is_finite(static_cast<double>(from))) return one;
  const auto x = detail::recorded<Shadow, Error>(fragment<A>{from});
  const auto y = detail::recorded<Shadow, Error>(fragment<B>{to});
  return number::from_parts(one.value(), math::exp(Shadow(x.shadow - y.shadow)), x.error + Shadow(-1) * y.error);
}

/// \brief e^x, as at a site of the same scalar.
template <class S, class Shadow, class Error>
requires(!scalar_traits<S>::is_runtime) DEVIATE_HD tracked<S, Shadow, Error> exp(const tracked<S, Shadow, Error>& x) {
  using T = tracked<S, Shadow, Error>;
  return site_operations<T>{}.exp(fragment<T>{x}).value;
}
/// \brief Natural logarithm, as at a site of the same scalar.
template <class S, class Shadow, class Error>
requires(!scalar_traits<S>::is_runtime) DEVIATE_HD tracked<S, Shadow, Error> log(const tracked<S, Shadow, Error>& x) {
  using T = tracked<S, Shadow, Error>;
  return site_operations<T>{}.log(fragment<T>{x}).value;
}

}  // namespace deviate
