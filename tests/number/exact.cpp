// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/exact.hpp>

#include <doctest/doctest.h>

#include <deviate/number/scalar.hpp>

#include "number/oracle.hpp"

namespace dv = deviate;
using dv::format;
using oracle::operation;

TEST_CASE("to_odd keeps an odd neighbour and leaves an even one towards the error") {
  const double even = 1.0, odd = 1 + 0x1p-52;
  CHECK(dv::detail::to_odd(even, 0.0) == even);
  CHECK(dv::detail::to_odd(odd, 0.0) == odd);
  for (double error : {0x1p-60, -0x1p-60}) {
    CHECK(dv::detail::to_odd(odd, error) == odd);
    CHECK(dv::detail::to_odd(-odd, error) == -odd);
  }
  CHECK(dv::detail::to_odd(even, 0x1p-60) == odd);
  CHECK(dv::detail::to_odd(even, -0x1p-60) == 1 - 0x1p-53);
  CHECK(dv::detail::to_odd(-even, 0x1p-60) == -(1 - 0x1p-53));
  CHECK(dv::detail::to_odd(-even, -0x1p-60) == -odd);
}

TEST_CASE("integers to odd, at the ends of their types and near 2^53") {
  using dv::detail::integer_to_odd;
  CHECK(integer_to_odd(std::int64_t(1) << 53) == 0x1p53);
  CHECK(integer_to_odd((std::int64_t(1) << 53) + 1) == 0x1p53 + 2);
  CHECK(integer_to_odd((std::int64_t(1) << 53) + 3) == 0x1p53 + 2);
  CHECK(integer_to_odd(-(std::int64_t(1) << 53) - 1) == -0x1p53 - 2);
  CHECK(integer_to_odd(std::numeric_limits<std::int64_t>::max()) == 0x1.fffffffffffffp62);
  CHECK(integer_to_odd(std::numeric_limits<std::int64_t>::min()) == -0x1p63);
  CHECK(integer_to_odd(std::numeric_limits<std::int64_t>::min() + 1) == -0x1.fffffffffffffp62);
  CHECK(integer_to_odd(std::numeric_limits<std::uint64_t>::max()) == 0x1.fffffffffffffp63);
  CHECK(integer_to_odd(std::uint64_t(0)) == 0);
}

#if defined(DEVIATE_TEST_MPFR)
namespace {

/// Exact results to odd in double: truncated by MPFR to the bits that double has there, with the last one set if any
/// was cut off.
class odd_judge {
 public:
  double apply(operation op, double a, double b = 0) {
    mpfr_set_d(a_, a, MPFR_RNDN);
    mpfr_set_d(b_, b, MPFR_RNDN);
    return settled([&] { return oracle::compute(op, result_, a_, b_, MPFR_RNDZ); });
  }
  double fused(double a, double b, double c) {
    mpfr_set_d(a_, a, MPFR_RNDN);
    mpfr_set_d(b_, b, MPFR_RNDN);
    mpfr_set_d(c_, c, MPFR_RNDN);
    return settled([&] { return mpfr_fma(result_, a_, b_, c_, MPFR_RNDZ); });
  }
  double scaled(double x, long n) {
    mpfr_set_d(a_, x, MPFR_RNDN);
    return settled([&] { return mpfr_mul_2si(result_, a_, n, MPFR_RNDZ); });
  }
  double integer(std::int64_t x) {
    return settled([&] { return mpfr_set_sj(result_, x, MPFR_RNDZ); });
  }
  double integer(std::uint64_t x) {
    return settled([&] { return mpfr_set_uj(result_, x, MPFR_RNDZ); });
  }

 private:
  template <class Compute>
  double settled(Compute compute) {
    constexpr double largest = std::numeric_limits<double>::max(), smallest = std::numeric_limits<double>::denorm_min();
    mpfr_set_prec(result_, 53);
    int inexact = compute();
    if (!mpfr_regular_p(result_)) return mpfr_get_d(result_, MPFR_RNDN);
    const double sign = mpfr_signbit(result_) ? -1 : 1;
    const long exponent = mpfr_get_exp(result_) - 1;
    if (exponent > 1023) return sign * largest;
    const long bits = exponent + 1074 + 1;
    if (bits <= 0) return sign * smallest;
    if (bits < 53) {
      mpfr_set_prec(result_, bits);
      inexact = compute();
    }
    const double truncated = mpfr_get_d(result_, MPFR_RNDZ);
    return dv::from_bits(dv::bits(truncated) | std::uint64_t(inexact != 0));
  }

  oracle::real result_, a_, b_, c_;
};

double ours(operation op, double a, double b) {
  switch (op) {
    case operation::add: return dv::detail::add_to_odd(a, b);
    case operation::subtract: return dv::detail::add_to_odd(a, -b);
    case operation::multiply: return dv::detail::multiply_to_odd(a, b);
    case operation::divide: return dv::detail::divide_to_odd(a, b);
    default: return dv::detail::sqrt_to_odd(a);
  }
}

}  // namespace

TEST_CASE("+ - * / of doubles to odd: hard pairs over the whole range, MPFR") {
  odd_judge judge;
  for (auto op : oracle::binary_operations) {
    oracle::tally tally(oracle::name(op));
    // Operands of few and of many bits; results near the ends of double, of binary32 and of bf16.
    for (const format& f : {dv::binary64, dv::binary32, format{8, 7}, format{11, 25}})
      for (const format& g : {dv::binary64, format{8, 7}, format{11, 25}}) {
        oracle::operands pairs(f, g, dv::binary64, 2008);
        for (int i = 0; i < 20000; ++i) {
          const auto [a, b] = pairs.next(op);
          tally.compare(ours(op, a, b), judge.apply(op, a, b), a, b);
        }
      }
    tally.expect(240000);
  }
}

TEST_CASE("sums of doubles to odd next to overflow and next to zero") {
  odd_judge judge;
  oracle::tally tally("+");
  oracle::words random(11);
  for (int i = 0; i < 200000; ++i) {
    const auto shift = random.between(0, 60);
    const std::uint64_t top = dv::bits(std::numeric_limits<double>::max());
    const double a = dv::from_bits(top - (random.next() >> random.between(40, 63)));
    const double b = dv::from_bits(top - (std::uint64_t(shift) << 52) - (random.next() >> random.between(12, 63)));
    for (double x : {a, -a})
      for (double y : {b, -b}) tally.compare(dv::detail::add_to_odd(x, y), judge.apply(operation::add, x, y), x, y);
    const double c = dv::from_bits(random.next() >> random.between(8, 63)),
                 d = dv::from_bits(random.next() >> random.between(8, 63));
    tally.compare(dv::detail::add_to_odd(c, -d), judge.apply(operation::subtract, c, d), c, d);
  }
  tally.expect(1000000);
}

TEST_CASE("a sum to odd whose 2Sum overflows on the way") {
  odd_judge judge;
  oracle::tally tally("+");
  constexpr double largest = std::numeric_limits<double>::max();
  oracle::words random(2017);
  for (int i = 0; i < 20000; ++i) {
    const double a = std::ldexp(double(random.next() >> 11 | std::uint64_t(1) << 52), int(random.between(900, 970)));
    for (double b : {-largest, -std::nextafter(largest, 0.0)}) {
      tally.compare(dv::detail::add_to_odd(a, b), judge.apply(operation::add, a, b), a, b);
      tally.compare(dv::detail::add_to_odd(b, a), judge.apply(operation::add, b, a), b, a);
    }
  }
  tally.expect(80000);
}

TEST_CASE("packs of sums to odd have the bits of plain sums") {
  oracle::operands pairs(dv::binary64, dv::binary64, dv::binary64, 5);
  oracle::tally tally("+ in lanes");
  for (int i = 0; i < 20000; ++i) {
    dv::pack<double, 8> a, b;
    for (int lane = 0; lane < 8; ++lane) {
      const auto [x, y] = pairs.next(operation::add);
      a.set(lane, x);
      b.set(lane, y);
    }
    const auto sum = dv::detail::add_to_odd(a, b);
    for (int lane = 0; lane < 8; ++lane)
      tally.compare(sum[lane], dv::detail::add_to_odd(a[lane], b[lane]), a[lane], b[lane]);
  }
  tally.expect(160000);
}

TEST_CASE("fused multiply-add to odd: cancelling, far apart, products and addends beyond both ends of double; MPFR") {
  odd_judge judge;
  oracle::tally tally("fma");
  oracle::words random(2008);
  oracle::operands pairs(dv::binary64, dv::binary64, dv::binary64, 2009);
  const auto number = [&](long exponent) {
    const double sign = random.next() & 1 ? -1 : 1;
    const std::uint64_t fraction = random.next() >> random.between(11, 62) << random.between(0, 10);
    return sign * std::ldexp(double(fraction | 1), int(exponent) - 53);
  };
  for (int i = 0; i < 200000; ++i) {
    const auto [x, y] = pairs.next(operation::multiply);
    const double z = pairs.next(operation::add).first;
    tally.compare(dv::detail::fma_to_odd(x, y, z), judge.fused(x, y, z), x, y, z);
    // The exponents of product and addend are -110 to 110 apart, anywhere.
    const long ea = random.between(-1000, 1000), eb = random.between(-1000, 1000);
    const double a = number(ea), b = number(eb);
    const double c = number(std::clamp(ea + eb + random.between(-110, 110), -1060L, 1010L));
    tally.compare(dv::detail::fma_to_odd(a, b, c), judge.fused(a, b, c), a, b, c);
    // The addend cancels the leading bits of the product.
    const double d = number(random.between(-400, 400)), e = number(random.between(-600, 600)), near = -d * e;
    for (double f : {near, std::nextafter(near, oracle::infinite), near * (1 + 0x1p-20), near / 2})
      tally.compare(dv::detail::fma_to_odd(d, e, f), judge.fused(d, e, f), d, e, f);
  }
  tally.expect(1200000);
}

TEST_CASE("square roots to odd: MPFR") {
  odd_judge judge;
  oracle::tally tally("sqrt");
  oracle::words random(12);
  for (double x : {0.0, -0.0, -1.0, 1.0, 2.0, 4.0, oracle::infinite, -oracle::infinite, oracle::not_a_number,
                   std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max()})
    tally.compare(dv::detail::sqrt_to_odd(x), judge.apply(operation::square_root, x), x);
  for (int i = 0; i < 200000; ++i) {
    const double x = dv::from_bits(random.next() & 0x7FFFFFFFFFFFFFFFu),
                 root = double(random.next() >> random.between(11, 60));
    tally.compare(dv::detail::sqrt_to_odd(x), judge.apply(operation::square_root, x), x);
    // A square, and its neighbours.
    const double square = root * root;
    for (double y : {square, std::nextafter(square, 0.0), std::nextafter(square, oracle::infinite)})
      tally.compare(dv::detail::sqrt_to_odd(y), judge.apply(operation::square_root, y), y);
  }
  tally.expect(800000);
}

TEST_CASE("scaling to odd, into subnormals and beyond both ends: MPFR") {
  odd_judge judge;
  oracle::tally tally("scale");
  oracle::words random(13);
  for (int i = 0; i < 300000; ++i) {
    const double x = std::ldexp(double((random.next() >> 11) | 1), int(random.between(-53, -50)));
    const int n = int(random.next() & 1 ? random.between(-1140, -1000) : random.between(-2200, 1100));
    tally.compare(dv::detail::scale_to_odd(x, n), judge.scaled(x, n), x, n);
    tally.compare(dv::detail::scale_to_odd(-x, n), judge.scaled(-x, n), -x, n);
    const double few = double(random.next() >> 58);
    tally.compare(dv::detail::scale_to_odd(few, n), judge.scaled(few, n), few, n);
  }
  tally.expect(900000);
}

TEST_CASE("integers to odd: MPFR") {
  odd_judge judge;
  oracle::tally tally("integers");
  oracle::words random(14);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t u = random.next() >> random.between(0, 63);
    const auto s = std::int64_t(random.next()) >> random.between(0, 63);
    tally.compare(dv::detail::integer_to_odd(u), judge.integer(u), u);
    tally.compare(dv::detail::integer_to_odd(s), judge.integer(s), s);
    const std::uint64_t near_tie = (u | std::uint64_t(1) << 63) + std::uint64_t(random.between(-2, 2));
    tally.compare(dv::detail::integer_to_odd(near_tie), judge.integer(near_tie), near_tie);
  }
  tally.expect(600000);
}
#endif
