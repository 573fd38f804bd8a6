// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/arithmetic.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <deviate/number/named.hpp>
#include <deviate/number/runtime_format.hpp>

#include "number/mode_oracle.hpp"

namespace dv = deviate;
using dv::emulated;
using dv::format;
using dv::overflow_rule;
using dv::rounding_mode;
using dv::special_values;
using dv::subnormal_rule;

TEST_CASE("case 66: an addend of 2^-100 decides a tie, which rounding through float or double loses") {
  // Products of 9 bits are midpoints of bf16: 303 lies between 302 and 304, 505 between 504 and 506.
  const dv::bf16 three(3), five(5), factor(101), tiny(0x1p-100);
  CHECK(double(fma(three, factor, dv::bf16(0.0))) == 304);
  CHECK(double(fma(three, factor, tiny)) == 304);
  CHECK(double(fma(three, factor, -tiny)) == 302);
  CHECK(double(fma(five, factor, dv::bf16(0.0))) == 504);
  CHECK(double(fma(five, factor, tiny)) == 506);
  CHECK(double(fma(five, factor, -tiny)) == 504);
  // What the processor's fused multiply-add, rounded again, gives.
  CHECK(dv::round_to<dv::bf16_format>(std::fma(3.0f, 101.0f, -0x1p-100f)) == 304);
  CHECK(dv::round_to<dv::bf16_format>(std::fma(5.0, 101.0, 0x1p-100)) == 504);
}

TEST_CASE("a zero sum of different signs is -0 downward and +0 in every other mode") {
  const auto zero = []<rounding_mode Mode>() {
    using number = emulated<dv::bf16_format.rounded(Mode)>;
    const double expected = Mode == rounding_mode::downward ? -0.0 : 0.0;
    const auto same = [](number x, double y) { return oracle::bits_of(double(x)) == oracle::bits_of(y); };
    const number one(1.0), plus(0.0), minus(-0.0);
    CHECK(same(one - one, expected));
    CHECK(same(one + -one, expected));
    CHECK(same(fma(one, one, -one), expected));
    CHECK(same(plus + minus, expected));
    CHECK(same(minus - minus, expected));
    CHECK(same(fma(plus, one, minus), expected));
    CHECK(same(plus + plus, 0.0));
    CHECK(same(minus + minus, -0.0));
    CHECK(same(fma(plus, -one, minus), -0.0));
    CHECK(same(fma(plus, one, plus), 0.0));
    CHECK(same(plus * -one, -0.0));
  };
  zero.template operator()<rounding_mode::nearest_even>();
  zero.template operator()<rounding_mode::nearest_away>();
  zero.template operator()<rounding_mode::toward_zero>();
  zero.template operator()<rounding_mode::upward>();
  zero.template operator()<rounding_mode::downward>();
  zero.template operator()<rounding_mode::to_odd>();
}

#if defined(DEVIATE_TEST_MPFR)
namespace {

struct triple {
  double a, b, c;
};

/// Triples of one format that are hard for a fused multiply-add whose result has the same format.
class triples {
 public:
  triples(const format& f, std::uint64_t seed) : of_(f), pairs_(f, f, f, seed), random_(seed + 1) {}

  triple next() {
    const auto way = random_.next() % 8;
    const auto [a, b] = pairs_.next(oracle::operation::multiply);
    if (way == 0) return {a, b, pairs_.next(oracle::operation::add).first};
    if (way == 1) return {a, b, near(-a * b)};
    if (way == 2) return {a, b, tiny()};
    if (way == 3) {  // the product is half a unit in the last place of the addend, or beside it by 2^-2k
      const long k = random_.between(1, std::max(1L, of_.precision / 2)), exponent = random_.between(-20, 20);
      const double c = member(std::ldexp(double(random_.next() >> (64 - of_.precision) | 1), int(exponent)));
      const double ulp = std::ldexp(1.0, int(std::ilogb(c) - of_.precision));
      return {member(sign() * (1 + std::ldexp(1.0, int(-k)))), member(ulp * (1 - std::ldexp(1.0, int(-k)))), c};
    }
    if (way == 4) {
      const auto [c, d] = pairs_.next(oracle::operation::add);
      return {c, d, near(sign() * c * d)};
    }
    // A product of precision + 1 bits, the last one set: a midpoint. The addend says to which side.
    const int p = int(of_.precision), k = int(random_.between(2, p - 1));
    const double x = double(random_.next() >> (64 - k) | 1 | std::uint64_t(1) << (k - 1));
    const double y = double(random_.next() >> (64 - (p + 1 - k)) | 1 | std::uint64_t(1) << (p - k));
    const long e = random_.between(of_.quantum_exponent / 2, of_.max_exponent / 2);
    const double c = random_.next() % 4 == 0 ? pairs_.next(oracle::operation::add).first : tiny();
    return {member(sign() * std::ldexp(x, int(e))), member(std::ldexp(y, int(random_.between(-p, 3)))), c};
  }

 private:
  double sign() { return random_.next() & 1 ? -1.0 : 1.0; }
  double tiny() {
    const double units[] = {1, 0x1p3, std::ldexp(1.0, int(random_.between(0, -of_.quantum_exponent)))};
    return member(sign() * std::ldexp(units[random_.next() % 3], int(of_.quantum_exponent)));
  }
  double near(double x) {
    const oracle::limits& of = of_;
    exact_.value(x);
    const double y = exact_.rounded(of, rounding_mode::toward_zero);
    if (!std::isfinite(y)) return member(0);
    const double unit = std::ldexp(
        1.0, int(std::max(y == 0 ? of.min_exponent : long(std::ilogb(y)), of.min_exponent) - of.f.fraction_bits));
    return member(y + double(random_.between(-2, 2)) * unit);
  }
  double member(double x) {
    if (!oracle::is_member(of_, x) || std::isinf(x)) {
      exact_.value(x);
      x = exact_.rounded(of_, rounding_mode::toward_zero);
    }
    return x;
  }

  oracle::limits of_;
  oracle::operands pairs_;
  oracle::words random_;
  oracle::exact_result exact_;
};

using fused = double (*)(double, double, double);
template <format F>
double fused_in(double a, double b, double c) {
  using number = emulated<F>;
  using carrier = typename number::carrier_type;
  return double(
      fma(number::from_carrier(carrier(a)), number::from_carrier(carrier(b)), number::from_carrier(carrier(c))));
}
template <format F>
constexpr fused every_mode_of[6] = {&fused_in<F>,
                                    &fused_in<F.rounded(rounding_mode::nearest_away)>,
                                    &fused_in<F.rounded(rounding_mode::toward_zero)>,
                                    &fused_in<F.rounded(rounding_mode::upward)>,
                                    &fused_in<F.rounded(rounding_mode::downward)>,
                                    &fused_in<F.rounded(rounding_mode::to_odd)>};

void check_fma(const format& f, const fused (&functions)[6], long count, std::uint64_t seed) {
  const oracle::limits of(f);
  oracle::tally tally(oracle::name(f) + " fma");
  oracle::exact_result exact;
  triples hard(f, seed);
  for (long i = 0; i < count; ++i) {
    const auto [a, b, c] = hard.next();
    exact.fma(a, b, c);
    for (int mode = 0; mode < 6; ++mode)
      tally.compare(functions[mode](a, b, c), exact.rounded(of, oracle::every_mode[mode]), a, b, c, "mode", mode);
  }
  tally.expect(6 * count);
}

template <class Function>
void for_each_fma_format(Function f) {
  oracle::for_each_format<dv::bf16_format, dv::fp16_format, dv::tf32_format, dv::binary32, format{8, 13}, format{8, 15},
                          format{7, 16}, format{8, 24}, format{10, 20}, format{11, 25}, dv::fp8_e5m2_format,
                          dv::fp8_e4m3_format, dv::fp8_e4m3_saturating_format,
                          format{4, 3, special_values::negative_zero_nan, overflow_rule::nan, subnormal_rule::gradual,
                                 rounding_mode::nearest_even, 1},
                          format{3, 2, special_values::finite_only}>(f);
}

}  // namespace

TEST_CASE("fma in every mode: near midpoints, cancelling, with tiny addends; formats of every width") {
  for_each_fma_format([]<format F>() { check_fma(F, every_mode_of<F>, 20000, 31); });
}

TEST_CASE("fma in every mode: 2 * 10^5 hard triples of bf16 and of fp16") {
  oracle::for_each_format<dv::bf16_format, dv::fp16_format>(
      []<format F>() { check_fma(F, every_mode_of<F>, 200000, 32); });
}

TEST_CASE("slow: fma in every mode: 10^7 hard triples of bf16 and of fp16, 10^6 of the others") {
  oracle::for_each_format<dv::bf16_format, dv::fp16_format>(
      []<format F>() { check_fma(F, every_mode_of<F>, 10000000, 33); });
  for_each_fma_format([]<format F>() { check_fma(F, every_mode_of<F>, 1000000, 34); });
}

TEST_CASE("fma of every triple of e2m1 and of e3m1, in every mode") {
  oracle::for_each_format<format{2, 1}, format{2, 1, special_values::finite_only}, format{3, 1}>([]<format F>() {
    const oracle::limits of(F);
    oracle::tally tally(oracle::name(F) + " fma");
    oracle::exact_result exact;
    const std::uint64_t codes = std::uint64_t(1) << F.width();
    for (std::uint64_t i = 0; i < codes * codes * codes; ++i) {
      const double a = oracle::decoded(of, i % codes), b = oracle::decoded(of, i / codes % codes),
                   c = oracle::decoded(of, i / codes / codes);
      exact.fma(a, b, c);
      for (int mode = 0; mode < 6; ++mode)
        tally.compare(every_mode_of<F>[mode](a, b, c), exact.rounded(of, oracle::every_mode[mode]), a, b, c, mode);
    }
    tally.expect(long(6 * codes * codes * codes));
  });
}

TEST_CASE("fma at sites: doubles, mixed operands, run-time formats, packs") {
  const dv::rounding_site<dv::bf16> site;
  const dv::rounding_site<float> single;
  const dv::rounding_site<double> whole;
  using wide = dv::wide_runtime;
  const dv::rounding_site<wide> chosen(
      dv::scalar_traits<wide>::rounder(dv::fp16_format.rounded(rounding_mode::upward)));
  const oracle::limits of_bf16(dv::bf16_format), of_float(dv::binary32), of_double(dv::binary64),
      of_fp16(dv::fp16_format);
  oracle::tally tally("fma at sites");
  oracle::exact_result exact;
  triples hard(dv::binary64, 41), narrow(dv::binary32, 42);
  for (int i = 0; i < 40000; ++i) {
    dv::fragment<double, 4> x, y, z;
    dv::fragment<float, 4> u, v, w;
    triple doubles[4], floats[4];
    for (int lane = 0; lane < 4; ++lane) {
      const auto [a, b, c] = doubles[lane] = hard.next();
      x.value.set(lane, a);
      y.value.set(lane, b);
      z.value.set(lane, c);
      const auto [d, e, f] = floats[lane] = narrow.next();
      u.value.set(lane, float(d));
      v.value.set(lane, float(e));
      w.value.set(lane, float(f));
    }
    const auto in_bf16 = site.fma(x, y, z), of_floats = site.fma(u, v, w), mixed = site.fma(u, v, z);
    const auto in_float = single.fma(x, y, z), float_of_floats = single.fma(u, v, w);
    const auto in_double = whole.fma(x, y, z);
    const auto in_fp16 = chosen.fma(x, y, z);
    for (int lane = 0; lane < 4; ++lane) {
      const auto [a, b, c] = doubles[lane];
      const auto [d, e, f] = floats[lane];
      exact.fma(a, b, c);
      tally.compare(double(in_bf16.value[lane]), exact.rounded(of_bf16, rounding_mode::nearest_even), a, b, c);
      tally.compare(double(in_float.value[lane]), exact.rounded(of_float, rounding_mode::nearest_even), a, b, c);
      tally.compare(in_double.value[lane], exact.rounded(of_double, rounding_mode::nearest_even), a, b, c);
      tally.compare(in_fp16.value[lane], exact.rounded(of_fp16, rounding_mode::upward), a, b, c);
      tally.compare(double(site.fma(dv::fragment<double>{a}, dv::fragment<double>{b}, dv::fragment<double>{c}).value),
                    double(in_bf16.value[lane]), a, b, c);
      exact.fma(d, e, f);
      tally.compare(double(of_floats.value[lane]), exact.rounded(of_bf16, rounding_mode::nearest_even), d, e, f);
      tally.compare(double(float_of_floats.value[lane]), exact.rounded(of_float, rounding_mode::nearest_even), d, e, f);
      exact.fma(d, e, c);
      tally.compare(double(mixed.value[lane]), exact.rounded(of_bf16, rounding_mode::nearest_even), d, e, c);
    }
  }
  tally.expect(1280000);
}
#endif
