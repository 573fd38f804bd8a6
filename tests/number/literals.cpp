// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/literals.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

#include "number/oracle.hpp"

namespace dv = deviate;
using namespace deviate::literals;

// Values of NumPy 2.4.6 and ml_dtypes 0.6.0, or of arithmetic on paper.
static_assert(double(0.1_fp16) == 0.0999755859375 && double(0.1_bf16) == 0.10009765625 &&
              double(0.1_e4m3) == 0.1015625);
static_assert(double(1.5_bf16) == 1.5 && double(-1.5_bf16) == -1.5 && double(0_bf16) == 0 && double(0.0_e4m3) == 0);
static_assert(std::is_same_v<decltype(1_tf32), dv::tf32> && std::is_same_v<decltype(1_e5m2), dv::fp8_e5m2>);
static_assert(double(65504_fp16) == 65504 && double(65'519.999_fp16) == 65504 && double(464_e4m3) == 448);
static_assert(double(6_e2m1) == 6 && double(7.5_e2m3) == 7.5 && double(28_e3m2) == 28 && double(240_e4m3_fnuz) == 240 &&
              double(57344_e5m2_fnuz) == 57344 && double(448_e4m3_saturating) == 448);
static_assert(double(3.14159_e8m15) == 0x1.922p+1 && double(1_e7m16) == 1 && double(1_e8m13) == 1);
static_assert(double(0x1.8p3_bf16) == 12 && double(0x1p-24_fp16) == 0x1p-24 && double(0xFF_bf16) == 255 &&
              double(0X.8P1_bf16) == 1);
static_assert(double(.5_bf16) == 0.5 && double(5.e-1_bf16) == 0.5 && double(1E2_bf16) == 100);
// Just above a midpoint of bf16: by way of double (or float) the tie would go to 1.
static_assert(double(1.00390625_bf16) == 1 && double(1.0039062500000000000000000001_bf16) == 1.0078125);
static_assert(double(0x1.0100000000000000000000000001p0_bf16) == 1.0078125);
static_assert(double(float(1.0039062500000000000000000001)) == 1.00390625);
// Just above and just below half of the smallest number.
static_assert(double(2.98023223876953125e-8_fp16) == 0 && double(2.98023223876953125000001e-8_fp16) == 0x1p-24 &&
              double(1e-300_fp16) == 0 && double(1e-30000_fp16) == 0);
static_assert((0.1_dd).hi() == 0.1 && (0.1_dd).lo() == -0x1.999999999999ap-58);
static_assert((0x1.00000000000000000000000001p0_dd).lo() == 0x1p-104 && (1e23_dd).hi() == 1e23 &&
              (1e23_dd).lo() == 0x1p23);

namespace {

// A literal that does not compile: its text as a type, and the function behind the operators in a template argument.
template <class T, char... Text>
struct spelled {
  static constexpr char text[] = {Text..., 0};
  static constexpr T value() { return dv::detail::literal_of<T>(text); }
};
template <class S>
concept compiles = requires {
  typename std::bool_constant<(S::value(), true)>;
};

static_assert(compiles<spelled<dv::fp16, '6', '5', '5', '0', '4'>>);
static_assert(!compiles<spelled<dv::fp16, '6', '5', '5', '2', '0'>>, "infinite");
static_assert(!compiles<spelled<dv::fp8_e4m3, '4', '6', '5'>>, "NaN");
static_assert(!compiles<spelled<dv::fp4_e2m1, '8'>>, "saturated: not what is written");
static_assert(!compiles<spelled<dv::bf16, '1', 'e', '9', '9', '9'>>);
static_assert(!compiles<spelled<dv::double_double, '2', 'e', '3', '0', '8'>>);
static_assert(!compiles<spelled<dv::bf16, '0', '1', '0'>>, "octal");
static_assert(!compiles<spelled<dv::bf16, '0', 'b', '1'>>, "binary");

}  // namespace

TEST_CASE("literals: rounding at compile time is the rounding of conversions") {
  oracle::words random(13);
  oracle::for_each_format<dv::bf16_format, dv::fp16_format, dv::tf32_format, dv::fp8_e5m2_format, dv::fp8_e4m3_format,
                          dv::fp8_e4m3_fnuz_format, dv::fp4_e2m1_format, dv::fp24_e7m16_format,
                          dv::format{5, 10, dv::special_values::ieee, dv::overflow_rule::infinity,
                                     dv::subnormal_rule::flush}>([&]<dv::format F>() {
    const oracle::limits of(F);
    oracle::tally tally(oracle::name(F));
    for (int i = 0; i < 20000; ++i) {
      const long kept = random.between(0, F.fraction_bits + 4);
      const double significand = double((random.next() >> 1 | std::uint64_t(1) << 63) >> (63 - kept));
      const double x =
          std::ldexp(significand, int(random.between(of.quantum_exponent - 4, of.max_exponent + 1) - kept));
      const double literal = dv::detail::round_literal(x, F), converted = double(dv::emulated<F>(x));
      if (std::fabs(converted) <= of.largest && !std::isnan(literal)) tally.compare(literal, converted, x);
      // Beyond the largest number the literal is refused.
      if (std::isnan(literal)) tally.compare(x > of.largest, 1, x);
      if (!(std::fabs(converted) <= of.largest)) tally.compare(std::isnan(literal), 1, x);
    }
    tally.expect(20000);
  });
}
