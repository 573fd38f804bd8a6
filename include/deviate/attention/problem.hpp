// SPDX-License-Identifier: Apache-2.0
/// \file problem.hpp
/// \brief What attention is asked to compute: the scale and which keys each query sees.
#pragma once

#include <cmath>
#include <cstdint>
#include <deviate/contract.hpp>
#include <deviate/number/bounded.hpp>
#include <deviate/tensor/view.hpp>
#include <optional>
#include <span>
#include <string>

namespace deviate {

/// \brief Where the diagonal of a causal mask or window lies when there are more keys than queries, or fewer.
enum class alignment : std::uint8_t {
  bottom_right,  ///< the last query sees up to the last key: query i has its diagonal at key i + n_key − n_query
  top_left,      ///< query i has its diagonal at key i
};

/// \brief A band of visible keys around the diagonal.
struct mask {
  std::int64_t left = -1;                     ///< keys visible before the diagonal key; −1 for all
  std::int64_t right = -1;                    ///< keys visible after the diagonal key; −1 for all
  alignment align = alignment::bottom_right;  ///< where the diagonal lies
};

/// \brief Every key at or before the diagonal.
struct causal {
  alignment align = alignment::bottom_right;  ///< where the diagonal lies
  /// \brief As a band.
  constexpr operator mask() const { return {-1, 0, align}; }
};

/// \brief `left` keys before and `right` keys after the diagonal key, which is itself visible.
struct window {
  std::int64_t left = -1;                     ///< keys before the diagonal key; −1 for all
  std::int64_t right = -1;                    ///< keys after it; −1 for all
  alignment align = alignment::bottom_right;  ///< where the diagonal lies
  /// \brief As a band.
  constexpr operator mask() const { return {left, right, align}; }
};

/// \brief One attention problem: O = softmax(scale · Q Kᵀ, over visible keys) V.
///
/// A mask *selects*: whatever stands in the K or V of a key that a query does not see, NaN included, never reaches that
/// query's output. A query without a visible key has O = 0 and LSE = −∞. Key lengths and the key mask hide keys; they
/// do not move the diagonal, which is a matter of the tensors' sizes.
struct problem {
  std::optional<double> scale = std::nullopt;      ///< finite; 1/√d if absent
  deviate::mask mask = {};                         ///< all keys by default
  std::span<const std::int64_t> key_lengths = {};  ///< per batch: number of leading keys that exist; empty for all
  std::span<const std::uint8_t> key_visible = {};  ///< [batch × n_key]: 0 hides a key from every query; empty for none
  /// [n_query]: the key at which each query has its diagonal, for rows taken out of a longer sequence; empty: by alignment
  std::span<const std::int64_t> diagonals = {};
};

/// \brief Half-open range of keys.
struct key_range {
  std::int64_t begin = 0;  ///< first key
  std::int64_t end = 0;    ///< one past the last key
  /// \brief True if the key is in the range.
  constexpr bool contains(std::int64_t key) const { return begin <= key && key < end; }
};

namespace detail {

/// A problem bound to its sizes, as kernels use it.
struct bound_problem {
  double scale = 1;
  deviate::mask mask = {};
  std::int64_t n_query = 0, n_key = 0, group = 1;
  const std::int64_t* key_lengths = nullptr;
  const std::uint8_t* key_visible = nullptr;
  const std::int64_t* diagonals = nullptr;
  magnitudes of_query{}, of_key{}, of_value{};  ///< of the tensors as given, where they were looked at

  /// Keys that the band and the length leave to a query; the key mask is asked per key.
  constexpr key_range keys(std::int64_t batch, std::int64_t query) const {
    const std::int64_t diagonal =
        diagonals != nullptr ? diagonals[query] : query + (mask.align == alignment::bottom_right ? n_key - n_query : 0);
    const std::int64_t length = key_lengths != nullptr ? key_lengths[batch] : n_key;
    key_range r{0, length};
    // Distances, not positions, are compared: a window may count up to 2^63 − 1 keys.
    if (mask.left >= 0 && mask.left < diagonal) r.begin = diagonal - mask.left;
    if (mask.right >= 0 && mask.right < length - 1 - diagonal) r.end = diagonal + mask.right + 1;
    if (r.end < r.begin) r.end = r.begin;
    return r;
  }
  constexpr bool visible(std::int64_t batch, std::int64_t key) const {
    return key_visible == nullptr || key_visible[batch * n_key + key] != 0;
  }
};

inline std::string text(const extents& e) {
  std::string s = "[";
  s.append(std::to_string(e.batch)).append(", ").append(std::to_string(e.heads)).append(", ");
  return s.append(std::to_string(e.rows)).append(", ").append(std::to_string(e.columns)).append("]");
}

/// Checks shapes and options, and binds them.
inline bound_problem bind(const extents& q, const extents& k, const extents& v, const problem& p) {
  std::string shapes = "q ";
  shapes.append(text(q)).append(", k ").append(text(k)).append(", v ").append(text(v));
  expects(q.batch == k.batch && k.batch == v.batch, "attention: batch sizes differ: " + shapes);
  expects(k.heads == v.heads, "attention: k and v must have the same number of heads: " + shapes);
  expects(k.heads > 0 && q.heads > 0 && q.heads % k.heads == 0,
          "attention: the number of query heads must be a multiple of the number of key heads: " + shapes);
  expects(k.rows == v.rows, "attention: k and v must have the same number of rows: " + shapes);
  expects(q.columns == k.columns && q.columns > 0,
          "attention: q and k must have the same head dimension, at least 1: " + shapes);
  expects(v.columns > 0, "attention: the head dimension of v must be at least 1: " + shapes);
  const double scale = p.scale ? *p.scale : 1.0 / std::sqrt(static_cast<double>(q.columns));
  expects(std::isfinite(scale), "attention: scale must be finite, is " + std::to_string(scale));
  expects(p.mask.left >= -1 && p.mask.right >= -1,
          "attention: a window counts 0 or more keys, or -1 for all of them; got left " + std::to_string(p.mask.left) +
              ", right " + std::to_string(p.mask.right));
  if (!p.key_lengths.empty()) {
    expects(static_cast<std::int64_t>(p.key_lengths.size()) == k.batch,
            "attention: key_lengths must have one entry per batch");
    for (const std::int64_t n : p.key_lengths)
      expects(n >= 0 && n <= k.rows,
              "attention: key length " + std::to_string(n) + " is not in 0 … " + std::to_string(k.rows));
  }
  expects(p.key_visible.empty() || static_cast<std::int64_t>(p.key_visible.size()) == k.batch * k.rows,
          "attention: key_visible must have batch × n_key entries");
  expects(p.diagonals.empty() || static_cast<std::int64_t>(p.diagonals.size()) == q.rows,
          "attention: diagonals must have one entry for each query");
  return {scale,
          p.mask,
          q.rows,
          k.rows,
          q.heads / k.heads,
          p.key_lengths.empty() ? nullptr : p.key_lengths.data(),
          p.key_visible.empty() ? nullptr : p.key_visible.data(),
          p.diagonals.empty() ? nullptr : p.diagonals.data(),
          {},
          {},
          {}};
}

}  // namespace detail
}  // namespace deviate
