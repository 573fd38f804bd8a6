// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/rounding.hpp>

#include <doctest/doctest.h>

#include <deviate/number/named.hpp>
#include <vector>

#include "number/hard_inputs.hpp"
#include "number/mode_oracle.hpp"

namespace dv = deviate;
using dv::format;
using dv::overflow_rule;
using dv::rounding_mode;
using dv::special_values;
using dv::subnormal_rule;

static_assert(dv::is_nearest(rounding_mode::nearest_away) && !dv::is_nearest(rounding_mode::to_odd));
static_assert(dv::bf16_format.rounded(rounding_mode::upward) != dv::bf16_format);
static_assert(dv::bf16_format.rounded(rounding_mode::upward).rounded(rounding_mode::nearest_even) == dv::bf16_format);
static_assert(dv::double_rounding_is_innocuous(dv::bf16_format.rounded(rounding_mode::nearest_away), dv::binary32));
static_assert(!dv::double_rounding_is_innocuous(dv::bf16_format.rounded(rounding_mode::toward_zero), dv::binary32));

namespace {

constexpr format e4m3_finite{4, 3, special_values::finite_only};
constexpr format e4m3_fnuz{
    4, 3, special_values::negative_zero_nan, overflow_rule::nan, subnormal_rule::gradual, rounding_mode::nearest_even,
    1};

template <class C>
using function = C (*)(C);
template <format F, class C>
C rounded(C x) {
  return dv::round_to<F>(x);
}
template <format F, class C>
dv::pack<C, 8> rounded_lanes(const dv::pack<C, 8>& x) {
  return dv::round_to<F>(x);
}

/// f(F in each mode, how it rounds) for every mode.
template <format F, class C, class Function>
void for_each_mode(Function f) {
  const auto with = [&]<rounding_mode Mode>() {
    constexpr format in_mode = F.rounded(Mode);
    f(in_mode, &rounded<in_mode, C>, &rounded_lanes<in_mode, C>);
  };
  with.template operator()<rounding_mode::nearest_even>();
  with.template operator()<rounding_mode::nearest_away>();
  with.template operator()<rounding_mode::toward_zero>();
  with.template operator()<rounding_mode::upward>();
  with.template operator()<rounding_mode::downward>();
  with.template operator()<rounding_mode::to_odd>();
}

template <class Function>
void for_each_float_format(Function f) {
  oracle::for_each_format<dv::bf16_format, dv::fp16_format, dv::tf32_format, dv::fp8_e5m2_format, dv::fp8_e4m3_format,
                          dv::fp8_e4m3_saturating_format, e4m3_finite, e4m3_fnuz, format{3, 2}, format{2, 1},
                          format{5, 10, special_values::ieee, overflow_rule::saturate_finite},
                          format{5, 10, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush},
                          format{8, 7, special_values::ieee, overflow_rule::nan}, format{5, 23}, format{7, 22},
                          dv::binary32>(f);
}
template <class Function>
void for_each_double_format(Function f) {
  oracle::for_each_format<format{11, 25}, format{10, 20}, format{9, 5}, format{8, 25}, format{5, 52},
                          format{8, 7, special_values::nan_only, overflow_rule::nan}, format{11, 51}>(f);
}

}  // namespace

#if defined(DEVIATE_TEST_MPFR)
namespace {

template <class C>
void check_one_mode(const format& f, function<C> ours, dv::pack<C, 8> (*lanes)(const dv::pack<C, 8>&), long count) {
  const dv::rounding_constants<C> chosen(oracle::at_run_time(f));
  const oracle::limits of(f);
  oracle::exact_result exact;
  oracle::tally tally(oracle::name(f));
  oracle::words random(754);
  std::vector<C> inputs = oracle::special_inputs<C>();
  for (long i = 0; i < count; ++i) {
    inputs.push_back(oracle::near_midpoint<C>(of, random));
    if (i % 8 == 0) inputs.push_back(dv::from_bits(dv::detail::same_size_unsigned<C>(random.next())));
  }
  inputs.resize(inputs.size() / 8 * 8);
  for (std::size_t i = 0; i < inputs.size(); i += 8) {
    dv::pack<C, 8> x;
    for (int lane = 0; lane < 8; ++lane) x.set(lane, inputs[i + std::size_t(lane)]);
    const dv::pack<C, 8> packed = lanes(x), packed_chosen = dv::round_to(x, chosen);
    for (int lane = 0; lane < 8; ++lane) {
      const C one = ours(x[lane]), run_time = dv::round_to(x[lane], chosen);
      exact.value(double(x[lane]));
      tally.compare(double(one), exact.rounded(of, f.rounding), x[lane], oracle::bits_of(x[lane]));
      const auto bits = dv::bits(one);
      tally.compare(
          dv::bits(run_time) == bits && dv::bits(packed[lane]) == bits && dv::bits(packed_chosen[lane]) == bits, 1,
          "at run time and in lanes", x[lane]);
      if (std::isnan(one))
        tally.compare(bits == dv::bits(std::numeric_limits<C>::quiet_NaN()), 1, "canonical NaN", x[lane]);
      tally.compare(oracle::is_member(of, double(one)) && dv::bits(ours(one)) == bits, 1, "a member, and stays",
                    x[lane]);
    }
  }
  tally.expect(count);
}

template <class C, class ForEach>
void check_every_mode(ForEach for_each, long count) {
  for_each([&]<format F>() {
    for_each_mode<F, C>([&](const format& f, auto ours, auto lanes) { check_one_mode<C>(f, ours, lanes, count); });
  });
}

}  // namespace

TEST_CASE("the oracle of modes is MPFR's own rounding in the four modes that MPFR has") {
  oracle::exact_result exact;
  oracle::words random(4);
  const oracle::limits of(format{11, 20});
  oracle::tally tally("modes of MPFR");
  oracle::real a, b, result{21};
  for (int i = 0; i < 200000; ++i) {
    const double x = std::ldexp(double(random.next() >> random.between(11, 60)) + 1, int(random.between(-80, 20)));
    const double y = -std::ldexp(double(random.next() >> random.between(11, 60)) + 1, int(random.between(-80, 20)));
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_set_d(b, y, MPFR_RNDN);
    const auto op = oracle::binary_operations[i % 4];
    exact.apply(op, x, y);
    const std::pair<rounding_mode, mpfr_rnd_t> modes[] = {{rounding_mode::nearest_even, MPFR_RNDN},
                                                          {rounding_mode::toward_zero, MPFR_RNDZ},
                                                          {rounding_mode::upward, MPFR_RNDU},
                                                          {rounding_mode::downward, MPFR_RNDD}};
    for (const auto& [ours, theirs] : modes) {
      oracle::compute(op, result, a, b, theirs);
      tally.compare(exact.rounded(of, ours), mpfr_get_d(result, MPFR_RNDN), x, oracle::name(op), y);
    }
  }
  tally.expect(800000);
}

TEST_CASE("every mode: floats near midpoints, at both ends of the range, and special; in lanes and at run time") {
  check_every_mode<float>([](auto f) { for_each_float_format(f); }, 5000);
}

TEST_CASE("every mode: doubles near midpoints, at both ends of the range, and special; in lanes and at run time") {
  check_every_mode<double>([](auto f) { for_each_float_format(f); }, 10000);
  check_every_mode<double>([](auto f) { for_each_double_format(f); }, 10000);
}

TEST_CASE("slow: every mode: a million doubles near midpoints") {
  check_every_mode<double>([](auto f) { for_each_float_format(f); }, 1000000);
  check_every_mode<double>([](auto f) { for_each_double_format(f); }, 1000000);
}

TEST_CASE("where double rounding is called innocuous for ties away, it is: every pair of operands of small formats") {
  long innocuous = 0;
  for (int e = 2; e <= 3; ++e)
    for (int m = 1; m <= 2; ++m)
      for (int working_e = 3; working_e <= 5; ++working_e)
        for (int working_m = 5; working_m <= 8; ++working_m) {
          const format target = format{e, m}.rounded(rounding_mode::nearest_away), working{working_e, working_m};
          if (!dv::double_rounding_is_innocuous(target, working)) continue;
          ++innocuous;
          const oracle::limits in_target(target), in_working(working);
          oracle::exact_result exact;
          oracle::tally tally(oracle::name(target) + " through " + oracle::name(working));
          for (std::uint64_t i = 0; i < std::uint64_t(1) << target.width(); ++i)
            for (std::uint64_t j = 0; j < std::uint64_t(1) << target.width(); ++j)
              for (auto op : oracle::binary_operations) {
                const double a = oracle::decoded(in_target, i), b = oracle::decoded(in_target, j);
                exact.apply(op, a, b);
                const double right = exact.rounded(in_target, rounding_mode::nearest_away);
                exact.value(exact.rounded(in_working, rounding_mode::nearest_even));
                tally.compare(exact.rounded(in_target, rounding_mode::nearest_away), right, a, oracle::name(op), b);
              }
          tally.expect();
        }
  CHECK(innocuous > 10);
}
#endif

namespace {
template <format F>
double in(rounding_mode mode, double x) {
  return dv::round_to(x, dv::rounding_constants<double>(F.rounded(mode)));
}
}  // namespace

TEST_CASE("case 63: 0.2691408770292272 and 3.14 to bf16, to nearest and toward zero") {
  CHECK(in<dv::bf16_format>(rounding_mode::nearest_even, 0.2691408770292272) == 0.26953125);
  CHECK(in<dv::bf16_format>(rounding_mode::toward_zero, 0.2691408770292272) == 0.267578125);
  CHECK(in<dv::bf16_format>(rounding_mode::nearest_even, 3.14) == 3.140625);
  CHECK(in<dv::bf16_format>(rounding_mode::toward_zero, 3.14) == 3.125);
}

TEST_CASE("case 64: ties go to even or away from zero") {
  CHECK(in<dv::bf16_format>(rounding_mode::nearest_even, 1.01953125) == 1.015625);
  CHECK(in<dv::bf16_format>(rounding_mode::nearest_away, 1.01953125) == 1.0234375);
  CHECK(in<dv::bf16_format>(rounding_mode::nearest_away, -1.01953125) == -1.0234375);
  CHECK(in<dv::fp16_format>(rounding_mode::nearest_even, 1.00048828125) == 1);
  CHECK(in<dv::fp16_format>(rounding_mode::nearest_away, 1.00048828125) == 1.0009765625);
  CHECK(in<dv::fp16_format>(rounding_mode::nearest_even, 1.00146484375) == 1.001953125);
  CHECK(in<dv::fp16_format>(rounding_mode::nearest_away, 1.00146484375) == 1.001953125);
}

TEST_CASE("case 65: 0.9999 in bf16 is 1 to nearest and 0.99609375 toward zero") {
  CHECK(in<dv::bf16_format>(rounding_mode::nearest_even, 0.9999) == 1);
  CHECK(in<dv::bf16_format>(rounding_mode::nearest_away, 0.9999) == 1);
  CHECK(in<dv::bf16_format>(rounding_mode::toward_zero, 0.9999) == 0.99609375);
}

TEST_CASE("case 68: the smallest fp16 subnormal, by mode; flushing comes before the mode") {
  const double below_half = 0x1p-30;
  CHECK(in<dv::fp16_format>(rounding_mode::nearest_away, below_half) == 0);
  CHECK(in<dv::fp16_format>(rounding_mode::nearest_away, 0x1p-25) == 0x1p-24);
  CHECK(in<dv::fp16_format>(rounding_mode::upward, below_half) == 0x1p-24);
  CHECK(dv::bits(in<dv::fp16_format>(rounding_mode::upward, -below_half)) == dv::bits(-0.0));
  CHECK(in<dv::fp16_format>(rounding_mode::downward, -below_half) == -0x1p-24);
  CHECK(in<dv::fp16_format>(rounding_mode::to_odd, below_half) == 0x1p-24);
  CHECK(in<dv::fp16_format>(rounding_mode::to_odd, 2.5 * 0x1p-24) == 3 * 0x1p-24);
  CHECK(in<dv::fp16_format>(rounding_mode::toward_zero, 0x1.fffffp-15) == 0x1.ff8p-15);
  constexpr format flushing{5, 10, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush};
  CHECK(in<flushing>(rounding_mode::upward, 0x1.ffffffp-15) == 0);
}

TEST_CASE("case 69: which modes overflow, and where to") {
  const double infinite = oracle::infinite;
  CHECK(in<dv::fp8_e5m2_format>(rounding_mode::nearest_away, 61440) == infinite);
  CHECK(in<dv::fp8_e5m2_format>(rounding_mode::toward_zero, 1e30) == 57344);
  CHECK(in<dv::fp8_e5m2_format>(rounding_mode::upward, 57345) == infinite);
  CHECK(in<dv::fp8_e5m2_format>(rounding_mode::upward, -1e30) == -57344);
  CHECK(in<dv::fp8_e5m2_format>(rounding_mode::downward, 1e30) == 57344);
  CHECK(in<dv::fp8_e5m2_format>(rounding_mode::downward, -57345) == -infinite);
  CHECK(in<dv::fp8_e5m2_format>(rounding_mode::to_odd, 1e30) == 57344);
  CHECK(in<dv::fp8_e5m2_format>(rounding_mode::toward_zero, infinite) == infinite);
  CHECK(in<dv::fp8_e4m3_format>(rounding_mode::toward_zero, 1000) == 448);
  CHECK(std::isnan(in<dv::fp8_e4m3_format>(rounding_mode::toward_zero, infinite)));
  CHECK(std::isnan(in<dv::fp8_e4m3_format>(rounding_mode::nearest_away, 464)));
  CHECK(std::isnan(in<dv::fp8_e4m3_format>(rounding_mode::upward, 449)));
  CHECK(in<dv::fp8_e4m3_format>(rounding_mode::to_odd, 460) == 448);
  CHECK(in<dv::fp8_e4m3_saturating_format>(rounding_mode::upward, infinite) == 448);
}
