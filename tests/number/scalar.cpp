// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/scalar.hpp>

#include <doctest/doctest.h>

#include <deviate/number/arithmetic.hpp>
#include <deviate/number/named.hpp>

#include "number/oracle.hpp"

namespace dv = deviate;

namespace {

static_assert(std::is_same_v<dv::carrier_of<float>, float> && std::is_same_v<dv::carrier_of<dv::bf16>, float>);
static_assert(std::is_same_v<dv::scalar_traits<dv::bf16>::working_type, float>);
static_assert(std::is_same_v<dv::scalar_traits<dv::tf32>::working_type, double>);
static_assert(dv::scalar_traits<dv::bf16>::contains(dv::fp8_e4m3_format));
static_assert(!dv::scalar_traits<dv::bf16>::contains(dv::fp16_format), "an operand with more bits breaks the theorem");
static_assert(!dv::scalar_traits<dv::binary_number<11, 25>>::contains(dv::bf16_format), "26 bits exceed the theorem");
static_assert(dv::scalar_traits<double>::contains(dv::binary32) && !dv::scalar_traits<float>::contains(dv::binary64));
static_assert(sizeof(dv::fragment<dv::bf16, 8>) == 32);

// long double serves as a software scalar: its own carrier, with its own + - * /, and more exponent than double.
static_assert(dv::scalar_traits<long double>::is_software && !dv::scalar_traits<float>::is_software);

}  // namespace

TEST_CASE("fragments are loaded, stored and filled") {
  const float from[] = {1, 2, 3, 4, 5, 6, 7, 8};
  float to[8] = {};
  dv::store<dv::bf16, 8>(to, dv::load<dv::bf16, 8>(from));
  for (int i = 0; i < 8; ++i) CHECK(to[i] == from[i]);
  dv::store<dv::bf16, 1>(to, dv::load<dv::bf16, 1>(from + 3));
  CHECK(to[0] == 4);
  CHECK(dv::fill<dv::bf16, 4>(2.5f).value[3] == 2.5f);
  CHECK(dv::fill<dv::bf16, 1>(2.5f).value == 2.5f);
}

TEST_CASE("software scalars reach a format in one rounding, at any magnitude") {
  using software = dv::fragment<long double, 1>;
  const dv::rounding_site<dv::bf16> narrow;
  const dv::rounding_site<double> whole;
  const dv::rounding_site<long double> software_site;
  // Rounding to double first would give 1.
  CHECK(narrow.round(software{1 + 0x1p-8L + 0x1p-60L}).value == 1.0078125f);
  CHECK(narrow.round(software{1 + 0x1p-8L - 0x1p-60L}).value == 1.0f);
  CHECK(narrow.round(software{-1 - 0x1p-8L - 0x1p-60L}).value == -1.0078125f);
  CHECK(narrow.add(software{1 + 0x1p-8L}, dv::fragment<float>{0x1p-60f}).value == 1.0078125f);
  CHECK(narrow.multiply(dv::fragment<dv::bf16>{3}, software{5}).value == 15);
  CHECK(narrow.sqrt(software{4}).value == 2);
  CHECK(whole.divide(software{1}, software{4}).value == 0.25);
  CHECK(software_site.add(dv::fragment<float>{1}, dv::fragment<double>{0x1p-52}).value == 1 + 0x1p-52L);

  for (long double sign : {1.0L, -1.0L}) {
    if constexpr (std::numeric_limits<long double>::max_exponent > 1024) {
      // Below double's range: zero of its sign, and never a NaN; a tie with half the smallest number is broken.
      CHECK(dv::bits(narrow.round(software{sign * 0x1p-2000L}).value) == (sign < 0 ? 0x80000000u : 0u));
      CHECK(dv::detail::software_to_odd(sign * 0x1p-2000L) == double(sign) * 0x1p-1074);
      // Beyond it: a finite overflow, not an infinity.
      const dv::rounding_site<
          dv::emulated<dv::format{8, 7, dv::special_values::ieee, dv::overflow_rule::saturate_finite}>>
          saturating;
      CHECK(double(saturating.round(software{sign * 0x1p2000L}).value) == double(sign) * 0x1.fep127);
      CHECK(double(narrow.round(software{sign * 0x1p2000L}).value) == double(sign) * oracle::infinite);
    }
    CHECK(double(narrow.round(software{sign * std::numeric_limits<long double>::infinity()}).value) ==
          double(sign) * oracle::infinite);
    CHECK(dv::bits(narrow.round(software{sign * 0.0L}).value) == (sign < 0 ? 0x80000000u : 0u));
  }
  CHECK(std::isnan(narrow.round(software{std::numeric_limits<long double>::quiet_NaN()}).value));
}
