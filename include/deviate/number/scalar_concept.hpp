// SPDX-License-Identifier: Apache-2.0
/// \file scalar_concept.hpp
/// \brief What a number type must offer to serve as a scalar. The folder's page says it in words: "Your own scalar".
#pragma once

#include <deviate/number/scalar.hpp>

#include <concepts>
#include <type_traits>

namespace deviate {

namespace detail {
/// A value in the memory of a team: made and copied, never destroyed one by one.
template <class S>
concept storable = std::default_initializable<S> && std::copyable<S> && std::is_trivially_destructible_v<S>;

/// From literals and native carriers, exactly or rounded once; back to double, rounded to nearest. Explicit will do.
template <class S>
concept between_doubles = std::constructible_from<S, int> && std::constructible_from<S, float> &&
    std::constructible_from<S, double> && std::constructible_from<double, const S&>;
}  // namespace detail

/// \brief What the products of a matrix unit need to be: stored, multiplied, and read as double. Every scalar is one;
/// `accumulate::exact_product` is no more than that.
template <class S>
concept product_scalar =
    !scalar_traits<S>::is_software || scalar_traits<S>::is_runtime ||
    (!std::is_integral_v<S> && detail::storable<S> && detail::between_doubles<S> && requires(const S& a, const S& b) {
      { a* b } -> std::same_as<S>;
    });

/// \brief A number type that computes for itself.
///
/// What the expressions must mean: −∞ and NaN come through `S(double)`, with comparisons as for double; + − × ÷ and unary
/// − give a number of S and follow IEEE 754 for infinities; S(0) + x is x. Nothing else of it is used: no conversion by
/// itself, no compound assignment, no `std::numeric_limits`. tests/number/archetype.hpp is the smallest such type.
/// Nothing marks a scalar as one: any type with these expressions is taken (the primary template of scalar_traits).
template <class S>
concept software_scalar =
    !std::is_integral_v<S> && detail::storable<S> && detail::between_doubles<S> && requires(const S& a, const S& b) {
  { a + b } -> std::same_as<S>;
  { a - b } -> std::same_as<S>;
  { a* b } -> std::same_as<S>;
  { a / b } -> std::same_as<S>;
  { -a } -> std::same_as<S>;
  { a == b } -> std::same_as<bool>;
  { a != b } -> std::same_as<bool>;
  { a < b } -> std::same_as<bool>;
};

/// \brief A number type that every site and every accumulation accepts: float, double, an emulated or run-time format, or
/// a software scalar. exp and log are apart: `scalar_with_exp`, `scalar_with_log`.
template <class S>
concept scalar = !scalar_traits<S>::is_software || scalar_traits<S>::is_runtime || software_scalar<S>;

}  // namespace deviate
