// SPDX-License-Identifier: Apache-2.0
/// \file wasserstein.hpp
/// \brief Exact Wasserstein distances between two samples of numbers, of any order p ≥ 1 and of order infinity.
#pragma once

#include <deviate/contract.hpp>
#include <deviate/deviation/counted_values.hpp>
#include <deviate/deviation/detail/compensated_sum.hpp>
#include <deviate/deviation/detail/number_text.hpp>
#include <deviate/deviation/detail/shares.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <variant>

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
/// The order of the points, with their weights, changes no bit of a result.
/// Infinite values are points like others: mass at an infinity that both samples hold in equal shares stays where it
/// is and costs nothing; any other mass there makes every distance infinite. So does a difference beyond the largest double.
///
/// Cost, on one thread, for n values in both samples together:
/// - float and double of equal weight are sorted by digits as `sort_values` does, in time linear in n. The coupling holds
///   a sorted copy of each sample, and takes as much again as the larger one until both are sorted: two copies of the
///   inputs at most;
/// - numbers of at most 16 bits are counted: one pass, and memory that does not grow with n. So are a million floats
///   or more in each sample if none has more than 10 fraction bits (numbers of bf16, fp16 or TF32 held in float);
/// - values with weights are sorted by comparisons, with five doubles for each value.
class monotone_coupling {
 public:
  /// \throws contract_violation if a sample is empty, holds a NaN, has as many weights as not values, or has a weight
  /// that is negative or not finite, or weights whose total is zero or not finite
  monotone_coupling(const weighted_sample& a, const weighted_sample& b) : shares_(matched(a, b)) {}
  /// \brief Floats of equal weight, which are not widened to double: for p = 1 and 2 the distances are computed in one
  /// pass over the sorted values. Sorted, they give the bits that the same values give as doubles.
  /// \throws contract_violation if a sample is empty or holds a NaN
  monotone_coupling(std::span<const float> a, std::span<const float> b) : shares_(matched(a, b)) {}
  /// \brief Numbers of at most 16 bits, such as a vector of bf16 and one of fp16, or codes and their format.
  /// \throws contract_violation if a sample is empty, or n·m ÷ gcd(n, m) exceeds 64 bits
  monotone_coupling(counted_values a, counted_values b) : shares_(detail::counted_shares(std::move(a), std::move(b))) {}

  /// \brief W_p: (Σ share · |x − y|^p)^(1/p) over the coupling.
  ///
  /// Distances are scaled by the largest one before they are raised to p, so that no order over- or underflows; sums are
  /// compensated.
  /// Accuracy: within a few roundings of the exact distance of the given samples; exact where all sums and quotients are,
  /// e.g. W_1(x, x + c) = |c| if every x + c is a double. With weights, shares of less than 2^-50 of the total may be
  /// moved to a neighbouring value.
  /// \param p order, 1 ≤ p ≤ ∞; infinity gives the largest distance any share is moved
  /// \throws contract_violation if p is below 1 or NaN
  double distance(double p) const {
    expects(p >= 1, "wasserstein: order p = " + detail::number_text(p) + " must be 1 or more");
    return std::visit([p](const auto& either) { return distance_of(either, p); }, shares_);
  }

 private:
  using any_shares = std::variant<detail::sorted_shares<double>, detail::sorted_shares<float>, detail::counted_shares,
                                  detail::weighted_shares>;

  static any_shares matched(const weighted_sample& a, const weighted_sample& b) {
    detail::expects_sample("a", a.values());
    detail::expects_sample("b", b.values());
    if (!a.weighted() && !b.weighted()) return detail::sorted_shares<double>(a.values(), b.values());
    return detail::weighted_shares({a.values(), a.weights(), a.weighted()}, {b.values(), b.weights(), b.weighted()});
  }
  static any_shares matched(std::span<const float> a, std::span<const float> b) {
    detail::expects_sample("a", a);
    detail::expects_sample("b", b);
    // Fewer values are sorted sooner than 2^19 counts are looked through.
    constexpr std::size_t many = 1000000;
    const auto countable = [](std::span<const float> x) { return detail::low_zeros(x) >= detail::countable_zeros; };
    if (std::min(a.size(), b.size()) >= many && countable(a) && countable(b))
      return detail::counted_shares(counted_values(a), counted_values(b));
    return detail::sorted_shares<float>(a, b);
  }

  template <class Shares>
  static double distance_of(const Shares& shares, double p) {
    double scale = 1;
    if (!Shares::squares_fit || (p != 1 && p != 2)) {
      double largest = 0;
      shares.for_each([&](double, double moved) { largest = std::max(largest, moved); });
      if (std::isinf(p) || largest == 0 || std::isinf(largest)) return largest;
      // A power of two keeps small orders exact; for large ones (½)^p would underflow, the largest distance does not.
      scale = p <= 2 ? std::ldexp(1.0, std::ilogb(largest)) : largest;
    }
    detail::compensated_sum sum;
    shares.for_each([&](double mass, double moved) { sum.add(mass * power(moved / scale, p)); });
    return scale * root(sum.value() / shares.total(), p);
  }

  static double power(double x, double p) { return p == 1 ? x : p == 2 ? x * x : std::pow(x, p); }
  static double root(double x, double p) { return p == 1 ? x : p == 2 ? std::sqrt(x) : std::pow(x, 1 / p); }

  any_shares shares_;
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
/// \brief W_p between two samples of floats of equal weight, as many in each or not.
inline double wasserstein(std::span<const float> a, std::span<const float> b, double p = 1) {
  return monotone_coupling(a, b).distance(p);
}
/// \brief W_p between two samples of numbers of at most 16 bits, of the same format or not.
inline double wasserstein(const counted_values& a, const counted_values& b, double p = 1) {
  return monotone_coupling(a, b).distance(p);
}

/// \brief W_∞: the largest distance any share is moved, the limit of W_p for p → ∞.
inline double wasserstein_infinity(const weighted_sample& a, const weighted_sample& b) {
  return wasserstein(a, b, std::numeric_limits<double>::infinity());
}
/// \brief W_∞ between two samples of floats.
inline double wasserstein_infinity(std::span<const float> a, std::span<const float> b) {
  return wasserstein(a, b, std::numeric_limits<double>::infinity());
}
/// \brief W_∞ between two samples of numbers of at most 16 bits.
inline double wasserstein_infinity(const counted_values& a, const counted_values& b) {
  return wasserstein(a, b, std::numeric_limits<double>::infinity());
}

}  // namespace deviate
