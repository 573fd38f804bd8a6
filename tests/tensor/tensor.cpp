// SPDX-License-Identifier: Apache-2.0
#include <deviate/tensor/tensor.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using deviate::contract_violation;
using deviate::extents;
using deviate::tensor;
using deviate::tensor_view;

double sum(tensor_view<const double> v) {
  double s = 0;
  for (int r = 0; r < v.rows(); ++r)
    for (int c = 0; c < v.columns(); ++c) s += v(0, 0, r, c);
  return s;
}

}  // namespace

TEST_CASE("tensor: filled and indexed in row-major order") {
  tensor<double> t({2, 3, 4, 5}, 1.5);
  CHECK(t.count() == 120);
  CHECK(t.shape() == extents{2, 3, 4, 5});
  CHECK(t.values() == std::vector<double>(120, 1.5));
  t(1, 2, 3, 4) = 7;
  CHECK(t.values().back() == 7);
  const auto& read_only = t;
  CHECK(read_only(1, 2, 3, 4) == 7);
  CHECK(read_only.data() == t.data());
  CHECK(read_only.view().is_contiguous());
  CHECK(tensor<int>({1, 1, 2, 2}).values() == std::vector<int>(4, 0));
}

TEST_CASE("tensor: takes values, and is a view where one is asked for") {
  tensor<double> t({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(t(0, 0, 1, 0) == 4);
  CHECK(sum(t) == 21);
  const tensor_view<double> v = t;
  v(0, 0, 0, 0) = 11;
  CHECK(sum(t) == 31);
  // A copy has elements of its own.
  auto copy = t;
  copy(0, 0, 0, 0) = 0;
  CHECK(t(0, 0, 0, 0) == 11);
}

TEST_CASE("tensor: wrong sizes are refused with their numbers") {
  const std::vector<double> five(5);
  CHECK_THROWS_AS(tensor<double>({1, 1, 2, 3}, five), contract_violation);
  CHECK_THROWS_AS(tensor<double>({1, 1, 2, 3}, std::vector<double>(7)), contract_violation);
  CHECK_THROWS_AS(tensor<double>({1, 1, -1, 3}), contract_violation);
  CHECK_THROWS_AS(tensor<double>({-1, 1, 1, 3}), contract_violation);
  try {
    tensor<double>({1, 1, 2, 3}, five);
  } catch (const contract_violation& e) {
    const std::string message = e.what();
    CHECK(message.find('5') != std::string::npos);
    CHECK(message.find('6') != std::string::npos);
  }
}

TEST_CASE("tensor: empty") {
  CHECK(tensor<float>().count() == 0);
  CHECK(tensor<float>({1, 1, 0, 64}).values().empty());
}
