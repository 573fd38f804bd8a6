// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/emulated.hpp>

#include <doctest/doctest.h>

#include <type_traits>

#include "number/oracle.hpp"

namespace dv = deviate;
using dv::emulated;
using dv::format;
using dv::overflow_rule;
using dv::special_values;

namespace {

using bf16 = emulated<format{8, 7}>;
using fp16 = emulated<format{5, 10}>;
using tf32 = emulated<format{8, 10}>;
using e5m2 = emulated<format{5, 2}>;
using e4m3 = emulated<format{4, 3, special_values::nan_only, overflow_rule::nan}>;
using e4m3_saturating = emulated<format{4, 3, special_values::nan_only, overflow_rule::saturate}>;
using single = emulated<dv::binary32>;
using widest = emulated<format{11, 25}>;

static_assert(std::is_same_v<bf16::carrier_type, float> && std::is_same_v<single::carrier_type, float>);
static_assert(std::is_same_v<widest::carrier_type, double>);
static_assert(std::is_same_v<emulated<format{9, 2}>::carrier_type, double>);
static_assert(std::is_same_v<emulated<format{8, 24}>::carrier_type, double>);
static_assert(sizeof(bf16) == sizeof(float) && std::is_trivially_copyable_v<bf16> &&
              std::is_trivially_default_constructible_v<bf16>);

// Every conversion is written out: an implicit one would hide a rounding.
static_assert(!std::is_convertible_v<float, bf16> && !std::is_convertible_v<double, bf16> &&
              !std::is_convertible_v<int, bf16> && !std::is_convertible_v<bf16, float> &&
              !std::is_convertible_v<bf16, double> && !std::is_convertible_v<bf16, tf32>);
static_assert(std::is_constructible_v<bf16, float> && std::is_constructible_v<bf16, double> &&
              std::is_constructible_v<bf16, long long> && std::is_constructible_v<bf16, unsigned char> &&
              std::is_constructible_v<bf16, fp16> && std::is_constructible_v<double, bf16>);
// Through double it would be rounded twice.
static_assert(!std::is_constructible_v<bf16, long double>);
#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 int128;
static_assert(!std::is_constructible_v<bf16, int128>, "the upper half would be lost");
#endif

template <class A, class B>
concept comparable = requires(A a, B b) {
  a == b;
  a < b;
};
static_assert(comparable<bf16, bf16> && !comparable<bf16, fp16> && !comparable<bf16, float>);

template <class N>
bool same(N a, N b) {
  return dv::bits(a.carrier()) == dv::bits(b.carrier());
}

}  // namespace

TEST_CASE("case 66: integers and doubles are rounded once") {
  CHECK(double(bf16(16842753)) == 16908288);
  CHECK(double(bf16(std::int64_t(16842753))) == 16908288);
  CHECK(double(bf16(16842753u)) == 16908288);
  CHECK(dv::bits(bf16(16842753).carrier()) == 0x4B810000u);
  CHECK(double(bf16(float(16842753))) == 16777216);  // what a conversion through float gives
  CHECK(double(bf16(-16842753)) == -16908288);
  CHECK(double(bf16(1 + 0x1p-8 + 0x1p-30)) == 1.0078125);
  CHECK(double(fp16(1 + 0x1p-11 + 0x1p-40)) == 1.0009765625);
  // The same two ties beyond double: 2^60 and a little.
  CHECK(double(bf16((std::int64_t(1) << 60) + (std::int64_t(1) << 52) + 1)) == 0x1p60 + 0x1p53);
  CHECK(double(bf16((std::int64_t(1) << 60) + (std::int64_t(1) << 52))) == 0x1p60);
  CHECK(double(widest((std::uint64_t(1) << 63) + (std::uint64_t(1) << 37) + 1)) == 0x1p63 + 0x1p38);
}

TEST_CASE("integers of every type") {
  CHECK(double(bf16(true)) == 1);
  CHECK(double(bf16(static_cast<signed char>(-3))) == -3);
  CHECK(double(bf16(static_cast<unsigned short>(65535))) == 65536);
  CHECK(double(fp16(65519)) == 65504);
  CHECK(double(fp16(65520)) == oracle::infinite);
  CHECK(double(fp16(-65520LL)) == -oracle::infinite);
  CHECK(double(e4m3_saturating(std::numeric_limits<std::int64_t>::min())) == -448);
  CHECK(std::isnan(double(e4m3(465))));
  CHECK(double(e4m3(464)) == 448);
  CHECK(double(single(std::numeric_limits<std::uint64_t>::max())) == 0x1p64);
  CHECK(double(single(std::numeric_limits<int>::min())) == -0x1p31);
  CHECK(dv::bits(bf16(0).carrier()) == 0u);
}

TEST_CASE("comparisons: NaN is unordered, the zeros are equal") {
  const auto check = []<format F>() {
    using number = emulated<F>;
    const number nan(oracle::not_a_number), zero(0.0), minus_zero(-0.0), one(1.0), two(2.0);
    for (const number& x : {nan, zero, one}) {
      CHECK_FALSE(nan == x);
      CHECK(nan != x);
      CHECK_FALSE(nan < x);
      CHECK_FALSE(nan > x);
      CHECK_FALSE(nan <= x);
      CHECK_FALSE(nan >= x);
      CHECK_FALSE(x < nan);
      CHECK_FALSE(x >= nan);
    }
    CHECK(zero == minus_zero);
    CHECK_FALSE(zero < minus_zero);
    CHECK(zero <= minus_zero);
    CHECK_FALSE(same(zero, minus_zero));
    CHECK(one < two);
    CHECK(two > one);
    CHECK(one <= one);
    CHECK(two >= one);
    CHECK(one != two);
    CHECK(-two < -one);
  };
  oracle::for_each_format<bf16::number_format, fp16::number_format, e4m3::number_format, e5m2::number_format,
                          format{2, 1}, widest::number_format>(check);
}

TEST_CASE("there is one NaN, and signs of zeros are kept") {
  for (float x : {dv::from_bits(0x7F800001u), dv::from_bits(0xFFC00000u), dv::from_bits(0xFFFFFFFFu)}) {
    CHECK(dv::bits(bf16(x).carrier()) == 0x7FC00000u);
    CHECK(dv::bits((-bf16(x)).carrier()) == 0x7FC00000u);
    CHECK(dv::bits((+bf16(x)).carrier()) == 0x7FC00000u);
    CHECK(dv::bits(fp16(bf16(x)).carrier()) == 0x7FC00000u);
    CHECK(dv::bits(widest(bf16(x)).carrier()) == 0x7FF8000000000000u);
  }
  CHECK(dv::bits((-bf16(0.0)).carrier()) == 0x80000000u);
  CHECK(dv::bits((-bf16(-0.0)).carrier()) == 0u);
  CHECK(dv::bits(e4m3(widest(-0.0)).carrier()) == 0x80000000u);
  CHECK(dv::bits(bf16(-std::numeric_limits<double>::denorm_min()).carrier()) == 0x80000000u);
}

TEST_CASE("case 76: values that other libraries round twice or whose NaN they lose") {
  CHECK(std::isnan(double(bf16(dv::from_bits(0x7F800001u)))));
  CHECK(std::isnan(double(bf16(dv::from_bits(0xFF800001u)))));
  CHECK(double(bf16(1 + 0x1p-8 + 0x1p-30)) == 1.0078125);
  CHECK(double(bf16(16842753)) == 16908288);
  CHECK(double(fp16(1 + 0x1p-11 + 0x1p-40)) == 1.0009765625);
}

TEST_CASE("case 75: construction from double rounds to nearest, subnormals included, at every number of bits") {
  CHECK(double(bf16(1 + 3 * 0x1p-8)) == 1.015625);
  CHECK(double(bf16(65520.0)) == 65536);
  CHECK(double(fp16(0.1)) == 0.0999755859375);
  CHECK(double(e4m3(0.1)) == 0.1015625);
  CHECK(double(fp16(0x1p-24)) == 0x1p-24);
  CHECK(double(e4m3(0x1p-9)) == 0x1p-9);
}

TEST_CASE("case 31: a mask constant beyond the format becomes infinite") {
  CHECK(double(fp16(-1e9)) == -oracle::infinite);
  CHECK(double(fp16(-1e5)) == -oracle::infinite);
  CHECK(double(fp16(-1e4)) == -10000);
}

TEST_CASE("case 38: a slope in fp16 misses by 0.31 at distance 4096") {
  const double slope = std::sqrt(0.5), rounded = double(fp16(slope));
  CHECK(rounded == 0.70703125);
  CHECK(4096 * (slope - rounded) == doctest::Approx(0.31).epsilon(0.01));
  CHECK(4096 * std::fabs(slope - double(float(slope))) < 1e-4);
}

TEST_CASE("case 57: tf32 keeps 10 fraction bits: at most 2^-11 of relative error, and as much") {
  oracle::words random(57);
  double largest = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = 1 + double(random.next() >> 11) * 0x1p-53;
    largest = std::max(largest, std::fabs(double(tf32(x)) - x) / x);
  }
  CHECK(largest <= 0x1p-11);
  CHECK(largest > 0.99 * 0x1p-11);
  CHECK(double(tf32(1 + 0x1p-10)) == 1 + 0x1p-10);
  CHECK(double(tf32(1 + 0x1p-11)) == 1);
}

TEST_CASE("case 59: the scale 1/sqrt(128) in fp16 is 1.07e-4 low, in binary32 1.7e-8") {
  const double scale = 1 / std::sqrt(128.0);
  CHECK((scale - double(fp16(scale))) / scale == doctest::Approx(1.07e-4).epsilon(0.01));
  CHECK(std::fabs(double(single(scale)) - scale) / scale == doctest::Approx(1.7e-8).epsilon(0.03));
}

#if defined(DEVIATE_TEST_MPFR)
TEST_CASE("conversions from integers: MPFR") {
  const auto check = []<format F>() {
    using number = emulated<F>;
    oracle::judge judge(F);
    oracle::tally tally(oracle::name(F));
    oracle::words random(64);
    for (int i = 0; i < 20000; ++i) {
      // A midpoint of the format, or its neighbour, with any number of further bits.
      const auto kept = std::min(judge.of.precision, 62L), length = random.between(1, 63);
      std::uint64_t u =
          random.next() >> (64 - kept) << (64 - kept) | std::uint64_t(1) << 63 | std::uint64_t(1) << (63 - kept);
      u = (u >> (63 - length)) + std::uint64_t(random.between(-1, 1));
      for (std::uint64_t x : {u, random.next() >> random.between(0, 63)}) {
        const auto s = std::int64_t(x);
        const auto i32 = std::int32_t(std::uint32_t(x));
        const auto u32 = std::uint32_t(x);
        tally.compare(double(number(x)), judge.integer(x), x);
        tally.compare(double(number(s)), judge.integer(s), s);
        tally.compare(double(number(i32)), judge.integer(std::int64_t(i32)), i32);
        tally.compare(double(number(u32)), judge.integer(std::uint64_t(u32)), u32);
      }
    }
    tally.expect(160000);
  };
  oracle::for_each_format<bf16::number_format, fp16::number_format, tf32::number_format, e5m2::number_format,
                          e4m3::number_format, e4m3_saturating::number_format, format{8, 16}, dv::binary32,
                          widest::number_format, format{11, 10}, format{6, 25}>(check);
}

TEST_CASE("conversions between formats, in one rounding: MPFR") {
  const auto check = []<class From, class To>(From, To) {
    oracle::judge judge(To::number_format);
    oracle::operands numbers(From::number_format, From::number_format, To::number_format, 3);
    oracle::tally tally(oracle::name(From::number_format) + " to " + oracle::name(To::number_format));
    for (int i = 0; i < 20000; ++i) {
      const double a = numbers.next(oracle::operation::add).first;
      const From x(a);
      tally.compare(double(x), a);
      tally.compare(double(To(x)), judge.round(a), a);
      tally.compare(double(float(x)), double(float(a)), a);
    }
    tally.expect(60000);
  };
  const auto from_every = [&]<class To>(To to) {
    check(bf16{}, to);
    check(fp16{}, to);
    check(tf32{}, to);
    check(single{}, to);
    check(e4m3{}, to);
    check(e5m2{}, to);
    check(widest{}, to);
    check(emulated<format{8, 16}>{}, to);
  };
  from_every(bf16{});
  from_every(fp16{});
  from_every(tf32{});
  from_every(e4m3{});
  from_every(e4m3_saturating{});
  from_every(single{});
  from_every(widest{});
}
#endif
