// SPDX-License-Identifier: Apache-2.0
/// \file stochastic_arrays.hpp
/// \brief Whole arrays rounded up or down at random, reproducible by a seed and an index; one random word serves several
/// elements.
// host only
#pragma once

#include <algorithm>
#include <deviate/number/arrays.hpp>
#include <deviate/number/stochastic.hpp>

namespace deviate {

/// \brief The n random bits of element `index` of an array of float.
///
/// Elements come in groups of 32, in the order that suits vectors. Up to 16 bits: word w of 8 (`random_word`) serves the
/// elements 2w, 2w + 16, 2w + 1 and 2w + 17 of the group, from its lowest quarter to its highest. More: word w of 16
/// serves 2w and 2w + 1, from its lower half to its upper. An element takes the top n bits of its part.
/// \param seed of the stream
/// \param index of the element
/// \param n 1 to 23
constexpr std::uint32_t random_bits_of_element(std::uint64_t seed, std::uint64_t index, int n) {
  const std::uint64_t group = index / 32, place = index % 32;
  if (n > 16) return std::uint32_t(random_word(seed, 16 * group + place / 2) >> (place % 2 * 32)) >> (32 - n);
  const std::uint64_t word = random_word(seed, 8 * group + place % 16 / 2);
  return std::uint32_t(word >> (place % 2 * 32 + place / 16 * 16) & 0xffff) >> (16 - n);
}

namespace detail {

/// The words of W indices in a row, together.
template <int W>
class words_in_a_row {
 public:
  explicit words_in_a_row(std::uint64_t seed) : start_(mixed(seed)) {
    for (int lane = 0; lane < W; ++lane) steps_.set(lane, std::uint64_t(lane + 1) * word_step);
  }
  /// Lane i has random_word(seed, index + i).
  DEVIATE_HD pack<std::uint64_t, W> from(std::uint64_t index) const {
    return mixed(broadcast<pack<std::uint64_t, W>>(start_ + index * word_step) + steps_);
  }

 private:
  std::uint64_t start_;
  pack<std::uint64_t, W> steps_;
};

inline constexpr std::size_t random_group = 32;

/// One group of 32 elements; round(x, random) rounds 16 of them with n random bits each.
template <class Round>
DEVIATE_HD void round_group(const float* from, float* to, const words_in_a_row<8>& words, std::uint64_t group, int n,
                            Round round) {
  using halves = pack<std::uint32_t, 16>;
  const auto low = load_lanes<float, 16>(from), high = load_lanes<float, 16>(from + 16);
  halves of_low, of_high;
  if (n > 16) {
    of_low = std::bit_cast<halves>(words.from(16 * group)) >> (32 - n);
    of_high = std::bit_cast<halves>(words.from(16 * group + 8)) >> (32 - n);
  } else {
    const halves both = std::bit_cast<halves>(words.from(8 * group));
    of_low = (both & broadcast<halves>(0xffff)) >> (16 - n);
    of_high = both >> (32 - n);
  }
  store_lanes(to, round(low, of_low));
  store_lanes(to + 16, round(high, of_high));
}

/// Every element with the random bits of its index; a group that the array has only a part of goes through a copy.
template <class Round>
void round_groups(std::span<const float> from, std::span<float> to, std::uint64_t seed, std::uint64_t first, int n,
                  Round round) {
  expect_equal_lengths(from.size(), to.size());
  const words_in_a_row<8> words(seed);
  for (std::size_t done = 0; done < from.size();) {
    const std::uint64_t group = (first + done) / random_group;
    const std::size_t place = std::size_t((first + done) % random_group), left = from.size() - done;
    if (place == 0 && left >= random_group) {
      const std::size_t groups = left / random_group;
      for (std::size_t g = 0; g < groups; ++g)
        round_group(from.data() + done + g * random_group, to.data() + done + g * random_group, words, group + g, n,
                    round);
      done += groups * random_group;
    } else {
      const std::size_t count = std::min(random_group - place, left);
      float part[random_group] = {};
      std::memcpy(part + place, from.data() + done, count * sizeof(float));
      round_group(part, part, words, group, n, round);
      std::memcpy(to.data() + done, part + place, count * sizeof(float));
      done += count;
    }
  }
}

}  // namespace detail

/// \name Stochastic rounding of arrays
/// @{

/// \brief Rounds every element up or down at random, to a format fixed at compile time: `round_stochastic` with the
/// bits of `random_bits_of_element`.
/// \tparam F the format; its own mode does not matter
/// \tparam RandomBits n, 1 to 23; up to 16 take half the time for their words, and n up to the number of dropped bits
/// that a normal number has takes less than more of them
/// \param from any values
/// \param to as many; may be `from` itself
/// \param rounder the stream
/// \param first index of element 0 in the stream: an array rounded in parts has the bits of one rounded at once
/// \throws contract_violation if the lengths differ
template <format F, int RandomBits>
void round_array(std::span<const float> from, std::span<float> to, const stochastic_rounder& rounder,
                 std::uint64_t first = 0) {
  static_assert(F.subset_of(binary32), "float cannot hold every number of the format");
  static_assert(RandomBits >= 1 && RandomBits <= most_random_bits<float>, "1 to 23 random bits for float");
  detail::round_groups(from, to, rounder.seed(), first, RandomBits,
                       [](const auto& x, const auto& random) DEVIATE_HD_LAMBDA {
                         constexpr rounding_constants<float> c{F.rounded(rounding_mode::stochastic)};
                         return detail::round_with_random_bits(x, RandomBits, random, c);
                       });
}
/// \brief The same to a format chosen at run time.
/// \param from any values
/// \param to as many; may be `from` itself
/// \param rounder the stream
/// \param random_bits n, 1 to 23
/// \param c constants of a format in the mode `stochastic`
/// \param first index of element 0 in the stream
/// \throws contract_violation if the lengths differ, the mode is another, or n is out of range
inline void round_array(std::span<const float> from, std::span<float> to, const stochastic_rounder& rounder,
                        int random_bits, const rounding_constants<float>& c, std::uint64_t first = 0) {
  expects(c.rounding == rounding_mode::stochastic, "round_array: the mode of the constants must be stochastic");
  expects(random_bits >= 1 && random_bits <= most_random_bits<float>, "round_array: random_bits must be in 1 … 23");
  const rounding_constants<float> own = c;
  detail::round_groups(from, to, rounder.seed(), first, random_bits,
                       [&own, random_bits](const auto& x, const auto& random)
                           DEVIATE_HD_LAMBDA { return detail::round_with_random_bits(x, random_bits, random, own); });
}
/// \brief Rounds an array of double up or down at random. Element i takes the top bits of `random_word(seed, first + i)`,
/// as `stochastic_rounder::round` does.
/// \tparam F the format; its own mode does not matter
/// \tparam RandomBits 1 to 52
/// \param from any values
/// \param to as many; may be `from` itself
/// \param rounder the stream
/// \param first index of element 0 in the stream
/// \throws contract_violation if the lengths differ
template <format F, int RandomBits>
void round_array(std::span<const double> from, std::span<double> to, const stochastic_rounder& rounder,
                 std::uint64_t first = 0) {
  constexpr int W = DEVIATE_NATIVE_VECTOR_BYTES / int(sizeof(double));
  const detail::words_in_a_row<W> words(rounder.seed());
  detail::for_each_pack(from, to, [&words, first](const auto& x, std::size_t i) DEVIATE_HD_LAMBDA {
    return round_stochastic<F, RandomBits>(x, words.from(first + i) >> (64 - RandomBits));
  });
}
/// @}

}  // namespace deviate
