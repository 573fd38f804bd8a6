// SPDX-License-Identifier: Apache-2.0
/// \file read_view.hpp
/// \brief Lets a function take a tensor, a view, or a read-only view, of any element that converts to double.
#pragma once

#include <deviate/contract.hpp>
#include <deviate/deviation/detail/number_text.hpp>
#include <deviate/tensor/tensor.hpp>
#include <deviate/tensor/view.hpp>

#include <string>
#include <type_traits>

namespace deviate {

namespace detail {

template <class T>
tensor_view<const std::remove_const_t<T>> read_view(const tensor_view<T>& view) {
  return view;
}
template <class T>
tensor_view<const T> read_view(const tensor<T>& values) {
  return values.view();
}

/// \throws contract_violation naming both shapes if they differ
inline void expects_same_shape(const char* function, const extents& got, const extents& golden) {
  if (!(got == golden))
    throw contract_violation(std::string(function) + ": got has shape " + shape_text(got) + " and golden " +
                             shape_text(golden) + "; they must be the same");
}

}  // namespace detail

/// \brief A `tensor` or `tensor_view` on the host whose elements convert to double, explicitly or not.
template <class T>
concept readable_tensor = requires(const T& values) {
  static_cast<double>(*detail::read_view(values).data());
};

}  // namespace deviate
