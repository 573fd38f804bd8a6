// SPDX-License-Identifier: Apache-2.0
/// \file compensated.hpp
/// \brief A running sum that carries what its roundings lost.
#pragma once

#include <deviate/accumulate/accumulation.hpp>

namespace deviate::accumulate {

/// \brief Compensated summation of Kahan, Babuška and Neumaier: sum s and correction c, both in one scalar.
///
/// From s = c = 0, for each term t, every operation rounded to the scalar of the sum:
///   u = s + t;  c = c + ((s − u) + t) if |s| ≥ |t|, else c + ((t − u) + s);  s = u.
/// The total is s + c, or s where s is not finite: an overflow or a special term ends as in a plain sum.
/// Terms may be wider than the sum: each operation takes them as they are, and then (t − u) may round.
///
/// Accuracy, for n terms of the sum's own scalar, rounding to nearest with unit roundoff u, without overflow:
/// |total − Σt| ≤ u·|Σt| + γ²·Σ|t| with γ = (n − 1)·u ÷ (1 − (n − 1)·u). tests/accumulate/compensated.cpp holds it.
/// The correction is itself a plain sum: equal terms stall it where they stall a sequential sum.
///
/// References: A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974; T. Ogita,
/// S. M. Rump and S. Oishi, "Accurate Sum and Dot Product", 2005, proposition 4.5, for the bound.
/// \tparam Inside scalar of the sum and of the correction
template <class Inside = as_terms>
struct compensated {
  using inside_type = Inside;  ///< scalar of sum and correction, or `as_terms`

  /// \brief State of W sums side by side.
  /// \tparam Site operations of the sum's scalar
  template <class Site, int W>
  class accumulator {
   public:
    using scalar_type = typename Site::scalar_type;  ///< scalar of the sum
    using fragment_type = fragment<scalar_type, W>;  ///< W sums
    /// \brief Adds the next term of each sum.
    template <class A>
    DEVIATE_HD void push(const Site& site, const fragment<A, W>& term) {
      const fragment_type sum = site.add(sum_, term);
      const fragment_type sum_larger = site.add(site.subtract(sum_, sum), term);
      const fragment_type term_larger = site.add(site.subtract(term, sum), sum_);
      correction_ =
          site.add(correction_, fragment_type{select(is_smaller(sum_, term), term_larger.value, sum_larger.value)});
      sum_ = sum;
    }
    /// \brief The sum of all terms pushed, corrected; +0 for none.
    DEVIATE_HD fragment_type total(const Site& site) const {
      // What is not finite differs from itself by NaN.
      const auto nothing = sum_.value - sum_.value;
      return {select(nothing == nothing, site.add(sum_, correction_).value, sum_.value)};
    }

   private:
    using carrier = carrier_of<scalar_type>;

    template <class X, class Y>
    static constexpr bool are_comparable = requires(const X& x, const Y& y) {
      x < y;
    };
    template <class L>
    static DEVIATE_HD L magnitude(const L& x) {
      return select(x < broadcast<L>(lane_value<L>(0)), -x, x);
    }
    /// |a| < |b|, as a mask for lanes of the sum's carrier.
    template <class A>
    static DEVIATE_HD auto is_smaller(const fragment_type& a, const fragment<A, W>& b) {
      if constexpr (std::is_same_v<carrier, carrier_of<A>> || (W == 1 && are_comparable<carrier, carrier_of<A>>)) {
        return magnitude(a.value) < magnitude(b.value);
      } else if constexpr (scalar_traits<scalar_type>::is_software) {
        return magnitude(a.value) < magnitude(carrier(b.value));
      } else if constexpr (scalar_traits<A>::is_software) {
        return magnitude(A(a.value)) < magnitude(b.value);
      } else {
        const auto mask = magnitude(convert_lanes<double>(a.value)) < magnitude(convert_lanes<double>(b.value));
        return convert_lanes<deviate::detail::same_size_integer<carrier>>(mask);
      }
    }
    static DEVIATE_HD fragment_type zero() { return fill<scalar_type, W>(carrier(0)); }

    fragment_type sum_ = zero(), correction_ = zero();
  };
};

}  // namespace deviate::accumulate
