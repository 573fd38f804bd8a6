// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/tracked.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <deviate/math/double_double.hpp>
#include <deviate/math/tracked.hpp>
#include <deviate/number/double_double.hpp>
#include <deviate/number/named.hpp>
#include <deviate/number/runtime_format.hpp>
#include <deviate/number/scalar_concept.hpp>
#include <limits>
#include <type_traits>

#include "attention/inputs.hpp"
#if defined(DEVIATE_TEST_MPFR)
#include <mpfr.h>
#endif

using namespace attention_test;
using dv::bf16;
using dv::double_double;
using dv::fragment;
using dv::tracked;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

static_assert(dv::software_scalar<tracked<bf16>> && dv::software_scalar<tracked<double, double_double>>);
static_assert(dv::scalar<tracked<dv::narrow_runtime>> && !dv::software_scalar<tracked<dv::narrow_runtime>>);
static_assert(std::is_trivially_copyable_v<tracked<float>> && sizeof(tracked<float>) == 24);
static_assert(!std::is_convertible_v<double, tracked<bf16>> && !std::is_convertible_v<tracked<bf16>, double>);
static_assert(std::is_same_v<dv::wide_scalar<tracked<bf16>>, tracked<float>>);
static_assert(std::is_same_v<dv::wide_scalar<bf16>, float> &&
              std::is_same_v<dv::wide_scalar<double_double>, double_double>);

template <class S, class Shadow = double>
tracked<S, Shadow> with_error(dv::carrier_of<S> value, double error) {
  return tracked<S, Shadow>::from_parts(value, Shadow(value) - Shadow(error), Shadow(error));
}

}  // namespace

TEST_CASE("what a number is made of") {
  const tracked<bf16> x(0.1);
  CHECK(x.value() == 0.10009765625f);
  CHECK(x.shadow() == 0.1);
  CHECK(x.error() == 0.10009765625 - 0.1);
  CHECK(double(x) == 0.10009765625);
  CHECK(tracked<bf16>(257).value() == 256);
  CHECK(tracked<bf16>(257).error() == -1);
  // Conversion rounds the value, keeps the shadow, and adds the rounding.
  const tracked<float> wide(1.003);
  const tracked<bf16> narrow(wide);
  CHECK(narrow.value() == 1.0f);
  CHECK(narrow.shadow() == 1.003);
  CHECK(narrow.error() == doctest::Approx(1 - 1.003).epsilon(1e-12));
  CHECK(tracked<float>(narrow).value() == 1.0f);
  CHECK(tracked<float>(narrow).error() == narrow.error());
  CHECK((-narrow).value() == -1.0f);
  CHECK((-narrow).shadow() == -1.003);
  CHECK((-narrow).error() == -narrow.error());
}

TEST_CASE("decisions follow the value") {
  const auto low = with_error<bf16>(1, -5), high = with_error<bf16>(2, 5);
  CHECK((low < high && high > low && low <= high && high >= low && low != high));
  CHECK(low == tracked<bf16>(1));
  CHECK((low == 1.0f && low == tracked<float>(1) && 1.5 < high));
  CHECK(dv::maximum(low, high).shadow() == high.shadow());
  // Of equals the first is the maximum, with its record.
  CHECK(dv::maximum(low, tracked<bf16>(1)).shadow() == 6);
  const tracked<bf16> none(not_a_number);
  CHECK((none != none && !(none < low) && std::isnan(dv::maximum(low, none).value())));
  // A factor of value 1 changes no bit, and the record as the product would.
  const auto one = with_error<bf16>(1, 0.25);
  const auto x = dv::times_one(one, high);
  CHECK(x.value() == 2);
  CHECK(x.shadow() == 0.75 * -3);
  CHECK(x.error() == 5 + 2 * 0.25);
}

TEST_CASE("what is not finite") {
  const dv::site_operations<tracked<dv::fp16>> site;
  const auto f = [](double x) { return fragment<tracked<dv::fp16>>{tracked<dv::fp16>(x)}; };
  const auto check = [](const fragment<tracked<dv::fp16>>& x, double value, double shadow, double error) {
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    CHECK(same(double(x.value), value));
    CHECK(same(x.value.shadow(), shadow));
    CHECK(same(x.value.error(), error));
  };
  check(f(-infinity), -infinity, -infinity, 0);
  check(site.subtract(f(-infinity), f(3)), -infinity, -infinity, 0);
  check(site.exp(f(-infinity)), 0, 0, 0);
  check(site.divide(f(1), f(infinity)), 0, 0, 0);
  check(site.log(f(0)), -infinity, -infinity, 0);
  check(site.subtract(f(infinity), f(infinity)), not_a_number, not_a_number, not_a_number);
  check(site.sqrt(f(0)), 0, 0, 0);
  // Overflow to where the shadow is not.
  check(site.multiply(f(300), f(300)), infinity, 90000, infinity);
}

TEST_CASE("condition numbers: what an operation makes of its operands' relative error") {
  constexpr double eta = 0x1p-12;
  // The local error is that of the same operation on operands without one.
  const auto condition = [&](auto f, auto exact, double x, double number) {
    const tracked<float> plain = f(with_error<float>(float(x), 0)), off = f(with_error<float>(float(x), x * eta));
    CHECK((off.error() - plain.error()) / eta / exact == doctest::Approx(number).epsilon(1e-7));
  };
  condition([](auto x) { return exp(x); }, std::exp(3.5), 3.5, 3.5);
  condition([](auto x) { return exp(x); }, std::exp(-20.0), -20, -20);
  condition([](auto x) { return log(x); }, std::log(1.125), 1.125, 1 / std::log(1.125));
  condition([](auto x) { return sqrt(x); }, std::sqrt(7.0), 7, 0.5);
  condition([](auto x) { return x * x; }, 1.25 * 1.25, 1.25, 2);
  condition([](auto x) { return tracked<float>(3) / x; }, 3 / 1.25, 1.25, -1);
  condition([](auto x) { return x / tracked<float>(3); }, 1.25 / 3, 1.25, 1);
  condition([](auto x) { return x - tracked<float>(1); }, 0x1p-10, 1 + 0x1p-10, 1025);
  condition([](auto x) { return tracked<float>(1) - x; }, -0x1p-10, 1 + 0x1p-10, 1025);
  condition([](auto x) { return fma(x, x, tracked<float>(-1)); }, 0.5625, 1.25, 2 * 1.5625 / 0.5625);
  condition([](auto x) { return fma(tracked<float>(2), tracked<float>(3), x); }, 7.25, 1.25, 1.25 / 7.25);
}

TEST_CASE("a local error that the shadow itself cannot see") {
  // Exact sums and products longer than a double: what is lost is known exactly all the same.
  constexpr float tiny = 0x1.234568p-40f;
  const tracked<float> one(1), little(tiny);
  CHECK((one + little).error() == -double(tiny));
  CHECK((one - little).error() == double(tiny));
  CHECK(fma(one, one, little).error() == -double(tiny));
  const tracked<double> long_one(1 + 0x1p-30), minus_one(-1.0);
  CHECK((long_one * long_one).error() == -0x1p-60);
  CHECK(fma(long_one, long_one, minus_one).error() == 0);
  CHECK(fma(long_one, long_one, minus_one).value() == 0x1p-29 + 0x1p-60);
}

#if defined(DEVIATE_TEST_MPFR)
namespace {

/// A number of 400 bits.
class real {
 public:
  real(double x = 0) { mpfr_init2(value_, 400), mpfr_set_d(value_, x, MPFR_RNDN); }
  real(const real& x) : real() { mpfr_set(value_, x.value_, MPFR_RNDN); }
  real& operator=(const real& x) {
    mpfr_set(value_, x.value_, MPFR_RNDN);
    return *this;
  }
  ~real() { mpfr_clear(value_); }
  explicit operator double() const { return mpfr_get_d(value_, MPFR_RNDN); }
  // clang-format off
  friend real operator+(const real& a, const real& b) { real r; mpfr_add(r.value_, a.value_, b.value_, MPFR_RNDN); return r; }
  friend real operator-(const real& a, const real& b) { real r; mpfr_sub(r.value_, a.value_, b.value_, MPFR_RNDN); return r; }
  friend real operator*(const real& a, const real& b) { real r; mpfr_mul(r.value_, a.value_, b.value_, MPFR_RNDN); return r; }
  friend real operator/(const real& a, const real& b) { real r; mpfr_div(r.value_, a.value_, b.value_, MPFR_RNDN); return r; }
  friend real fma(const real& a, const real& b, const real& c) { return a * b + c; }
  friend real sqrt(const real& a) { real r; mpfr_sqrt(r.value_, a.value_, MPFR_RNDN); return r; }
  friend real exp(const real& a) { real r; mpfr_exp(r.value_, a.value_, MPFR_RNDN); return r; }
  friend real log(const real& a) { real r; mpfr_log(r.value_, a.value_, MPFR_RNDN); return r; }
  // clang-format on

 private:
  mpfr_t value_;
};

real exactly(double x) { return x; }
real exactly(const double_double& x) { return real(x.hi()) + real(x.lo()); }

/// The largest error of a record against MPFR: of the local error, relative to it and to the result; of the shadow,
/// relative to it.
struct worst {
  double of_local = 0, of_result = 0, of_shadow = 0;
  template <class T>
  void add(const T& got, const real& right) {
    const real result = double(got), local = result - right;
    const double missed = std::fabs(double(exactly(got.error()) - local));
    if (missed != 0) {
      of_local = std::max(of_local, missed / std::fabs(double(local)));
      of_result = std::max(of_result, missed / std::fabs(double(right)));
    }
    of_shadow = std::max(of_shadow, std::fabs(double((exactly(got.shadow()) - right) / right)));
  }
};

template <class T>
T drawn_member(generator& g) {
  const double x = std::ldexp(g.two_sided() + 0.25 / 3 + g.two_sided() * 0x1p-24, int(g.bits() % 9) - 4);
  return T(dv::rounding_site<typename T::scalar_type>{}.round(fragment<double>{x}).value);
}

/// Every operation on random members, which have no error of their own.
template <class T>
void local_errors(double arithmetic, double functions, double shadow) {
  generator g(7);
  worst a, f;
  for (int i = 0; i < 4000; ++i) {
    const T x = drawn_member<T>(g), y = drawn_member<T>(g), z = drawn_member<T>(g);
    const T positive = x < T(0) ? -x : x;
    const real u = double(x), v = double(y), w = double(z), up = double(positive);
    REQUIRE((x.error() == typename T::error_type(0) && double(x) != 0 && double(y) != 0));
    if (x != -y) a.add(x + y, u + v);
    if (x != y) a.add(x - y, u - v);
    a.add(x * y, u * v);
    a.add(x / y, u / v);
    a.add(fma(x, y, z), fma(u, v, w));
    a.add(sqrt(positive), sqrt(up));
    f.add(exp(x), exp(u));
    if (positive != T(1)) f.add(log(positive), log(up));
  }
  CHECK(a.of_local <= arithmetic);
  CHECK(f.of_result <= functions);
  CHECK(a.of_shadow <= shadow);
}

}  // namespace

TEST_CASE("local errors against MPFR: exact in double but for one rounding, functions to 2^-52 of the result") {
  local_errors<tracked<bf16>>(0x1p-52, 0x1p-52, 0x1p-50);
  local_errors<tracked<dv::tf32>>(0x1p-51, 0x1p-52, 0x1p-50);
  local_errors<tracked<float>>(0x1p-50, 0x1p-52, 0x1p-48);
}
TEST_CASE("local errors of double beside double_double, against MPFR") {
  // The difference of two numbers of 106 bits: 2^-50 of a rounding to 53.
  local_errors<tracked<double, double_double>>(0x1p-40, 0x1p-100, 0x1p-95);
}

namespace {

/// A chain of operations that are well enough conditioned; `step` decides each.
template <class T, class Make>
T chain(std::uint64_t seed, Make make) {
  generator g(seed);
  const auto next = [&] { return make(double(int(g.bits() % 192) + 64) * 0x1p-7); };  // in [0.5, 2)
  T x = next();
  for (int i = 0; i < 12; ++i) {
    switch (g.bits() % 8) {
      case 0: x = x + next(); break;
      case 1: x = x - next() * next() * make(4); break;
      case 2: x = x * next(); break;
      case 3: x = next() / (x * x + next()); break;
      case 4: x = sqrt(x * x + next()); break;
      case 5: x = exp(x / (x * x + next())); break;
      case 6: x = log(x * x + next()); break;
      default: x = fma(x, next(), next()); break;
    }
  }
  return x;
}

struct residual {
  double first_order = 0;   // largest |value − shadow| ÷ u
  double second_order = 0;  // largest |value − shadow − error| ÷ u²
  double shadow = 0;        // largest |shadow − MPFR|
};
template <class S>
residual of_chains(double u) {
  residual r;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto x = chain<tracked<S>>(seed, [](double m) { return tracked<S>(m); });
    const auto right = chain<real>(seed, [](double m) { return real(m); });
    if (std::fabs(double(right)) > 50) continue;
    const double off = double(x) - x.shadow();
    r.first_order = std::max(r.first_order, std::fabs(off) / u);
    r.second_order = std::max(r.second_order, std::fabs(off - x.error()) / (u * u));
    r.shadow = std::max(r.shadow, std::fabs(double(exactly(x.shadow()) - right)));
  }
  return r;
}
template <class S>
void check_chains(double u) {
  const residual r = of_chains<S>(u);
  CAPTURE(u);
  CAPTURE(r.first_order);
  CAPTURE(r.second_order);
  CHECK(r.first_order > 20);
  CHECK(r.second_order < 2000);
  CHECK(r.shadow < 1e-12);
}

}  // namespace

TEST_CASE("random chains: the error is value − shadow to second order") {
  // Between 11 and 24 bits the unit roundoff falls by 2^13 and what the error leaves unsaid by 2^26.
  check_chains<dv::fp16>(0x1p-11);
  check_chains<dv::binary_number<8, 15>>(0x1p-16);
  check_chains<float>(0x1p-24);
}
#endif
