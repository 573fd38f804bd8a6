// SPDX-License-Identifier: Apache-2.0
#include "deviate/io/loaded_tensor.hpp"

#include "deviate/io/file_error.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace deviate::tool {

std::string shape_text(std::span<const std::int64_t> shape) {
  constexpr std::size_t most_sizes = 8;
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(shape.size(), most_sizes); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + (shape.size() > most_sizes ? ", …]" : "]");
}

std::optional<std::uint64_t> element_count(std::span<const std::int64_t> shape) {
  constexpr std::int64_t most_elements = std::numeric_limits<std::int64_t>::max() / std::int64_t{sizeof(double)};
  std::int64_t product = 1;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) {
      empty = true;
    } else {
      if (product > most_elements / size) return std::nullopt;
      product *= size;
    }
  }
  return empty ? 0 : static_cast<std::uint64_t>(product);
}

extents right_aligned_extents(std::span<const std::int64_t> shape, const std::string& name) {
  if (shape.empty() || shape.size() > 4) {
    throw file_error(name, "has rank " + std::to_string(shape.size()) + ", shape " + shape_text(shape) +
                               "; allowed are ranks 1 to 4, as [batch, heads, n, d]");
  }
  std::array<std::int64_t, 4> sizes{1, 1, 1, 1};
  std::copy_backward(shape.begin(), shape.end(), sizes.end());
  return {sizes[0], sizes[1], sizes[2], sizes[3]};
}

}  // namespace deviate::tool
