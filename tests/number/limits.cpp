// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/limits.hpp>

#include <doctest/doctest.h>

#include <deviate/number/named.hpp>

#include <cmath>
#include <limits>
#include <string>

#include "number/oracle.hpp"

namespace dv = deviate;
using dv::emulated;
using dv::format;
using dv::overflow_rule;
using dv::rounding_mode;
using dv::special_values;
using dv::subnormal_rule;

namespace {

template <class T>
using limits = std::numeric_limits<T>;

// finfo of ml_dtypes 0.6.0 and, for fp16, of NumPy 2.4.6.
struct finfo {
  double max, tiny, smallest_subnormal, eps;
  int nmant, maxexp, minexp;
};
template <class T>
void check_finfo(const finfo& theirs) {
  CHECK(double(limits<T>::max()) == theirs.max);
  CHECK(double(limits<T>::lowest()) == -theirs.max);
  CHECK(double(limits<T>::min()) == theirs.tiny);
  CHECK(double(limits<T>::denorm_min()) == theirs.smallest_subnormal);
  CHECK(double(limits<T>::epsilon()) == theirs.eps);
  CHECK(limits<T>::digits == theirs.nmant + 1);
  // finfo's exponents are of 2^e in [1, 2): one less than the standard's, but its maxexp is one beyond the largest.
  CHECK(limits<T>::max_exponent == theirs.maxexp);
  CHECK(limits<T>::min_exponent == theirs.minexp + 1);
}

/// What the standard says of each member, from the format's list of codes and by counting.
template <format F>
void check_definitions() {
  using T = emulated<F>;
  using L = limits<T>;
  const oracle::limits of(F);
  INFO(oracle::name(F));
  double largest = 0, smallest_normal = oracle::infinite, smallest = oracle::infinite;
  bool infinity = false, nan = false;
  for (std::uint64_t code = 0; code < std::uint64_t(1) << (F.width() - 1); ++code) {
    const double x = oracle::decoded(of, code);
    infinity = infinity || std::isinf(x);
    nan = nan || std::isnan(x);
    if (!std::isfinite(x) || x == 0 || (of.flush && x < of.min_normal)) continue;
    largest = std::max(largest, x);
    smallest = std::min(smallest, x);
    if (code >> F.fraction_bits != 0) smallest_normal = std::min(smallest_normal, x);
  }
  nan = nan || of.one_zero;
  CHECK(double(L::max()) == largest);
  CHECK(double(L::lowest()) == -largest);
  CHECK(double(L::min()) == smallest_normal);
  CHECK(double(L::denorm_min()) == smallest);
  CHECK(L::has_infinity == infinity);
  CHECK(L::has_quiet_NaN == nan);
  CHECK(std::isnan(double(L::quiet_NaN())));
  CHECK((L::has_denorm == std::denorm_present) == (smallest < smallest_normal));
  const double infinite = infinity ? oracle::infinite : double(T(oracle::infinite));
  CHECK(oracle::bits_of(double(L::infinity())) == oracle::bits_of(infinite));
  // The next number after 1.
  const double next = double(emulated<F.rounded(rounding_mode::upward)>(std::nextafter(1.0, 2.0)));
  CHECK(double(L::epsilon()) == std::max(next - 1, smallest));
  CHECK(std::ldexp(0.5, L::max_exponent) <= largest);
  CHECK(std::ldexp(1.0, L::max_exponent) > largest);
  CHECK(std::ldexp(0.5, L::min_exponent) == smallest_normal);
  // 10^n in exact integers: none of these has more than 53 bits, or is near a power of two.
  CHECK(std::pow(10.0L, L::max_exponent10) <= largest);
  CHECK(std::pow(10.0L, L::max_exponent10 + 1) > largest);
  CHECK(std::pow(10.0L, L::min_exponent10) >= smallest_normal);
  CHECK(std::pow(10.0L, L::min_exponent10 - 1) < smallest_normal);
  CHECK(L::digits10 == int(std::floor((L::digits - 1) * std::log10(2.0L))));
  CHECK(L::max_digits10 == int(std::ceil(1 + L::digits * std::log10(2.0L))));
}

template <format F>
constexpr bool iec559 = limits<emulated<F>>::is_iec559;
template <format F>
constexpr std::float_round_style style = limits<emulated<F>>::round_style;
constexpr format half = dv::fp16_format;

static_assert(iec559<half> && iec559<dv::binary32> && iec559<half.rounded(rounding_mode::upward)>);
static_assert(!iec559<dv::bf16_format> && !iec559<dv::tf32_format> && !iec559<dv::fp8_e5m2_format> &&
              !iec559<dv::fp8_e4m3_format> && !iec559<half.rounded(rounding_mode::to_odd)>);
static_assert(!iec559<format{5, 10, special_values::ieee, overflow_rule::saturate}>);
static_assert(!iec559<format{5, 10, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush}>);
static_assert(style<half> == std::round_to_nearest &&
              style<half.rounded(rounding_mode::nearest_away)> == std::round_to_nearest &&
              style<half.rounded(rounding_mode::toward_zero)> == std::round_toward_zero &&
              style<half.rounded(rounding_mode::upward)> == std::round_toward_infinity &&
              style<half.rounded(rounding_mode::downward)> == std::round_toward_neg_infinity &&
              style<half.rounded(rounding_mode::to_odd)> == std::round_indeterminate);
using fp16_limits = limits<const dv::fp16>;
static_assert(fp16_limits::is_specialized && fp16_limits::is_signed && !fp16_limits::is_integer &&
              !fp16_limits::is_exact && fp16_limits::is_bounded && !fp16_limits::is_modulo && fp16_limits::radix == 2 &&
              !fp16_limits::has_signaling_NaN && !fp16_limits::traps && fp16_limits::digits10 == 3 &&
              fp16_limits::max_digits10 == 5 && fp16_limits::max_exponent10 == 4 && fp16_limits::min_exponent10 == -4);
static_assert(double(fp16_limits::round_error()) == 0.5 &&
              double(limits<emulated<half.rounded(rounding_mode::toward_zero)>>::round_error()) == 1);
// A carrier of float or double has these figures as the compiler's own.
template <class N, class Native>
constexpr bool as_native = limits<N>::digits10 == limits<Native>::digits10&& limits<N>::max_digits10 ==
                           limits<Native>::max_digits10&& limits<N>::min_exponent10 ==
                           limits<Native>::min_exponent10&& limits<N>::max_exponent10 ==
                           limits<Native>::max_exponent10&& limits<N>::min_exponent ==
                           limits<Native>::min_exponent&& limits<N>::max_exponent == limits<Native>::max_exponent;
static_assert(as_native<emulated<dv::binary32>, float>);

static_assert((dv::bf16::from_carrier(1) <=> dv::bf16::from_carrier(2)) == std::partial_ordering::less);
static_assert((dv::bf16::from_carrier(2) <=> dv::bf16::from_carrier(1)) == std::partial_ordering::greater);
static_assert((dv::bf16::from_carrier(0.0f) <=> dv::bf16::from_carrier(-0.0f)) == std::partial_ordering::equivalent);
static_assert((limits<dv::bf16>::quiet_NaN() <=> dv::bf16::from_carrier(1)) == std::partial_ordering::unordered);
static_assert(limits<dv::bf16>::quiet_NaN() != limits<dv::bf16>::quiet_NaN());

}  // namespace

TEST_CASE("numeric_limits: finfo of ml_dtypes and NumPy") {
  check_finfo<dv::bf16>(
      {3.3895313892515355e+38, 1.1754943508222875e-38, 9.183549615799121e-41, 0.0078125, 7, 128, -126});
  check_finfo<dv::fp16>({65504, 6.103515625e-05, 5.960464477539063e-08, 0.0009765625, 10, 16, -14});
  check_finfo<dv::fp8_e5m2>({57344, 6.103515625e-05, 1.52587890625e-05, 0.25, 2, 16, -14});
  check_finfo<dv::fp8_e4m3>({448, 0.015625, 0.001953125, 0.125, 3, 9, -6});
  check_finfo<dv::fp8_e4m3_saturating>({448, 0.015625, 0.001953125, 0.125, 3, 9, -6});
  check_finfo<dv::fp8_e4m3_fnuz>({240, 0.0078125, 0.0009765625, 0.125, 3, 8, -7});
  check_finfo<dv::fp8_e5m2_fnuz>({57344, 3.0517578125e-05, 7.62939453125e-06, 0.25, 2, 16, -15});
  check_finfo<dv::fp6_e3m2>({28, 0.25, 0.0625, 0.25, 2, 5, -2});
  check_finfo<dv::fp6_e2m3>({7.5, 1, 0.125, 0.125, 3, 3, 0});
  check_finfo<dv::fp4_e2m1>({6, 1, 0.5, 0.5, 1, 3, 0});
}

TEST_CASE("numeric_limits: what the standard says of each member, from the lists of codes") {
  oracle::for_each_format<dv::bf16_format, dv::fp16_format, dv::tf32_format, dv::fp8_e5m2_format, dv::fp8_e4m3_format,
                          dv::fp8_e4m3_saturating_format, dv::fp8_e4m3_fnuz_format, dv::fp8_e5m2_fnuz_format,
                          dv::fp6_e3m2_format, dv::fp6_e2m3_format, dv::fp4_e2m1_format, dv::e8m13_format,
                          format{5, 10, special_values::ieee, overflow_rule::saturate, subnormal_rule::flush},
                          format{2, 3, special_values::finite_only, overflow_rule::saturate, subnormal_rule::flush},
                          format{2, 1}, format{11, 5}, format{9, 3, special_values::nan_only}>(
      []<format F>() { check_definitions<F>(); });
}
