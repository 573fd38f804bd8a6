// SPDX-License-Identifier: Apache-2.0
/// \file lanes.hpp
/// \brief One vocabulary for a plain value and for a pack of values, so that every operation is written once.
///
/// "Lanes of C" means `C` itself (one lane) or `pack<C, W>`. A mask is `bool` for one lane and an integer pack for more.
#pragma once

#include <deviate/config.hpp>
#include <deviate/number/pack.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace deviate {

/// \brief Lanes of C: `C` for W = 1, `pack<C, W>` for more.
template <class C, int W>
struct lanes_of {
  using type = pack<C, W>;  ///< the lane type
};
/// \brief One lane is the plain value.
template <class C>
struct lanes_of<C, 1> {
  using type = C;  ///< the lane type
};
/// \brief The type of W lanes of C.
template <class C, int W>
using lanes = typename lanes_of<C, W>::type;

/// \brief Element type and number of lanes of a lane type.
template <class L>
struct lane_traits {
  using value_type = L;            ///< element type
  static constexpr int width = 1;  ///< number of lanes
};
/// \brief Of a pack.
template <class T, int W>
struct lane_traits<pack<T, W>> {
  using value_type = T;            ///< element type
  static constexpr int width = W;  ///< number of lanes
};
/// \brief Element type of lanes.
template <class L>
using lane_value = typename lane_traits<L>::value_type;
/// \brief Number of lanes.
template <class L>
inline constexpr int lane_width = lane_traits<L>::width;

/// \brief The same value in every lane.
template <class L>
DEVIATE_HD L broadcast(lane_value<L> x) {
  if constexpr (lane_width<L> == 1) {
    return x;
  } else {
    // Subtracting zero changes no value, −0 and NaN included, and compilers see that nothing is left but the copies.
    L r;
    for (int i = 0; i < L::parts; ++i) r.part[i] = x - typename L::part_type{};
    return r;
  }
}

/// \brief `mask ? a : b`, lane by lane, without a branch.
template <class T>
DEVIATE_HD T select(bool mask, const T& a, const T& b) {
  return mask ? a : b;
}
/// \copybrief select(bool, const T&, const T&)
template <class I, class T, int W>
DEVIATE_HD pack<T, W> select(const pack<I, W>& mask, const pack<T, W>& a, const pack<T, W>& b) {
  static_assert(sizeof(I) == sizeof(T));
  pack<T, W> r;
  for (int i = 0; i < pack<T, W>::parts; ++i) r.part[i] = mask.part[i] ? a.part[i] : b.part[i];
  return r;
}

/// \brief Lanes `first` … first + N − 1 of a pack; N = 1 is a plain value.
template <int N, class T, int W>
DEVIATE_HD lanes<T, N> part_of(const pack<T, W>& x, int first) {
  lanes<T, N> r;
  std::memcpy(&r, reinterpret_cast<const char*>(x.part) + std::size_t(first) * sizeof(T), sizeof r);
  return r;
}

/// \brief operation over all lanes, as a tree: lane i with lane i + W/2, then with lane i + W/4 … ; the lower lane left.
template <class T, int W, class Operation>
DEVIATE_HD T fold(const pack<T, W>& x, Operation operation) {
  const auto half = operation(part_of<W / 2>(x, 0), part_of<W / 2>(x, W / 2));
  if constexpr (W == 2)
    return half;
  else
    return fold(half, operation);
}

namespace detail {
/// The elements number 0 + Odd, 2 + Odd, … of two vectors, one after the other.
template <int Odd, class Vector, std::size_t... I>
DEVIATE_HD auto every_other_element(const Vector& a, const Vector& b, std::index_sequence<I...>) {
#if DEVIATE_VECTOR_TYPES
  return __builtin_shufflevector(a, b, (2 * int(I) + Odd)...);
#endif
}
}  // namespace detail

/// \brief The lanes with even (Odd = 0) or odd (Odd = 1) numbers, in order.
template <int Odd, class T, int W>
DEVIATE_HD lanes<T, W / 2> every_other(const pack<T, W>& x) {
  using P = pack<T, W>;
  if constexpr (W == 2) {
    return x[Odd];
  } else if constexpr (P::part_lanes == 1) {
    pack<T, W / 2> r;
    for (int i = 0; i < W / 2; ++i) r.part[i] = x.part[2 * i + Odd];
    return r;
  } else if constexpr (P::parts == 1) {
    return {detail::every_other_element<Odd>(x.part[0], x.part[0], std::make_index_sequence<W / 2>{})};
  } else {
    pack<T, W / 2> r;
    for (int i = 0; i < P::parts / 2; ++i)
      r.part[i] = detail::every_other_element<Odd>(x.part[2 * i], x.part[2 * i + 1],
                                                   std::make_index_sequence<std::size_t(P::part_lanes)>{});
    return r;
  }
}

/// \brief operation over all lanes, as a tree over neighbours: distance 1, 2, 4, …, the lower lane left.
template <class T, int W, class Operation>
DEVIATE_HD T fold_neighbours(const pack<T, W>& x, Operation operation) {
  const auto half = operation(every_other<0>(x), every_other<1>(x));
  if constexpr (W == 2)
    return half;
  else
    return fold_neighbours(half, operation);
}

/// \brief True if any lane of the mask is set.
DEVIATE_HD bool any(bool mask) { return mask; }
/// \copybrief any(bool)
template <class I, int W>
DEVIATE_HD bool any(const pack<I, W>& mask) {
  return fold(mask, [](const auto& a, const auto& b) DEVIATE_HD_LAMBDA { return a | b; }) != 0;
}

/// \brief The bits of a floating-point value, as an unsigned integer of its size.
template <class C>
requires std::is_floating_point_v<C> DEVIATE_HD constexpr detail::same_size_unsigned<C> bits(C x) {
  return std::bit_cast<detail::same_size_unsigned<C>>(x);
}
/// \brief The bits of every lane.
template <class C, int W>
DEVIATE_HD pack<detail::same_size_unsigned<C>, W> bits(const pack<C, W>& x) {
  return std::bit_cast<pack<detail::same_size_unsigned<C>, W>>(x);
}

/// \brief The floating-point value with these bits.
DEVIATE_HD constexpr float from_bits(std::uint32_t u) { return std::bit_cast<float>(u); }
/// \copybrief from_bits(std::uint32_t)
DEVIATE_HD constexpr double from_bits(std::uint64_t u) { return std::bit_cast<double>(u); }
/// \brief The lanes with these bits.
template <int W>
DEVIATE_HD pack<float, W> from_bits(const pack<std::uint32_t, W>& u) {
  return std::bit_cast<pack<float, W>>(u);
}
/// \brief The lanes with these bits.
template <int W>
DEVIATE_HD pack<double, W> from_bits(const pack<std::uint64_t, W>& u) {
  return std::bit_cast<pack<double, W>>(u);
}

namespace detail {

template <class To, class Vector>
DEVIATE_HD auto convert_vector(const Vector& x) {
#if DEVIATE_VECTOR_TYPES
  return __builtin_convertvector(x, typename native_vector<To, int(sizeof(Vector) / sizeof(x[0]))>::type);
#endif
}
/// The elements First, First + 1, … of a vector.
template <int First, class Vector, std::size_t... I>
DEVIATE_HD auto elements(const Vector& x, std::index_sequence<I...>) {
#if DEVIATE_VECTOR_TYPES
  return __builtin_shufflevector(x, x, (First + int(I))...);
#endif
}
/// A vector, piece by piece in order, converted.
template <class To, class Vector, class Converted, std::size_t... Piece>
DEVIATE_HD void convert_pieces(const Vector& x, Converted* to, std::index_sequence<Piece...>) {
  constexpr int n = int(sizeof(Converted) / sizeof(To));
  ((to[Piece] = convert_vector<To>(elements<int(Piece) * n>(x, std::make_index_sequence<std::size_t(n)>{}))), ...);
}
/// The elements of a, then those of b.
template <class Vector, std::size_t... I>
DEVIATE_HD auto joined(const Vector& a, const Vector& b, std::index_sequence<I...>) {
#if DEVIATE_VECTOR_TYPES
  return __builtin_shufflevector(a, b, int(I)...);
#endif
}

}  // namespace detail

/// \brief Lanes of `To` with the values of `x`: exact when widening, one IEEE rounding to nearest even when narrowing.
template <class To, class L>
DEVIATE_HD lanes<To, lane_width<L>> convert_lanes(const L& x) {
  using From = lane_value<L>;
  constexpr int W = lane_width<L>;
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (W == 1) {
    return To(x);
  } else if constexpr (W == 2 || !DEVIATE_VECTOR_TYPES) {
    // g++ 12 drops the rounding of two doubles to float that are widened again, and makes a vector of two plain
    // conversions to do so (-O2): the float is hidden from it.
    pack<To, W> r;
    for (int i = 0; i < W; ++i) {
      To lane = To(x[i]);
#if defined(__GNUC__) && !defined(__clang__) && DEVIATE_VECTOR_TYPES
      if constexpr (sizeof(To) < sizeof(From)) asm("" : "+m"(lane));
#endif
      r.set(i, lane);
    }
    return r;
  } else {
    constexpr int from = pack<From, W>::part_lanes, to = pack<To, W>::part_lanes;
    pack<To, W> r;
    if constexpr (from == to) {
      for (int i = 0; i < pack<To, W>::parts; ++i) r.part[i] = detail::convert_vector<To>(x.part[i]);
    } else if constexpr (from > to) {
      constexpr int n = from / to;
      for (int i = 0; i < pack<From, W>::parts; ++i)
        detail::convert_pieces<To>(x.part[i], r.part + i * n, std::make_index_sequence<n>{});
    } else {
      constexpr int n = to / from;
      static_assert(n == 2, "a part of floats holds two parts of doubles");
      for (int i = 0; i < pack<To, W>::parts; ++i)
        r.part[i] =
            detail::joined(detail::convert_vector<To>(x.part[2 * i]), detail::convert_vector<To>(x.part[2 * i + 1]),
                           std::make_index_sequence<std::size_t(to)>{});
    }
    return r;
  }
}

/// \brief Applies a function of plain values to every lane; for operations without a vector form.
template <class F, class L, class... Ls>
DEVIATE_HD auto per_lane(F f, const L& a, const Ls&... more) {
  if constexpr (lane_width<L> == 1) {
    return f(a, more...);
  } else {
    using R = decltype(f(a[0], more[0]...));
    pack<R, lane_width<L>> r;
    for (int i = 0; i < lane_width<L>; ++i) r.set(i, f(a[i], more[i]...));
    return r;
  }
}

/// \brief Larger of two values. A NaN on either side is the result; of two zeros, `a`.
template <class L>
DEVIATE_HD L maximum(const L& a, const L& b) {
  const auto less = a < b, unordered = b != b;
  return select(less | unordered, b, a);
}

namespace detail {

/// a·b + c in every element, rounded once.
template <class T, class Vector>
DEVIATE_HD Vector multiply_add_vector(const Vector& a, const Vector& b, const Vector& c) {
#if DEVIATE_FMA_BUILTIN
  constexpr bool is_float = std::is_same_v<T, float>;
#if defined(__AVX512F__)
  constexpr int rounding_of_the_processor = 4;
  if constexpr (sizeof(Vector) == 64 && is_float)
    return __builtin_ia32_vfmaddps512_mask(a, b, c, static_cast<unsigned short>(-1), rounding_of_the_processor);
  else if constexpr (sizeof(Vector) == 64)
    return __builtin_ia32_vfmaddpd512_mask(a, b, c, static_cast<unsigned char>(-1), rounding_of_the_processor);
  else
#endif
      if constexpr (sizeof(Vector) == 32 && is_float)
    return __builtin_ia32_vfmaddps256(a, b, c);
  else if constexpr (sizeof(Vector) == 32)
    return __builtin_ia32_vfmaddpd256(a, b, c);
  else if constexpr (sizeof(Vector) == 16 && is_float)
    return __builtin_ia32_vfmaddps(a, b, c);
  else if constexpr (sizeof(Vector) == 16)
    return __builtin_ia32_vfmaddpd(a, b, c);
  else
#endif
      if constexpr (std::is_same_v<Vector, T>) {
    return std::fma(a, b, c);
  } else {
    Vector r;
    for (int i = 0; i < int(sizeof(Vector) / sizeof(T)); ++i) r[i] = std::fma(a[i], b[i], c[i]);
    return r;
  }
}

}  // namespace detail

/// \brief a·b + c, rounded once, lane by lane.
template <class L>
DEVIATE_HD L multiply_add(const L& a, const L& b, const L& c) {
  if constexpr (lane_width<L> == 1) {
    return std::fma(a, b, c);
  } else {
    L r;
    for (int i = 0; i < L::parts; ++i)
      r.part[i] = detail::multiply_add_vector<lane_value<L>>(a.part[i], b.part[i], c.part[i]);
    return r;
  }
}

}  // namespace deviate
