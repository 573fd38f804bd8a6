// SPDX-License-Identifier: Apache-2.0
/// \file elements.hpp
/// \brief The elements of a tensor as bytes of a file, in both directions.
#pragma once

#include "deviate/io/input_file.hpp"
#include "deviate/io/loaded_tensor.hpp"

#include <bit>
#include <cstdint>
#include <ostream>
#include <span>

namespace deviate::tool {

/// \brief Which dimension of a tensor runs fastest in a file.
enum class element_order {
  row_major,     ///< the last ("C order")
  column_major,  ///< the first ("Fortran order")
};

/// \brief Where and how a tensor's elements lie in a file.
struct stored_elements {
  std::uint64_t offset = 0;  ///< of the first element, in bytes
  element_type type = element_type::float32;
  std::endian bytes = std::endian::little;
  element_order order = element_order::row_major;
};

/// \brief Reads and decodes all elements of a shape.
/// \pre `element_count(shape)` times the element's width is at most the bytes of the file after `where.offset`: the caller
/// has checked it, so memory is at most 4 times the file's size
/// \throws file_error if reading fails or memory does not suffice
loaded_tensor read_elements(input_file& file, const stored_elements& where, std::span<const std::int64_t> shape);

/// \brief Writes values in little-endian order, whatever the machine's.
/// A failure is left in the stream's state.
void write_elements(std::ostream& stream, std::span<const float> values);
void write_elements(std::ostream& stream, std::span<const double> values);

}  // namespace deviate::tool
