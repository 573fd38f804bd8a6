// SPDX-License-Identifier: Apache-2.0
/// \file exponential.hpp
/// \brief Which exp a recipe uses for `probability` and `rescale_factor`, and how its argument is formed.
#pragma once

#include <concepts>
#include <cstdint>
#include <deviate/config.hpp>
#include <deviate/math/site_operations.hpp>

namespace deviate {

/// \brief The default: S − m rounded at `shifted_score`, then the correctly rounded exp.
struct natural_exponential {
  /// \brief exp(x − m).
  template <class Shift, class Result, class X, class M, int W>
  static DEVIATE_HD auto of(const Shift& shift, const Result& result, const fragment<X, W>& x,
                            const fragment<M, W>& m) {
    return result.exp(shift.subtract(x, m));
  }
};

/// \brief What `exponential` accepts: a static `of(shift, result, x, m)` that rounds its argument at `shift` and its
/// value at `result`.
template <class F>
concept exponential_function = requires(const site_operations<float>& site, const fragment<float, 1>& x) {
  { F::of(site, site, x, x) } -> std::same_as<fragment<float, 1>>;
};

/// \brief S − m rounded at `shifted_score`, then a function of float lanes: e^x.
/// \tparam Function an empty type, called with `float` or `pack<float, W>`
template <class Function>
struct exponential_in_float {
  /// \brief Function(x − m).
  template <class Shift, class Result, class X, class M, int W>
  static DEVIATE_HD auto of(const Shift& shift, const Result& result, const fragment<X, W>& x,
                            const fragment<M, W>& m) {
    return result.template apply_in_float<exponential_base::e>(Function{}, shift.subtract(x, m));
  }
};

/// \brief How the argument of exp2 is formed from the score, c = log2 e as a float and the maximum.
enum class exponent_form : std::uint8_t {
  shifted,   ///< (S − m)·c: two roundings at `shifted_score`
  two_step,  ///< S·c − m·c, each product rounded: one key has P = 1
  fused,     ///< fma(S, c, −(m·c)): the product of S is not rounded, that of m is, as some kernels do
};

/// \brief 2^(…) by a function of float lanes, of the score in units of log 2.
/// \tparam Function an empty type, called with `float` or `pack<float, W>`
template <class Function, exponent_form Form>
struct exponential_base2 {
  /// \brief Function((x − m)·log2 e), the argument formed as Form says.
  template <class Shift, class Result, class X, class M, int W>
  static DEVIATE_HD auto of(const Shift& shift, const Result& result, const fragment<X, W>& x,
                            const fragment<M, W>& m) {
    const auto c = shift.template log2_e<W>();
    constexpr auto two = exponential_base::two;
    if constexpr (Form == exponent_form::shifted) {
      return result.template apply_in_float<two>(Function{}, shift.multiply(shift.subtract(x, m), c));
    } else {
      const auto scaled = shift.multiply(m, c);
      if constexpr (Form == exponent_form::two_step)
        return result.template apply_in_float<two>(Function{}, shift.subtract(shift.multiply(x, c), scaled));
      else
        return result.template apply_in_float<two>(Function{}, shift.fma(x, c, decltype(scaled){-scaled.value}));
    }
  }
};

}  // namespace deviate
