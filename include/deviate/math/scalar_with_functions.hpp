// SPDX-License-Identifier: Apache-2.0
/// \file scalar_with_functions.hpp
/// \brief Scalars of which exp and log can be taken.
#pragma once

#include <deviate/math/detail/own_function.hpp>
#include <deviate/number/scalar_concept.hpp>

namespace deviate {

namespace detail {
/// Its functions are ours, at a site.
template <class S>
inline constexpr bool has_functions_of_ours = !scalar_traits<S>::is_software || scalar_traits<S>::is_runtime;
}  // namespace detail

/// \brief A scalar with an exp: a software scalar has a function `exp` beside it, found by argument-dependent lookup.
template <class S>
concept scalar_with_exp = scalar<S> &&(detail::has_functions_of_ours<S> || math::detail::brings_exp<S>);

/// \brief A scalar with a natural logarithm: a software scalar has a function `log` beside it.
template <class S>
concept scalar_with_log = scalar<S> &&(detail::has_functions_of_ours<S> || math::detail::brings_log<S>);

}  // namespace deviate
