// SPDX-License-Identifier: Apache-2.0
/// \file team.hpp
/// \brief What every team offers: lanes that run a body and meet, a reduction in a fixed tree, shared scratch memory.
///
/// A block of work is a function of a team. Outside `lanes` it computes nothing but values that are the same for every
/// lane.
/// \code
/// float* row = team.template shared<float>(n);
/// team.lanes([&](int lane) { for (int i = lane; i < n; i += team.size()) row[i] = f(i); });  // ends in a barrier
/// float sum = team.reduce([&](int lane) { return partial(lane); }, plus);                     // fixed tree over lanes
/// \endcode
#pragma once

#include <concepts>
#include <cstddef>
#include <deviate/config.hpp>

namespace deviate {

/// \brief How many adjacent values a team handles together. It sets speed, never bits.
/// \tparam Width lanes of a fragment
/// \tparam Rows rows of a register tile
/// \tparam Columns fragments side by side in a register tile
template <int Width, int Rows, int Columns>
struct register_tile {
  static constexpr int width = Width;      ///< lanes of a fragment
  static constexpr int rows = Rows;        ///< rows of a register tile
  static constexpr int columns = Columns;  ///< fragments side by side
};
/// \brief One value at a time: the plain text, which is the specification.
using plain_tile = register_tile<1, 1, 1>;
/// \brief Vectors of the host's native width.
using native_tile = register_tile<DEVIATE_NATIVE_VECTOR_BYTES / 4, DEVIATE_NATIVE_VECTOR_BYTES == 64 ? 8 : 4, 2>;

/// \brief Vectors of the host's native width, of double.
using native_double_tile = register_tile<DEVIATE_NATIVE_VECTOR_BYTES / 8, DEVIATE_NATIVE_VECTOR_BYTES == 64 ? 8 : 4, 1>;

/// \brief A team: `size()` lanes, `lanes(body)`, `reduce(value, operation)`, `shared<T>(n)`, and its register tile.
template <class T>
concept team = requires(T& t, void (*body)(int), int (*value)(int), int (*operation)(int, int)) {
  { t.size() } -> std::convertible_to<int>;
  t.lanes(body);
  { t.reduce(value, operation) } -> std::same_as<int>;
  { t.template shared<float>(std::size_t(1)) } -> std::same_as<float*>;
  { T::tile::width } -> std::convertible_to<int>;
};

/// \brief Runs body(i) for every i < n, spread over the lanes, and ends in a barrier. The iterations are independent.
template <class Team, class Body>
DEVIATE_HD void for_each(Team& t, int n, Body body) {
  t.lanes([&](int lane) {
    for (int i = lane; i < n; i += t.size()) body(i);
  });
}

namespace detail {
/// The tree of every reduction: distance 1, 2, 4, …, lower lane left; n need not be a power of two.
template <class T, class Operation>
T reduce_tree(T* values, int n, Operation operation) {
  for (int distance = 1; distance < n; distance *= 2)
    for (int i = 0; i + distance < n; i += 2 * distance) values[i] = operation(values[i], values[i + distance]);
  return values[0];
}
}  // namespace detail

}  // namespace deviate
