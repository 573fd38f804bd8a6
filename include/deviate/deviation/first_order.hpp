// SPDX-License-Identifier: Apache-2.0
/// \file first_order.hpp
/// \brief The error of every site in one pass: each rounding's own error, carried to the output by the derivatives.
// host only
#pragma once

#include <array>
#include <cmath>
#include <deviate/accumulate/tracked.hpp>
#include <deviate/attention/switchable.hpp>
#include <deviate/deviation/detail/compensated_sum.hpp>
#include <deviate/math/tracked.hpp>
#include <deviate/number/tracked.hpp>
#include <deviate/tensor/tensor.hpp>
#include <vector>

namespace deviate {

/// \brief A first-order error, kept apart by the site whose roundings made it.
struct errors_by_site {
  std::array<double, site_count> part = {};  ///< by site
};

/// \brief The same for results of one site: a local error is that site's own.
/// \tparam S the site
template <site S>
struct error_of_site : errors_by_site {
  error_of_site() = default;
  /// \brief A local error of this site.
  explicit error_of_site(double local) { part[std::size_t(S)] = local; }
  /// \brief An error on its way through this site.
  template <site Other>
  explicit error_of_site(const error_of_site<Other>& e) : errors_by_site(e) {}

  /// \brief Part by part.
  friend error_of_site operator+(error_of_site a, const error_of_site& b) {
    for (std::size_t i = 0; i < a.part.size(); ++i) a.part[i] += b.part[i];
    return a;
  }
  /// \brief Part by part.
  friend error_of_site operator*(double factor, error_of_site e) {
    for (double& x : e.part) x *= factor;
    return e;
  }
};

namespace detail {
/// The scalars of a switchable recipe that tracks the errors of its sites.
struct tracked_sites {
  template <site S>
  using stored = tracked<wide_runtime, double, error_of_site<S>>;
  template <site S>
  using inside = tracked<switched, double, error_of_site<S>>;
};
}  // namespace detail

/// \brief `switchable<Low>` with the error of every site beside each value. About a hundred times slower.
template <class Low, class Exponential = typename Low::exponential_type>
using tracked_switchable = typename detail::switchable_of<Low, detail::tracked_sites, Exponential>::type;

/// \brief What the first-order errors of all sites say of the output's elements.
struct first_order_moments {
  std::array<double, site_count> mean = {};                           ///< of the error of a site
  std::array<std::array<double, site_count>, site_count> cross = {};  ///< mean of the product of the errors of two
  double mse = 0;                                                     ///< mean square of their sum: the predicted error
  double unexplained =
      0;  ///< mean square of value − shadow − that sum: products of errors, which first order leaves out
  std::int64_t count = 0;  ///< elements; those that are not finite are left out

  /// \brief Mean product of the errors of two sets of sites.
  double between(site_set a, site_set b) const {
    double sum = 0;
    for (int i = 0; i < site_count; ++i)
      for (int j = 0; j < site_count; ++j)
        if (a.contains(site(i)) && b.contains(site(j))) sum += cross[std::size_t(i)][std::size_t(j)];
    return sum;
  }
};

/// \brief The moments of the errors in a tensor of tracked numbers.
/// \tparam Number `tracked` with an error that derives from `errors_by_site`
template <class Number>
first_order_moments moments_of(const tensor<Number>& output) {
  first_order_moments r;
  for (const Number& x : output.values()) {
    const double value = double(x.value());
    if (!std::isfinite(value) || !std::isfinite(x.shadow())) continue;
    ++r.count;
    double sum = 0;
    const auto& part = x.error().part;
    for (std::size_t i = 0; i < part.size(); ++i) {
      sum += part[i];
      r.mean[i] += part[i];
      if (part[i] == 0) continue;
      for (std::size_t j = 0; j < part.size(); ++j) r.cross[i][j] += part[i] * part[j];
    }
    const double rest = (value - x.shadow()) - sum;
    r.mse += sum * sum;
    r.unexplained += rest * rest;
  }
  if (r.count == 0) return r;
  const double n = double(r.count);
  r.mse /= n;
  r.unexplained /= n;
  for (double& x : r.mean) x /= n;
  for (auto& row : r.cross)
    for (double& x : row) x /= n;
  return r;
}

}  // namespace deviate
