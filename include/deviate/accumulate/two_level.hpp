// SPDX-License-Identifier: Apache-2.0
/// \file two_level.hpp
/// \brief Short sums in one precision, promoted into a sum in another.
#pragma once

#include <deviate/accumulate/accumulation.hpp>

namespace deviate::accumulate {

namespace detail {
/// Scalar of the inner sums: that of the outer sum unless Inner names one.
template <class Inner, class Outer>
using inner_scalar = typename inside_scalar<typename Inner::inside_type, Outer>::type;
}  // namespace detail

/// \brief Sums of `Interval` terms each by `Inner`, whose totals are the terms of `Outer`.
///
/// Terms 0 … Interval − 1 make the first inner sum, and so on; the last may be shorter. Kernels promote so out of a
/// narrow matrix unit: `two_level<hopper_fp8, 128, sequential<float>>` (DeepSeek-AI, "DeepSeek-V3 Technical Report",
/// 2024, section 3.3.2).
/// \tparam Inner accumulation inside an interval; `as_terms` there means the scalar of the outer sum
/// \tparam Interval terms between two promotions
/// \tparam Outer accumulation of the inner totals
template <class Inner, int Interval, class Outer>
struct two_level {
  static_assert(Interval > 0, "a promotion interval has at least one term");
  using inside_type = typename Outer::inside_type;  ///< scalar of the outer sum, or `as_terms`
  static constexpr int interval = Interval;         ///< terms between two promotions

  /// \brief State of W sums side by side.
  /// \tparam Site operations of the outer sum's scalar
  template <class Site, int W>
  class accumulator {
    using inner_scalar = detail::inner_scalar<Inner, typename Site::scalar_type>;
    static constexpr bool one_scalar = std::is_same_v<inner_scalar, typename Site::scalar_type>;
    static_assert(one_scalar || !scalar_traits<inner_scalar>::is_runtime,
                  "a format chosen at run time serves both levels or the outer one");
    static_assert(one_scalar || !rounds_at_random<inner_scalar>,
                  "a stochastic scalar serves both levels or the outer one");
    using inner_site = std::conditional_t<one_scalar, Site, rounding_site<inner_scalar>>;
    using inner_type = typename Inner::template accumulator<inner_site, W>;

   public:
    using fragment_type = fragment<typename Site::scalar_type, W>;  ///< W sums
    /// \brief Adds the next term of each sum.
    template <class A>
    DEVIATE_HD void push(const Site& site, const fragment<A, W>& term) {
      inner_.push(inside(site), term);
      if (++count_ == Interval) {
        outer_.push(site, inner_.total(inside(site)));
        inner_ = inner_type();
        count_ = 0;
      }
    }
    /// \brief The sum of all terms pushed; +0 for none.
    DEVIATE_HD fragment_type total(const Site& site) const {
      auto outer = outer_;
      if (count_ != 0) outer.push(site, inner_.total(inside(site)));
      return outer.total(site);
    }

   private:
    static DEVIATE_HD decltype(auto) inside(const Site& site) {
      if constexpr (one_scalar)
        return (site);
      else
        return inner_site{};
    }

    typename Outer::template accumulator<Site, W> outer_{};
    inner_type inner_{};
    int count_ = 0;
  };
};

}  // namespace deviate::accumulate
