// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/double_double.hpp>

#include <deviate/math/double_double.hpp>
#include <deviate/math/site_operations.hpp>
#include <deviate/number/named.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#if defined(DEVIATE_TEST_MPFR)
#include <mpfr.h>
#endif

namespace {

using deviate::double_double;
using limits = std::numeric_limits<double_double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();

// The type converts by itself only where nothing is lost.
static_assert(std::is_trivially_copyable_v<double_double> && sizeof(double_double) == 16);
static_assert(std::is_convertible_v<double, double_double> && std::is_convertible_v<std::uint64_t, double_double>);
static_assert(!std::is_convertible_v<double_double, double> && std::is_constructible_v<double, double_double>);
static_assert(!std::is_convertible_v<deviate::bf16, double_double>);
// Two roundings, hi then lo, would be the only way.
static_assert(!std::is_constructible_v<deviate::bf16, double_double>);
// exp(1.0) inside namespace deviate must not silently become a double_double.
template <class T>
concept exp_takes = requires(T x) {
  deviate::exp(x);
};
static_assert(exp_takes<double_double> && !exp_takes<double> && !exp_takes<int>);

/// The same bits in both parts; any NaN equals any other.
bool same(const double_double& x, double hi, double lo = 0) {
  if (std::isnan(hi)) return std::isnan(x.hi()) && x.lo() == 0;
  return deviate::bits(x.hi()) == deviate::bits(hi) && x.lo() == lo;
}

}  // namespace

TEST_CASE("double_double holds what it is given, exactly") {
  CHECK(same(double_double(0.1), 0.1));
  CHECK(same(double_double(0.1f), double(0.1f)));
  CHECK(same(double_double(-7), -7));
  CHECK(same(double_double(std::numeric_limits<std::uint64_t>::max()), 0x1p64, -1));
  CHECK(same(double_double(std::numeric_limits<std::int64_t>::max()), 0x1p63, -1));
  CHECK(same(double_double(std::numeric_limits<std::int64_t>::min()), -0x1p63));
  CHECK(same(double_double((std::int64_t{1} << 53) + 1), 0x1p53, 1));
  CHECK(same(double_double(-(std::int64_t{1} << 53) - 1), -0x1p53, -1));
  CHECK(same(double_double(std::int64_t{-1}), -1));
  CHECK(same(double_double(true), 1));
  CHECK(same(double_double(deviate::bf16(1.0078125)), 1.0078125));
  CHECK(same(double_double{}, 0));
}

TEST_CASE("double_double becomes float in one rounding") {
  // hi alone is the midpoint of two floats.
  CHECK(float(double_double::from_sum(1 + 0x1p-24, 0x1p-80)) == 1 + 0x1p-23f);
  CHECK(float(double_double::from_sum(1 + 0x1p-24, -0x1p-80)) == 1);
  CHECK(float(double_double(1 + 0x1p-24)) == 1);
  CHECK(float(double_double::from_sum(-0x1p-150, -0x1p-300)) == -0x1p-149f);
  CHECK(float(double_double(infinity)) == std::numeric_limits<float>::infinity());
  CHECK(double(double_double::from_sum(1, 0x1p-53 + 0x1p-100)) == 1 + 0x1p-52);
}

TEST_CASE("double_double: infinities, NaN, overflow and signed zeros follow double") {
  const double values[] = {0.0,          -0.0,    1.0,      -1.0,     infinity, -infinity,
                           not_a_number, largest, -largest, smallest, 0x1p-600};
  for (const double a : values)
    for (const double b : values) {
      CAPTURE(a);
      CAPTURE(b);
      const double_double x = a, y = b;
      // Exact results have a lo part where double rounds; hi is always what double gives.
      CHECK(same(double_double((x + y).hi()), a + b));
      CHECK(same(double_double((x - y).hi()), a - b));
      CHECK(same(double_double((x * y).hi()), a * b));
      CHECK(same(double_double((x / y).hi()), a / b));
      for (const auto& r : {x + y, x - y, x * y, x / y})
        if (!std::isfinite(r.hi()) || r.hi() == 0) CHECK(r.lo() == 0);
      CHECK((x < y) == (a < b));
      CHECK((x <= y) == (a <= b));
      CHECK((x > y) == (a > b));
      CHECK((x >= y) == (a >= b));
      CHECK((x == y) == (a == b));
      CHECK((x != y) == (a != b));
    }
  for (const double a : values) {
    CAPTURE(a);
    // √largest is so near a midpoint of doubles that 106 bits do not tell them apart.
    if (a != largest) CHECK(same(double_double(sqrt(double_double(a)).hi()), std::sqrt(a)));
    CHECK(same(-double_double(a), -a));
    CHECK(same(abs(double_double(a)), std::fabs(a)));
    CHECK(isnan(double_double(a)) == std::isnan(a));
    CHECK(isinf(double_double(a)) == std::isinf(a));
    CHECK(isfinite(double_double(a)) == std::isfinite(a));
  }
  CHECK(same(limits::max() + limits::max(), infinity));
  CHECK(same(limits::max() - limits::max(), 0));
}

TEST_CASE("double_double compares by both parts") {
  const auto a = double_double::from_sum(1, 0x1p-100), b = double_double(1), c = double_double::from_sum(1, -0x1p-100);
  CHECK((c < b && b < a && c < a && a > c && a >= a && a <= a && a == a && a != b));
  CHECK(abs(-a) == a);
  CHECK(double_double::from_sum(0x1p-100, 1) == a);
}

TEST_CASE("double_double limits") {
  CHECK(limits::epsilon() == double_double(0x1p-105));
  CHECK(double_double(1) + limits::epsilon() != double_double(1));
  CHECK(limits::max().hi() == largest);
  CHECK(limits::max().hi() + limits::max().lo() == largest);
  CHECK(limits::lowest() == -limits::max());
  CHECK(isinf(limits::infinity()));
  CHECK(isnan(limits::quiet_NaN()));
}

TEST_CASE("double_double as decimal text") {
  const double_double third = double_double(1) / 3;
  CHECK(to_string(third).substr(0, 33) == "3.3333333333333333333333333333333");
  CHECK(to_string(double_double(1)) == "1.00000000000000000000000000000000e+00");
  CHECK(to_string(double_double(0.1), 25) == "1.000000000000000055511151e-01");
  CHECK(to_string(double_double(-1) / 1024, 4) == "-9.766e-04");
  CHECK(to_string(double_double::from_sum(1, -0x1p-60), 22) == "9.999999999999999991326e-01");
  CHECK(to_string(double_double::from_sum(1, -0x1p-60), 10) == "1.000000000e+00");
  CHECK(to_string(double_double(9.5), 1) == "1e+01");
  CHECK(to_string(double_double(std::numeric_limits<std::uint64_t>::max()), 20) == "1.8446744073709551615e+19");
  CHECK(to_string(double_double(smallest), 5) == "4.9407e-324");
  CHECK(to_string(double_double(-largest), 5) == "-1.7977e+308");
  CHECK(to_string(double_double(0), 3) == "0.00e+00");
  CHECK(to_string(double_double(-0.0), 1) == "-0e+00");
  CHECK(to_string(double_double(0.5), 1000).size() == 1005);
  CHECK(to_string(double_double(infinity)) == "inf");
  CHECK(to_string(double_double(-infinity)) == "-inf");
  CHECK(to_string(double_double(not_a_number)) == "nan");
  std::ostringstream out;
  out << third;
  CHECK(out.str() == to_string(third));
}

TEST_CASE("double_double: exp, exp2 and log at their special values") {
  CHECK(same(exp(double_double(0)), 1));
  CHECK(same(exp(double_double(-0.0)), 1));
  CHECK(same(exp(double_double(infinity)), infinity));
  CHECK(same(exp(double_double(-infinity)), 0));
  CHECK(same(exp(double_double(not_a_number)), not_a_number));
  CHECK(same(exp(double_double(710)), infinity));
  CHECK(same(exp(double_double(-3e304)), 0));
  CHECK(same(exp(double_double(-745.5)), 0));
  CHECK(same(exp(double_double(-745)), smallest));
  CHECK(exp(double_double(0x1.62e42fefa39efp+9)).hi() > 0x1.ffffffffff000p+1023);
  CHECK(same(exp2(double_double(-0.0)), 1));
  CHECK(same(exp2(double_double(infinity)), infinity));
  CHECK(same(exp2(double_double(-infinity)), 0));
  CHECK(same(exp2(double_double(not_a_number)), not_a_number));
  CHECK(same(exp2(double_double(1024)), infinity));
  CHECK(same(exp2(double_double(-1076)), 0));
  for (int n = -1074; n < 1024; ++n) CHECK(same(exp2(double_double(n)), std::ldexp(1.0, n)));
  CHECK(same(log(double_double(1)), 0));
  CHECK_FALSE(signbit(log(double_double(1))));
  CHECK(same(log(double_double(0)), -infinity));
  CHECK(same(log(double_double(-0.0)), -infinity));
  CHECK(same(log(double_double(infinity)), infinity));
  CHECK(same(log(double_double(-1)), not_a_number));
  CHECK(same(log(double_double(-infinity)), not_a_number));
  CHECK(same(log(double_double(not_a_number)), not_a_number));
}

TEST_CASE("double_double is a scalar of the sites") {
  using deviate::bf16;
  using deviate::fragment;
  const auto beyond_tie = double_double::from_sum(1 + 0x1p-8, 0x1p-60);
  const auto below_tie = double_double::from_sum(1 + 0x1p-8, -0x1p-60);
  const deviate::site_operations<bf16> narrow;
  const fragment<double_double> zero{double_double(0)}, one{double_double(1)};
  CHECK(narrow.round(fragment<double_double>{beyond_tie}).value == 1.0078125f);
  CHECK(narrow.round(fragment<double_double>{below_tie}).value == 1.0f);
  CHECK(narrow.add(fragment<double_double>{beyond_tie}, zero).value == 1.0078125f);
  CHECK(narrow.multiply(fragment<double_double>{below_tie}, one).value == 1.0f);
  CHECK(narrow.add(fragment<double_double>{beyond_tie}, fragment<bf16>{0.0f}).value == 1.0078125f);
  CHECK(narrow.exp(zero).value == 1.0f);
  CHECK(narrow.sqrt(fragment<double_double>{double_double(4)}).value == 2.0f);

  const deviate::site_operations<double_double> wide;
  const auto sum = wide.add(fragment<float>{1.0f}, fragment<float>{0x1p-100f});
  CHECK(same(sum.value, 1, 0x1p-100));
  CHECK(same(wide.multiply(fragment<double>{1 + 0x1p-30}, fragment<bf16>{2.0f}).value, 2 + 0x1p-29));
  CHECK(same(wide.subtract(sum, fragment<double>{1.0}).value, 0x1p-100));
  CHECK(same(wide.divide(fragment<float>{1.0f}, fragment<float>{4.0f}).value, 0.25));
  CHECK(same(wide.log(fragment<float>{1.0f}).value, 0));
  CHECK(wide.exp(fragment<double>{1.0}).value.hi() == 0x1.5bf0a8b145769p+1);
  CHECK(deviate::site_operations<double>{}.round(sum).value == 1.0);
  CHECK(deviate::site_operations<float>{}
            .round(fragment<double_double>{double_double::from_sum(1 + 0x1p-24, 0x1p-80)})
            .value == 1 + 0x1p-23f);
  CHECK(deviate::math::exp2(double_double(3)) == double_double(8));
}

namespace {

/// Fixed pseudo-random numbers (Steele, Lea and Flood, 2014: SplitMix64).
class words {
 public:
  explicit words(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int below(int n) { return int(next() % std::uint64_t(n)); }
  /// In [0, 1).
  double unit() { return double(next() >> 11) * 0x1p-53; }
  /// A significand in [1, 2): of any bits, or with long runs of equal ones, on which error bounds are nearly attained.
  double significand() {
    const double any = 1 + double(next() >> 12) * 0x1p-52;
    switch (below(4)) {
      case 0: return 1 + std::ldexp(double(below(64)), -52);
      case 1: return 2 - std::ldexp(double(1 + below(64)), -52);
      default: return any;
    }
  }
  /// A number of 106 bits with its leading bit at 2^exponent, of either sign.
  double_double number(int exponent) {
    // Each draw is a statement of its own: compilers differ in the order of arguments.
    const double hi = std::ldexp(significand(), exponent);
    const double lo = std::ldexp(significand(), exponent - 54);
    const int gap = below(60), kind = below(8), signs = below(4);
    // Now and then without a lo part, or with one that does not follow hi at once.
    const double chosen = kind == 0 ? 0 : kind == 1 ? std::ldexp(lo, -1 - gap) : lo;
    return double_double::from_sum(signs & 1 ? hi : -hi, signs & 2 ? chosen : -chosen);
  }

 private:
  std::uint64_t state_;
};

/// Pairs of all kinds: far apart, of similar size, and nearly cancelling.
template <class Visit>
void for_pairs(std::uint64_t seed, int pairs, Visit visit) {
  words random(seed);
  for (int i = 0; i < pairs; ++i) {
    const int exponent = random.below(801) - 400;
    const auto x = random.number(exponent);
    const int kind = random.below(3);
    if (kind == 0) {
      visit(x, random.number(random.below(801) - 400));
    } else if (kind == 1) {
      visit(x, random.number(exponent + random.below(121) - 60));
    } else {
      // Nearly −x: hi differs by a few units in its last place, or not at all, and lo in anything.
      const double hi = x.hi() + std::ldexp(double(random.below(9) - 4), exponent - 52);
      const double lo = std::ldexp(2 * random.unit() - 1, exponent - 53);
      visit(x, -double_double::from_sum(hi, std::ldexp(lo, -random.below(20))));
    }
  }
}

}  // namespace

TEST_CASE("double_double: the same bits with every compiler and flag") {
  // 64-bit FNV-1a over the results, least significant byte first.
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&hash](const double_double& x) {
    for (const double part : {x.hi(), x.lo()})
      for (int i = 0; i < 64; i += 8) hash = (hash ^ (deviate::bits(part) >> i & 0xff)) * 0x100000001b3u;
  };
  for_pairs(11, 20'000, [&add](const double_double& x, const double_double& y) {
    const double_double fraction = ldexp(x, -1 - std::ilogb(x.hi()));
    for (const auto& r : {x + y, x - y, x * y, x / y, sqrt(abs(x)), exp(fraction), exp(fraction * 700),
                          exp2(fraction * 1000), log(abs(x)), log(abs(fraction))})
      add(r);
  });
  CHECK(hash == 0x7d94f18b08bb93c9u);
}

#if defined(DEVIATE_TEST_MPFR)

namespace {

/// An MPFR number of 320 bits: its rounding is invisible beside errors of 2^−106.
class real {
 public:
  real() { mpfr_init2(value_, 320); }
  explicit real(const double_double& x) : real() { set(x); }
  real(const real&) = delete;
  real& operator=(const real&) = delete;
  ~real() { mpfr_clear(value_); }
  void set(const double_double& x) {
    mpfr_set_d(value_, x.hi(), MPFR_RNDN);
    mpfr_add_d(value_, value_, x.lo(), MPFR_RNDN);
  }
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

/// |y − exact| / |exact| in units of u² = 2^−106; infinite where y is not normalised.
double relative_error(const double_double& y, real& exact) {
  if (y.hi() + y.lo() != y.hi()) return infinity;
  if (mpfr_zero_p(exact)) return y == double_double(0) ? 0 : infinity;
  real difference(y);
  mpfr_sub(difference, difference, exact, MPFR_RNDN);
  mpfr_div(difference, difference, exact, MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference, MPFR_RNDN)) * 0x1p106;
}

class arithmetic_errors {
 public:
  double sum = 0;
  double product = 0;
  double quotient = 0;
  double root = 0;

  void add(const double_double& x, const double_double& y) {
    a.set(x);
    b.set(y);
    const auto see = [this](double& worst, const double_double& got) {
      const double error = relative_error(got, exact);
      if (!(error <= worst)) worst = error;
    };
    mpfr_add(exact, a, b, MPFR_RNDN);
    see(sum, x + y);
    mpfr_sub(exact, a, b, MPFR_RNDN);
    see(sum, x - y);
    mpfr_mul(exact, a, b, MPFR_RNDN);
    see(product, x * y);
    mpfr_div(exact, a, b, MPFR_RNDN);
    see(quotient, x / y);
    mpfr_abs(a, a, MPFR_RNDN);
    mpfr_sqrt(exact, a, MPFR_RNDN);
    see(root, sqrt(abs(x)));
  }

 private:
  real a, b, exact;
};

void check_bounds(std::uint64_t seed, int pairs) {
  arithmetic_errors worst;
  for_pairs(seed, pairs, [&worst](const double_double& x, const double_double& y) { worst.add(x, y); });
  MESSAGE("largest errors in u^2: sum " << worst.sum << ", product " << worst.product << ", quotient " << worst.quotient
                                        << ", root " << worst.root);
  CHECK(worst.sum <= 3);
  CHECK(worst.product <= 5);
  CHECK(worst.quotient <= 15);
  CHECK(worst.root <= 3.125);
  // An oracle that sees no error at all would be no oracle.
  CHECK(worst.sum > 1);
  CHECK(worst.product > 1);
  CHECK(worst.quotient > 1);
  CHECK(worst.root > 1);
}

/// Largest relative error of a function in u² over arguments drawn by `draw`.
template <class F, class Exact, class Draw>
double largest_error_of(F f, Exact exact, Draw draw, std::uint64_t seed, int count) {
  words random(seed);
  real v;
  double worst = 0;
  for (int i = 0; i < count; ++i) {
    const double_double x = draw(random);
    v.set(x);
    exact(v, v, MPFR_RNDN);
    const double error = relative_error(f(x), v);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

void check_functions(std::uint64_t seed, int count) {
  const auto by_exp = [](const double_double& x) { return exp(x); };
  const auto by_exp2 = [](const double_double& x) { return exp2(x); };
  const auto by_log = [](const double_double& x) { return log(x); };
  const auto in = [](double low, double high) {
    return [low, high](words& r) {
      const double hi = low + r.unit() * (high - low);
      const double lo = hi * 0x1p-53 * (2 * r.unit() - 1);
      return double_double::from_sum(hi, lo);
    };
  };
  const auto anything = [](words& r) { return abs(r.number(r.below(1900) - 900)); };
  const auto small = [](words& r) { return r.number(-r.below(200)); };
  const auto near_one = [](words& r) { return double_double(1) + r.number(-2 - r.below(120)); };
  const auto near_multiple_of_half_ln2 = [](words& r) {
    const double_double multiple = (r.below(2001) - 1000) * 0x1.62e42fefa39efp-2;
    return multiple + r.number(-20 - r.below(60));
  };
  const double exp_worst = std::max({largest_error_of(by_exp, mpfr_exp, in(-1, 1), seed, count),
                                     largest_error_of(by_exp, mpfr_exp, in(-620, 709.78), seed + 1, count),
                                     largest_error_of(by_exp, mpfr_exp, small, seed + 2, count),
                                     largest_error_of(by_exp, mpfr_exp, near_multiple_of_half_ln2, seed + 3, count)});
  const double exp2_worst = std::max({largest_error_of(by_exp2, mpfr_exp2, in(-1, 1), seed, count),
                                      largest_error_of(by_exp2, mpfr_exp2, in(-900, 1024), seed + 1, count),
                                      largest_error_of(by_exp2, mpfr_exp2, small, seed + 2, count)});
  const double log_worst = std::max({largest_error_of(by_log, mpfr_log, in(0.4, 2.5), seed, count),
                                     largest_error_of(by_log, mpfr_log, anything, seed + 1, count),
                                     largest_error_of(by_log, mpfr_log, near_one, seed + 2, count)});
  MESSAGE("largest errors in u^2: exp " << exp_worst << ", exp2 " << exp2_worst << ", log " << log_worst);
  CHECK(exp_worst <= 8);   // 2^−103
  CHECK(exp2_worst <= 8);  // 2^−103
  CHECK(log_worst <= 16);  // 2^−102
  CHECK(exp_worst > 1);
  CHECK(exp2_worst > 1);
  CHECK(log_worst > 1);
}

}  // namespace

TEST_CASE("double_double: + - * / sqrt keep their published bounds") { check_bounds(1, 300'000); }

TEST_CASE("slow: double_double: + - * / sqrt keep their published bounds over many pairs") {
  for (std::uint64_t seed = 2; seed < 12; ++seed) check_bounds(seed, 2'000'000);
}

TEST_CASE("double_double: exp, exp2 and log keep their bounds") { check_functions(1, 4'000); }

TEST_CASE("slow: double_double: exp, exp2 and log keep their bounds over many arguments") {
  check_functions(100, 300'000);
}

TEST_CASE("double_double: a tiny result of exp or exp2 is off by one more unit of 2^-1074 at most") {
  words random(7);
  real v, difference;
  const auto excess = [&](const double_double& y) {
    difference.set(y);
    mpfr_sub(difference, difference, v, MPFR_RNDN);
    mpfr_abs(difference, difference, MPFR_RNDN);
    mpfr_mul_2si(v, v, -103, MPFR_RNDN);
    mpfr_sub(difference, difference, v, MPFR_RNDN);
    mpfr_mul_2si(difference, difference, 1074, MPFR_RNDN);
    return mpfr_get_d(difference, MPFR_RNDN);
  };
  double worst = 0;
  for (int i = 0; i < 20'000; ++i) {
    const double_double x = -745.2 + 145 * random.unit();
    v.set(x);
    mpfr_exp(v, v, MPFR_RNDN);
    worst = std::max(worst, excess(exp(x)));
    const double_double z = -1075.5 + 275 * random.unit();
    v.set(z);
    mpfr_exp2(v, v, MPFR_RNDN);
    worst = std::max(worst, excess(exp2(z)));
  }
  CHECK(worst <= 1);
}

TEST_CASE("double_double: products and sums of two doubles are exact") {
  words random(3);
  real a, b;
  for (int i = 0; i < 20'000; ++i) {
    const double f = random.significand(), g = random.significand();
    const double x = std::ldexp(f, random.below(200) - 100);
    const double y = -std::ldexp(g, random.below(200) - 100);
    a.set(double_double(x));
    mpfr_mul_d(a, a, y, MPFR_RNDN);
    b.set(double_double::from_product(x, y));
    CHECK(mpfr_equal_p(a, b));
    a.set(double_double(x));
    mpfr_add_d(a, a, y, MPFR_RNDN);
    b.set(double_double::from_sum(x, y));
    CHECK(mpfr_equal_p(a, b));
  }
}

TEST_CASE("double_double: the text is the number's, correctly rounded") {
  words random(5);
  for (int i = 0; i < 2000; ++i) {
    const double_double x = random.number(random.below(1900) - 950);
    mpfr_t v;
    mpfr_init2(v, 2200);
    mpfr_set_d(v, x.hi(), MPFR_RNDN);
    mpfr_add_d(v, v, x.lo(), MPFR_RNDN);
    char expected[100];
    mpfr_snprintf(expected, sizeof expected, "%.32Re", v);
    mpfr_clear(v);
    CHECK(to_string(x) == std::string(expected));
  }
}

#endif
