// SPDX-License-Identifier: Apache-2.0
/// \file view.hpp
/// \brief A non-owning tensor of rank 4, [batch, heads, rows, columns]: the one shape attention needs.
#pragma once

#include <deviate/config.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace deviate {

/// \brief Sizes [batch, heads, rows, columns]. Indices are 64-bit: 1 × 1 × 46,342 × 46,342 already exceeds 2^31.
struct extents {
  std::int64_t batch = 1;    ///< independent problems
  std::int64_t heads = 1;    ///< heads of each
  std::int64_t rows = 0;     ///< queries or keys
  std::int64_t columns = 0;  ///< head dimension

  /// \brief Equal in every dimension.
  friend constexpr bool operator==(const extents&, const extents&) = default;
  /// \brief Number of elements.
  constexpr std::int64_t count() const { return batch * heads * rows * columns; }
};

/// \brief Distance in elements between neighbours along each dimension.
struct strides {
  std::int64_t batch = 0;    ///< between batches
  std::int64_t heads = 0;    ///< between heads
  std::int64_t rows = 0;     ///< between rows
  std::int64_t columns = 1;  ///< between columns

  /// \brief Row-major, without gaps.
  static constexpr strides contiguous(const extents& e) {
    return {e.heads * e.rows * e.columns, e.rows * e.columns, e.columns, 1};
  }
};

/// \brief Non-owning view of a rank-4 tensor; copying it copies no element.
/// \tparam T element type; const for read-only
template <class T>
class tensor_view {
 public:
  using element_type = T;                     ///< element type, const if read-only
  using value_type = std::remove_const_t<T>;  ///< element type without const

  constexpr tensor_view() = default;
  /// \brief A contiguous row-major tensor at `data`.
  constexpr tensor_view(T* data, const extents& shape)
      : data_(data), shape_(shape), stride_(strides::contiguous(shape)) {}
  /// \brief A tensor with any strides, e.g. [batch, rows, heads, columns] in memory.
  constexpr tensor_view(T* data, const extents& shape, const strides& stride)
      : data_(data), shape_(shape), stride_(stride) {}
  /// \brief A read-only view of a writable one.
  template <class U>
  requires std::is_same_v<const U, T>
  constexpr tensor_view(const tensor_view<U>& writable)
      : data_(writable.data()), shape_(writable.shape()), stride_(writable.stride()) {}

  /// \brief Address of element [0, 0, 0, 0].
  constexpr T* data() const { return data_; }
  /// \brief Sizes.
  constexpr const extents& shape() const { return shape_; }
  /// \brief Strides in elements.
  constexpr const strides& stride() const { return stride_; }
  /// \brief Number of batches.
  constexpr std::int64_t batch() const { return shape_.batch; }
  /// \brief Number of heads.
  constexpr std::int64_t heads() const { return shape_.heads; }
  /// \brief Number of rows.
  constexpr std::int64_t rows() const { return shape_.rows; }
  /// \brief Number of columns.
  constexpr std::int64_t columns() const { return shape_.columns; }
  /// \brief Number of elements.
  constexpr std::int64_t count() const { return shape_.count(); }
  /// \brief True if the elements lie in row-major order without gaps.
  constexpr bool is_contiguous() const {
    const strides c = strides::contiguous(shape_);
    return stride_.batch == c.batch && stride_.heads == c.heads && stride_.rows == c.rows && stride_.columns == 1;
  }

  /// \brief Position of an element, in elements from `data()`.
  constexpr std::int64_t offset(std::int64_t b, std::int64_t h, std::int64_t r, std::int64_t c) const {
    return b * stride_.batch + h * stride_.heads + r * stride_.rows + c * stride_.columns;
  }
  /// \brief One element.
  constexpr T& operator()(std::int64_t b, std::int64_t h, std::int64_t r, std::int64_t c) const {
    return data_[offset(b, h, r, c)];
  }
  /// \brief One head as a view of its own: [1, 1, rows, columns].
  constexpr tensor_view head(std::int64_t b, std::int64_t h) const {
    return {data_ + offset(b, h, 0, 0), {1, 1, shape_.rows, shape_.columns}, stride_};
  }

 private:
  T* data_ = nullptr;
  extents shape_;
  strides stride_;
};

}  // namespace deviate
