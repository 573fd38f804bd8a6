// SPDX-License-Identifier: Apache-2.0
/// \file accumulate/tracked.hpp
/// \brief A sum whose inside keeps no record, with a record: for matrix units and the exact sum.
#pragma once

#include <deviate/accumulate/accumulation.hpp>
#include <deviate/number/tracked.hpp>

namespace deviate::accumulate {

/// \brief The sum of `Accumulation`, bit for bit; beside it run the sums of the terms' shadows and errors.
///
/// The whole sum counts as one operation: its local error is the total less the sum of the terms' values, which runs in
/// Shadow in the order of the terms. Accumulations that are made of a site's operations need no such wrapper: they track
/// every addition by themselves.
/// \tparam Accumulation `matrix_unit`, `exact`, or any other
/// \tparam Shadow as for `tracked`
/// \tparam Error as for `tracked`
template <class Accumulation, class Shadow = double, class Error = Shadow>
struct tracked_sum {
  /// \brief The scalar of Accumulation's running sum, tracked; or `as_terms`.
  using inside_type = std::conditional_t<std::is_same_v<typename Accumulation::inside_type, as_terms>, as_terms,
                                         tracked<typename Accumulation::inside_type, Shadow, Error>>;

  /// \brief State of one sum.
  /// \tparam Site operations of a tracked scalar
  template <class Site, int W>
  class accumulator {
    static_assert(W == 1, "tracked numbers have one lane");
    using number = typename Site::scalar_type;
    using plain_site = rounding_site<typename number::scalar_type>;

   public:
    using fragment_type = fragment<number, 1>;  ///< the sum
    /// \brief Adds the next term.
    template <class A>
    DEVIATE_HD void push(const Site& site, const fragment<A, 1>& term) {
      const auto x = deviate::detail::recorded<Shadow, Error>(term);
      plain_.push(plain_site{site.rounder()}, x.value);
      sum_of_values_ = sum_of_values_ + x.rounded;
      shadow_ = shadow_ + x.shadow;
      error_ = error_ + x.error;
    }
    /// \brief The sum of all terms pushed; +0 for none.
    DEVIATE_HD fragment_type total(const Site& site) const {
      const auto sum = plain_.total(plain_site{site.rounder()});
      return deviate::detail::with_record(sum, shadow_, error_, static_cast<Shadow>(sum.value) - sum_of_values_);
    }

   private:
    typename Accumulation::template accumulator<plain_site, 1> plain_{};
    Shadow sum_of_values_ = Shadow(0), shadow_ = Shadow(0);
    Error error_{};
  };
};

}  // namespace deviate::accumulate
