// SPDX-License-Identifier: Apache-2.0
/// \file wasserstein.hpp
/// \brief Exact Wasserstein distances between two samples of numbers, of any order p ≥ 1 and of order infinity.
#pragma once

#include <deviate/contract.hpp>
#include <deviate/deviation/detail/compensated_sum.hpp>
#include <deviate/deviation/detail/number_text.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace deviate {

/// \brief A sample as a distribution: points, each with a weight. Non-owning.
///
/// Weights need not sum to 1; only their shares of the total count. Without weights all points weigh the same.
class weighted_sample {
 public:
  /// \brief Points of equal weight, from any contiguous range of double.
  template <std::convertible_to<std::span<const double>> Values>
  weighted_sample(const Values& values) : values_(values) {}
  /// \brief Points and as many weights; no weights for some points is a mismatch, not equal weights.
  weighted_sample(std::span<const double> values, std::span<const double> weights)
      : values_(values), weights_(weights), weighted_(true) {}

  /// \brief The points, in the given order.
  std::span<const double> values() const { return values_; }
  /// \brief The weights; empty where none were given.
  std::span<const double> weights() const { return weights_; }
  /// \brief True if weights were given.
  bool weighted() const { return weighted_; }

 private:
  std::span<const double> values_;
  std::span<const double> weights_;
  bool weighted_ = false;
};

/// \brief The monotone coupling of two samples: sorted, then matched share by share from the lowest value up.
///
/// On the real line it is the cheapest plan for every convex cost, hence for every order p at once (C. Villani, "Topics
/// in Optimal Transportation", 2003, theorem 2.18): W_p = (∫₀¹ |F⁻¹(u) − G⁻¹(u)|^p du)^(1/p). It is not the L_p distance
/// of the cumulative distribution functions, which equals W_p for p = 1 only.
///
/// The order of the points, with their weights, changes no bit of a result. Cost: one sort of a copy of each sample.
/// Infinite values are points like others: mass at an infinity that both samples hold in equal shares stays where it
/// is and costs nothing; any other mass there makes every distance infinite. So does a difference beyond the largest double.
class monotone_coupling {
 public:
  /// \throws contract_violation if a sample is empty, holds a NaN, has as many weights as not values, or has a weight
  /// that is negative or not finite, or weights whose total is zero or not finite
  monotone_coupling(const weighted_sample& a, const weighted_sample& b) : a_("a", a), b_("b", b) {
    if (!a.weighted() && !b.weighted()) {
      // Whole units of 1/lcm(n, m): where the samples' steps meet is then exact.
      const std::uint64_t n = a.values().size(), m = b.values().size(), common = std::gcd(n, m);
      a_.accumulate_equal(double(m / common));
      b_.accumulate_equal(double(n / common));
      total_ = double(n) * double(m / common);
      return;
    }
    a_.accumulate_shares("a", a);
    b_.accumulate_shares("b", b);
    negligible_ = 0x1p-50;
  }

  /// \brief W_p: (Σ share · |x − y|^p)^(1/p) over the coupling.
  ///
  /// Distances are scaled by the largest one before they are raised to p, so that no order over- or underflows.
  /// Accuracy: within a few roundings of the exact distance of the given samples; exact where all sums and quotients are,
  /// e.g. W_1(x, x + c) = |c| if every x + c is a double. With weights, shares of less than 2^-50 of the total may be
  /// moved to a neighbouring value.
  /// \param p order, 1 ≤ p ≤ ∞; infinity gives the largest distance any share is moved
  /// \throws contract_violation if p is below 1 or NaN
  double distance(double p) const {
    expects(p >= 1, "wasserstein: order p = " + detail::number_text(p) + " must be 1 or more");
    double largest = 0;
    for_each([&](double, double moved) { largest = std::max(largest, moved); });
    if (std::isinf(p) || largest == 0 || std::isinf(largest)) return largest;
    // A power of two keeps small orders exact; for large ones (½)^p would underflow, the largest distance itself does not.
    const double scale = p <= 2 ? std::ldexp(1.0, std::ilogb(largest)) : largest;
    detail::compensated_sum sum;
    for_each([&](double mass, double moved) { sum.add(mass * power(moved / scale, p)); });
    return scale * root(sum.value() / total_, p);
  }

 private:
  /// One sample, sorted, with the cumulated mass up to and including each point.
  struct side {
    std::vector<double> values;
    std::vector<double> cumulated;

    side(const char* name, const weighted_sample& sample) : values(sample.values().begin(), sample.values().end()) {
      const std::string who = std::string("wasserstein: sample ") + name;
      expects(!values.empty(), who + " is empty; it must hold at least one value");
      for (std::size_t i = 0; i < values.size(); ++i)
        if (std::isnan(values[i])) throw contract_violation(who + " holds NaN at index " + std::to_string(i));
      if (!sample.weighted()) std::sort(values.begin(), values.end());
    }

    void accumulate_equal(double mass) {
      cumulated.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) cumulated[i] = double(i + 1) * mass;
    }

    void accumulate_shares(const char* name, const weighted_sample& sample) {
      const std::string who = std::string("wasserstein: weights of sample ") + name;
      const std::span<const double> weights = sample.weights();
      if (!sample.weighted()) {
        accumulate_equal(1);
      } else {
        expects(weights.size() == values.size(), who + ": " + std::to_string(weights.size()) + " weights given for " +
                                                     std::to_string(values.size()) + " values");
        std::vector<std::pair<double, double>> points(values.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
          if (!(weights[i] >= 0 && std::isfinite(weights[i])))
            throw contract_violation(who + ": weight " + detail::number_text(weights[i]) + " at index " +
                                     std::to_string(i) + " must be finite and 0 or more");
          points[i] = {values[i], weights[i]};
        }
        // Equal values are ordered by weight: the cumulated sum, and so every bit, is then free of the input's order.
        std::sort(points.begin(), points.end());
        cumulated.resize(points.size());
        detail::compensated_sum sum;
        for (std::size_t i = 0; i < points.size(); ++i) {
          values[i] = points[i].first;
          sum.add(points[i].second);
          cumulated[i] = sum.value();
        }
        expects(cumulated.back() > 0, who + " sum to zero; at least one must be positive");
        expects(std::isfinite(cumulated.back()), who + " sum to infinity; their total must be finite");
      }
      const double total = cumulated.back();
      for (double& c : cumulated) c /= total;
    }
  };

  /// Calls visit(mass, distance) for every piece of mass that moves as one, from the lowest value up.
  template <class Visit>
  void for_each(Visit visit) const {
    double done = 0;
    for (std::size_t i = 0, j = 0; i < a_.values.size() && j < b_.values.size();) {
      const double upto = std::min(a_.cumulated[i], b_.cumulated[j]);
      // Weights such as 0.1 + 0.2 against 0.3 meet only up to rounding; the sliver between would decide W_∞ and large p.
      if (upto - done > negligible_) {
        visit(upto - done, a_.values[i] == b_.values[j] ? 0.0 : std::fabs(a_.values[i] - b_.values[j]));
        done = upto;
      }
      const bool next_a = a_.cumulated[i] <= upto, next_b = b_.cumulated[j] <= upto;
      i += next_a;
      j += next_b;
    }
  }

  static double power(double x, double p) { return p == 1 ? x : p == 2 ? x * x : std::pow(x, p); }
  static double root(double x, double p) { return p == 1 ? x : p == 2 ? std::sqrt(x) : std::pow(x, 1 / p); }

  side a_;
  side b_;
  double total_ = 1;
  double negligible_ = 0;
};

/// \brief W_p between two samples, each with or without weights; p = infinity for the largest distance moved.
///
/// For several orders of one pair build one \ref monotone_coupling, which sorts once.
/// \param a values, with weights if given
/// \param b values, with weights if given; as many as it has, not as many as `a` has
/// \param p order, 1 ≤ p ≤ ∞
/// \return the distance, in the unit of the values
/// \throws contract_violation as \ref monotone_coupling and its `distance` do
inline double wasserstein(const weighted_sample& a, const weighted_sample& b, double p = 1) {
  return monotone_coupling(a, b).distance(p);
}

/// \brief W_∞: the largest distance any share is moved, the limit of W_p for p → ∞.
inline double wasserstein_infinity(const weighted_sample& a, const weighted_sample& b) {
  return monotone_coupling(a, b).distance(std::numeric_limits<double>::infinity());
}

}  // namespace deviate
