// SPDX-License-Identifier: Apache-2.0
/// \file counted_values.hpp
/// \brief The values of a 16-bit format in ascending order, by counting them instead of sorting.
#pragma once

#include <deviate/contract.hpp>
#include <deviate/deviation/detail/radix_sort.hpp>
#include <deviate/number/code.hpp>
#include <deviate/number/emulated.hpp>
#include <deviate/number/format.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <vector>

namespace deviate {

namespace detail {

template <class T>
inline constexpr bool has_16_bits = false;
template <format F>
inline constexpr bool has_16_bits<emulated<F>> = F.width() <= 16;

/// \brief An emulated number with a code of at most 16 bits.
template <class T>
concept number_of_16_bits = has_16_bits<T>;

/// \brief How many low bits are 0 in every value; 32 if all are.
inline int low_zeros(std::span<const float> values) {
  std::uint32_t used = 0;
  for (const float x : values) used |= std::bit_cast<std::uint32_t>(x);
  return std::countr_zero(used);
}

/// \brief Low bits of a float that are 0 in every number with at most 10 fraction bits.
inline constexpr int countable_zeros = 13;

}  // namespace detail

/// \brief Which values a sample holds, in ascending order, and how often: what is left of it if order does not matter.
///
/// One pass, without a sort: 65,536 counts for 16-bit codes, of which the used ones are kept. Exact for up to 2^64 − 1
/// values; beside the counts it takes no memory, however many values there are.
class counted_values {
 public:
  /// \brief From codes, as `encode` makes and memory holds them.
  /// \param codes bits above the format's width are ignored
  /// \param of a format of at most 16 bits
  /// \throws contract_violation if the format is wider, or a code is one of NaN
  counted_values(std::span<const std::uint16_t> codes, const format& of) {
    expects(of.width() <= 16, "counted_values: the format has " + std::to_string(of.width()) + " bits, at most 16 fit");
    const std::size_t mask = (std::size_t(1) << of.width()) - 1;
    std::vector<std::uint64_t> counts(mask + 1);
    for (const std::uint16_t code : codes) ++counts[code & mask];
    keep_codes(counts, of, [&] {
      return std::find_if(codes.begin(), codes.end(), [&](auto c) { return std::isnan(decode(c, of)); }) -
             codes.begin();
    });
  }

  /// \brief From any contiguous range of emulated numbers of at most 16 bits, such as bf16 or fp16.
  /// \throws contract_violation if one is NaN
  template <std::ranges::contiguous_range Numbers>
  requires detail::number_of_16_bits<std::ranges::range_value_t<Numbers>> counted_values(const Numbers& numbers) {
    constexpr format of = std::ranges::range_value_t<Numbers>::number_format;
    std::vector<std::uint64_t> counts(std::size_t(1) << of.width());
    bool nan = false;  // a format without NaN has no code for the one that its carrier may hold
    for (const auto& x : numbers) {
      nan |= x != x;
      ++counts[encode(double(x), of)];
    }
    const auto place = [&] {
      return std::ranges::find_if(numbers, [](const auto& x) { return x != x; }) - std::ranges::begin(numbers);
    };
    if (nan) refuse_nan(place());
    keep_codes(counts, of, place);
  }

  /// \brief From floats with at most 10 fraction bits: numbers of bf16, fp16, TF32 or a smaller format, held in float.
  ///
  /// 65,536 counts where 7 fraction bits suffice, as for bf16, else 524,288.
  /// \throws contract_violation if a value is NaN or has more fraction bits
  explicit counted_values(std::span<const float> values) {
    const int zeros = std::min(detail::low_zeros(values), 16);
    if (const std::size_t nan = detail::first_nan(values); nan < values.size()) refuse_nan(std::ptrdiff_t(nan));
    expects(zeros >= detail::countable_zeros, "counted_values: a value has more than 10 fraction bits; sort instead");
    // Of 16 bits, as long as they suffice: fewer would save nothing.
    std::vector<std::uint64_t> counts(std::size_t(1) << (32 - zeros));
    for (const float x : values) ++counts[detail::ordered_bits(x) >> zeros];
    // A negative number's low bits are all ones in the order, and zeros in the number.
    const std::size_t middle = counts.size() / 2;
    const std::uint32_t ones = (std::uint32_t(1) << zeros) - 1;
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] != 0)
        keep(double(detail::from_ordered_bits<float>(std::uint32_t(i << zeros) | (i < middle ? ones : 0))), counts[i]);
  }

  /// \brief How many values there are, repetitions counted.
  std::uint64_t size() const { return size_; }
  /// \brief The values that occur, in ascending order, each once; −0 is 0.
  std::span<const double> values() const { return values_; }
  /// \brief How often each of them occurs: 1 or more.
  std::span<const std::uint64_t> counts() const { return counts_; }

 private:
  /// Keeps the codes in the order of their numbers: negative ones from the largest magnitude down, then the others.
  template <class PlaceOfNan>
  void keep_codes(const std::vector<std::uint64_t>& counts, const format& of, PlaceOfNan place) {
    const std::size_t half = counts.size() / 2;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::size_t code = i < half ? counts.size() - 1 - i : i - half;
      if (counts[code] == 0) continue;
      const double value = decode(code, of);
      if (std::isnan(value)) refuse_nan(place());
      keep(value, counts[code]);
    }
  }
  void keep(double value, std::uint64_t count) {
    if (!values_.empty() && values_.back() == value) {
      counts_.back() += count;  // the zeros, and what a format flushes to them
    } else {
      values_.push_back(value + 0.0);
      counts_.push_back(count);
    }
    size_ += count;
  }
  [[noreturn]] static void refuse_nan(std::ptrdiff_t place) {
    throw contract_violation("counted_values: NaN at index " + std::to_string(place));
  }

  std::vector<double> values_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t size_ = 0;
};

}  // namespace deviate
