// SPDX-License-Identifier: Apache-2.0
/// \file lanes.hpp
/// \brief One vocabulary for a plain value and for a pack of values, so that every operation is written once.
///
/// "Lanes of C" means `C` itself (one lane) or `pack<C, W>`. A mask is `bool` for one lane and an integer pack for more.
#pragma once

#include <deviate/config.hpp>
#include <deviate/number/pack.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

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
    L r;
    for (int i = 0; i < L::parts; ++i) r.part[i] = typename L::part_type{} + x;
    if constexpr (std::is_floating_point_v<lane_value<L>>) {
      // Adding to zero turns −0 into +0: put the sign back.
      if (std::bit_cast<detail::same_size_integer<lane_value<L>>>(x) < 0 && x == 0)
        for (int i = 0; i < L::parts; ++i) r.part[i] = -r.part[i];
    }
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

/// \brief True if any lane of the mask is set.
DEVIATE_HD bool any(bool mask) { return mask; }
/// \copybrief any(bool)
template <class I, int W>
DEVIATE_HD bool any(const pack<I, W>& mask) {
  I all = 0;
  for (int i = 0; i < W; ++i) all |= mask[i];
  return all != 0;
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

/// \brief Lanes of `To` with the values of `x`: exact when widening, one IEEE rounding to nearest even when narrowing.
template <class To, class L>
DEVIATE_HD lanes<To, lane_width<L>> convert_lanes(const L& x) {
  using From = lane_value<L>;
  constexpr int W = lane_width<L>;
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (W == 1) {
    return To(x);
  } else if constexpr (W == 2) {
    // Not a vector conversion: g++ 12 drops the rounding of two doubles to float that are then widened again.
    pack<To, W> r;
    for (int i = 0; i < W; ++i) r.set(i, To(x[i]));
    return r;
  } else {
    constexpr int chunk = detail::native_lanes<To, W> < detail::native_lanes<From, W> ? detail::native_lanes<To, W>
                                                                                      : detail::native_lanes<From, W>;
    using from_chunk = typename detail::native_vector<From, chunk>::type;
    using to_chunk = typename detail::native_vector<To, chunk>::type;
    pack<To, W> r;
    for (int i = 0; i < W / chunk; ++i) {
      from_chunk f;
      std::memcpy(&f, reinterpret_cast<const char*>(x.part) + std::size_t(i) * sizeof f, sizeof f);
      const to_chunk t = __builtin_convertvector(f, to_chunk);
      std::memcpy(reinterpret_cast<char*>(r.part) + std::size_t(i) * sizeof t, &t, sizeof t);
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

}  // namespace deviate
