// SPDX-License-Identifier: Apache-2.0
/// \file exact.hpp
/// \brief Operations on doubles rounded to odd: rounding such a result again, to any format of up to 51 bits, is one
/// rounding.
///
/// Round to odd (S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
/// rounding to odd", 2008): an inexact result takes whichever neighbour has an odd last bit. It is never a midpoint of
/// a format that is at least two bits narrower, nor one of its numbers, so the direction of the exact result is kept.
#pragma once

#include <cmath>
#include <cstdint>
#include <deviate/config.hpp>
#include <deviate/number/lanes.hpp>
#include <limits>

namespace deviate::detail {

inline constexpr double largest_double = std::numeric_limits<double>::max();

DEVIATE_HD bool is_finite(double x) { return (bits(x) >> 52 & 0x7ff) != 0x7ff; }

/// `rounded` is the nearest double to an exact value that lies above it (error > 0), below it (< 0) or on it (0).
DEVIATE_HD double to_odd(double rounded, double error) {
  const std::uint64_t u = bits(rounded);
  if (error == 0 || (u & 1) != 0) return rounded;
  return from_bits((error > 0) == (rounded > 0) ? u + 1 : u - 1);
}

/// x·2^n to odd, for x to odd already; a value below the subnormals' spacing becomes the smallest subnormal, which is
/// odd.
DEVIATE_HD double scale_to_odd(double x, int n) {
  const double y = std::ldexp(x, n);
  if (!is_finite(y)) return x < 0 ? -largest_double : largest_double;
  if (y == 0 && x != 0)
    return x < 0 ? -std::numeric_limits<double>::denorm_min() : std::numeric_limits<double>::denorm_min();
  return to_odd(y, x - std::ldexp(y, -n));
}

/// a + b to odd, for any lanes of double. Fast2Sum (Dekker) with the larger operand first gives the exact error. 2Sum,
/// which needs no order, can overflow on the way to a finite sum: −max + 2^1022·1.9 (S. Boldo, S. Graillat and J.-M.
/// Muller, "On the robustness of the 2Sum and Fast2Sum algorithms", 2017).
template <class L>
DEVIATE_HD L add_to_odd(const L& a, const L& b) {
  using B = lanes<std::uint64_t, lane_width<L>>;
  const L zero = broadcast<L>(0.0), top = broadcast<L>(largest_double);
  const B magnitude = broadcast<B>(~std::uint64_t(0) >> 1);
  const auto swapped = from_bits(bits(a) & magnitude) < from_bits(bits(b) & magnitude);
  const L s = a + b;
  const L error = select(swapped, a, b) - (s - select(swapped, b, a));
  const B u = bits(s), one = broadcast<B>(1);
  const auto finite = (s <= top) & (s >= -top);
  const auto even = (u & one) == broadcast<B>(0);
  const auto inexact = ((error < zero) | (error > zero)) & finite & even;
  // One up in magnitude where the error has the sum's sign, else one down. By integers: g++ 12 -O1 miscompiles the
  // disjunction of comparisons that says the same of vectors.
  const B neighbour = u + one - ((bits(error) ^ bits(s)) >> 63 << 1);
  const L odd = select(inexact, from_bits(neighbour), s);
  // A finite sum beyond the largest double is to odd the largest double, whose last bit is one.
  const auto overflowed = (!finite) & (a <= top) & (a >= -top) & (b <= top) & (b >= -top);
  return select(overflowed, select(s < zero, -top, top), odd);
}

/// a × b to odd.
DEVIATE_HD double multiply_to_odd(double a, double b) {
  const double p = a * b;
  if (p == 0 || !is_finite(p)) {
    if (!is_finite(a) || !is_finite(b) || a == 0 || b == 0) return p;
  } else if (std::fabs(p) > 0x1p-900) {
    return to_odd(p, std::fma(a, b, -p));
  }
  int ea = 0, eb = 0;
  const double fa = std::frexp(a, &ea), fb = std::frexp(b, &eb), f = fa * fb;
  return scale_to_odd(to_odd(f, std::fma(fa, fb, -f)), ea + eb);
}

/// a ÷ b to odd. The remainder a − q·b is exact in a fused multiply-add.
DEVIATE_HD double divide_to_odd(double a, double b) {
  if (!is_finite(a) || !is_finite(b) || a == 0 || b == 0) return a / b;
  int ea = 0, eb = 0;
  const double fa = std::frexp(a, &ea), fb = std::frexp(b, &eb), q = fa / fb;
  const double remainder = std::fma(-q, fb, fa);
  return scale_to_odd(to_odd(q, fb < 0 ? -remainder : remainder), ea - eb);
}

/// √x to odd.
DEVIATE_HD double sqrt_to_odd(double x) {
  if (!(x > 0) || !is_finite(x)) return std::sqrt(x);
  int e = 0;
  double f = std::frexp(x, &e);
  if (e & 1) {
    f *= 2;
    e -= 1;
  }
  const double s = std::sqrt(f);
  return std::ldexp(to_odd(s, std::fma(-s, s, f)), e / 2);
}

/// high + low + c to odd, where high + low is an exact product in two parts (|low| ≤ ulp(high)/2) and nothing overflows
/// or underflows on the way: the emulation of a fused multiply-add by Boldo and Melquiond (2008, algorithm 5), whose
/// last addition is to odd as well. Where the inner sum to odd is inexact its last bit lies far below that of the
/// result, so it only says on which side of `vh` the exact value lies.
DEVIATE_HD double product_plus_to_odd(double high, double low, double c) {
  const auto two_sum = [](double a, double b, double& error) DEVIATE_HD_LAMBDA {
    const double s = a + b, from_b = s - a;
    error = (a - (s - from_b)) + (b - from_b);
    return s;
  };
  double tl = 0, vl = 0;
  const double th = two_sum(c, low, tl), vh = two_sum(high, th, vl);
  return add_to_odd(vh, add_to_odd(tl, vl));
}

/// a × b + c to odd. A zero sum of different signs is +0.
DEVIATE_HD double fma_to_odd(double a, double b, double c) {
  if (!is_finite(a) || !is_finite(b) || a == 0 || b == 0) return a * b + c;
  if (!is_finite(c)) return c;
  const auto is_moderate = [](double x) DEVIATE_HD_LAMBDA { return std::fabs(x) > 0x1p-800 && std::fabs(x) < 0x1p900; };
  const double p = a * b;
  if (is_moderate(p) && (c == 0 || is_moderate(c))) return product_plus_to_odd(p, std::fma(a, b, -p), c);
  // Both terms by fractions in [1/4, 1) and their exponents; what lies 2^200 below the other term only says to which
  // side of it the sum lies, wherever exactly it is.
  int ea = 0, eb = 0, ec = 0;
  const double fa = std::frexp(a, &ea), fb = std::frexp(b, &eb), fc = std::frexp(c, &ec), f = fa * fb;
  const double low = std::fma(fa, fb, -f);
  if (c == 0) return scale_to_odd(to_odd(f, low), ea + eb);
  const int above = ec - (ea + eb), apart = above > 200 ? 200 : above < -200 ? -200 : above;
  if (apart > 0) return scale_to_odd(product_plus_to_odd(std::ldexp(f, -apart), std::ldexp(low, -apart), fc), ec);
  return scale_to_odd(product_plus_to_odd(f, low, std::ldexp(fc, apart)), ea + eb);
}

/// An integer of 64 bits to odd.
DEVIATE_HD double integer_to_odd(std::int64_t i) {
  const double d = double(i);
  // 2^63 does not fit the integer it came from.
  if (d >= 0x1p63) return to_odd(d, -1.0);
  const std::int64_t back = std::int64_t(d);
  return to_odd(d, i > back ? 1.0 : i < back ? -1.0 : 0.0);
}
DEVIATE_HD double integer_to_odd(std::uint64_t i) {
  const double d = double(i);
  if (d >= 0x1p64) return to_odd(d, -1.0);
  const std::uint64_t back = std::uint64_t(d);
  return to_odd(d, i > back ? 1.0 : i < back ? -1.0 : 0.0);
}

}  // namespace deviate::detail
