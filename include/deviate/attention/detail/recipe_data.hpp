// SPDX-License-Identifier: Apache-2.0
/// \file recipe_data.hpp
/// \brief What a recipe object carries for the sites that need it: each part is empty where none does.
#pragma once

#include <cstdint>
#include <deviate/attention/site.hpp>
#include <deviate/number/runtime_format.hpp>
#include <deviate/number/stochastic_scalar.hpp>

namespace deviate {

class observer;

namespace detail {

/// Formats of the run-time sites of a recipe; nothing where there are none.
template <bool Needed>
struct runtime_formats {};
template <>
struct runtime_formats<true> {
  format formats[site_count];       ///< by site; read only where the site's scalar is a run-time one
  format row_sum_inside{binary64};  ///< inside the row sum, where that is a run-time scalar other than its terms'

  runtime_formats() = default;
  /// \brief Every run-time site uses `f`.
  explicit runtime_formats(const format& f) {
    for (format& site_format : formats) site_format = f;
    row_sum_inside = f;
  }
};

/// What stochastic roundings start from; nothing where there are none.
template <bool Needed>
struct random_source {};
template <>
struct random_source<true> {
  std::uint64_t seed = 0;                     ///< equal seeds give equal bits
  int random_bits = most_random_bits<float>;  ///< decide a rounding of a stochastic_runtime site
};

/// Who is told the results of observed sites; nothing where there are none.
template <bool Needed>
struct observer_link {};
template <>
struct observer_link<true> {
  observer* seen_by = nullptr;  ///< must outlive the run; nobody is told where it is null
};

}  // namespace detail
}  // namespace deviate
