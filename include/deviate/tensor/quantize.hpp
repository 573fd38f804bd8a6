// SPDX-License-Identifier: Apache-2.0
/// \file quantize.hpp
/// \brief A tensor to a block-scaled format, whatever shares a scale.
#pragma once

#include <deviate/contract.hpp>
#include <deviate/number/block_quantizer.hpp>
#include <deviate/tensor/scale_groups.hpp>
#include <deviate/tensor/tensor.hpp>

#include <vector>

namespace deviate {

/// \brief What quantising a tensor gives.
/// \tparam T of the numbers
template <class T>
struct quantized_tensor {
  tensor<T> numbers;            ///< element · scale · tensor scale
  tensor<std::uint16_t> codes;  ///< of the elements, one for each, unpacked; 0 where the scale is NaN
  tensor<double> scales;        ///< of the groups, without the tensor's scale; `block_format::scale` encodes them
  float tensor_scale = 1;       ///< of formats that have one
  quantization_counts counts;   ///< of the whole tensor; groups without an element count too
};

namespace detail {

inline bool is_positive(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  return a > 0 && b > 0 && c > 0 && d > 0;
}
inline void expect_sizes(const scale_boxes& g) {
  expects(is_positive(g.batch, g.heads, g.rows, g.columns), "quantize: every size of scale_boxes must be 1 or more");
}
inline void expect_sizes(const interleaved_rows& g) {
  expects(is_positive(g.tile, g.period, g.run, 1), "quantize: every size of interleaved_rows must be 1 or more");
}
template <class G>
void expect_sizes(const G&) {}

template <class T, class F>
void for_each_element(const tensor_view<T>& x, F f) {
  for (std::int64_t b = 0; b < x.batch(); ++b)
    for (std::int64_t h = 0; h < x.heads(); ++h)
      for (std::int64_t r = 0; r < x.rows(); ++r)
        for (std::int64_t c = 0; c < x.columns(); ++c) f(b, h, r, c);
}

}  // namespace detail

/// \brief Quantises a tensor.
/// \tparam To float or double: what the numbers are given in; see `block_quantizer::value` for when float is exact
/// \param x [batch, heads, rows, columns], any strides; its elements are exact in double
/// \param format block-scaled, of elements of at most 16 bits
/// \param groups which elements share a scale: `scale_boxes`, `interleaved_rows`, or the caller's
/// \return numbers, codes, scales and counts. The order of elements does not matter to any of them.
/// \throws contract_violation if a size of the groups is not positive
template <class To, class T, scale_groups G>
quantized_tensor<To> quantize(const tensor_view<T>& x, const block_format& format, const G& groups) {
  detail::expect_sizes(groups);
  const extents shape = x.shape();
  const block_quantizer quantizer(format);
  quantized_tensor<To> result{
      tensor<To>(shape), tensor<std::uint16_t>(shape), tensor<double>(groups.scales(shape)), 1, {}};
  const auto scale_at = [&](auto& scales, std::int64_t b, std::int64_t h, std::int64_t r, std::int64_t c) -> auto& {
    const extents at = groups.scale_of(shape, b, h, r, c);
    return scales(at.batch, at.heads, at.rows, at.columns);
  };

  tensor<block_range> ranges(groups.scales(shape));
  detail::for_each_element(x, [&](auto... at) { scale_at(ranges, at...).include(double(x(at...))); });
  block_range whole;
  for (const block_range& range : ranges.values()) whole.merge(range);
  result.tensor_scale = quantizer.tensor_scale(whole);
  for (std::int64_t i = 0; i < ranges.count(); ++i) {
    const block_scale scale = quantizer.scale(ranges.data()[i], result.tensor_scale);
    result.scales.data()[i] = scale.value;
    result.counts.include(scale);
  }
  detail::for_each_element(x, [&](auto... at) {
    const double scale = scale_at(result.scales, at...);
    const block_element e = quantizer.element(double(x(at...)), scale, result.tensor_scale);
    result.counts.include(e);
    result.numbers(at...) = To(quantizer.value(e.value, scale, result.tensor_scale));
    result.codes(at...) = scale != scale ? std::uint16_t{0} : std::uint16_t(format.element.encode(e.value));
  });
  return result;
}

/// \brief The same in the format's own blocks: `block` neighbours of a row.
/// \throws contract_violation if the format leaves the size of its blocks open
template <class To, class T>
quantized_tensor<To> quantize(const tensor_view<T>& x, const block_format& format) {
  expects(format.block > 0, "quantize: the format leaves its blocks open; say which elements share a scale");
  return quantize<To>(x, format, scale_boxes::along_row(format.block));
}

}  // namespace deviate
