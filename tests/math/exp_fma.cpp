// SPDX-License-Identifier: Apache-2.0
#include <deviate/math/exp_fma.hpp>

#include <deviate/math/exp.hpp>

#include "fixed_inputs.hpp"
#include "float_sweep.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

namespace dm = deviate::math;
using deviate::bits;

constexpr float infinity = std::numeric_limits<float>::infinity();

struct exp_function {
  template <class L>
  static L call(const L& x) {
    return dm::exp_fma(x);
  }
  template <class L>
  static L reference(const L& x) {
    return dm::exp(x);
  }
};
struct exp2_function {
  template <class L>
  static L call(const L& x) {
    return dm::exp2_fma(x);
  }
  template <class L>
  static L reference(const L& x) {
    return dm::exp2(x);
  }
};

/// The error is at most `stated`, and no less than 0.02 ulp below it: the number in the documentation is the measured one.
void check_stated(const oracle::float_errors& found, double stated) {
  CAPTURE(found.worst);
  CAPTURE(found.first_wrong);
  CHECK(found.wrong_class == 0);
  CHECK(found.largest_ulp <= stated);
  CHECK(found.largest_ulp > stated - 0.02);
}

}  // namespace

TEST_CASE("exp_fma and exp2_fma: special cases") {
  for (const float x : {0.0f, -0.0f, 0x1p-149f}) {
    CHECK(bits(dm::exp_fma(x)) == bits(1.0f));
    CHECK(bits(dm::exp2_fma(x)) == bits(1.0f));
  }
  for (const float x : {-infinity, -std::numeric_limits<float>::max(), -152.0f}) {
    CHECK(bits(dm::exp_fma(x)) == 0);
    CHECK(bits(dm::exp2_fma(x)) == 0);
  }
  for (const float x : {infinity, std::numeric_limits<float>::max(), 128.0f}) {
    CHECK(dm::exp_fma(x) == infinity);
    CHECK(dm::exp2_fma(x) == infinity);
  }
  for (const float x : {std::nanf(""), -std::nanf("")}) {
    CHECK(bits(dm::exp_fma(x)) == 0x7fc00000u);
    CHECK(bits(dm::exp2_fma(x)) == 0x7fc00000u);
  }
  for (int n = -152; n < 130; ++n) CHECK(dm::exp2_fma(float(n)) == std::ldexp(1.0f, n));
  CHECK(dm::exp_fma(0x1.62e42ep+6f) < infinity);
  CHECK(dm::exp_fma(0x1.62e430p+6f) == infinity);
}

TEST_CASE("exp_fma and exp2_fma: packs have the bits of the plain value") {
  const auto inputs = oracle::fixed_inputs(100'000, -160, 140);
  CHECK(oracle::float_pack_differences<exp_function>(inputs) == 0);
  CHECK(oracle::float_pack_differences<exp2_function>(inputs) == 0);
}

TEST_CASE("exp_fma and exp2_fma: every compiler, flag and machine gives these bits") {
  const auto inputs = oracle::fixed_inputs(100'000, -160, 140);
  CHECK(oracle::float_hash_of<exp_function>(inputs) == 0x5514bfdfeae7bd0au);
  CHECK(oracle::float_hash_of<exp2_function>(inputs) == 0x24c76ebd928e802du);
}

TEST_CASE("exp_fma: the stated ulp for every number of FP16 and BF16, and every 257th float") {
  check_stated(oracle::sweep_16_bits<exp_function>(), 0.88);
  check_stated(oracle::sweep_bits<exp_function>(257), 0.90);
}

TEST_CASE("exp2_fma: the stated ulp for every number of FP16 and BF16, and every 257th float") {
  check_stated(oracle::sweep_16_bits<exp2_function>(), 0.80);
  check_stated(oracle::sweep_bits<exp2_function>(257), 0.83);
}

TEST_CASE("slow: exp_fma: the stated ulp over all 2^32 floats") {
  const auto found = oracle::sweep_bits<exp_function>(1);
  MESSAGE(found.largest_ulp);
  check_stated(found, 0.98);
}

TEST_CASE("slow: exp2_fma: the stated ulp over all 2^32 floats") {
  const auto found = oracle::sweep_bits<exp2_function>(1);
  MESSAGE(found.largest_ulp);
  check_stated(found, 0.92);
}
