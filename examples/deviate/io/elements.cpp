// SPDX-License-Identifier: Apache-2.0
#include "deviate/io/elements.hpp"

#include "deviate/io/file_error.hpp"
#include <deviate/number/code.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace deviate::tool {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16;

template <std::size_t Width>
std::uint64_t code_from_bytes(const char* bytes, std::endian order) {
  std::uint64_t code = 0;
  for (std::size_t i = 0; i < Width; ++i) {
    const std::size_t source = order == std::endian::little ? i : Width - 1 - i;
    code |= std::uint64_t{static_cast<unsigned char>(bytes[source])} << (8 * i);
  }
  return code;
}

// binary32 and binary64 keep every bit, the payload of a NaN included.
template <class Value>
Value value_from_code(std::uint64_t code, element_type type) {
  if constexpr (std::is_same_v<Value, double>) return std::bit_cast<double>(code);
  if (type == element_type::float32) return std::bit_cast<float>(static_cast<std::uint32_t>(code));
  return static_cast<float>(decode(static_cast<std::uint32_t>(code), describe(type).numbers));
}

// Visits the row-major positions of a tensor in the order in which a file stores its elements.
class storage_walk {
 public:
  storage_walk(std::span<const std::int64_t> shape, element_order order)
      : shape_(shape.begin(), shape.end()), stride_(shape.size()), index_(shape.size(), 0) {
    if (order == element_order::row_major) shape_.clear();
    std::size_t step = 1;
    for (std::size_t i = shape_.size(); i-- > 0;) {
      stride_[i] = step;
      step *= static_cast<std::size_t>(shape_[i]);
    }
  }

  std::size_t position() const { return position_; }

  void advance() {
    if (shape_.empty()) {
      ++position_;
      return;
    }
    for (std::size_t i = 0; i < shape_.size(); ++i) {  // the first index runs fastest
      position_ += stride_[i];
      if (++index_[i] < shape_[i]) return;
      position_ -= stride_[i] * static_cast<std::size_t>(shape_[i]);
      index_[i] = 0;
    }
  }

 private:
  std::vector<std::int64_t> shape_;  // empty: positions follow one another
  std::vector<std::size_t> stride_;
  std::vector<std::int64_t> index_;
  std::size_t position_ = 0;
};

// The width is a template argument because it makes the bytes of a code one load.
template <class Value, std::size_t Width>
std::vector<Value> read_values(input_file& file, const stored_elements& where, std::span<const std::int64_t> shape) {
  const std::size_t count = static_cast<std::size_t>(element_count(shape).value());
  const std::size_t per_block = block_bytes / Width;
  std::vector<Value> values(count);
  std::vector<char> block(std::min(count, per_block) * Width);
  storage_walk walk(shape, where.order);
  for (std::size_t done = 0; done < count; done += per_block) {
    const std::size_t here = std::min(per_block, count - done);
    file.read(where.offset + done * Width, std::span(block).first(here * Width));
    for (std::size_t i = 0; i < here; ++i) {
      values[walk.position()] =
          value_from_code<Value>(code_from_bytes<Width>(&block[i * Width], where.bytes), where.type);
      walk.advance();
    }
  }
  return values;
}

template <class Code, class Value>
void write_little_endian(std::ostream& stream, std::span<const Value> values) {
  constexpr std::size_t per_block = block_bytes / sizeof(Value);
  std::vector<char> block(std::min(values.size(), per_block) * sizeof(Value));
  for (std::size_t done = 0; done < values.size(); done += per_block) {
    const std::size_t here = std::min(per_block, values.size() - done);
    for (std::size_t i = 0; i < here; ++i) {
      const Code code = std::bit_cast<Code>(values[done + i]);
      for (std::size_t b = 0; b < sizeof(Value); ++b) {
        block[i * sizeof(Value) + b] = static_cast<char>(static_cast<unsigned char>(code >> (8 * b)));
      }
    }
    stream.write(block.data(), static_cast<std::streamsize>(here * sizeof(Value)));
  }
}

}  // namespace

loaded_tensor read_elements(input_file& file, const stored_elements& where, std::span<const std::int64_t> shape) try {
  loaded_tensor result{{shape.begin(), shape.end()}, {}, where.type};
  switch (describe(where.type).bytes()) {
    case 1: result.values = read_values<float, 1>(file, where, shape); break;
    case 2: result.values = read_values<float, 2>(file, where, shape); break;
    case 4: result.values = read_values<float, 4>(file, where, shape); break;
    default: result.values = read_values<double, 8>(file, where, shape); break;
  }
  return result;
} catch (const std::bad_alloc&) {
  throw file_error(file.name(), "does not fit the memory: its tensor of shape " + shape_text(shape) + " is too large");
}

void write_elements(std::ostream& stream, std::span<const float> values) {
  write_little_endian<std::uint32_t>(stream, values);
}

void write_elements(std::ostream& stream, std::span<const double> values) {
  write_little_endian<std::uint64_t>(stream, values);
}

}  // namespace deviate::tool
