// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/runtime_format.hpp>

#include <doctest/doctest.h>

#include <deviate/number/arithmetic.hpp>
#include <deviate/number/named.hpp>
#include <vector>

#include "number/oracle.hpp"

namespace dv = deviate;
using dv::format;
using dv::overflow_rule;
using dv::special_values;
using dv::subnormal_rule;
using oracle::operation;

namespace {

static_assert(dv::scalar_traits<dv::narrow_runtime>::is_runtime && !dv::scalar_traits<dv::bf16>::is_runtime);
static_assert(!std::is_convertible_v<dv::narrow_runtime, float> && !std::is_constructible_v<dv::narrow_runtime, float>,
              "only a site knows the format");

constexpr operation every_operation[] = {operation::add, operation::subtract, operation::multiply, operation::divide,
                                         operation::square_root};

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

template <class S>
dv::rounding_site<S> site_of(const format& f, bool operands_share_it) {
  return dv::rounding_site<S>(typename dv::scalar_traits<S>::rounder(f, operands_share_it));
}

std::vector<format> formats() {
  return {dv::bf16_format,
          dv::fp16_format,
          dv::tf32_format,
          dv::fp8_e4m3_format,
          dv::fp8_e4m3_saturating_format,
          dv::fp8_e5m2_format,
          {2, 1},
          {8, 8},
          {8, 16},
          {8, 23},
          {5, 15},
          {7, 7, special_values::ieee, overflow_rule::saturate_finite},
          {8, 7, special_values::ieee, overflow_rule::saturate_finite},
          {5, 10, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush},
          {11, 25},
          {11, 10},
          {10, 20},
          {9, 12},
          {11, 16, special_values::ieee, overflow_rule::saturate_finite}};
}

}  // namespace

#if defined(DEVIATE_TEST_MPFR)
namespace {

/// Members of f at a site of f, with and without the promise that they are; then packs of them.
template <class S>
void check_members(const format& f, int count) {
  using C = dv::carrier_of<S>;
  oracle::judge judge(f);
  for (bool promise : {false, true}) {
    const auto site = site_of<S>(f, promise);
    oracle::tally tally(oracle::name(f) + (promise ? " promised" : ""));
    for (auto op : every_operation) {
      oracle::operands pairs(f, f, f, 21);
      for (int i = 0; i < count; i += 8) {
        dv::fragment<S, 8> a, b;
        for (int lane = 0; lane < 8; ++lane) {
          const auto [x, y] = pairs.next(op);
          a.value.set(lane, C(x));
          b.value.set(lane, C(y));
        }
        const auto together = apply_at(site, op, a, b);
        for (int lane = 0; lane < 8; ++lane) {
          const dv::fragment<S, 1> x{a.value[lane]}, y{b.value[lane]};
          const C plain = apply_at(site, op, x, y).value;
          tally.compare(double(plain), judge.apply(op, double(x.value), double(y.value)), x.value, oracle::name(op),
                        y.value);
          tally.compare(dv::bits(plain) == dv::bits(together.value[lane]), 1, "lanes", x.value, oracle::name(op),
                        y.value);
        }
      }
    }
    tally.expect(10L * count);
  }
}

/// Operands of other scalars at a site of f.
template <class S, class A, class B>
void check_mixed(const format& f, const format& a, const format& b, int count) {
  oracle::judge judge(f);
  const auto site = site_of<S>(f, false);
  oracle::tally tally(oracle::name(f) + " of " + oracle::name(a) + " and " + oracle::name(b));
  for (auto op : every_operation) {
    oracle::operands pairs(a, b, f, 22);
    for (int i = 0; i < count; ++i) {
      const auto [x, y] = pairs.next(op);
      const dv::fragment<A, 1> p{dv::carrier_of<A>(x)};
      const dv::fragment<B, 1> q{dv::carrier_of<B>(y)};
      tally.compare(double(apply_at(site, op, p, q).value), judge.apply(op, x, y), x, oracle::name(op), y);
      tally.compare(double(site.round(p).value), judge.round(x), x);
    }
  }
  tally.expect(10L * count);
}

template <class S>
void check_mixtures(const format& f, int count) {
  constexpr format e11m25{11, 25}, e8m16{8, 16};
  check_mixed<S, float, float>(f, dv::binary32, dv::binary32, count);
  check_mixed<S, double, float>(f, dv::binary64, dv::binary32, count);
  check_mixed<S, double, double>(f, dv::binary64, dv::binary64, count);
  check_mixed<S, dv::bf16, dv::binary_number<11, 25>>(f, dv::bf16_format, e11m25, count);
  check_mixed<S, dv::narrow_runtime, dv::bf16>(f, dv::fp16_format, dv::bf16_format, count);
  check_mixed<S, dv::medium_runtime, dv::narrow_runtime>(f, e8m16, dv::bf16_format, count);
  check_mixed<S, dv::wide_runtime, dv::medium_runtime>(f, e11m25, e8m16, count);
  check_mixed<S, S, dv::wide_runtime>(f, f, e11m25, count);
}

}  // namespace

TEST_CASE("run-time formats: members, in every form that holds them, plain and in packs: MPFR") {
  for (const format& f : formats()) {
    if (f.subset_of(dv::binary32)) {
      check_members<dv::narrow_runtime>(f, 16000);
      check_members<dv::medium_runtime>(f, 16000);
    }
    check_members<dv::wide_runtime>(f, 16000);
  }
}

TEST_CASE("run-time formats: operands of other scalars: MPFR") {
  for (const format& f : formats()) {
    if (f.subset_of(dv::binary32)) {
      check_mixtures<dv::narrow_runtime>(f, 1500);
      check_mixtures<dv::medium_runtime>(f, 1500);
    }
    check_mixtures<dv::wide_runtime>(f, 1500);
  }
}

TEST_CASE("compile-time sites take operands of run-time formats: MPFR") {
  const auto check = []<class S, class A, class B>(S, A, B, const format& a, const format& b) {
    oracle::judge judge(dv::scalar_traits<S>::holds);
    const dv::rounding_site<S> site;
    oracle::tally tally(oracle::name(judge.of.f));
    for (auto op : every_operation) {
      oracle::operands pairs(a, b, judge.of.f, 23);
      for (int i = 0; i < 5000; ++i) {
        const auto [x, y] = pairs.next(op);
        const auto p = dv::fragment<A, 1>{dv::carrier_of<A>(x)};
        const auto q = dv::fragment<B, 1>{dv::carrier_of<B>(y)};
        tally.compare(double(apply_at(site, op, p, q).value), judge.apply(op, x, y), x, oracle::name(op), y);
      }
    }
    tally.expect(25000);
  };
  const auto with_each_site = [&](auto a, auto b, const format& f, const format& g) {
    check(dv::bf16{}, a, b, f, g);
    check(dv::fp16{}, a, b, f, g);
    check(dv::fp8_e4m3{}, a, b, f, g);
    check(dv::binary_number<11, 25>{}, a, b, f, g);
    check(float{}, a, b, f, g);
    check(double{}, a, b, f, g);
  };
  with_each_site(dv::narrow_runtime{}, dv::narrow_runtime{}, dv::bf16_format, dv::fp16_format);
  with_each_site(dv::medium_runtime{}, float{}, format{8, 16}, dv::binary32);
  with_each_site(dv::wide_runtime{}, dv::bf16{}, format{11, 25}, dv::bf16_format);
}
#endif

TEST_CASE("a run-time format has the bits of the same format at compile time") {
  const auto check = []<class S, format F>(S) {
    using number = dv::emulated<F>;
    const auto chosen = site_of<S>(F, true);
    const dv::rounding_site<number> named;
    oracle::tally tally(oracle::name(F));
    for (auto op : every_operation) {
      oracle::operands pairs(F, F, F, 24);
      for (int i = 0; i < 20000; ++i) {
        const auto [x, y] = pairs.next(op);
        const dv::fragment<S, 1> a{dv::carrier_of<S>(x)}, b{dv::carrier_of<S>(y)};
        const dv::fragment<number, 1> p{dv::carrier_of<number>(x)}, q{dv::carrier_of<number>(y)};
        const auto ours = apply_at(chosen, op, a, b).value;
        const auto right = apply_at(named, op, p, q).value;
        tally.compare(dv::bits(double(ours)) == dv::bits(double(right)), 1, x, oracle::name(op), y);
      }
    }
    tally.expect(100000);
  };
  check.operator()<dv::narrow_runtime, dv::bf16_format>({});
  check.operator()<dv::narrow_runtime, dv::fp16_format>({});
  check.operator()<dv::narrow_runtime, dv::fp8_e4m3_format>({});
  check.operator()<dv::medium_runtime, dv::tf32_format>({});
  check.operator()<dv::medium_runtime, format{8, 16}>({});
  check.operator()<dv::wide_runtime, format{11, 25}>({});
}

TEST_CASE("a promise is taken only where the theorem covers the format") {
  using narrow = dv::scalar_traits<dv::narrow_runtime>::rounder;
  using medium = dv::scalar_traits<dv::medium_runtime>::rounder;
  CHECK(narrow(dv::bf16_format, true).operands_are_members);
  CHECK_FALSE(narrow(dv::bf16_format).operands_are_members);
  CHECK_FALSE(narrow(dv::tf32_format, true).operands_are_members);
  CHECK(medium(dv::tf32_format, true).operands_are_members);
  CHECK_FALSE(dv::scalar_traits<dv::wide_runtime>::rounder({11, 25}, true).operands_are_members);
}
