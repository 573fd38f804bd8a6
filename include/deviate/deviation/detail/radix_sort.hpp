// SPDX-License-Identifier: Apache-2.0
/// \file radix_sort.hpp
/// \brief Numbers sorted and selected by the digits of their bits, without comparing two of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace deviate::detail {

/// \brief Numbers whose order is that of their bits, once these are turned into an unsigned integer.
template <class T>
concept sortable_by_bits = std::same_as<T, float> || std::same_as<T, double>;

/// \brief The unsigned integer that holds the bits of T.
template <sortable_by_bits T>
using unsigned_bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// \brief Bits as an unsigned integer in the total order of IEEE 754-2019, 5.10: −NaN < −∞ < … < −0 < +0 < … < ∞ < NaN.
template <sortable_by_bits T>
constexpr unsigned_bits<T> ordered_bits(T x) {
  using bits = unsigned_bits<T>;
  constexpr bits sign = bits(1) << (sizeof(T) * 8 - 1);
  const bits u = std::bit_cast<bits>(x);
  return (u & sign) != 0 ? bits(~u) : bits(u | sign);
}

/// \brief The number of such an integer.
template <sortable_by_bits T>
constexpr T from_ordered_bits(unsigned_bits<T> key) {
  using bits = unsigned_bits<T>;
  constexpr bits sign = bits(1) << (sizeof(T) * 8 - 1);
  return std::bit_cast<T>((key & sign) != 0 ? bits(key ^ sign) : bits(~key));
}

/// \brief x before y in the total order.
template <sortable_by_bits T>
constexpr bool precedes(T x, T y) {
  return ordered_bits(x) < ordered_bits(y);
}

/// \brief Place of the first NaN, or the number of values if there is none.
template <sortable_by_bits T>
std::size_t first_nan(std::span<const T> values) {
  // Blocks, so that the loop that finds nothing has no exit of its own and is done in vectors.
  constexpr std::size_t block = 1024;
  for (std::size_t begin = 0; begin < values.size(); begin += block) {
    const std::size_t end = std::min(values.size(), begin + block);
    unsigned unordered = 0;
    for (std::size_t i = begin; i < end; ++i) unordered |= unsigned(values[i] != values[i]);
    if (unordered == 0) continue;
    for (std::size_t i = begin;; ++i)
      if (values[i] != values[i]) return i;
  }
  return values.size();
}

/// \brief An array that is not set to 0 first, which would cost as much as a pass of the sort.
template <class T>
std::unique_ptr<T[]> unset_array(std::size_t n) {
  return std::unique_ptr<T[]>(new T[n]);
}

/// \brief How many values have each digit, for every digit.
///
/// Digits of 8 bits: 256 places that values are dealt to stay in the first-level cache and in the buffer of address
/// translations. Digits of 11 bits need a quarter fewer passes, and each takes more than twice as long.
template <sortable_by_bits T>
class digit_counts {
 public:
  static constexpr int digits = sizeof(T);     ///< digits of a number
  static constexpr std::size_t radix = 256;    ///< values of a digit
  using table = std::array<std::size_t, 256>;  ///< one count for each value of a digit

  explicit digit_counts(std::span<const T> values) {
    for (const T x : values) {
      const unsigned_bits<T> key = ordered_bits(x);
      for (int d = 0; d < digits; ++d) ++counts_[std::size_t(d)][of(key, d)];
    }
    // A loop of its own is done in vectors.
    for (const T x : values)
      differing_ |= std::bit_cast<unsigned_bits<T>>(x) ^ std::bit_cast<unsigned_bits<T>>(values[0]);
  }
  /// \brief False if all values have the same bits there, and none need be moved for them. In the order a negative number
  /// has them inverted, but the sign, in the last digit, keeps it apart from the positive ones.
  bool differs(int d) const { return of(differing_, d) != 0; }
  static constexpr std::size_t of(unsigned_bits<T> key, int d) { return std::size_t(key >> (8 * d)) & (radix - 1); }
  const table& operator[](int d) const { return counts_[std::size_t(d)]; }

 private:
  std::array<table, std::size_t(digits)> counts_{};
  unsigned_bits<T> differing_ = 0;
};

/// \brief From this many values on digits beat comparisons.
template <sortable_by_bits T>
inline constexpr std::size_t worth_digits = sizeof(T) == 4 ? 64 : 256;

/// \brief Deals values to where those with their digit begin; values with equal digits keep their order.
template <sortable_by_bits T>
void deal(std::span<const T> from, T* to, int digit, const typename digit_counts<T>::table& counts) {
  typename digit_counts<T>::table next{};
  for (std::size_t i = 1; i < next.size(); ++i) next[i] = next[i - 1] + counts[i - 1];
  for (const T x : from) to[next[digit_counts<T>::of(ordered_bits(x), digit)]++] = x;
}

/// \brief Sorts into the total order, least significant digit first; a digit that all values share costs no pass.
///
/// Reference: D. E. Knuth, "The Art of Computer Programming", volume 3, 2nd edition, 1998, 5.2.5, algorithm R.
/// \param from the values; they may be `to`
/// \param to gets them sorted, as many
/// \param scratch as many, which are overwritten; not `from`
template <sortable_by_bits T>
void radix_sort(std::span<const T> from, std::span<T> to, std::span<T> scratch) {
  const std::size_t n = from.size();
  if (n == 0) return;
  const digit_counts<T> counts(from);
  int passes = 0;
  for (int d = 0; d < digit_counts<T>::digits; ++d) passes += counts.differs(d);
  if (from.data() == to.data() && passes % 2 != 0) {
    std::copy(from.begin(), from.end(), scratch.begin());
    from = scratch.first(n);
  }
  if (passes == 0 && from.data() != to.data()) std::copy(from.begin(), from.end(), to.begin());

  T* next = passes % 2 != 0 ? to.data() : scratch.data();
  T* other = passes % 2 != 0 ? scratch.data() : to.data();
  for (int d = 0; d < digit_counts<T>::digits; ++d) {
    if (!counts.differs(d)) continue;
    deal(from, next, d, counts[d]);
    from = {next, n};
    std::swap(next, other);
  }
}

/// \brief Sorts into the total order: by digits, or few values by comparisons, to the same result.
/// \param from the values; they may be `to`
/// \param to gets them sorted, as many
/// \param scratch room for as many again, from `worth_digits` values on
template <sortable_by_bits T>
void sort_into(std::span<const T> from, std::span<T> to, std::span<T> scratch) {
  if (from.size() >= worth_digits<T>) return radix_sort(from, to, scratch);
  if (from.data() != to.data()) std::copy(from.begin(), from.end(), to.begin());
  std::sort(to.begin(), to.end(), precedes<T>);
}

/// \brief A value, and how many values come before and after all that are the same.
template <sortable_by_bits T>
struct ranked {
  T value;            ///< the value
  std::size_t below;  ///< values before it
  std::size_t equal;  ///< values of its bits
};

/// \brief The value that has `rank` others before it in the total order, found digit by digit without a copy.
/// \pre rank < values.size()
template <sortable_by_bits T>
ranked<T> select_rank(std::span<const T> values, std::size_t rank) {
  unsigned_bits<T> prefix = 0;
  std::size_t below = 0, equal = values.size();
  for (int d = digit_counts<T>::digits - 1; d >= 0; --d) {
    typename digit_counts<T>::table counts{};
    const unsigned_bits<T> known =
        d == digit_counts<T>::digits - 1 ? 0 : unsigned_bits<T>(~unsigned_bits<T>(0) << (8 * (d + 1)));
    for (const T x : values) {
      const unsigned_bits<T> key = ordered_bits(x);
      if ((key & known) == prefix) ++counts[digit_counts<T>::of(key, d)];
    }
    std::size_t digit = 0;
    for (; below + counts[digit] <= rank; ++digit) below += counts[digit];
    prefix |= unsigned_bits<T>(unsigned_bits<T>(digit) << (8 * d));
    equal = counts[digit];
  }
  return {from_ordered_bits<T>(prefix), below, equal};
}

/// \brief The first value after x in the total order; there must be one.
template <sortable_by_bits T>
T next_above(std::span<const T> values, T x) {
  const unsigned_bits<T> floor = ordered_bits(x);
  unsigned_bits<T> least = std::numeric_limits<unsigned_bits<T>>::max();
  for (const T y : values) {
    const unsigned_bits<T> key = ordered_bits(y);
    if (key > floor) least = std::min(least, key);
  }
  return from_ordered_bits<T>(least);
}

}  // namespace deviate::detail
