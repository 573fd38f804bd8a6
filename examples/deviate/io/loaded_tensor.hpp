// SPDX-License-Identifier: Apache-2.0
/// \file loaded_tensor.hpp
/// \brief A tensor as it came from a file: shape, exact values, and how they were stored.
#pragma once

#include <deviate/tensor/view.hpp>

#include "deviate/io/element_type.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace deviate::tool {

/// \brief Values of a tensor in row-major order, without loss: double if the file holds binary64, else float.
///
/// Every narrower type is a subset of binary32, and float halves the memory of the usual inputs; binary64 must not pass
/// through float, for that would round twice on the way to a format.
using tensor_values = std::variant<std::vector<float>, std::vector<double>>;

/// \brief A tensor read from a file.
struct loaded_tensor {
  std::vector<std::int64_t> shape;  ///< as in the file, any rank
  tensor_values values;             ///< row-major, whatever the file's order
  element_type type = element_type::float32;

  std::size_t count() const {
    return std::visit([](const auto& v) { return v.size(); }, values);
  }
  /// \brief The values as double: exact for every element type.
  std::vector<double> as_double() const {
    return std::visit([](const auto& v) { return std::vector<double>(v.begin(), v.end()); }, values);
  }
};

/// \brief "[9, 512, 64]", for messages.
std::string shape_text(std::span<const std::int64_t> shape);

/// \brief Number of elements of a shape, or nothing if a size is negative or the sizes other than 0 multiply to more bytes
/// than 63 bits can count.
///
/// Zeros are left out of that check on purpose: later arithmetic on the sizes (strides) cannot overflow then, though the
/// tensor is empty.
std::optional<std::uint64_t> element_count(std::span<const std::int64_t> shape);

/// \brief The shape of rank 1 to 4 as [batch, heads, rows, columns], aligned at the right: [heads, n, d] has batch 1.
/// \param name of the file or tensor, for the message
/// \throws file_error for any other rank
extents right_aligned_extents(std::span<const std::int64_t> shape, const std::string& name);

}  // namespace deviate::tool
