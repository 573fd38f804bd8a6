// SPDX-License-Identifier: Apache-2.0
/// \file shares.hpp
/// \brief Two samples in ascending order, and the shares in which the values of one meet those of the other.
#pragma once

#include <deviate/contract.hpp>
#include <deviate/deviation/counted_values.hpp>
#include <deviate/deviation/detail/compensated_sum.hpp>
#include <deviate/deviation/detail/number_text.hpp>
#include <deviate/deviation/detail/radix_sort.hpp>
#include <deviate/deviation/order_statistics.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace deviate::detail {

/// \brief |x − y|, where the same infinity twice is at distance 0.
inline double distance_between(double x, double y) { return x == y ? 0.0 : std::fabs(x - y); }

/// \throws contract_violation if the sample is empty or holds a NaN
template <sortable_by_bits T>
void expects_sample(const char* name, std::span<const T> values) {
  const std::string who = std::string("wasserstein: sample ") + name;
  expects(!values.empty(), who + " is empty; it must hold at least one value");
  if (const std::size_t nan = first_nan(values); nan < values.size())
    throw contract_violation(who + " holds NaN at index " + std::to_string(nan));
}

// Each class below has total(), the mass of the whole sample, and for_each(visit), which calls visit(mass, distance)
// for every piece of mass that moves as one, from the lowest value up. Masses of equal weights are in units of
// 1/lcm(n, m), so that the samples' steps meet exactly.

/// \brief Values of equal weight.
///
/// Working memory: a sorted copy of each sample and, until both are sorted, as much again as the larger one: never more
/// than twice the samples. tests/deviation/wasserstein.cpp counts what is allocated.
template <sortable_by_bits T>
class sorted_shares {
 public:
  /// Sums of distances and of their squares neither over- nor underflow.
  static constexpr bool squares_fit = std::same_as<T, float>;

  sorted_shares(std::span<const T> a, std::span<const T> b) {
    const std::size_t room = std::max(a.size(), b.size());
    const std::unique_ptr<T[]> scratch = unset_array<T>(room);
    a_ = {a, {scratch.get(), room}};
    b_ = {b, {scratch.get(), room}};
  }

  double total() const {
    return double(a_.size) * double(std::uint64_t(b_.size) / std::gcd<std::uint64_t>(a_.size, b_.size));
  }
  template <class Visit>
  void for_each(Visit visit) const {
    const T *a = a_.values.get(), *b = b_.values.get();
    if (a_.size == b_.size) {
      for (std::size_t i = 0; i < a_.size; ++i) visit(1.0, distance_between(double(a[i]), double(b[i])));
      return;
    }
    const std::uint64_t n = a_.size, m = b_.size, common = std::gcd(n, m), of_a = m / common, of_b = n / common;
    for (std::uint64_t i = 0, j = 0, left_a = of_a, left_b = of_b; i < n && j < m;) {
      const std::uint64_t mass = std::min(left_a, left_b);
      visit(double(mass), distance_between(double(a[i]), double(b[j])));
      if ((left_a -= mass) == 0) ++i, left_a = of_a;
      if ((left_b -= mass) == 0) ++j, left_b = of_b;
    }
  }

 private:
  struct side {
    std::shared_ptr<const T[]> values;
    std::size_t size = 0;

    side() = default;
    side(std::span<const T> given, std::span<T> scratch) : size(given.size()) {
      std::unique_ptr<T[]> sorted = unset_array<T>(size);
      sort_into(given, std::span<T>(sorted.get(), size), scratch.first(size));
      values = std::move(sorted);
    }
  };

  side a_;
  side b_;
};

/// \brief Values of equal weight, counted.
class counted_shares {
 public:
  static constexpr bool squares_fit = false;  ///< a format of 16 bits may have the exponents of double

  counted_shares(counted_values a, counted_values b) : a_(std::move(a)), b_(std::move(b)) {
    expects(a_.size() > 0, "wasserstein: sample a is empty; it must hold at least one value");
    expects(b_.size() > 0, "wasserstein: sample b is empty; it must hold at least one value");
    const std::uint64_t common = std::gcd(a_.size(), b_.size());
    of_a_ = b_.size() / common;
    of_b_ = a_.size() / common;
    expects(of_a_ <= ~std::uint64_t(0) / a_.size(), "wasserstein: too many values: n·m ÷ gcd(n, m) must fit 64 bits");
  }

  double total() const { return double(a_.size()) * double(of_a_); }
  template <class Visit>
  void for_each(Visit visit) const {
    std::uint64_t left_a = 0, left_b = 0;
    for (std::size_t i = 0, j = 0; i < a_.values().size() && j < b_.values().size();) {
      if (left_a == 0) left_a = a_.counts()[i] * of_a_;
      if (left_b == 0) left_b = b_.counts()[j] * of_b_;
      const std::uint64_t mass = std::min(left_a, left_b);
      visit(double(mass), distance_between(a_.values()[i], b_.values()[j]));
      i += (left_a -= mass) == 0;
      j += (left_b -= mass) == 0;
    }
  }

 private:
  counted_values a_;
  counted_values b_;
  std::uint64_t of_a_ = 1;
  std::uint64_t of_b_ = 1;
};

/// \brief A sample in which at least one of the two has weights: shares are of a total of 1.
class weighted_shares {
 public:
  static constexpr bool squares_fit = false;

  /// Of one sample: its values, and its weights unless all weigh the same.
  struct given {
    std::span<const double> values;
    std::span<const double> weights;
    bool weighted;
  };
  weighted_shares(const given& a, const given& b) : a_("a", a), b_("b", b) {}

  double total() const { return 1; }
  template <class Visit>
  void for_each(Visit visit) const {
    double done = 0;
    for (std::size_t i = 0, j = 0; i < a_.values.size() && j < b_.values.size();) {
      const double upto = std::min(a_.cumulated[i], b_.cumulated[j]);
      // Weights such as 0.1 + 0.2 against 0.3 meet only up to rounding; the sliver between would decide W_∞ and large p.
      if (upto - done > 0x1p-50) {
        visit(upto - done, distance_between(a_.values[i], b_.values[j]));
        done = upto;
      }
      const bool next_a = a_.cumulated[i] <= upto, next_b = b_.cumulated[j] <= upto;
      i += next_a;
      j += next_b;
    }
  }

 private:
  /// One sample, sorted, with the cumulated share up to and including each value.
  struct side {
    std::vector<double> values;
    std::vector<double> cumulated;

    side(const char* name, const given& sample) : cumulated(sample.values.size()) {
      if (sample.weighted) {
        sort_with_weights(std::string("wasserstein: weights of sample ") + name, sample);
      } else {
        values = sorted_values(sample.values);
        for (std::size_t i = 0; i < values.size(); ++i) cumulated[i] = double(i + 1);
      }
      const double total = cumulated.back();
      for (double& c : cumulated) c /= total;
    }

    void sort_with_weights(const std::string& who, const given& sample) {
      const std::size_t n = sample.values.size();
      expects(sample.weights.size() == n, who + ": " + std::to_string(sample.weights.size()) + " weights given for " +
                                              std::to_string(n) + " values");
      std::vector<std::pair<double, double>> points(n);
      for (std::size_t i = 0; i < n; ++i) {
        const double weight = sample.weights[i];
        if (!(weight >= 0 && std::isfinite(weight)))
          throw contract_violation(who + ": weight " + number_text(weight) + " at index " + std::to_string(i) +
                                   " must be finite and 0 or more");
        points[i] = {sample.values[i], weight};
      }
      // Equal values are ordered by weight: the cumulated sum, and so every bit, is then free of the input's order.
      std::sort(points.begin(), points.end());
      values.resize(n);
      compensated_sum sum;
      for (std::size_t i = 0; i < n; ++i) {
        values[i] = points[i].first;
        sum.add(points[i].second);
        cumulated[i] = sum.value();
      }
      expects(cumulated.back() > 0, who + " sum to zero; at least one must be positive");
      expects(std::isfinite(cumulated.back()), who + " sum to infinity; their total must be finite");
    }
  };

  side a_;
  side b_;
};

}  // namespace deviate::detail
