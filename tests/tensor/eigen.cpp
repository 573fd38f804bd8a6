// SPDX-License-Identifier: Apache-2.0
#include <deviate/tensor/eigen.hpp>

#include <deviate/number/double_double.hpp>
#include <deviate/number/named.hpp>
#include <deviate/tensor/tensor.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using deviate::as_eigen;
using deviate::as_view;
using deviate::contract_violation;
using deviate::extents;
using deviate::tensor;
using deviate::tensor_view;
using row_major = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class M>
concept viewable = requires(M&& m) {
  as_view(std::forward<M>(m));
};

static_assert(viewable<Eigen::MatrixXd&> && viewable<const Eigen::MatrixXd&> && viewable<Eigen::Map<Eigen::MatrixXf>>);
// Elements that die with the full expression, that are computed, or that are none.
static_assert(!viewable<Eigen::MatrixXd> && !viewable<const Eigen::MatrixXd>);
static_assert(!viewable<Eigen::Ref<const Eigen::MatrixXd>>);
static_assert(!viewable<decltype(Eigen::MatrixXd() + Eigen::MatrixXd())>);
static_assert(!viewable<double&> && !viewable<std::vector<double>&>);
// Read-only stays read-only.
static_assert(std::is_same_v<decltype(as_view(std::declval<Eigen::MatrixXd&>())), tensor_view<double>>);
static_assert(std::is_same_v<decltype(as_view(std::declval<const Eigen::MatrixXd&>())), tensor_view<const double>>);
static_assert(
    std::is_same_v<decltype(as_view(std::declval<Eigen::Map<const Eigen::MatrixXf>&>())), tensor_view<const float>>);
static_assert(!std::is_assignable_v<decltype(as_eigen(std::declval<tensor_view<const float>>())(0, 0)), float>);

/// Numbers each element by its place.
template <class M>
M numbered(Eigen::Index rows, Eigen::Index columns) {
  M m(rows, columns);
  for (Eigen::Index r = 0; r < rows; ++r)
    for (Eigen::Index c = 0; c < columns; ++c) m(r, c) = typename M::Scalar(float(10 * r + c));
  return m;
}

/// The view has the matrix's elements, in the matrix's own memory.
template <class M>
void check_same_elements(M& m) {
  const auto v = as_view(m);
  CHECK(v.shape() == extents{1, 1, m.rows(), m.cols()});
  for (Eigen::Index r = 0; r < m.rows(); ++r)
    for (Eigen::Index c = 0; c < m.cols(); ++c) CHECK(&v(0, 0, r, c) == &m.coeffRef(r, c));
}

}  // namespace

TEST_CASE_TEMPLATE("eigen: a matrix as a view, without a copy", T, float, double, int, deviate::bf16,
                   deviate::double_double) {
  auto by_columns = numbered<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>>(3, 4);
  auto by_rows = numbered<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(3, 4);
  check_same_elements(by_columns);
  check_same_elements(by_rows);
  CHECK(as_view(by_rows).is_contiguous());
  CHECK_FALSE(as_view(by_columns).is_contiguous());
  CHECK(as_view(by_rows).stride().rows == 4);
  CHECK(as_view(by_columns).stride().rows == 1);
  CHECK(as_view(by_columns).stride().columns == 3);
  as_view(by_columns)(0, 0, 2, 1) = T(5.0f);
  CHECK(by_columns(2, 1) == T(5.0f));

  auto fixed = Eigen::Matrix<T, 2, 3>(numbered<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>>(2, 3));
  check_same_elements(fixed);
  auto column = Eigen::Matrix<T, Eigen::Dynamic, 1>(by_columns.col(1));
  check_same_elements(column);
  auto row = Eigen::Matrix<T, 1, Eigen::Dynamic>(by_columns.row(1));
  check_same_elements(row);
}

TEST_CASE("eigen: maps, blocks, transposes and references") {
  std::vector<double> memory(100);
  for (int i = 0; i < 100; ++i) memory[std::size_t(i)] = i;
  Eigen::Map<row_major, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>> map(memory.data(), 3, 4, {20, 2});
  check_same_elements(map);
  CHECK(as_view(map)(0, 0, 2, 3) == 46);

  auto m = numbered<Eigen::MatrixXd>(6, 7);
  const auto block = as_view(m.block(1, 2, 3, 4));
  CHECK(block.shape() == extents{1, 1, 3, 4});
  CHECK(block(0, 0, 2, 3) == 35);
  block(0, 0, 2, 3) = -1;
  CHECK(m(3, 5) == -1);
  CHECK(as_view(m.transpose())(0, 0, 6, 5) == m(5, 6));
  CHECK(as_view(m.row(2))(0, 0, 0, 6) == 26);
  Eigen::Ref<Eigen::MatrixXd> reference(m);
  check_same_elements(reference);
}

TEST_CASE_TEMPLATE("eigen: a head as a map, without a copy", T, float, double, deviate::bf16, deviate::double_double) {
  tensor<T> t({2, 3, 4, 5}, T(1.0f));
  auto m = as_eigen(t.view().head(1, 2));
  CHECK(m.rows() == 4);
  CHECK(m.cols() == 5);
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 5; ++c) CHECK(&m.coeffRef(r, c) == &t(1, 2, r, c));
  m(3, 4) = T(2.0f);
  CHECK(t(1, 2, 3, 4) == T(2.0f));
  const auto& read_only = t;
  CHECK(as_eigen(read_only.view().head(1, 2))(3, 4) == T(2.0f));
}

TEST_CASE("eigen: heads with strides") {
  std::vector<float> values(120);
  for (int i = 0; i < 120; ++i) values[std::size_t(i)] = float(i);
  // In memory 2 × 4 × 3 × 5: batch, rows, heads, columns.
  const tensor_view<float> v(values.data(), {2, 3, 4, 5}, {60, 5, 15, 1});
  const auto m = as_eigen(v.head(1, 2));
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 5; ++c) CHECK(m(r, c) == v(1, 2, r, c));
  CHECK(m.sum() == 4 * 5 * (70 + 119) / 2.0f);
  // A view of a column-major matrix goes there and back.
  auto by_columns = numbered<Eigen::MatrixXd>(3, 4);
  CHECK((as_eigen(as_view(by_columns)).array() == by_columns.array()).all());
  CHECK(as_eigen(as_view(by_columns)).data() == by_columns.data());
  // One row, repeated.
  const tensor_view<const float> repeated(values.data(), {1, 1, 3, 5}, {0, 0, 0, 1});
  CHECK(as_eigen(repeated)(2, 4) == 4);
}

TEST_CASE("eigen: ones through the bridge keep their norm and product") {
  tensor<double> ones({1, 1, 3, 3}, 1.0), unit({1, 1, 3, 3});
  as_eigen(unit.view()).setIdentity();
  const auto i = as_eigen(unit.view());
  CHECK((i * i).isApprox(i, 0));
  CHECK(as_eigen(ones.view()).norm() == 3);
}

TEST_CASE("eigen: what is no matrix is refused with its sizes") {
  tensor<float> t({2, 3, 4, 5});
  CHECK_THROWS_AS(as_eigen(t.view()), contract_violation);
  CHECK_THROWS_AS(as_eigen(tensor<float>({1, 3, 4, 5}).view()), contract_violation);
  CHECK_THROWS_AS(as_eigen(tensor<float>({0, 1, 4, 5}).view()), contract_violation);
  try {
    as_eigen(t.view());
  } catch (const contract_violation& e) {
    CHECK(std::string(e.what()).find("not 2 and 3") != std::string::npos);
  }
  CHECK_THROWS_AS(as_eigen(tensor_view<float>(t.data() + 15, {1, 1, 4, 5}, {0, 0, -5, 1})), contract_violation);
}

TEST_CASE("eigen: empty") {
  tensor<float> none({1, 1, 0, 5});
  CHECK(as_eigen(none.view()).size() == 0);
  Eigen::MatrixXd m(0, 5);
  CHECK(as_view(m).count() == 0);
}
