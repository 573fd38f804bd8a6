// SPDX-License-Identifier: Apache-2.0
// Inputs with stated bits, and how close two numbers are.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace deviation_test {

// Knuth's 64-bit linear congruential generator, of which the upper 24 bits are used.
class generator {
 public:
  explicit generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 40;
  }
  // In [−8, 8), a multiple of 2^-20.
  double value() { return (double(bits()) - 0x1p23) * 0x1p-20; }
  // Nearly Gaussian, mean 0, standard deviation 1: the sum of 12 uniform numbers.
  double gaussian() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += double(bits()) * 0x1p-24;
    return sum;
  }

 private:
  std::uint64_t state_;
};

inline std::vector<double> values(std::uint64_t seed, std::size_t n) {
  generator g(seed);
  std::vector<double> x(n);
  for (double& v : x) v = g.value();
  return x;
}

inline bool close(double x, double y, double relative) { return std::fabs(x - y) <= relative * std::fabs(y); }

}  // namespace deviation_test
