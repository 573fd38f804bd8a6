// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/scalar_concept.hpp>

#include <doctest/doctest.h>

#include <deviate/accumulate/exact_product.hpp>
#include <deviate/math/double_double.hpp>
#include <deviate/math/scalar_with_functions.hpp>
#include <deviate/math/site_operations.hpp>
#include <deviate/number/arithmetic.hpp>
#include <deviate/number/double_double.hpp>
#include <deviate/number/named.hpp>
#include <deviate/number/runtime_format.hpp>
#include <string>

#include "number/archetype.hpp"

namespace dv = deviate;

namespace lacking {

enum class feature {
  nothing,
  from_int,
  from_float,
  from_double,
  to_double,
  sum,
  difference,
  product,
  quotient,
  negation,
  equality,
  order,
  exp,
  log
};

/// A software scalar that lacks one thing.
template <feature Lacks>
struct scalar {
  scalar() = default;
  explicit scalar(int) requires(Lacks != feature::from_int) {}
  explicit scalar(float) requires(Lacks != feature::from_float) {}
  explicit scalar(double) requires(Lacks != feature::from_double) {}
  template <class T>
  requires(!std::is_same_v<T, scalar>) explicit scalar(T) = delete;
  explicit operator double() const requires(Lacks != feature::to_double) { return 0; }
  friend scalar operator+(const scalar& a, const scalar&) requires(Lacks != feature::sum) { return a; }
  friend scalar operator-(const scalar& a, const scalar&) requires(Lacks != feature::difference) { return a; }
  friend scalar operator*(const scalar& a, const scalar&) requires(Lacks != feature::product) { return a; }
  friend scalar operator/(const scalar& a, const scalar&) requires(Lacks != feature::quotient) { return a; }
  friend scalar operator-(const scalar& a) requires(Lacks != feature::negation) { return a; }
  friend bool operator==(const scalar&, const scalar&) requires(Lacks != feature::equality) { return true; }
  friend bool operator<(const scalar&, const scalar&) requires(Lacks != feature::order) { return false; }
  friend scalar exp(const scalar& a) requires(Lacks != feature::exp) { return a; }
  friend scalar log(const scalar& a) requires(Lacks != feature::log) { return a; }
};

struct destroyed : scalar<feature::nothing> {
  using scalar::scalar;
  ~destroyed() {}
};
struct not_copied : scalar<feature::nothing> {
  using scalar::scalar;
  not_copied(const not_copied&) = delete;
};

}  // namespace lacking

namespace {

using archetype_test::archetype;
using lacking::feature;

// ---- What is a scalar -----------------------------------------------------------------------------------------------

static_assert(dv::software_scalar<archetype> && dv::scalar_with_exp<archetype> && dv::scalar_with_log<archetype>);
static_assert(dv::scalar<float> && dv::scalar<double> && dv::scalar<dv::bf16> && dv::scalar<dv::fp8_e4m3>);
static_assert(dv::scalar<dv::narrow_runtime> && dv::scalar<dv::double_double> && dv::scalar<long double>);
static_assert(dv::scalar_with_exp<dv::bf16> && dv::scalar_with_exp<dv::wide_runtime>);
static_assert(dv::scalar_with_exp<dv::double_double> && dv::scalar_with_log<dv::double_double>);

static_assert(!dv::scalar<int> && !dv::scalar<unsigned char> && !dv::scalar<bool>);
static_assert(!dv::scalar<std::string> && !dv::scalar<void*> && !dv::scalar<feature>);
static_assert(!dv::scalar_with_exp<long double>, "the C library's exp is found by name only, never chosen");

// Without these nothing says that the archetype is small.
template <class T>
concept offers_more = requires(T a) {
  a += a;
}
|| requires(T a) { a > a; }
|| requires(T a) { a <= a; }
|| requires(T a) { +a; }
|| requires(T a) { a + 1.0; }
|| requires(T a) { a < 0; }
|| requires(T a) { sqrt(a); }
|| std::is_convertible_v<double, T> || std::is_convertible_v<T, double> || std::is_constructible_v<T, long> ||
    std::is_constructible_v<bool, T> || std::numeric_limits<T>::is_specialized;
static_assert(!offers_more<archetype> && offers_more<dv::double_double>);

// ---- What is not ----------------------------------------------------------------------------------------------------

template <feature F>
inline constexpr bool suffices_without = dv::scalar<lacking::scalar<F>>;
static_assert(suffices_without<feature::nothing>);
static_assert(!suffices_without<feature::from_int> && !suffices_without<feature::from_float>);
static_assert(!suffices_without<feature::from_double> && !suffices_without<feature::to_double>);
static_assert(!suffices_without<feature::sum> && !suffices_without<feature::difference>);
static_assert(!suffices_without<feature::product> && !suffices_without<feature::quotient>);
static_assert(!suffices_without<feature::negation> && !suffices_without<feature::equality>);
static_assert(!suffices_without<feature::order>);
static_assert(!dv::scalar<lacking::destroyed> && !dv::scalar<lacking::not_copied>);

// exp and log are asked for where they are taken.
static_assert(suffices_without<feature::exp> && !dv::scalar_with_exp<lacking::scalar<feature::exp>>);
static_assert(suffices_without<feature::log> && !dv::scalar_with_log<lacking::scalar<feature::log>>);
static_assert(dv::scalar_with_log<lacking::scalar<feature::exp>> && dv::scalar_with_exp<lacking::scalar<feature::log>>);

// The terms of a product need less.
static_assert(dv::product_scalar<lacking::scalar<feature::sum>> &&
              !dv::product_scalar<lacking::scalar<feature::product>>);
using term = dv::accumulate::exact_product<dv::bf16_format>;
static_assert(dv::product_scalar<term> && !dv::scalar<term>);

}  // namespace

TEST_CASE("every operation of a site takes the archetype, and gives the number that double gives") {
  const dv::site_operations<archetype> site;
  const dv::fragment<archetype> a{archetype(1.75)}, b{archetype(-0.3)};
  const auto check = [](const dv::fragment<archetype>& x, double right) { CHECK(double(x.value) == right); };
  check(site.add(a, b), 1.75 + -0.3);
  check(site.subtract(a, b), 1.75 - -0.3);
  check(site.multiply(a, b), 1.75 * -0.3);
  check(site.divide(a, b), 1.75 / -0.3);
  check(site.fma(a, b, a), 1.75 * -0.3 + 1.75);
  check(site.round(dv::fragment<float>{0.1f}), double(0.1f));
  check(site.exp(b), dv::math::exp(-0.3));
  check(site.log(a), dv::math::log(1.75));
  check({dv::math::exp2(archetype(1.5))}, dv::math::exp(1.5 * dv::math::log(2.0)));
  // It meets other scalars at a site of any.
  check(site.add(a, dv::fragment<dv::bf16>{2}), 3.75);
  const dv::site_operations<dv::bf16> narrow;
  CHECK(narrow.round(dv::fragment<archetype>{archetype(1.0 + 0x1p-8 + 0x1p-40)}).value == 1.0078125f);
  CHECK(narrow.multiply(dv::fragment<float>{3.0f}, b).value == float(dv::bf16(3 * -0.3)));
  CHECK(narrow.log(a).value == float(dv::bf16(dv::math::log(1.75))));
}
