// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/rounding.hpp>

#include <doctest/doctest.h>

#include <vector>

#include "number/code_tables.hpp"
#include "number/hard_inputs.hpp"
#include "number/oracle.hpp"

namespace dv = deviate;
using dv::format;
using dv::overflow_rule;
using dv::special_values;
using dv::subnormal_rule;
using oracle::at_run_time;
using oracle::near_midpoint;
using oracle::special_inputs;

namespace {

constexpr format bf16{8, 7}, fp16{5, 10}, tf32{8, 10}, e5m2{5, 2};
constexpr format e4m3{4, 3, special_values::nan_only, overflow_rule::nan};
constexpr format e4m3_saturating{4, 3, special_values::nan_only, overflow_rule::saturate};
constexpr format e4m3_saturating_finite{4, 3, special_values::nan_only, overflow_rule::saturate_finite};
constexpr format bf16_saturating{8, 7, special_values::ieee, overflow_rule::saturate};
constexpr format bf16_saturating_finite{8, 7, special_values::ieee, overflow_rule::saturate_finite};
constexpr format bf16_nan{8, 7, special_values::ieee, overflow_rule::nan};
constexpr format bf16_flushing{8, 7, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush};
constexpr format fp16_saturating_finite{5, 10, special_values::ieee, overflow_rule::saturate_finite};
constexpr format fp16_flushing{5, 10, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush};

/// f for every format that float holds.
template <class Function>
void for_each_float_format(Function f) {
  oracle::for_each_format<bf16, fp16, tf32, e5m2, e4m3, e4m3_saturating, e4m3_saturating_finite, bf16_saturating,
                          bf16_saturating_finite, bf16_nan, bf16_flushing, fp16_saturating_finite, fp16_flushing,
                          format{2, 1}, format{2, 3}, format{3, 2}, format{4, 3}, format{8, 1}, format{8, 8},
                          format{8, 16}, format{8, 22}, format{8, 23}, format{5, 23}, format{7, 20}>(f);
}
/// f for formats that need double.
template <class Function>
void for_each_double_format(Function f) {
  oracle::for_each_format<format{11, 25}, format{11, 10}, format{10, 20}, format{9, 5}, format{8, 25}, format{5, 25},
                          format{11, 51}, format{11, 52}, format{8, 7, special_values::nan_only, overflow_rule::nan},
                          format{11, 16, special_values::ieee, overflow_rule::saturate_finite},
                          format{11, 16, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush}>(f);
}

template <class C>
bool is_canonical_nan(C x) {
  return dv::bits(x) == dv::bits(std::numeric_limits<C>::quiet_NaN());
}

/// One rounding by name and one by run-time constants; a NaN's bits are held, too.
template <format F, class C>
void check_one(oracle::tally& tally, C x, double right, const dv::rounding_constants<C>& constants) {
  const C ours = dv::round_to<F>(x), chosen = dv::round_to(x, constants);
  tally.compare(double(ours), right, x, oracle::bits_of(x));
  tally.compare(dv::bits(ours) == dv::bits(chosen), 1, "run-time constants", x);
  if (std::isnan(ours)) tally.compare(is_canonical_nan(ours), 1, "canonical NaN", x);
}

template <format F>
void sweep_floats(std::uint64_t stride) {
  const oracle::float_rounder right(F);
  oracle::tally tally(oracle::name(F));
  std::vector<float> block(1 << 12), ours(block.size());
  std::uint64_t code = 0;
  while (code < std::uint64_t(1) << 32) {
    std::size_t n = 0;
    for (; n < block.size() && code < std::uint64_t(1) << 32; code += stride)
      block[n++] = dv::from_bits(std::uint32_t(code));
    for (std::size_t i = 0; i < n; ++i) ours[i] = dv::round_to<F>(block[i]);
    for (std::size_t i = 0; i < n; ++i) tally.compare_bits(ours[i], float(right(block[i])), block[i]);
  }
  tally.expect(long((std::uint64_t(1) << 32) / stride));
}

/// Every lane of packs of W has the bits of the plain value.
template <format F, int W, class C>
void check_lanes(const std::vector<C>& inputs) {
  using L = dv::lanes<C, W>;
  const dv::rounding_constants<C> constants(at_run_time(F));
  oracle::tally tally(oracle::name(F) + " in lanes");
  for (std::size_t i = 0; i + W <= inputs.size(); i += W) {
    L x;
    for (int lane = 0; lane < W; ++lane) x.set(lane, inputs[i + std::size_t(lane)]);
    const L ours = dv::round_to<F>(x), chosen = dv::round_to(x, constants);
    for (int lane = 0; lane < W; ++lane) {
      const auto plain = dv::bits(dv::round_to<F>(x[lane]));
      tally.compare(dv::bits(ours[lane]) == plain && dv::bits(chosen[lane]) == plain, 1, x[lane]);
    }
  }
  tally.expect(long(inputs.size()) - W);
}

template <format F, class C>
void check_every_width(std::uint64_t seed) {
  std::vector<C> inputs = special_inputs<C>();
  oracle::words random(seed);
  const oracle::limits of(F);
  for (int i = 0; i < 2000; ++i) {
    inputs.push_back(near_midpoint<C>(of, random));
    inputs.push_back(dv::from_bits(dv::detail::same_size_unsigned<C>(random.next())));
  }
  check_lanes<F, 2>(inputs);
  check_lanes<F, 4>(inputs);
  check_lanes<F, 8>(inputs);
  check_lanes<F, 16>(inputs);
}

/// Σ code·(2i + 1) over the codes of floats 4099·i rounded to the format; NaN counts 0.
template <format F>
std::uint64_t hash_of_codes() {
  const oracle::limits of(F);
  std::uint64_t hash = 0;
  for (std::uint64_t i = 0; i < std::uint64_t(1) << 20; ++i) {
    const float y = dv::round_to<F>(dv::from_bits(std::uint32_t(4099 * i)));
    if (!std::isnan(y)) hash += oracle::encoded(of, double(y)) * (2 * i + 1);
  }
  return hash;
}

}  // namespace

TEST_CASE("floats, one of 67: every format that float holds") {
  for_each_float_format([]<format F>() { sweep_floats<F>(67); });
}

TEST_CASE("slow: floats, all 2^32: every format that float holds") {
  for_each_float_format([]<format F>() { sweep_floats<F>(1); });
}

TEST_CASE("the same codes as NumPy and ml_dtypes on 2^20 floats") {
  // numpy.float16, ml_dtypes.bfloat16, float8_e5m2, float8_e4m3fn, float8_e4m3, float8_e3m4.
  CHECK(hash_of_codes<fp16>() == 0x00ac341d07c9e3aeu);
  CHECK(hash_of_codes<bf16>() == 0x00a92c0f0087314bu);
  CHECK(hash_of_codes<e5m2>() == 0x0000ac33a8b389cbu);
  CHECK(hash_of_codes<e4m3>() == 0x00002edd54f26c7du);
  CHECK(hash_of_codes<format{4, 3}>() == 0x0000a9cb85f10b7du);
  CHECK(hash_of_codes<format{3, 4}>() == 0x0000a4e0d1441107u);
}

#if defined(DEVIATE_TEST_MPFR)
namespace {
template <format F, class C>
void check_near_midpoints(long count) {
  oracle::judge judge(F);
  const dv::rounding_constants<C> constants(at_run_time(F));
  oracle::tally tally(oracle::name(F));
  oracle::words random(1995);
  for (C x : special_inputs<C>()) check_one<F>(tally, x, judge.round(double(x)), constants);
  for (long i = 0; i < count; ++i) {
    const C x = near_midpoint<C>(judge.of, random);
    check_one<F>(tally, x, judge.round(double(x)), constants);
  }
  for (long i = 0; i < count / 8; ++i) {
    const C x = dv::from_bits(dv::detail::same_size_unsigned<C>(random.next()));
    check_one<F>(tally, x, judge.round(double(x)), constants);
  }
  tally.expect(count);
}
}  // namespace

TEST_CASE("floats near midpoints, at both ends of the range, and special: MPFR") {
  for_each_float_format([]<format F>() { check_near_midpoints<F, float>(50000); });
}

TEST_CASE("doubles near midpoints, at both ends of the range, and special: MPFR") {
  for_each_float_format([]<format F>() { check_near_midpoints<F, double>(100000); });
  for_each_double_format([]<format F>() { check_near_midpoints<F, double>(100000); });
}

TEST_CASE("slow: doubles near midpoints, 4 million a format") {
  for_each_float_format([]<format F>() { check_near_midpoints<F, double>(4000000); });
  for_each_double_format([]<format F>() { check_near_midpoints<F, double>(4000000); });
}

TEST_CASE("the oracle of the float sweep is MPFR's") {
  for_each_float_format([]<format F>() {
    oracle::judge judge(F);
    const oracle::float_rounder quick(F);
    oracle::tally tally(oracle::name(F));
    oracle::words random(7);
    for (float x : special_inputs<float>()) tally.compare(quick(x), judge.round(double(x)), x);
    for (int i = 0; i < 40000; ++i) {
      const float hard = near_midpoint<float>(judge.of, random), any = dv::from_bits(std::uint32_t(random.next()));
      tally.compare(quick(hard), judge.round(double(hard)), hard);
      tally.compare(quick(any), judge.round(double(any)), any);
    }
    tally.expect(80000);
  });
}
#endif

TEST_CASE("packs of 2, 4, 8 and 16 have the bits of plain values") {
  oracle::for_each_format<bf16, fp16, tf32, e4m3, e4m3_saturating, bf16_saturating_finite, fp16_flushing, dv::binary32>(
      []<format F>() {
        check_every_width<F, float>(3);
        check_every_width<F, double>(4);
      });
  oracle::for_each_format<format{11, 25}, format{10, 20}, dv::binary64>(
      []<format F>() { check_every_width<F, double>(5); });
}

#if defined(__FLT16_MANT_DIG__) && defined(__GNUC__) && !defined(__clang__)
TEST_CASE("fp16 is the compiler's _Float16, from float and from double") {
  oracle::tally tally("fp16");
  oracle::words random(16);
  const oracle::limits of(fp16);
  for (std::uint64_t code = 0; code < std::uint64_t(1) << 32; code += 4093) {
    const float x = dv::from_bits(std::uint32_t(code));
    tally.compare(double(dv::round_to<fp16>(x)), double(static_cast<_Float16>(x)), x);
  }
  for (int i = 0; i < 300000; ++i) {
    const double x = near_midpoint<double>(of, random);
    tally.compare(dv::round_to<fp16>(x), double(static_cast<_Float16>(x)), x);
  }
  tally.expect(1000000);
}
#endif

TEST_CASE("case 63: bf16 to nearest even, NaN, the end of the range, and the carry into the exponent") {
  const auto round = [](float x) { return dv::round_to<bf16>(x); };
  CHECK(round(0.2691408770292272f) == 0.26953125f);
  CHECK(round(3.14f) == 3.140625f);
  CHECK(round(1 + 0x1p-8f) == 1.0f);
  CHECK(round(1 + 3 * 0x1p-8f) == 1.015625f);
  CHECK(std::isnan(round(dv::from_bits(0x7F800001u))));
  for (std::uint32_t u : {0x7F800001u, 0x7FFFFFFFu, 0xFFC00000u, 0xFFFFFFFFu, 0xFF800001u})
    CHECK(dv::bits(round(dv::from_bits(u))) == 0x7FC00000u);
  CHECK(dv::bits(round(dv::from_bits(0x7F7F8000u))) == 0x7F800000u);
  CHECK(dv::bits(round(dv::from_bits(0x7F7F7FFFu))) == 0x7F7F0000u);
  CHECK(dv::bits(round(0.0f)) == 0u);
  CHECK(dv::bits(round(-0.0f)) == 0x80000000u);
  CHECK(round(dv::from_bits(0x3FFFFFFFu)) == 2.0f);
}

TEST_CASE("case 64: ties go to even") {
  CHECK(dv::round_to<bf16>(1.01953125f) == 1.015625f);
  CHECK(dv::round_to<fp16>(1.00048828125f) == 1.0f);
  CHECK(dv::round_to<fp16>(1.00146484375f) == 1.001953125f);
}

TEST_CASE("case 66: a double is rounded once") {
  CHECK(dv::round_to<bf16>(1 + 0x1p-8 + 0x1p-30) == 1.0078125);
  CHECK(dv::round_to<bf16>(float(1 + 0x1p-8 + 0x1p-30)) == 1.0f);  // what rounding through float gives
  CHECK(dv::round_to<fp16>(1 + 0x1p-11 + 0x1p-40) == 1.0009765625);
  CHECK(dv::round_to<fp16>(float(1 + 0x1p-11 + 0x1p-40)) == 1.0f);
}

TEST_CASE("case 68: subnormals of fp16, kept and flushed") {
  const auto round = [](double x) { return dv::round_to<fp16>(x); };
  CHECK(round(2.5 * 0x1p-24) == 2 * 0x1p-24);
  CHECK(oracle::encoded(oracle::limits(fp16), round(2.5 * 0x1p-24)) == 0x0002);
  CHECK(round(3.5 * 0x1p-24) == 4 * 0x1p-24);
  CHECK(dv::bits(round(0x1p-25)) == 0);
  CHECK(round(0x1p-25 * (1 + 0x1p-10)) == 0x1p-24);
  CHECK(round(0x1p-26) == 0);
  CHECK(round(3 * 0x1p-26) == 0x1p-24);
  CHECK(dv::round_to<fp16_flushing>(std::nextafter(0x1p-14, 0.0)) == 0);
  CHECK(dv::round_to<fp16_flushing>(0x1p-14) == 0x1p-14);
  CHECK(dv::bits(dv::round_to<fp16_flushing>(-0x1p-15f)) == 0x80000000u);
}

TEST_CASE("case 69: overflow of e4m3 and e5m2") {
  for (double x : {448.0, 449.0, 464.0}) {
    CHECK(dv::round_to<e4m3>(x) == 448);
    CHECK(dv::round_to<e4m3_saturating>(x) == 448);
  }
  for (double x : {465.0, 1000.0, oracle::infinite}) {
    CHECK(std::isnan(dv::round_to<e4m3>(x)));
    CHECK(std::isnan(dv::round_to<e4m3>(-x)));
    CHECK(dv::round_to<e4m3_saturating>(x) == 448);
    CHECK(dv::round_to<e4m3_saturating>(-x) == -448);
  }
  CHECK(dv::round_to<e4m3_saturating_finite>(1000.0) == 448);
  CHECK(std::isnan(dv::round_to<e4m3_saturating_finite>(oracle::infinite)));
  CHECK(dv::round_to<e4m3>(0x1p-10) == 0);
  CHECK(dv::round_to<e4m3>(3 * 0x1p-11) == 0x1p-9);
  CHECK(dv::round_to<e5m2>(61439.0) == 57344);
  CHECK(dv::round_to<e5m2>(61440.0) == oracle::infinite);
}

TEST_CASE("case 70: the numbers of e4m3 and e5m2 are those of the 256 codes") {
  for (std::uint64_t code = 0; code < 128; ++code) {
    CAPTURE(code);
    const double e4m3_number = oracle::e4m3_codes[code], e5m2_number = oracle::e5m2_codes[code];
    oracle::tally tally("codes");
    for (double sign : {1.0, -1.0}) {
      tally.compare(dv::round_to<e4m3>(sign * e4m3_number), sign * e4m3_number, code);
      tally.compare(dv::round_to<e5m2>(sign * e5m2_number), sign * e5m2_number, code);
    }
    tally.compare(oracle::decoded(oracle::limits(e4m3), code), e4m3_number, code);
    tally.compare(oracle::decoded(oracle::limits(e5m2), code), e5m2_number, code);
    tally.expect(6);
    if (code < 126) {
      // Halfway to the next number: to the even code.
      const double even = oracle::e4m3_codes[code + code % 2];
      CHECK(dv::round_to<e4m3>((e4m3_number + oracle::e4m3_codes[code + 1]) / 2) == even);
    }
    if (code < 123) {
      const double even = oracle::e5m2_codes[code + code % 2];
      CHECK(dv::round_to<e5m2>((e5m2_number + oracle::e5m2_codes[code + 1]) / 2) == even);
    }
  }
  CHECK(std::isnan(oracle::e4m3_codes[0x7F]));
  CHECK(std::isinf(oracle::e5m2_codes[0x7C]));
}

TEST_CASE("case 73: a rounded value is a number of the format, and stays") {
  const auto closed = []<format F>() {
    const oracle::limits of(F);
    oracle::words random(73);
    oracle::tally tally(oracle::name(F));
    for (int i = 0; i < 20000; ++i) {
      const double x = i & 1 ? near_midpoint<double>(of, random) : dv::from_bits(random.next());
      const double y = dv::round_to<F>(x);
      tally.compare(oracle::is_member(of, y), 1, x);
      tally.compare(dv::round_to<F>(y), y, x);
      tally.compare(!std::isinf(y) || of.from_infinity == oracle::infinite, 1, x);
    }
    tally.expect(60000);
  };
  for_each_float_format(closed);
  for_each_double_format(closed);
}

TEST_CASE("binary32 is the identity on floats, NaN apart") {
  for (std::uint64_t code = 0; code < std::uint64_t(1) << 32; code += 65537) {
    const float x = dv::from_bits(std::uint32_t(code));
    if (!std::isnan(x)) REQUIRE(dv::bits(dv::round_to<dv::binary32>(x)) == dv::bits(x));
  }
}
