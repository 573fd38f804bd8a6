// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/arithmetic.hpp>

#include <doctest/doctest.h>

#include <deviate/number/named.hpp>
#include <vector>

#include "number/oracle.hpp"

namespace dv = deviate;
using dv::emulated;
using dv::format;
using dv::overflow_rule;
using dv::special_values;
using dv::subnormal_rule;
using oracle::operation;

namespace {

/// Operands are of one format: a mixture must name the site that rounds.
template <class A, class B>
concept addable = requires(A a, B b) {
  a + b;
};
static_assert(addable<dv::bf16, dv::bf16> && !addable<dv::bf16, dv::fp16> && !addable<dv::bf16, float> &&
              !addable<dv::bf16, int>);

// The widest format that float computes, and the widest that double does.
static_assert(dv::scalar_traits<dv::fp16>::innocuous_in_float && dv::scalar_traits<dv::bf16>::innocuous_in_float);
static_assert(!dv::scalar_traits<dv::tf32>::innocuous_in_float && dv::scalar_traits<dv::tf32>::innocuous_in_double);
static_assert(!dv::scalar_traits<dv::binary_number<11, 25>>::innocuous_in_double);

template <class T>
T apply(operation op, const T& a, const T& b) {
  switch (op) {
    case operation::add: return a + b;
    case operation::subtract: return a - b;
    case operation::multiply: return a * b;
    case operation::divide: return a / b;
    default: return sqrt(a);
  }
}

template <class Site, class A, class B, int W>
auto apply_at(const Site& site, operation op, const dv::fragment<A, W>& a, const dv::fragment<B, W>& b) {
  switch (op) {
    case operation::add: return site.add(a, b);
    case operation::subtract: return site.subtract(a, b);
    case operation::multiply: return site.multiply(a, b);
    case operation::divide: return site.divide(a, b);
    default: return site.sqrt(a);
  }
}

/// A member as the carrier of a scalar; `in` is the format that the operands are drawn from.
template <class A>
dv::fragment<A, 1> member(double x) {
  return {static_cast<dv::carrier_of<A>>(x)};
}

constexpr format e4m3 = dv::fp8_e4m3_format, e4m3_saturating = dv::fp8_e4m3_saturating_format;
constexpr format e5m2_saturating{5, 2, special_values::ieee, overflow_rule::saturate};
constexpr format e5m2_flushing{5, 2, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush};
constexpr format e4m3_saturating_finite{4, 3, special_values::nan_only, overflow_rule::saturate_finite};

}  // namespace

// ---- Contraction ----------------------------------------------------------------------------------------------------

TEST_CASE("a*b + c is two roundings: fails where the compiler contracts (-ffp-contract=off, -fmad=false)") {
  volatile float a = 1 + 0x1p-12f, c = -(1 + 0x1p-11f);
  volatile double x = 1 + 0x1p-27, z = -(1 + 0x1p-26);
  CHECK(a * a + c == 0.0f);  // fused: 2^-24
  CHECK(x * x + z == 0.0);   // fused: 2^-54
  const dv::rounding_site<float> single;
  const dv::rounding_site<double> whole;
  const dv::fragment<float> fa{a}, fc{c};
  const float lane_a = a, lane_c = c;
  const dv::fragment<double> dx{x}, dz{z};
  CHECK(single.add(single.multiply(fa, fa), fc).value == 0.0f);
  CHECK(single.subtract(fc, single.multiply(fa, fa)).value == 2 * fc.value);
  CHECK(whole.add(whole.multiply(dx, dx), dz).value == 0.0);
  const auto packed_a = dv::fill<float, 8>(lane_a), packed_c = dv::fill<float, 8>(lane_c);
  const auto packed = single.add(single.multiply(packed_a, packed_a), packed_c);
  for (int lane = 0; lane < 8; ++lane) CHECK(packed.value[lane] == 0.0f);
}

// ---- Named cases ----------------------------------------------------------------------------------------------------

namespace {
/// Ones added one after the other, or in k lanes that are added in order at the end.
template <class N>
double sum_of_ones(int count, int lanes = 1) {
  std::vector<N> partial(std::size_t(lanes), N(0));
  for (int i = 0; i < count; ++i) partial[std::size_t(i % lanes)] = partial[std::size_t(i % lanes)] + N(1);
  N sum = partial[0];
  for (int i = 1; i < lanes; ++i) sum = sum + partial[std::size_t(i)];
  return double(sum);
}
}  // namespace

TEST_CASE("case 13: sums of ones stall where the spacing is 2, and lanes stall later") {
  CHECK(sum_of_ones<dv::fp16>(4096) == 2048);
  CHECK(sum_of_ones<dv::fp16>(20000, 8) == 16384);
  CHECK(sum_of_ones<dv::bf16>(70000) == 256);
  CHECK(double(dv::bf16(70000)) == 70144);
}

TEST_CASE("case 21: 4064 codes times 2100/127 overflow fp16, times 2040/127 they do not; binary32 holds both") {
  const auto scaled = []<class S>(S, double activation) {
    const dv::rounding_site<S> site;
    const auto codes = dv::fragment<double>{32 * 127};
    return double(site.multiply(codes, dv::fragment<double>{activation / 127}).value);
  };
  CHECK(scaled(dv::fp16{}, 2100) == oracle::infinite);
  CHECK(scaled(dv::fp16{}, 2040) == 65280);
  CHECK(scaled(emulated<format{5, 10, special_values::ieee, overflow_rule::saturate}>{}, 2100) == 65504);
  CHECK(scaled(emulated<dv::binary32>{}, 2100) == 67200);
  CHECK(scaled(float{}, 2040) == 65280);
}

TEST_CASE("case 29: two masks add up to minus infinity") {
  CHECK(double(dv::fp16(-65504) + dv::fp16(-16)) == -oracle::infinite);
  CHECK(double(dv::fp16(-65504) + dv::fp16(-15)) == -65504);
  const dv::bf16 lowest(-0x1.fep127);
  CHECK(double(lowest + lowest) == -oracle::infinite);
  CHECK(double(lowest + dv::bf16(10)) == -0x1.fep127);
  CHECK(double(lowest + dv::bf16(-16)) == -0x1.fep127);
}

TEST_CASE("case 50: one rounding of a product against three") {
  const double p = 0.5720843672752380, x = 1.0267283916473389;
  const dv::rounding_site<dv::bf16> site;
  CHECK(site.multiply(dv::fragment<double>{p}, dv::fragment<double>{x}).value == 0.5859375f);
  CHECK(double(dv::bf16(p) * dv::bf16(x)) == 0.58203125);
}

TEST_CASE("case 66: one operation in float on bf16 operands, rounded again, is right") {
  // The sum is near a midpoint; the general path and the theorem's path agree.
  const dv::bf16 a(1.0), b(0x1p-8 + 0x1p-15);
  CHECK(double(a + b) == 1.0078125);
  const dv::rounding_site<dv::bf16> site;
  CHECK(site.add(dv::fragment<double>{1 + 0x1p-8}, dv::fragment<double>{0x1p-30}).value == 1.0078125f);
  CHECK(site.round(dv::fragment<double>{1 + 0x1p-8 + 0x1p-30}).value == 1.0078125f);
  // An addend far below the last bit of double still decides the tie.
  CHECK(site.add(dv::fragment<double>{1 + 0x1p-8}, dv::fragment<double>{0x1p-1000}).value == 1.0078125f);
  CHECK(site.subtract(dv::fragment<double>{1 + 0x1p-8}, dv::fragment<double>{0x1p-1000}).value == 1.0f);
}

TEST_CASE("case 68: a gradient's product falls out of fp16's subnormals, or just does not") {
  CHECK(double(dv::fp16(0x1p-12) * dv::fp16(0x1p-14)) == 0);
  CHECK(double(dv::fp16(3 * 0x1p-12) * dv::fp16(0x1p-14)) == 0x1p-24);
}

TEST_CASE("case 76: sequential narrow sums are what the format says, not a matrix product's") {
  CHECK(sum_of_ones<dv::bf16>(1024) == 256);
  CHECK(sum_of_ones<dv::fp16>(20000) == 2048);
}

// ---- Packs ----------------------------------------------------------------------------------------------------------

namespace {

template <class S>
bool same_lane(dv::carrier_of<S> a, dv::carrier_of<S> b) {
  // The NaN of a processor's own operation has no promised sign.
  if (a != a && b != b) return std::is_floating_point_v<S> || dv::bits(a) == dv::bits(b);
  return dv::bits(a) == dv::bits(b);
}

template <int W, class S, class A, class B>
void check_lanes(const dv::rounding_site<S>& site, const format& s, const format& a, const format& b,
                 const std::string& what) {
  oracle::tally tally(what + " in lanes");
  for (auto op :
       {operation::add, operation::subtract, operation::multiply, operation::divide, operation::square_root}) {
    oracle::operands pairs(a, b, s, 99);
    for (int i = 0; i < 4000; i += W) {
      dv::fragment<A, W> x;
      dv::fragment<B, W> y;
      for (int lane = 0; lane < W; ++lane) {
        const auto [p, q] = pairs.next(op);
        x.value.set(lane, static_cast<dv::carrier_of<A>>(op == operation::square_root ? std::fabs(p) : p));
        y.value.set(lane, static_cast<dv::carrier_of<B>>(q));
      }
      const auto ours = apply_at(site, op, x, y);
      const auto rounded = site.round(x);
      for (int lane = 0; lane < W; ++lane) {
        const dv::fragment<A, 1> plain{x.value[lane]};
        const auto right = apply_at(site, op, plain, dv::fragment<B, 1>{y.value[lane]});
        tally.compare(same_lane<S>(ours.value[lane], right.value), 1, oracle::name(op), x.value[lane], y.value[lane]);
        tally.compare(same_lane<S>(rounded.value[lane], site.round(plain).value), 1, "round", x.value[lane]);
      }
    }
  }
  tally.expect(40000);
}

template <class S>
constexpr format format_of() {
  return dv::scalar_traits<S>::holds;
}

template <class S, class A, class B>
void check_every_width(const std::string& what) {
  const dv::rounding_site<S> site;
  const format s = format_of<S>(), a = format_of<A>(), b = format_of<B>();
  check_lanes<2, S, A, B>(site, s, a, b, what);
  check_lanes<4, S, A, B>(site, s, a, b, what);
  check_lanes<8, S, A, B>(site, s, a, b, what);
  check_lanes<16, S, A, B>(site, s, a, b, what);
}

}  // namespace

TEST_CASE("packs of 2, 4, 8 and 16 have the bits of plain operations") {
  check_every_width<dv::bf16, dv::bf16, dv::bf16>("bf16");
  check_every_width<dv::tf32, dv::tf32, dv::tf32>("tf32");
  check_every_width<float, float, float>("float");
  check_every_width<double, double, double>("double");
  check_every_width<dv::fp8_e4m3, dv::fp8_e4m3, dv::fp8_e4m3>("e4m3");
  check_every_width<dv::bf16, float, dv::bf16>("bf16 of float and bf16");
  check_every_width<dv::fp16, double, float>("fp16 of double and float");
  check_every_width<float, double, double>("float of double");
  check_every_width<double, float, dv::bf16>("double of float and bf16");
  check_every_width<dv::binary_number<11, 25>, double, dv::binary_number<11, 25>>("e11m25");
}

// ---- MPFR -----------------------------------------------------------------------------------------------------------

#if defined(DEVIATE_TEST_MPFR)
TEST_CASE("+ - * / sqrt of every pair of numbers: formats of at most 8 bits") {
  oracle::for_each_format<e4m3, e4m3_saturating, e4m3_saturating_finite, format{4, 3}, dv::fp8_e5m2_format,
                          e5m2_saturating, e5m2_flushing, format{3, 2}, format{2, 3}, format{2, 1}, format{3, 4},
                          format{6, 1}, format{2, 5}>([]<format F>() {
    using number = emulated<F>;
    oracle::judge judge(F);
    oracle::tally tally(oracle::name(F));
    const std::uint64_t codes = std::uint64_t(1) << F.width();
    for (std::uint64_t i = 0; i < codes; ++i) {
      const number a(oracle::decoded(judge.of, i));
      tally.compare(double(sqrt(a)), judge.apply(operation::square_root, double(a)), double(a));
      for (std::uint64_t j = 0; j < codes; ++j) {
        const number b(oracle::decoded(judge.of, j));
        for (auto op : oracle::binary_operations)
          tally.compare(double(apply(op, a, b)), judge.apply(op, double(a), double(b)), double(a), oracle::name(op),
                        double(b));
      }
    }
    tally.expect(long(4 * codes * codes));
  });
}

namespace {
template <format F>
void check_random_pairs(long count, std::uint64_t seed) {
  using number = emulated<F>;
  oracle::judge judge(F);
  for (auto op : oracle::binary_operations) {
    oracle::tally tally(oracle::name(F) + " " + oracle::name(op));
    oracle::operands pairs(F, F, F, seed);
    for (long i = 0; i < count; ++i) {
      const auto [a, b] = pairs.next(op);
      const number ours = apply(op, number(a), number(b));
      tally.compare(double(ours), judge.apply(op, a, b), a, b);
      if (ours != ours)
        tally.compare(
            dv::bits(ours.carrier()) == dv::bits(std::numeric_limits<typename number::carrier_type>::quiet_NaN()), 1,
            "canonical NaN", a, b);
    }
    tally.expect(count);
  }
  oracle::tally tally(oracle::name(F) + " sqrt");
  oracle::operands numbers(F, F, F, seed);
  for (long i = 0; i < count / 4; ++i) {
    const double a = numbers.next(operation::add).first;
    for (double x : {a, std::fabs(a)})
      tally.compare(double(sqrt(number(x))), judge.apply(operation::square_root, x), x);
  }
  tally.expect();
}

template <class Function>
void for_each_wider_format(Function f) {
  oracle::for_each_format<dv::bf16_format, dv::fp16_format, dv::tf32_format, format{8, 8}, format{8, 16}, dv::binary32,
                          format{8, 24}, format{11, 25}, format{11, 10}, format{11, 16}, format{11, 17}, format{5, 15},
                          format{5, 25}, format{10, 24}, format{9, 12}, format{7, 7},
                          format{8, 7, special_values::ieee, overflow_rule::saturate},
                          format{7, 7, special_values::ieee, overflow_rule::saturate_finite},
                          format{8, 7, special_values::ieee, overflow_rule::saturate_finite},
                          format{10, 12, special_values::ieee, overflow_rule::saturate_finite},
                          format{11, 25, special_values::ieee, overflow_rule::saturate_finite},
                          format{8, 7, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush},
                          format{8, 10, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush},
                          format{11, 25, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush}>(f);
}
}  // namespace

TEST_CASE("+ - * / sqrt of hard pairs: formats of more than 8 bits") {
  for_each_wider_format([]<format F>() { check_random_pairs<F>(200000, 2014); });
}

TEST_CASE("slow: + - * / sqrt of 5 million hard pairs: formats of more than 8 bits") {
  for_each_wider_format([]<format F>() { check_random_pairs<F>(5000000, 2015); });
}

TEST_CASE("sqrt of every bf16 and every fp16") {
  oracle::for_each_format<dv::bf16_format, dv::fp16_format>([]<format F>() {
    oracle::judge judge(F);
    oracle::tally tally(oracle::name(F) + " sqrt");
    for (std::uint64_t code = 0; code < 65536; ++code) {
      const double x = oracle::decoded(judge.of, code);
      tally.compare(double(sqrt(emulated<F>(x))), judge.apply(operation::square_root, x), x);
    }
    tally.expect(65536);
  });
}

// ---- Sites whose operands are of other formats ----------------------------------------------------------------------

namespace {

using e8m16 = dv::binary_number<8, 16>;
using e11m25 = dv::binary_number<11, 25>;

template <class S, class A, class B>
void check_site(oracle::tally& tally, oracle::judge& judge, const dv::rounding_site<S>& site, const format& a,
                const format& b, int count) {
  for (auto op :
       {operation::add, operation::subtract, operation::multiply, operation::divide, operation::square_root}) {
    oracle::operands pairs(a, b, judge.of.f, 77);
    for (int i = 0; i < count; ++i) {
      const auto [x, y] = pairs.next(op);
      const auto ours = apply_at(site, op, member<A>(x), member<B>(y));
      tally.compare(double(ours.value), judge.apply(op, x, y), x, oracle::name(op), y);
      tally.compare(double(site.round(member<A>(x)).value), judge.round(x), x);
    }
  }
}

/// Every pair of operand scalars, at a site of S.
template <class S, class... As>
void check_site_with_every_pair(int count) {
  constexpr format s = format_of<S>();
  oracle::judge judge(s);
  oracle::tally tally("site " + oracle::name(s));
  const dv::rounding_site<S> site;
  const auto with_first = [&]<class A>(A) {
    (check_site<S, A, As>(tally, judge, site, format_of<A>(), format_of<As>(), count), ...);
  };
  (with_first(As{}), ...);
  tally.expect(long(10 * count * int(sizeof...(As)) * int(sizeof...(As))));
}

template <class S>
void check_site_with_usual_operands(int count) {
  check_site_with_every_pair<S, float, double, dv::bf16, e11m25, dv::fp8_e4m3>(count);
}

}  // namespace

TEST_CASE("sites of bf16, fp16, tf32, e4m3, e8m16, e11m25, float and double: operands of every other format") {
  check_site_with_usual_operands<dv::bf16>(2000);
  check_site_with_usual_operands<dv::fp16>(2000);
  check_site_with_usual_operands<dv::tf32>(2000);
  check_site_with_usual_operands<dv::fp8_e4m3>(2000);
  check_site_with_usual_operands<dv::fp8_e4m3_saturating>(2000);
  check_site_with_usual_operands<emulated<e4m3_saturating_finite>>(2000);
  check_site_with_usual_operands<emulated<format{8, 7, special_values::ieee, overflow_rule::saturate_finite}>>(2000);
  check_site_with_usual_operands<
      emulated<format{8, 7, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush}>>(2000);
  check_site_with_usual_operands<e8m16>(2000);
  check_site_with_usual_operands<e11m25>(2000);
  check_site_with_usual_operands<float>(2000);
  check_site_with_usual_operands<double>(2000);
}

TEST_CASE("slow: sites whose operands are of every other format") {
  check_site_with_usual_operands<dv::bf16>(100000);
  check_site_with_usual_operands<dv::fp16>(100000);
  check_site_with_usual_operands<dv::tf32>(100000);
  check_site_with_usual_operands<dv::fp8_e4m3>(100000);
  check_site_with_usual_operands<e8m16>(100000);
  check_site_with_usual_operands<e11m25>(100000);
  check_site_with_usual_operands<float>(100000);
  check_site_with_usual_operands<double>(100000);
}
#endif
