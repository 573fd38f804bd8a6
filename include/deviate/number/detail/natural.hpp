// SPDX-License-Identifier: Apache-2.0
/// \file natural.hpp
/// \brief Natural numbers of up to 5376 bits, at compile time too: what reading a decimal exactly needs.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace deviate::detail {

/// \brief A natural number in 32-bit limbs, the lowest first.
///
/// The largest that occurs is 10^1200·2^64 (800 kept digits and an exponent of −400), or a double's 2^2098 multiples
/// beside it.
class natural {
 public:
  constexpr natural() = default;
  constexpr explicit natural(std::uint64_t x) {
    for (; x != 0; x >>= 32) limb_[std::size_t(size_++)] = std::uint32_t(x);
  }

  constexpr bool is_zero() const { return size_ == 0; }
  constexpr int bit_width() const {
    return size_ == 0 ? 0 : 32 * (size_ - 1) + int(std::bit_width(limb_[std::size_t(size_ - 1)]));
  }

  /// This · factor + addend.
  constexpr void multiply_add(std::uint32_t factor, std::uint32_t addend = 0) {
    std::uint64_t carry = addend;
    for (int i = 0; i < size_; ++i) {
      carry += std::uint64_t(limb_[std::size_t(i)]) * factor;
      limb_[std::size_t(i)] = std::uint32_t(carry);
      carry >>= 32;
    }
    if (carry != 0) limb_.at(std::size_t(size_++)) = std::uint32_t(carry);
    trim();
  }
  constexpr void multiply_by_power_of_ten(int n) {
    for (; n >= 9; n -= 9) multiply_add(1000000000);
    for (; n > 0; --n) multiply_add(10);
  }
  constexpr void multiply(std::uint64_t factor) {
    natural high = *this;
    high.multiply_add(std::uint32_t(factor >> 32));
    high.shift_left(32);
    multiply_add(std::uint32_t(factor));
    add(high);
  }
  constexpr void add(const natural& x) {
    std::uint64_t carry = 0;
    for (int i = 0; i < x.size_ || (i < size_ && carry != 0) || carry != 0; ++i) {
      if (i >= size_) limb_.at(std::size_t(size_++)) = 0;
      carry += std::uint64_t(limb_[std::size_t(i)]) + (i < x.size_ ? x.limb_[std::size_t(i)] : 0);
      limb_[std::size_t(i)] = std::uint32_t(carry);
      carry >>= 32;
    }
  }
  /// \pre x ≤ this
  constexpr void subtract(const natural& x) {
    std::int64_t carry = 0;
    for (int i = 0; i < size_; ++i) {
      carry += std::int64_t(limb_[std::size_t(i)]) - (i < x.size_ ? std::int64_t(x.limb_[std::size_t(i)]) : 0);
      limb_[std::size_t(i)] = std::uint32_t(carry & 0xffffffff);
      carry >>= 32;
    }
    trim();
  }
  constexpr void shift_left(int n) {
    if (size_ == 0 || n == 0) return;
    const int whole = n / 32, rest = n % 32;
    limb_.at(std::size_t(size_ + whole)) = 0;
    for (int i = size_ + whole; i >= 0; --i) {
      const std::uint64_t high = i >= whole && i < size_ + whole ? limb_[std::size_t(i - whole)] : 0;
      const std::uint64_t low = i > whole ? limb_[std::size_t(i - whole - 1)] : 0;
      limb_[std::size_t(i)] = std::uint32_t((high << 32 | low) >> (32 - rest));
    }
    size_ += whole + 1;
    trim();
  }
  constexpr bool at_least(const natural& x) const {
    if (size_ != x.size_) return size_ > x.size_;
    for (int i = size_ - 1; i >= 0; --i)
      if (limb_[std::size_t(i)] != x.limb_[std::size_t(i)]) return limb_[std::size_t(i)] > x.limb_[std::size_t(i)];
    return true;
  }

 private:
  constexpr void trim() {
    while (size_ > 0 && limb_[std::size_t(size_ - 1)] == 0) --size_;
  }

  std::array<std::uint32_t, 168> limb_{};
  int size_ = 0;
};

}  // namespace deviate::detail
