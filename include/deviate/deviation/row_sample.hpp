// SPDX-License-Identifier: Apache-2.0
/// \file row_sample.hpp
/// \brief Rows taken out of an attention problem, evenly, so that many variants of it can be run.
// host only
#pragma once

#include <algorithm>
#include <cstdint>
#include <deviate/attention/forward.hpp>
#include <deviate/number/rounding.hpp>
#include <deviate/tensor/tensor.hpp>
#include <string>
#include <vector>

namespace deviate {

/// \brief Some rows of Q, all of K and V, and the problem as these rows see it. Values are held in double.
struct row_sample {
  tensor<double> q;                     ///< [batch, query heads, rows, d]
  tensor<double> k;                     ///< [batch, key heads, n_key, d]
  tensor<double> v;                     ///< [batch, key heads, n_key, d_v]
  std::vector<std::int64_t> rows;       ///< their numbers in the whole problem; the same in every head
  std::vector<std::int64_t> diagonals;  ///< the key at which each has its diagonal
  problem whole;                        ///< as given
  std::int64_t key_length = -1;         ///< keys beyond it do not exist; −1: as given

  /// \brief The problem of these rows. It refers to this object.
  problem with_masks() const {
    problem p = whole;
    p.diagonals = diagonals;
    if (key_length >= 0) p.key_lengths = {&key_length, 1};
    return p;
  }
  /// \brief One row of one head alone, with the keys and values of its head. The key masks are those of its batch.
  row_sample only(std::int64_t batch, std::int64_t head, std::int64_t row) const {
    row_sample one;
    const std::int64_t group = q.shape().heads / k.shape().heads;
    const auto i = std::size_t(std::find(rows.begin(), rows.end(), row) - rows.begin());
    expects(i < rows.size(), "row_sample: row " + std::to_string(row) + " is not in the sample");
    const auto part = [&](const tensor<double>& from, std::int64_t h, std::int64_t first, std::int64_t count) {
      const auto* const at =
          from.values().data() + ((batch * from.shape().heads + h) * from.shape().rows + first) * from.shape().columns;
      return tensor<double>({1, 1, count, from.shape().columns},
                            std::vector<double>(at, at + count * from.shape().columns));
    };
    one.q = part(q, head, std::int64_t(i), 1);
    one.k = part(k, head / group, 0, k.shape().rows);
    one.v = part(v, head / group, 0, v.shape().rows);
    one.rows = {row};
    one.diagonals = {diagonals[i]};
    one.whole = whole;
    if (!whole.key_lengths.empty()) {
      one.key_length = whole.key_lengths[std::size_t(batch)];
      one.whole.key_lengths = {};
    }
    if (!whole.key_visible.empty())
      one.whole.key_visible =
          whole.key_visible.subspan(std::size_t(batch * k.shape().rows), std::size_t(k.shape().rows));
    return one;
  }
};

/// \brief Row numbers spread evenly: the middle of each of `count` equal parts of 0 … n − 1.
inline std::vector<std::int64_t> evenly_spread(std::int64_t n, std::int64_t count) {
  std::vector<std::int64_t> rows;
  const std::int64_t taken = count < n ? count : n;
  for (std::int64_t i = 0; i < taken; ++i) rows.push_back((2 * i + 1) * n / (2 * taken));
  return rows;
}

/// \brief Takes about `count` rows in all: count ÷ (batch · query heads), rounded up, evenly spread in each head.
/// \param q queries, k keys, v values: as for `flash_forward`
/// \param k keys
/// \param v values
/// \param p scale and masks; what they refer to must outlive the sample
/// \param count rows over all heads and batches, at least 1
/// \param input every value is rounded to this format, in its mode
template <class Q, class K, class V>
row_sample sample_rows(const Q& q, const K& k, const V& v, const problem& p, std::int64_t count, const format& input) {
  const auto qv = detail::as_view(q);
  const auto kv = detail::as_view(k);
  const auto vv = detail::as_view(v);
  detail::bind(qv.shape(), kv.shape(), vv.shape(), p);
  const rounding_constants<double> constants(input);
  const auto rounded = [&](const auto& x) { return round_to(double(detail::element(x).value), constants); };
  const auto copy = [&](const auto& from) {
    tensor<double> to(from.shape());
    for (std::int64_t b = 0; b < from.batch(); ++b)
      for (std::int64_t h = 0; h < from.heads(); ++h)
        for (std::int64_t i = 0; i < from.rows(); ++i)
          for (std::int64_t c = 0; c < from.columns(); ++c) to(b, h, i, c) = rounded(from(b, h, i, c));
    return to;
  };
  row_sample s;
  const std::int64_t heads = qv.batch() * qv.heads();
  s.whole = p;
  s.rows = evenly_spread(qv.rows(), (count + heads - 1) / (heads > 0 ? heads : 1));
  const std::int64_t shift = p.mask.align == alignment::bottom_right ? kv.rows() - qv.rows() : 0;
  for (const std::int64_t row : s.rows)
    s.diagonals.push_back(p.diagonals.empty() ? row + shift : p.diagonals[std::size_t(row)]);
  s.q = tensor<double>({qv.batch(), qv.heads(), std::int64_t(s.rows.size()), qv.columns()});
  for (std::int64_t b = 0; b < qv.batch(); ++b)
    for (std::int64_t h = 0; h < qv.heads(); ++h)
      for (std::size_t i = 0; i < s.rows.size(); ++i)
        for (std::int64_t c = 0; c < qv.columns(); ++c) s.q(b, h, std::int64_t(i), c) = rounded(qv(b, h, s.rows[i], c));
  s.k = copy(kv);
  s.v = copy(vv);
  return s;
}

}  // namespace deviate
