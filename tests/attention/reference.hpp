// SPDX-License-Identifier: Apache-2.0
// Attention written a second time, element by element: a three-pass softmax in long double that shares nothing with the
// library but the shapes. Which key a query sees is decided key by key from the definition of each mask.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deviate/attention/problem.hpp>
#include <deviate/tensor/tensor.hpp>
#include <limits>
#include <vector>

namespace attention_test {

namespace dv = deviate;

inline bool sees(const dv::problem& p, std::int64_t n_query, std::int64_t n_key, std::int64_t batch, std::int64_t query,
                 std::int64_t key) {
  std::int64_t diagonal = query;
  if (p.mask.align == dv::alignment::bottom_right) diagonal = n_key - (n_query - query);
  if (p.mask.right != -1 && key - diagonal > p.mask.right) return false;
  if (p.mask.left != -1 && diagonal - key > p.mask.left) return false;
  if (!p.key_lengths.empty() && key >= p.key_lengths[std::size_t(batch)]) return false;
  return p.key_visible.empty() || p.key_visible[std::size_t(batch * n_key + key)] != 0;
}

struct reference_result {
  dv::tensor<long double> output, log_sum_exp;
};

inline reference_result reference(const dv::tensor_view<const double>& q, const dv::tensor_view<const double>& k,
                                  const dv::tensor_view<const double>& v, const dv::problem& p) {
  reference_result r{dv::tensor<long double>({q.batch(), q.heads(), q.rows(), v.columns()}),
                     dv::tensor<long double>({q.batch(), q.heads(), q.rows(), 1})};
  const long double scale = p.scale ? (long double)(*p.scale) : 1 / std::sqrt((long double)(q.columns()));
  const std::int64_t group = q.heads() / k.heads();
  for (std::int64_t b = 0; b < q.batch(); ++b)
    for (std::int64_t h = 0; h < q.heads(); ++h)
      for (std::int64_t i = 0; i < q.rows(); ++i) {
        std::vector<std::int64_t> keys;
        std::vector<long double> weight;
        for (std::int64_t j = 0; j < k.rows(); ++j) {
          if (!sees(p, q.rows(), k.rows(), b, i, j)) continue;
          long double dot = 0;
          for (std::int64_t c = 0; c < q.columns(); ++c) dot += (long double)(q(b, h, i, c)) * k(b, h / group, j, c);
          keys.push_back(j);
          weight.push_back(scale * dot);
        }
        r.log_sum_exp(b, h, i, 0) = -std::numeric_limits<long double>::infinity();
        if (keys.empty()) continue;
        const long double most = *std::max_element(weight.begin(), weight.end());
        long double sum = 0;
        for (long double& w : weight) sum += w = std::exp(w - most);
        for (std::int64_t c = 0; c < v.columns(); ++c)
          for (std::size_t n = 0; n < keys.size(); ++n)
            r.output(b, h, i, c) += weight[n] / sum * v(b, h / group, keys[n], c);
        r.log_sum_exp(b, h, i, 0) = most + std::log(sum);
      }
  return r;
}

// The largest difference of a row over the largest magnitude of the reference's row; rows of zeros must be zero.
template <class T>
double row_relative_difference(const dv::tensor<T>& got, const dv::tensor<long double>& want) {
  double worst = 0;
  const std::int64_t columns = want.shape().columns;
  for (std::int64_t row = 0; row * columns < want.count(); ++row) {
    long double difference = 0, size = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto at = std::size_t(row * columns + c);
      const long double x = (long double)(got.values()[at]), y = want.values()[at];
      if (x != x) return std::numeric_limits<double>::infinity();
      if (x == y) continue;  // infinities too
      difference = std::max(difference, std::fabs(x - y));
      size = std::max(size, std::fabs(y));
    }
    if (difference > 0) worst = std::max(worst, size > 0 ? double(difference / size) : 1.0);
  }
  return worst;
}

// LSE: |difference| over max(1, |LSE|), since ln of a sum near 1 is near 0.
template <class T>
double lse_difference(const dv::tensor<T>& got, const dv::tensor<long double>& want) {
  double worst = 0;
  for (std::size_t i = 0; i < want.values().size(); ++i) {
    const long double x = (long double)(got.values()[i]), y = want.values()[i];
    if (x == y) continue;
    if (!(std::fabs(x - y) >= 0)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, double(std::fabs(x - y) / std::max(1.0L, std::fabs(y))));
  }
  return worst;
}

}  // namespace attention_test
