// SPDX-License-Identifier: Apache-2.0
/// \file arrays.hpp
/// \brief Whole arrays of native numbers rounded to a format, and fused multiply-adds of whole arrays of emulated ones.
///
/// Every function takes the width of the processor's vectors at a time and pads the last group, so each element has the
/// bits of the function of one value, whatever the length. `to` may be the array that is read, but no other part of it.
// host only
#pragma once

#include <cstddef>
#include <cstring>
#include <deviate/contract.hpp>
#include <deviate/number/arithmetic.hpp>
#include <deviate/number/detail/narrow_fma.hpp>
#include <deviate/number/rounding.hpp>
#include <span>

namespace deviate {

namespace detail {

/// `count` elements of T as a pack; those beyond the end are zero.
template <class T, int W>
DEVIATE_HD pack<T, W> load_lanes(const void* from, std::size_t count = std::size_t(W)) {
  pack<T, W> x{};
  std::memcpy(&x, from, count * sizeof(T));
  return x;
}
template <class T, int W>
DEVIATE_HD void store_lanes(void* to, const pack<T, W>& x, std::size_t count = std::size_t(W)) {
  std::memcpy(to, &x, count * sizeof(T));
}

inline void expect_equal_lengths(std::size_t from, std::size_t to) {
  expects(from == to, "arrays: `to` must have as many elements as what is read");
}

/// to[i] = f(from[i]) for packs of as many lanes as a vector has; f also gets the index of lane 0.
template <class C, class F>
void for_each_pack(std::span<const C> from, std::span<C> to, F f) {
  expect_equal_lengths(from.size(), to.size());
  constexpr int W = DEVIATE_NATIVE_VECTOR_BYTES / int(sizeof(C));
  const std::size_t whole = from.size() / W * W;
  const C* source = from.data();
  C* target = to.data();
  for (std::size_t i = 0; i < whole; i += W) store_lanes(target + i, f(load_lanes<C, W>(source + i), i));
  if (const std::size_t rest = from.size() - whole; rest > 0)
    store_lanes(target + whole, f(load_lanes<C, W>(source + whole, rest), whole), rest);
}

template <class C>
void round_array_with(std::span<const C> from, std::span<C> to, const rounding_constants<C>& c) {
  const rounding_constants<C> own = c;  // no element of `to` can be part of it
  for_each_pack(from, to, [&own](const auto& x, std::size_t) DEVIATE_HD_LAMBDA { return round_to(x, own); });
}

}  // namespace detail

/// \name Rounding of arrays
/// @{

/// \brief Rounds every element to a format fixed at compile time, in its mode: `round_to<F>` of each.
/// \tparam F a subset of the elements' format, in any mode but stochastic
/// \param from any values
/// \param to as many; may be `from` itself
/// \throws contract_violation if the lengths differ
template <format F>
void round_array(std::span<const float> from, std::span<float> to) {
  detail::for_each_pack(from, to, [](const auto& x, std::size_t) DEVIATE_HD_LAMBDA { return round_to<F>(x); });
}
/// \copydoc round_array
template <format F>
void round_array(std::span<const double> from, std::span<double> to) {
  detail::for_each_pack(from, to, [](const auto& x, std::size_t) DEVIATE_HD_LAMBDA { return round_to<F>(x); });
}
/// \brief Rounds every element to a format chosen at run time: `round_to(x, c)` of each.
/// \param from any values
/// \param to as many; may be `from` itself
/// \param c constants of the format, in any mode but stochastic
/// \throws contract_violation if the lengths differ, or the mode is stochastic
inline void round_array(std::span<const float> from, std::span<float> to, const rounding_constants<float>& c) {
  expects(c.rounding != rounding_mode::stochastic,
          "round_array: stochastic rounding takes a stream: see stochastic_arrays.hpp");
  detail::round_array_with(from, to, c);
}
/// \copydoc round_array(std::span<const float>, std::span<float>, const rounding_constants<float>&)
inline void round_array(std::span<const double> from, std::span<double> to, const rounding_constants<double>& c) {
  expects(c.rounding != rounding_mode::stochastic,
          "round_array: stochastic rounding takes a stream: see stochastic_arrays.hpp");
  detail::round_array_with(from, to, c);
}
/// @}

/// \brief a·b + c for every element, each rounded once: `fma` of emulated numbers.
/// \tparam F format of at most 11 significand bits or any other that float holds
/// \param a factors
/// \param b as many
/// \param c terms, as many
/// \param to results, as many; may be a, b or c itself
/// \throws contract_violation if the lengths differ
template <format F>
void fma_array(std::span<const emulated<F>> a, std::span<const emulated<F>> b, std::span<const emulated<F>> c,
               std::span<emulated<F>> to) {
  using C = carrier_of<emulated<F>>;
  static_assert(sizeof(emulated<F>) == sizeof(C), "an emulated number is its carrier");
  expects(a.size() == to.size() && b.size() == to.size() && c.size() == to.size(),
          "fma_array: a, b, c and `to` must have equal lengths");
  constexpr int W = DEVIATE_NATIVE_VECTOR_BYTES / int(sizeof(C));
  const auto at = [&](std::size_t i, std::size_t count) DEVIATE_HD_LAMBDA {
    return detail::fma_of_members<F>(detail::load_lanes<C, W>(a.data() + i, count),
                                     detail::load_lanes<C, W>(b.data() + i, count),
                                     detail::load_lanes<C, W>(c.data() + i, count));
  };
  const std::size_t whole = to.size() / W * W;
  for (std::size_t i = 0; i < whole; i += W) detail::store_lanes(to.data() + i, at(i, W));
  if (const std::size_t rest = to.size() - whole; rest > 0)
    detail::store_lanes(to.data() + whole, at(whole, rest), rest);
}

}  // namespace deviate
