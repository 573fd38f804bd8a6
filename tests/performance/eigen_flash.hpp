// SPDX-License-Identifier: Apache-2.0
/// \file eigen_flash.hpp
/// \brief The peer: a tiled flash forward in float whose products and exponentials are Eigen's.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace performance {

/// \brief Buffers of one thread: no allocation inside.
class eigen_flash {
  using matrix = Eigen::MatrixXf;  // column-major: a query is a column, so that its keys lie side by side
  using rows = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

 public:
  eigen_flash(std::int64_t tile_query, std::int64_t tile_key, std::int64_t columns)
      : scores_(tile_key, tile_query),
        output_(columns, tile_query),
        largest_(tile_query),
        sum_(tile_query),
        tile_query_(tile_query),
        tile_key_(tile_key) {}

  /// \brief One head of n rows, row-major, softmax(scale · Q · Kᵀ) · V.
  void forward(const float* q, const float* k, const float* v, float* out, std::int64_t n, std::int64_t columns,
               float scale) {
    for (std::int64_t i = 0; i < n; i += tile_query_) {
      const std::int64_t m = std::min(tile_query_, n - i);
      const matrix query = rows(q + i * columns, m, columns).transpose() * scale;
      auto o = output_.leftCols(m);
      o.setZero();
      largest_.head(m).setConstant(-std::numeric_limits<float>::infinity());
      sum_.head(m).setZero();
      for (std::int64_t j = 0; j < n; j += tile_key_) {
        const std::int64_t count = std::min(tile_key_, n - j);
        auto s = scores_.topLeftCorner(count, m);
        s.noalias() = rows(k + j * columns, count, columns) * query;
        for (std::int64_t c = 0; c < m; ++c) {
          auto column = s.col(c);
          const float most = std::max(largest_[c], column.maxCoeff());
          const float rescale = std::exp(largest_[c] - most);
          column = (column.array() - most).exp();
          sum_[c] = sum_[c] * rescale + column.sum();
          if (rescale != 1) o.col(c) *= rescale;
          largest_[c] = most;
        }
        o.noalias() += rows(v + j * columns, count, columns).transpose() * s;
      }
      for (std::int64_t c = 0; c < m; ++c)
        Eigen::Map<Eigen::VectorXf>(out + (i + c) * columns, columns) = o.col(c) / sum_[c];
    }
  }

 private:
  matrix scores_, output_;
  Eigen::VectorXf largest_, sum_;
  std::int64_t tile_query_, tile_key_;
};

}  // namespace performance
