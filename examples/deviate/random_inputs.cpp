// SPDX-License-Identifier: Apache-2.0
#include <deviate/math/log.hpp>

#include "deviate/io/file_error.hpp"
#include "deviate/study_options.hpp"
#include "deviate/usage_error.hpp"

#include <cmath>
#include <string>

namespace deviate::tool {
namespace {

// One step of SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014): a counter
// advances by `golden_gamma`, and `mixed` turns it into 64 random bits.
constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15;
constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}
constexpr std::uint64_t key_below(std::uint64_t key, std::uint64_t index) {
  return mixed(key + (index + 1) * golden_gamma);
}

// The random bits of one element: they depend on (seed, tensor, head, row · d + column) and on nothing drawn before.
class element_bits {
 public:
  explicit element_bits(std::uint64_t key) : counter_(key) {}
  std::uint64_t next() { return mixed(counter_ += golden_gamma); }

 private:
  std::uint64_t counter_;
};

// (k + ½)·2^-23 for 23 random bits k: every value has at most 24 significand bits, so float holds it, and 0 and 1 are out.
double uniform(element_bits& bits) { return std::ldexp(static_cast<double>(bits.next() >> 41) + 0.5, -23); }

// G. Marsaglia's polar method. Nothing but sums, products, quotients, √ and the library's own log: the same bits everywhere.
double normal(element_bits& bits) {
  const auto coordinate = [&] {  // (k + ½)·2^-52 − 1 for 53 random bits k: exact, and never 0
    const std::uint64_t odd = (bits.next() >> 11) * 2 + 1;
    return std::ldexp(static_cast<double>(static_cast<std::int64_t>(odd) - (std::int64_t{1} << 53)), -53);
  };
  for (;;) {
    const double x = coordinate();
    const double y = coordinate();
    const double square = x * x + y * y;
    if (square < 1) return x * std::sqrt(-2 * math::log(square) / square);
  }
}

// A few elements a thousand times as common in real activations as a normal distribution has them.
double with_outliers(element_bits& bits) {
  constexpr std::uint64_t one_in_a_thousand = 18'446'744'073'709'551;  // 2^64 / 1000
  constexpr double outlier_deviation = 10;
  const bool is_outlier = bits.next() < one_in_a_thousand;
  const double value = normal(bits);
  return is_outlier ? value + outlier_deviation * normal(bits) : value;
}

}  // namespace

attention_inputs draw(const random_inputs& how) {
  double (*const distribution)(element_bits&) = how.distribution == "uniform"    ? uniform
                                                : how.distribution == "normal"   ? normal
                                                : how.distribution == "outliers" ? with_outliers
                                                                                 : nullptr;
  if (distribution == nullptr) throw usage_error("unknown distribution " + in_quotes(how.distribution));

  const auto drawn = [&](std::uint64_t which) {
    tensor<double> values({1, how.heads, how.n, how.d});
    for (std::int64_t h = 0; h < how.heads; ++h) {
      const std::uint64_t key = key_below(key_below(mixed(how.seed), which), static_cast<std::uint64_t>(h));
      double* const head = values.data() + h * how.n * how.d;
      for (std::int64_t i = 0; i < how.n * how.d; ++i) {
        element_bits bits(key_below(key, static_cast<std::uint64_t>(i)));
        head[i] = static_cast<double>(static_cast<float>(distribution(bits)));
      }
    }
    return values;
  };
  return {how.distribution + " N=" + std::to_string(how.n) + " seed " + std::to_string(how.seed), drawn(0), drawn(1),
          drawn(2)};
}

}  // namespace deviate::tool
