// SPDX-License-Identifier: Apache-2.0
/// \file exact.hpp
/// \brief The exact sum, rounded once: what every other accumulation is measured against.
#pragma once

#include <deviate/accumulate/accumulation.hpp>
#include <deviate/accumulate/detail/fixed_point.hpp>

namespace deviate::accumulate {

/// \brief Nothing rounds until the total is asked for; then the exact sum of the terms is rounded once.
///
/// The order of the terms does not matter. Any infinity is the total, infinities of both signs and NaN give NaN. A sum
/// that is zero is +0.
/// \pre at most 2^31 terms, held in float or double; the sum's scalar is not a software scalar
///
/// A state takes 552 bytes a sum, and a term some ten integer operations. tests/accumulate/exact.cpp holds the total to
/// MPFR.
/// \tparam Inside scalar of the total
template <class Inside = as_terms>
struct exact {
  using inside_type = Inside;  ///< scalar of the total, or `as_terms`

  /// \brief State of W sums side by side.
  /// \tparam Site operations of the total's scalar
  template <class Site, int W>
  class accumulator {
    static_assert(!scalar_traits<typename Site::scalar_type>::is_software,
                  "the exact sum is rounded to float, double or an emulated format");

   public:
    using fragment_type = fragment<typename Site::scalar_type, W>;  ///< W sums
    /// \brief Adds the next term of each sum.
    template <class A>
    DEVIATE_HD void push(const Site&, const fragment<A, W>& term) {
      static_assert(!scalar_traits<A>::is_software, "the terms of an exact sum are held in float or double");
      if constexpr (W == 1)
        sum_[0].add(double(term.value));
      else
        for (int i = 0; i < W; ++i) sum_[i].add(double(term.value[i]));
    }
    /// \brief The exact sum of all terms pushed, rounded once; +0 for none.
    DEVIATE_HD fragment_type total(const Site& site) const {
      constexpr bool is_double = std::is_same_v<typename Site::scalar_type, double>;
      fragment<double, W> sum{};
      if constexpr (W == 1)
        sum.value = is_double ? sum_[0].to_nearest() : sum_[0].to_odd();
      else
        for (int i = 0; i < W; ++i) sum.value.set(i, is_double ? sum_[i].to_nearest() : sum_[i].to_odd());
      // What rounds to −0 becomes +0: no sum is −0.
      return site.add(site.round(sum), fill<typename Site::scalar_type, W>(carrier_of<typename Site::scalar_type>(0)));
    }

   private:
    detail::fixed_point sum_[W];
  };
};

}  // namespace deviate::accumulate
