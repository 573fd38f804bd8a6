// SPDX-License-Identifier: Apache-2.0
/// \file transpose.hpp
/// \brief A square of W packs of W lanes, transposed in registers.
#pragma once

#include <deviate/number/lanes.hpp>

namespace deviate {

namespace detail {

/// Exchanges the off-diagonal squares of 2·Step × 2·Step blocks that two rows, Step apart, hold.
template <int Step, class Vector, std::size_t... I>
DEVIATE_HD void exchange(Vector& upper, Vector& lower, std::index_sequence<I...>) {
#if DEVIATE_VECTOR_TYPES
  constexpr int W = int(sizeof...(I));
  const Vector a = upper, b = lower;
  upper = __builtin_shufflevector(a, b, ((int(I) & Step) != 0 ? int(I) - Step + W : int(I))...);
  lower = __builtin_shufflevector(a, b, ((int(I) & Step) != 0 ? int(I) + W : int(I) + Step)...);
#endif
}

template <int Step, class T, int W>
DEVIATE_HD void transpose_steps(pack<T, W> (&rows)[W]) {
  DEVIATE_UNROLL
  for (int i = 0; i < W; ++i)
    if ((i & Step) == 0) exchange<Step>(rows[i].part[0], rows[i + Step].part[0], std::make_index_sequence<W>{});
  if constexpr (2 * Step < W) transpose_steps<2 * Step>(rows);
}

}  // namespace detail

/// \brief True if a row of the square is one hardware vector.
template <class T, int W>
inline constexpr bool transposes_in_registers = pack<T, W>::parts == 1 && DEVIATE_VECTOR_TYPES;

/// \brief rows[i], lane j ← rows[j], lane i.
/// \pre a row is one hardware vector
template <class T, int W>
requires transposes_in_registers<T, W> DEVIATE_HD void transpose(pack<T, W> (&rows)[W]) {
  detail::transpose_steps<1>(rows);
}

}  // namespace deviate
