// SPDX-License-Identifier: Apache-2.0
/// \file tensor.hpp
/// \brief An owning rank-4 host tensor, for results and inputs of studies.
#pragma once

#include <deviate/contract.hpp>
#include <deviate/tensor/view.hpp>

#include <string>
#include <vector>

namespace deviate {

/// \brief Owning, contiguous, row-major [batch, heads, rows, columns] on the host.
template <class T>
class tensor {
 public:
  using value_type = T;  ///< element type

  tensor() = default;
  /// \throws contract_violation if a size is negative
  explicit tensor(const extents& shape, const T& value = T{}) : shape_(checked(shape)) {
    values_.assign(static_cast<std::size_t>(shape.count()), value);
  }
  /// \brief Takes values in row-major order.
  /// \throws contract_violation if a size is negative, or their number is not the product of the sizes
  tensor(const extents& shape, std::vector<T> values) : shape_(checked(shape)), values_(std::move(values)) {
    expects(static_cast<std::int64_t>(values_.size()) == shape.count(),
            "tensor: " + std::to_string(values_.size()) + " values given for " + std::to_string(shape.count()) +
                " elements");
  }

  /// \brief Sizes.
  const extents& shape() const { return shape_; }
  /// \brief The first element; the others follow in row-major order.
  T* data() { return values_.data(); }
  /// \copydoc data()
  const T* data() const { return values_.data(); }
  /// \brief Number of elements.
  std::int64_t count() const { return shape_.count(); }
  /// \brief All elements in row-major order.
  std::vector<T>& values() { return values_; }
  /// \copydoc values()
  const std::vector<T>& values() const { return values_; }

  /// \brief One element.
  T& operator()(std::int64_t b, std::int64_t h, std::int64_t r, std::int64_t c) { return view()(b, h, r, c); }
  /// \brief One element.
  const T& operator()(std::int64_t b, std::int64_t h, std::int64_t r, std::int64_t c) const {
    return view()(b, h, r, c);
  }

  /// \brief A view of all elements.
  tensor_view<T> view() { return {values_.data(), shape_}; }
  /// \brief A read-only view of all elements.
  tensor_view<const T> view() const { return {values_.data(), shape_}; }
  /// \brief A view of all elements.
  operator tensor_view<T>() { return view(); }
  /// \brief A read-only view of all elements.
  operator tensor_view<const T>() const { return view(); }

 private:
  static const extents& checked(const extents& shape) {
    expects(shape.batch >= 0 && shape.heads >= 0 && shape.rows >= 0 && shape.columns >= 0,
            "tensor: every size must be 0 or more");
    return shape;
  }

  extents shape_;
  std::vector<T> values_;
};

}  // namespace deviate
