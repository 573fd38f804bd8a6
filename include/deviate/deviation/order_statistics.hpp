// SPDX-License-Identifier: Apache-2.0
/// \file order_statistics.hpp
/// \brief Sorting, order statistics, quantiles and medians of many numbers, by their digits: exact, no comparisons.
#pragma once

#include <deviate/contract.hpp>
#include <deviate/deviation/counted_values.hpp>
#include <deviate/deviation/detail/number_text.hpp>
#include <deviate/deviation/detail/radix_sort.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace deviate {

namespace detail {

template <sortable_by_bits T>
void sort_in_place(std::span<T> values) {
  const std::size_t room = values.size() < worth_digits<T> ? 0 : values.size();
  const std::unique_ptr<T[]> scratch = unset_array<T>(room);
  sort_into(std::span<const T>(values), values, std::span<T>(scratch.get(), room));
}
template <sortable_by_bits T>
std::vector<T> sort_copy(std::span<const T> values) {
  std::vector<T> sorted(values.size());
  const std::size_t room = values.size() < worth_digits<T> ? 0 : values.size();
  const std::unique_ptr<T[]> scratch = unset_array<T>(room);
  sort_into(values, std::span<T>(sorted), std::span<T>(scratch.get(), room));
  return sorted;
}

/// \brief The values of rank `rank` and `rank` + 1; the first twice if it is the last.
template <sortable_by_bits T>
std::pair<double, double> values_at(std::span<const T> values, std::uint64_t rank) {
  const ranked<T> found = select_rank(values, std::size_t(rank));
  const std::size_t next = found.below + found.equal;
  const bool repeats = rank + 1 < next || next == values.size();
  return {double(found.value), double(repeats ? found.value : next_above(values, found.value))};
}
inline std::pair<double, double> values_at(const counted_values& values, std::uint64_t rank) {
  std::uint64_t upto = 0;
  std::size_t i = 0;
  while ((upto += values.counts()[i]) <= rank) ++i;
  const bool repeats = rank + 1 < upto || upto == values.size();
  return {values.values()[i], values.values()[i + !repeats]};
}

template <sortable_by_bits T>
void expects_ordered(const char* function, std::span<const T> values) {
  if (const std::size_t nan = first_nan(values); nan < values.size())
    throw contract_violation(std::string(function) + ": NaN at index " + std::to_string(nan));
}
inline void expects_ordered(const char*, const counted_values&) {}  // it holds no NaN

template <class Values>
double order_statistic_of(const Values& values, std::uint64_t rank) {
  if (rank >= values.size())
    throw contract_violation("order_statistic: rank " + std::to_string(rank) + " of " + std::to_string(values.size()) +
                             " values; it must be less than their number");
  expects_ordered("order_statistic", values);
  return values_at(values, rank).first;
}

template <class Values>
double quantile_of(const Values& values, double q) {
  expects(values.size() > 0, "quantile: no values");
  if (!(q >= 0 && q <= 1)) throw contract_violation("quantile: q = " + number_text(q) + " must lie between 0 and 1");
  expects_ordered("quantile", values);
  const double place = q * double(values.size() - 1), whole = std::floor(place), beyond = place - whole;
  const auto [low, high] = values_at(values, std::min(std::uint64_t(whole), std::uint64_t(values.size() - 1)));
  if (beyond == 0 || low == high) return low;
  return std::clamp(low * (1 - beyond) + high * beyond, low, high);
}

}  // namespace detail

/// \name Sorting
/// Into the total order of IEEE 754-2019, 5.10: −NaN < −∞ < … < −0 < +0 < … < ∞ < NaN, so that every result has one
/// sequence of bits. By least significant digits of 8 bits: one pass over the values that counts, and one for each
/// digit that not all values share, at most 4 of float and 8 of double; whatever the values are, linear in their
/// number. Takes one more copy of the values while it runs. On one thread.
/// @{

/// \brief Sorts in place.
inline void sort_values(std::span<float> values) { detail::sort_in_place(values); }
/// \brief Sorts in place.
inline void sort_values(std::span<double> values) { detail::sort_in_place(values); }
/// \brief A sorted copy.
inline std::vector<float> sorted_values(std::span<const float> values) { return detail::sort_copy(values); }
/// \brief A sorted copy.
inline std::vector<double> sorted_values(std::span<const double> values) { return detail::sort_copy(values); }
/// @}

/// \name Order statistics
/// Exact values of the sample, found from the most significant digit down without copying or moving a value: 4 passes
/// over floats, 8 over doubles, none over `counted_values`.
/// \throws contract_violation if a value is NaN, or `rank` is not less than their number
/// @{

/// \brief The value that `rank` others precede in ascending order; rank 0 is the least.
inline double order_statistic(std::span<const float> values, std::uint64_t rank) {
  return detail::order_statistic_of(values, rank);
}
/// \copybrief order_statistic(std::span<const float>, std::uint64_t)
inline double order_statistic(std::span<const double> values, std::uint64_t rank) {
  return detail::order_statistic_of(values, rank);
}
/// \copybrief order_statistic(std::span<const float>, std::uint64_t)
inline double order_statistic(const counted_values& values, std::uint64_t rank) {
  return detail::order_statistic_of(values, rank);
}
/// @}

/// \name Quantiles
/// The sorted values stand at 0, 1/(n − 1), …, 1, and between neighbours x and y the quantile is x·(1 − t) + y·t:
/// definition 7 of R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", 1996, which numpy has by
/// default. Exact at the values, within three roundings between finite ones of one sign. Between an infinity and a
/// number it is the infinity, between −∞ and ∞ NaN. Passes as order statistics take, and one more between values.
/// \throws contract_violation if there is no value or one is NaN, or q is not between 0 and 1
/// @{

/// \brief The quantile of q, 0 ≤ q ≤ 1.
inline double quantile(std::span<const float> values, double q) { return detail::quantile_of(values, q); }
/// \copybrief quantile(std::span<const float>, double)
inline double quantile(std::span<const double> values, double q) { return detail::quantile_of(values, q); }
/// \copybrief quantile(std::span<const float>, double)
inline double quantile(const counted_values& values, double q) { return detail::quantile_of(values, q); }
/// \brief The quantile of ½: the middle value, or the mean of the two.
inline double median(std::span<const float> values) { return quantile(values, 0.5); }
/// \copybrief median(std::span<const float>)
inline double median(std::span<const double> values) { return quantile(values, 0.5); }
/// \copybrief median(std::span<const float>)
inline double median(const counted_values& values) { return quantile(values, 0.5); }
/// @}

}  // namespace deviate
