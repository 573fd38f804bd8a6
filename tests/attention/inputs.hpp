// SPDX-License-Identifier: Apache-2.0
// Inputs with stated bits: integers decide them, so they are the same with every compiler, library and flag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deviate/attention/result.hpp>
#include <deviate/tensor/tensor.hpp>
#include <utility>
#include <vector>

namespace attention_test {

namespace dv = deviate;

// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, 2014), of which the upper 24 bits are used.
class generator {
 public:
  explicit generator(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u) {}
  std::uint32_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return std::uint32_t((z ^ (z >> 31)) >> 40);
  }
  // In [0, 1), a multiple of 2^-24.
  double uniform() { return double(bits()) * 0x1p-24; }
  // In [−1, 1), a multiple of 2^-23.
  double two_sided() { return double(bits()) * 0x1p-23 - 1; }
  // Nearly Gaussian, mean 0, standard deviation 1: the sum of 12 uniform numbers.
  double gaussian() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::uint64_t state_;
};

// A tensor of draw() in row-major order.
template <class T = double, class Draw>
dv::tensor<T> drawn(const dv::extents& shape, Draw draw) {
  dv::tensor<T> t(shape);
  for (T& x : t.values()) x = T(draw());
  return t;
}

template <class T = double>
struct inputs {
  dv::tensor<T> q, k, v;
};

struct sizes {
  std::int64_t batch = 1, query_heads = 1, key_heads = 1, n_query = 1, n_key = 1, d = 1, d_v = 1;
};

// draw(generator) gives every element; Q, then K, then V are drawn from one generator.
template <class T = double, class Draw>
inputs<T> draw_inputs(const sizes& s, std::uint64_t seed, Draw draw) {
  generator g(seed);
  const auto next = [&] { return draw(g); };
  inputs<T> in;
  in.q = drawn<T>({s.batch, s.query_heads, s.n_query, s.d}, next);
  in.k = drawn<T>({s.batch, s.key_heads, s.n_key, s.d}, next);
  in.v = drawn<T>({s.batch, s.key_heads, s.n_key, s.d_v}, next);
  return in;
}
template <class T = double>
inputs<T> uniform_inputs(const sizes& s, std::uint64_t seed) {
  return draw_inputs<T>(s, seed, [](generator& g) { return g.uniform(); });
}
template <class T = double>
inputs<T> gaussian_inputs(const sizes& s, std::uint64_t seed) {
  return draw_inputs<T>(s, seed, [](generator& g) { return g.gaussian(); });
}

// One batch and one head of the given rows.
template <class T = double>
dv::tensor<T> matrix(std::int64_t rows, std::int64_t columns, std::vector<T> values) {
  return dv::tensor<T>({1, 1, rows, columns}, std::move(values));
}
template <class T = double>
dv::tensor<T> column(std::vector<T> values) {
  const auto n = std::int64_t(values.size());
  return matrix<T>(n, 1, std::move(values));
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
// Every bit of output, log-sum-exp and rescales.
template <class T, class L>
bool same_bits(const dv::attention_result<T, L>& a, const dv::attention_result<T, L>& b) {
  return same_bits(a.output.values(), b.output.values()) && same_bits(a.log_sum_exp.values(), b.log_sum_exp.values()) &&
         same_bits(a.rescales.values(), b.rescales.values());
}

}  // namespace attention_test
