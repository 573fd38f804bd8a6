// SPDX-License-Identifier: Apache-2.0
// Random inputs: the same bits on every machine, of the distributions that they are named after.
#include <bit>
#include <cmath>

#include "cli/tool.hpp"
#include "deviate/study_options.hpp"

namespace {

using deviate::tool::attention_inputs;
using deviate::tool::draw;

// FNV-1a over the bits of all values.
std::uint64_t hash_of(const attention_inputs& inputs) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto* tensor : {&inputs.q, &inputs.k, &inputs.v})
    for (const double x : tensor->values())
      for (std::uint64_t bits = std::bit_cast<std::uint64_t>(x), i = 0; i < 8; ++i, bits >>= 8)
        hash = (hash ^ (bits & 0xff)) * 0x100000001b3;
  return hash;
}

struct moments {
  double mean = 0, deviation = 0, least = 0, largest = 0;
};
moments moments_of(const attention_inputs& inputs) {
  const auto& x = inputs.q.values();
  moments m{0, 0, x.front(), x.front()};
  const double n = double(x.size());
  for (const double v : x) {
    m.mean += v / n;
    m.least = std::min(m.least, v);
    m.largest = std::max(m.largest, v);
  }
  for (const double v : x) m.deviation += (v - m.mean) * (v - m.mean) / n;
  m.deviation = std::sqrt(m.deviation);
  return m;
}

TEST_CASE("random inputs: the same bits everywhere") {
  CHECK(hash_of(draw({"uniform", 256, 64, 2, 1})) == 0x9a185d170de469bb);
  CHECK(hash_of(draw({"normal", 256, 64, 2, 1})) == 0x5e137d42397c91c4);
  CHECK(hash_of(draw({"outliers", 256, 64, 2, 1})) == 0x12104a9d38c634ff);
  CHECK(hash_of(draw({"normal", 256, 64, 2, 18446744073709551615u})) != hash_of(draw({"normal", 256, 64, 2, 1})));
}

TEST_CASE("random inputs: float holds every value") {
  for (const char* distribution : {"uniform", "normal", "outliers"}) {
    const attention_inputs inputs = draw({distribution, 512, 64, 1, 3});
    for (const double x : inputs.v.values()) REQUIRE(double(float(x)) == x);
  }
}

TEST_CASE("random inputs: moments within five standard errors") {
  const double n = 1024 * 64;
  const moments uniform = moments_of(draw({"uniform", 1024, 64, 1, 5}));
  CHECK(std::fabs(uniform.mean - 0.5) < 5 * std::sqrt(1 / 12.0 / n));
  CHECK(std::fabs(uniform.deviation - std::sqrt(1 / 12.0)) < 5 * 0.13 / std::sqrt(n));
  CHECK(uniform.least > 0);
  CHECK(uniform.least < 1e-3);
  CHECK(uniform.largest < 1);
  CHECK(uniform.largest > 0.999);

  const moments normal = moments_of(draw({"normal", 1024, 64, 1, 5}));
  CHECK(std::fabs(normal.mean) < 5 / std::sqrt(n));
  CHECK(std::fabs(normal.deviation - 1) < 5 / std::sqrt(2 * n));
  CHECK(normal.largest > 3.5);
  CHECK(normal.largest < 6);
  CHECK(normal.least < -3.5);

  // Of variance 1 + 0.001·100; 66 outliers are expected.
  const attention_inputs outliers = draw({"outliers", 1024, 64, 1, 5});
  CHECK(moments_of(outliers).deviation == doctest::Approx(std::sqrt(1.1)).epsilon(0.05));
  int far = 0;
  for (const double x : outliers.q.values()) far += std::fabs(x) > 6;
  CHECK(far > 15);
  CHECK(far < 66);
}

TEST_CASE("random inputs: tensors and heads differ; longer and more heads keep what is there") {
  const attention_inputs small = draw({"normal", 16, 8, 1, 1}), large = draw({"normal", 32, 8, 2, 1});
  CHECK(small.q.values() != small.k.values());
  CHECK(small.k.values() != small.v.values());
  CHECK(large.q(0, 0, 0, 0) != large.q(0, 1, 0, 0));
  for (std::int64_t row = 0; row < 16; ++row)
    for (std::int64_t column = 0; column < 8; ++column) CHECK(small.v(0, 0, row, column) == large.v(0, 0, row, column));
  CHECK(small.name == "normal N=16 seed 1");
}

}  // namespace
