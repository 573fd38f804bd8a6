// SPDX-License-Identifier: Apache-2.0
/// \file narrow_fma.hpp
/// \brief a·b + c of numbers of a narrow format, rounded once, in float where float holds every product.
#pragma once

#include <deviate/number/arithmetic.hpp>

namespace deviate::detail {

template <format F, int W>
DEVIATE_HD lanes<carrier_of<emulated<F>>, W> fma_by_site(const lanes<carrier_of<emulated<F>>, W>& a,
                                                         const lanes<carrier_of<emulated<F>>, W>& b,
                                                         const lanes<carrier_of<emulated<F>>, W>& c) {
  using S = emulated<F>;
  return rounding_site<S>{}.fma(fragment<S, W>{a}, fragment<S, W>{b}, fragment<S, W>{c}).value;
}

/// The same, out of line: hardly ever called from where float may compute.
template <format F, int W>
__attribute__((noinline)) DEVIATE_BLOCK void fma_in_place(lanes<carrier_of<emulated<F>>, W>& a,
                                                          const lanes<carrier_of<emulated<F>>, W>& b,
                                                          const lanes<carrier_of<emulated<F>>, W>& c) {
  a = fma_by_site<F, W>(a, b, c);
}

/// a + b to odd, where no sum overflows: 2Sum (Knuth) gives the exact error. Infinities and NaN give what a + b gives.
template <class L>
DEVIATE_HD L bounded_sum_to_odd(const L& a, const L& b) {
  using B = lanes<same_size_unsigned<lane_value<L>>, lane_width<L>>;
  constexpr int sign = 8 * int(sizeof(lane_value<L>)) - 1;
  const L s = a + b, b_part = s - a;
  const L error = (a - (s - b_part)) + (b - b_part);
  const B magnitude = bits(error) & broadcast<B>(~(lane_value<B>(1) << sign));
  // Toward zero where the error has the other sign; then the last bit says that something was lost.
  const B odd = (bits(s) - ((bits(error) ^ bits(s)) >> sign)) | broadcast<B>(1);
  return select(L(from_bits(magnitude)) > broadcast<L>(0), L(from_bits(odd)), s);
}

/// True if a product of two numbers of F is exact in float, and a sum with a third to odd can be rounded again.
template <format F>
inline constexpr bool has_float_products =
    F.subset_of(binary32) && 2 * F.precision() <= binary32.precision() && F.rounding != rounding_mode::downward;
/// True if neither can leave the range of float.
template <format F>
inline constexpr bool has_bounded_products = 2 * F.quantum_exponent() >= binary32.quantum_exponent() &&
                                             2 * (F.max_exponent() + 1) < binary32.max_exponent();

/// a·b + c for numbers of F, rounded once to F. The product of two of them is exact in float unless it is tiny or huge;
/// the sum is taken to odd, so that the rounding to F is the only one. Lanes beside a tiny or huge one go through double
/// with it: the same values.
template <format F, class L>
DEVIATE_HD L fma_of_members(const L& a, const L& b, const L& c) {
  constexpr int W = lane_width<L>;
  if constexpr (!has_float_products<F>) {
    return fma_by_site<F, W>(a, b, c);
  } else {
    const L product = a * b;
    const L r = round_to<F>(bounded_sum_to_odd(product, c));
    if constexpr (!has_bounded_products<F>) {
      using B = lanes<std::uint32_t, W>;
      const B positive = broadcast<B>(0x7fffffffu);
      const B p = bits(product) & positive, z = bits(c) & positive;
      constexpr std::uint32_t tiny = bits(0x1p-100f), huge = bits(0x1p126f);
      if (any((p - broadcast<B>(tiny) >= broadcast<B>(huge - tiny)) | (z >= broadcast<B>(huge)))) {
        // A product with a zero is exact all the same.
        const L zero = broadcast<L>(0.0f);
        const auto is_zero = ((a == zero) | (b == zero)) & (p == broadcast<B>(0));
        const auto inside = (p - broadcast<B>(tiny) < broadcast<B>(huge - tiny)) & (z < broadcast<B>(huge));
        if (any(!(inside | (is_zero & (z < broadcast<B>(huge)))))) {
          L result = a;
          fma_in_place<F, W>(result, b, c);
          return result;
        }
      }
    }
    return r;
  }
}

}  // namespace deviate::detail
