// SPDX-License-Identifier: Apache-2.0
/// \file inputs.hpp
/// \brief What the benchmarks run on: fixed pseudo-random numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <deviate/number/stochastic.hpp>
#include <deviate/tensor/tensor.hpp>
#include <thread>
#include <vector>

namespace performance {

inline constexpr std::int64_t heads = 8, d = 64;

/// \brief Floating-point operations of one forward pass: two products of 2·N²·d each, for every head.
inline double forward_operations(std::int64_t n) { return 4.0 * double(n) * double(n) * double(d) * double(heads); }

/// \brief Nearly normal numbers: the sum of four uniform ones, variance 1.
inline float nearly_normal(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t word = deviate::random_word(seed, index);
  double sum = 0;
  for (int i = 0; i < 4; ++i, word >>= 16) sum += double(word & 0xffff) / 65536 - 0.5;
  return float(sum * std::sqrt(3.0));
}

/// \brief [1, heads, n, d].
template <class T = float>
deviate::tensor<T> normal_tensor(std::int64_t n, std::uint64_t seed) {
  deviate::tensor<T> x({1, heads, n, d});
  for (std::int64_t i = 0; i < x.count(); ++i) x.data()[i] = T(nearly_normal(seed, std::uint64_t(i)));
  return x;
}

/// \brief Queries, keys and values of one problem.
struct attention_inputs {
  deviate::tensor<float> q, k, v;
  explicit attention_inputs(std::int64_t n) : q(normal_tensor(n, 1)), k(normal_tensor(n, 2)), v(normal_tensor(n, 3)) {}
};

/// \brief Calls work(i) for i = 0 … threads − 1 at the same time.
template <class Work>
void at_the_same_time(int threads, Work work) {
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work, i);
  work(0);
  for (auto& other : others) other.join();
}

}  // namespace performance
