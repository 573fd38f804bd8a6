// SPDX-License-Identifier: Apache-2.0
/// \file eigen.hpp
/// \brief Eigen matrices as tensor views and heads of tensors as Eigen maps; no element is copied.
///
/// Eigen's own sums and products follow an order of its choice, and in a narrow type they round at every step: they are
/// no reference for what this library measures.
// host only
#pragma once

#include <deviate/contract.hpp>
#include <deviate/tensor/view.hpp>

#include <Eigen/Core>

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

namespace deviate {

namespace detail {

/// Elements of M lie in memory at fixed strides: a matrix, map, block or transpose of these, but not a sum.
template <class M>
concept eigen_in_memory = std::derived_from<M, Eigen::DenseBase<M>> &&
    bool(Eigen::internal::traits<M>::Flags& Eigen::DirectAccessBit);

/// M owns its elements, or may (a Ref to const holds a copy where strides do not fit): they die with a temporary M.
template <class M>
concept eigen_owner = std::derived_from<M, Eigen::PlainObjectBase<M>> || std::derived_from<M, Eigen::RefBase<M>>;

/// What stays where it is while a view of it is used.
template <class Reference>
concept eigen_to_view = eigen_in_memory<std::remove_cvref_t<Reference>> &&
    (std::is_lvalue_reference_v<Reference> || !eigen_owner<std::remove_cvref_t<Reference>>);

}  // namespace detail

/// \brief The element (r, c) of an Eigen matrix as the element (0, 0, r, c) of a view [1, 1, rows, columns].
/// \param matrix a matrix, vector, array, map or block, row-major or column-major; it must outlive the view, so a
///   temporary that owns its elements is refused
/// \return view of the same memory, of const elements where the matrix is read-only
template <detail::eigen_to_view Matrix>
auto as_view(Matrix&& matrix) {
  using element = std::remove_pointer_t<decltype(matrix.data())>;
  const extents shape{1, 1, matrix.rows(), matrix.cols()};
  const std::int64_t whole = shape.rows * shape.columns;
  return tensor_view<element>(matrix.data(), shape, {whole, whole, matrix.rowStride(), matrix.colStride()});
}

/// \brief What `as_eigen` gives: a row-major map with any strides. T may be const.
template <class T>
using eigen_map = Eigen::Map<
    std::conditional_t<std::is_const_v<T>,
                       const Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>,
                       Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>,
    Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

/// \brief One head as an Eigen map, rows × columns.
/// \param head a view [1, 1, rows, columns], such as `view.head(b, h)`, with strides of 0 or more
/// \throws contract_violation if there is more than one batch entry or head, or a stride is negative
template <class T>
eigen_map<T> as_eigen(const tensor_view<T>& head) {
  if (head.batch() != 1 || head.heads() != 1)
    throw contract_violation("as_eigen: a matrix has one batch entry and one head, not " +
                             std::to_string(head.batch()) + " and " + std::to_string(head.heads()) +
                             "; take view.head(b, h)");
  const strides& stride = head.stride();
  if (stride.rows < 0 || stride.columns < 0)
    throw contract_violation("as_eigen: the strides of rows and columns must be 0 or more, not " +
                             std::to_string(stride.rows) + " and " + std::to_string(stride.columns));
  return eigen_map<T>(head.data(), head.rows(), head.columns(), {stride.rows, stride.columns});
}

}  // namespace deviate
