// SPDX-License-Identifier: Apache-2.0
/// \file pack.hpp
/// \brief A fixed number of lanes computed together, over the compiler's vector extensions.
///
/// A pack is not a number type: it is W independent values that undergo the same IEEE operation. Lane i of every result
/// depends on lane i of the operands alone, so a pack has the bits of W plain values, whatever the machine's vectors are.
#pragma once

#include <deviate/config.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace deviate {

namespace detail {

/// Bytes of a part of a pack; 0: each part is one plain value.
inline constexpr int pack_part_bytes = DEVIATE_VECTOR_TYPES ? DEVIATE_NATIVE_VECTOR_BYTES : 0;

template <class T, int W, int Bytes>
inline constexpr int native_lanes = Bytes == 0                  ? 1
                                    : W* int(sizeof(T)) < Bytes ? W
                                                                : Bytes / int(sizeof(T));

template <class T, int N>
struct native_vector {
  typedef T type __attribute__((vector_size(sizeof(T) * N)));
};
template <class T>
struct native_vector<T, 1> {
  using type = T;
};

}  // namespace detail

/// \brief W lanes of T. Comparisons give a mask: all bits of a lane set, or none.
/// \tparam T float, double or an integer of 32 or 64 bits
/// \tparam W number of lanes, a power of two greater than 1
/// \tparam Bytes leave it alone: it tells apart the packs of files compiled for processors of different vectors, or by
/// nvcc, which a program may link together
template <class T, int W, int Bytes = detail::pack_part_bytes>
struct pack {
  static_assert(W > 1 && (W & (W - 1)) == 0, "a pack has a power of two of lanes; one lane is a plain value");
  static constexpr int part_lanes = detail::native_lanes<T, W, Bytes>;    ///< lanes in one hardware vector
  static constexpr int parts = W / part_lanes;                            ///< hardware vectors
  using value_type = T;                                                   ///< element type
  using part_type = typename detail::native_vector<T, part_lanes>::type;  ///< one hardware vector

  part_type part[parts];  ///< the lanes, in order

  /// \brief Reads one lane; for the ends of algorithms, not for inner loops.
  DEVIATE_HD T operator[](int lane) const {
    T value;
    std::memcpy(&value, reinterpret_cast<const char*>(part) + std::size_t(lane) * sizeof(T), sizeof(T));
    return value;
  }
  /// \brief Writes one lane.
  DEVIATE_HD void set(int lane, T value) {
    std::memcpy(reinterpret_cast<char*>(part) + std::size_t(lane) * sizeof(T), &value, sizeof(T));
  }
};

namespace detail {

/// What a lane of a comparison becomes: vectors give all bits or none, plain values true or false.
template <class Mask, class R>
DEVIATE_HD Mask as_mask(const R& holds) {
  if constexpr (std::is_same_v<R, bool>)
    return Mask(-Mask(holds));
  else
    return (Mask)(holds);
}

template <class R, class T, int W, class F>
DEVIATE_HD R map(const pack<T, W>& a, F f) {
  R r;
  for (int i = 0; i < pack<T, W>::parts; ++i) r.part[i] = (typename R::part_type)(f(a.part[i]));
  return r;
}
template <class R, class T, int W, class F>
DEVIATE_HD R map(const pack<T, W>& a, const pack<T, W>& b, F f) {
  R r;
  for (int i = 0; i < pack<T, W>::parts; ++i) r.part[i] = as_mask<typename R::part_type>(f(a.part[i], b.part[i]));
  return r;
}

template <class T>
using same_size_integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
template <class T>
using same_size_unsigned = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

}  // namespace detail

// clang-format off
/// \name Arithmetic and bits, lane by lane
/// @{

/// \brief The operation of T in every lane; `!` and `~` alike complement bits.
template <class T, int W> DEVIATE_HD pack<T, W> operator+(const pack<T, W>& a, const pack<T, W>& b) { return detail::map<pack<T, W>>(a, b, [](auto x, auto y) DEVIATE_HD_LAMBDA { return x + y; }); }
template <class T, int W> DEVIATE_HD pack<T, W> operator-(const pack<T, W>& a, const pack<T, W>& b) { return detail::map<pack<T, W>>(a, b, [](auto x, auto y) DEVIATE_HD_LAMBDA { return x - y; }); }
template <class T, int W> DEVIATE_HD pack<T, W> operator*(const pack<T, W>& a, const pack<T, W>& b) { return detail::map<pack<T, W>>(a, b, [](auto x, auto y) DEVIATE_HD_LAMBDA { return x * y; }); }
template <class T, int W> DEVIATE_HD pack<T, W> operator/(const pack<T, W>& a, const pack<T, W>& b) { return detail::map<pack<T, W>>(a, b, [](auto x, auto y) DEVIATE_HD_LAMBDA { return x / y; }); }
template <class T, int W> DEVIATE_HD pack<T, W> operator&(const pack<T, W>& a, const pack<T, W>& b) { return detail::map<pack<T, W>>(a, b, [](auto x, auto y) DEVIATE_HD_LAMBDA { return x & y; }); }
template <class T, int W> DEVIATE_HD pack<T, W> operator|(const pack<T, W>& a, const pack<T, W>& b) { return detail::map<pack<T, W>>(a, b, [](auto x, auto y) DEVIATE_HD_LAMBDA { return x | y; }); }
template <class T, int W> DEVIATE_HD pack<T, W> operator^(const pack<T, W>& a, const pack<T, W>& b) { return detail::map<pack<T, W>>(a, b, [](auto x, auto y) DEVIATE_HD_LAMBDA { return x ^ y; }); }
template <class T, int W> DEVIATE_HD pack<T, W> operator~(const pack<T, W>& a) { return detail::map<pack<T, W>>(a, [](auto x) DEVIATE_HD_LAMBDA { return ~x; }); }
template <class T, int W> DEVIATE_HD pack<T, W> operator!(const pack<T, W>& a) { return ~a; }
template <class T, int W> DEVIATE_HD pack<T, W> operator-(const pack<T, W>& a) { return detail::map<pack<T, W>>(a, [](auto x) DEVIATE_HD_LAMBDA { return -x; }); }
template <class T, int W> DEVIATE_HD pack<T, W> operator>>(const pack<T, W>& a, int n) { return detail::map<pack<T, W>>(a, [n](auto x) DEVIATE_HD_LAMBDA { return x >> n; }); }
template <class T, int W> DEVIATE_HD pack<T, W> operator<<(const pack<T, W>& a, int n) { return detail::map<pack<T, W>>(a, [n](auto x) DEVIATE_HD_LAMBDA { return x << n; }); }
/// @}

/// \brief Result of a comparison: integers of T's size, all bits set where it holds.
template <class T, int W> using pack_mask = pack<detail::same_size_integer<T>, W>;
/// \name Comparisons, lane by lane
/// @{

/// \brief The comparison of T in every lane: false with NaN, but for `!=`.
template <class T, int W> DEVIATE_HD pack_mask<T, W> operator<(const pack<T, W>& a, const pack<T, W>& b) { return detail::map<pack_mask<T, W>>(a, b, [](auto x, auto y) DEVIATE_HD_LAMBDA { return x < y; }); }
template <class T, int W> DEVIATE_HD pack_mask<T, W> operator>(const pack<T, W>& a, const pack<T, W>& b) { return b < a; }
template <class T, int W> DEVIATE_HD pack_mask<T, W> operator<=(const pack<T, W>& a, const pack<T, W>& b) { return detail::map<pack_mask<T, W>>(a, b, [](auto x, auto y) DEVIATE_HD_LAMBDA { return x <= y; }); }
template <class T, int W> DEVIATE_HD pack_mask<T, W> operator>=(const pack<T, W>& a, const pack<T, W>& b) { return b <= a; }
template <class T, int W> DEVIATE_HD pack_mask<T, W> operator==(const pack<T, W>& a, const pack<T, W>& b) { return detail::map<pack_mask<T, W>>(a, b, [](auto x, auto y) DEVIATE_HD_LAMBDA { return x == y; }); }
template <class T, int W> DEVIATE_HD pack_mask<T, W> operator!=(const pack<T, W>& a, const pack<T, W>& b) { return detail::map<pack_mask<T, W>>(a, b, [](auto x, auto y) DEVIATE_HD_LAMBDA { return x != y; }); }
/// @}
// clang-format on

}  // namespace deviate
