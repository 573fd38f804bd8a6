// SPDX-License-Identifier: Apache-2.0
#include <deviate/math/exp2_table.hpp>

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

template <int Bits, int Degree>
struct table {
  template <class L>
  static L call(const L& x) {
    return dm::exp2_table<Bits, Degree>(x);
  }
  template <class L>
  static L reference(const L& x) {
    return dm::exp2(x);
  }
};
/// The model, against 2^x with subnormal results flushed, as the instruction is documented.
struct approximation {
  template <class L>
  static L call(const L& x) {
    return dm::exp2_approx(x);
  }
  template <class L>
  static L reference(const L& x) {
    return deviate::select(x < deviate::broadcast<L>(-126.0), deviate::broadcast<L>(0.0), dm::exp2(x));
  }
};

template <int Bits, int Degree>
void check_bound(std::uint32_t stride) {
  CAPTURE(Bits);
  CAPTURE(Degree);
  const double stated = dm::exp2_table_ulp<Bits, Degree>;
  for (const auto& found :
       {oracle::sweep_16_bits<table<Bits, Degree>>(), oracle::sweep_bits<table<Bits, Degree>>(stride)}) {
    CAPTURE(found.worst);
    CHECK(found.wrong_class == 0);
    CHECK(found.largest_ulp <= stated);
    CHECK(found.largest_ulp > 0.8 * stated);
  }
}

void check_approximation(const oracle::float_errors& found) {
  MESSAGE("largest error in ulp: ", found.largest_ulp, " at ", found.worst);
  CHECK(found.wrong_class == 0);
  CHECK(found.largest_ulp <= 2);
}

template <int Bits>
int wrong_entries() {
  int wrong = 0;
  for (std::uint32_t i = 0; i < 1u << Bits; ++i)
    wrong += dm::detail::power_of_two<Bits>(i) != dm::exp2(std::ldexp(float(i), -Bits));
  return wrong;
}

}  // namespace

TEST_CASE("exp2_table: the entries are correctly rounded") {
  CHECK(wrong_entries<1>() == 0);
  CHECK(wrong_entries<6>() == 0);
  CHECK(wrong_entries<10>() == 0);
}

TEST_CASE("exp2_table and exp2_approx: special cases") {
  const auto check = [](auto function) {
    for (const float x : {0.0f, -0.0f, 0x1p-149f, -0x1p-26f}) CHECK(bits(function(x)) == bits(1.0f));
    for (const float x : {-infinity, -std::numeric_limits<float>::max(), -152.0f}) CHECK(bits(function(x)) == 0);
    for (const float x : {infinity, std::numeric_limits<float>::max(), 128.0f}) CHECK(function(x) == infinity);
    for (const float x : {std::nanf(""), -std::nanf("")}) CHECK(bits(function(x)) == 0x7fc00000u);
    for (int n = -126; n < 130; ++n) CHECK(function(float(n)) == std::ldexp(1.0f, n));
  };
  check([](float x) { return dm::exp2_table<1>(x); });
  check([](float x) { return dm::exp2_table<6>(x); });
  check([](float x) { return dm::exp2_table<10, 1>(x); });
  check([](float x) { return dm::exp2_approx(x); });
  CHECK(dm::exp2_table<6>(-149.0f) == 0x1p-149f);
  CHECK(bits(dm::exp2_approx(std::nextafter(-126.0f, -127.0f))) == 0);
}

TEST_CASE("exp2_table and exp2_approx: packs have the bits of the plain value") {
  const auto inputs = oracle::fixed_inputs(100'000, -160, 140);
  CHECK(oracle::float_pack_differences<table<6, 2>>(inputs) == 0);
  CHECK(oracle::float_pack_differences<table<8, 1>>(inputs) == 0);
  CHECK(oracle::float_pack_differences<approximation>(inputs) == 0);
}

TEST_CASE("exp2_table and exp2_approx: every compiler, flag and machine gives these bits") {
  const auto inputs = oracle::fixed_inputs(100'000, -160, 140);
  CHECK(oracle::float_hash_of<table<6, 2>>(inputs) == 0x3d2b1fad950ee9acu);
  CHECK(oracle::float_hash_of<table<8, 1>>(inputs) == 0xb93af95dde9c8a35u);
  CHECK(oracle::float_hash_of<approximation>(inputs) == 0xc77bb277eef51214u);
}

TEST_CASE("exp2_table: the stated ulp for every number of FP16 and BF16, and every 257th float") {
  check_bound<4, 1>(257);
  check_bound<8, 1>(257);
  check_bound<4, 2>(257);
  check_bound<6, 2>(257);
}

TEST_CASE("exp2_approx: 2 ulp for every number of FP16 and BF16, and every 257th float") {
  check_approximation(oracle::sweep_16_bits<approximation>());
  check_approximation(oracle::sweep_bits<approximation>(257));
}

TEST_CASE("slow: exp2_table: the stated ulp over all 2^32 floats") {
  check_bound<8, 1>(1);
  check_bound<6, 2>(1);
}

TEST_CASE("slow: exp2_approx: 2 ulp over all 2^32 floats") {
  check_approximation(oracle::sweep_bits<approximation>(1));
}
