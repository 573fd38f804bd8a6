// SPDX-License-Identifier: Apache-2.0
/// \file block_scaled.hpp
/// \brief One block of numbers to a block-scaled format, and back.
#pragma once

#include <cstddef>
#include <deviate/number/block_quantizer.hpp>
#include <span>

namespace deviate {

/// \brief The range of a block of numbers.
template <class T>
DEVIATE_BLOCK constexpr block_range range_of(std::span<const T> values) {
  block_range range;
  for (const T& x : values) range.include(double(x));
  return range;
}

/// \brief Quantises the numbers of one block.
/// \tparam T anything whose conversion to double is exact
/// \tparam To float or double: see `block_quantizer::value` for when the former is exact
/// \param with the format
/// \param values of the block
/// \param numbers gets element · scale · tensor scale, one for each value; may be the same memory as `values`
/// \param codes gets the elements' codes, one for each value, or is empty
/// \param counts is added to
/// \param tensor_scale of the tensor
/// \return the scale; `with.format().scale.encode(…value)` is its code
/// \pre numbers has the size of values, codes as well or 0; an element's code fits 8 bits where codes are wanted
template <class T, class To>
DEVIATE_BLOCK block_scale quantize_block(const block_quantizer& with, std::span<const T> values, std::span<To> numbers,
                                         std::span<std::uint8_t> codes, quantization_counts& counts,
                                         float tensor_scale = 1) {
  const block_scale scale = with.scale(range_of(values), tensor_scale);
  counts.include(scale);
  const bool is_nan = scale.value != scale.value;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const block_element e = with.element(double(values[i]), scale.value, tensor_scale);
    counts.include(e);
    numbers[i] = To(with.value(e.value, scale.value, tensor_scale));
    if (!codes.empty()) codes[i] = is_nan ? std::uint8_t{0} : std::uint8_t(with.format().element.encode(e.value));
  }
  return scale;
}

/// \brief The numbers that codes stand for.
/// \param of the format
/// \param scale_code of the block's scale
/// \param codes of the elements
/// \param numbers gets element · scale · tensor scale, one for each code
/// \param tensor_scale of the tensor
template <class To>
DEVIATE_BLOCK void dequantize_block(const block_format& of, std::uint32_t scale_code,
                                    std::span<const std::uint8_t> codes, std::span<To> numbers,
                                    float tensor_scale = 1) {
  const double scale = of.scale.decode(scale_code) * double(tensor_scale);
  for (std::size_t i = 0; i < codes.size(); ++i) numbers[i] = To(of.element.decode(codes[i]) * scale);
}

}  // namespace deviate
