// SPDX-License-Identifier: Apache-2.0
#include <deviate/accumulate/matrix_unit.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "accumulate/sums.hpp"

#if defined(DEVIATE_TEST_MPFR)
#include <mpfr.h>
#endif

using namespace accumulate_test;
using dv::accumulate::matrix_unit;
using dv::accumulate::unit_rounding;

namespace {

using fp22 = dv::binary_number<8, 13>;
constexpr float infinite = std::numeric_limits<float>::infinity();

#if defined(DEVIATE_TEST_MPFR)
// The unit once more, in numbers of 3000 bits, where only the roundings written here round.
struct model {
  int terms, fraction_bits;
  int precision, min_exponent, max_exponent;  // of the running sum
  bool nearest;

  double operator()(const std::vector<double>& all) const {
    double sum = 0;
    for (std::size_t first = 0; first < all.size(); first += std::size_t(terms)) {
      std::vector<double> group{sum};
      for (std::size_t i = first; i < all.size() && i < first + std::size_t(terms); ++i) group.push_back(all[i]);
      sum = fused(group);
    }
    return sum;
  }

 private:
  double fused(const std::vector<double>& group) const {
    long largest = -126;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (group[i] == 0) continue;
      long e = std::ilogb(group[i]);
      if (i == 0) e = std::max<long>(e, min_exponent);
      largest = std::max(largest, e);
    }
    mpfr_t total, term;
    mpfr_init2(total, 3000);
    mpfr_init2(term, 3000);
    mpfr_set_zero(total, 1);
    for (const double x : group) {
      mpfr_set_d(term, x, MPFR_RNDN);
      mpfr_mul_2si(term, term, fraction_bits - largest, MPFR_RNDN);
      mpfr_trunc(term, term);
      mpfr_add(total, total, term, MPFR_RNDN);
    }
    mpfr_mul_2si(total, total, largest - fraction_bits, MPFR_RNDN);
    double result = 0;
    if (!mpfr_zero_p(total)) {
      const long quantum = std::max<long>(mpfr_get_exp(total) - 1, min_exponent) - (precision - 1);
      mpfr_mul_2si(total, total, -quantum, MPFR_RNDN);
      mpfr_rint(total, total, nearest ? MPFR_RNDN : MPFR_RNDZ);
      mpfr_mul_2si(total, total, quantum, MPFR_RNDN);
      if (!mpfr_zero_p(total)) {
        result = mpfr_get_d(total, MPFR_RNDN);
        if (mpfr_get_exp(total) - 1 > max_exponent) result = result < 0 ? -infinite : infinite;
      }
    }
    mpfr_clear(total);
    mpfr_clear(term);
    return result;
  }
};

// Terms that span `spread` binades below 2^top, with cancelling pairs and zeros among them.
std::vector<double> hard_terms(generator& g, int top, int spread, bool floats) {
  std::vector<double> terms(1 + g.bits() % 80);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto kind = g.bits() % 8;
    double x = std::ldexp(g.two_sided() + g.two_sided() * 0x1p-24, top - int(g.bits() % unsigned(spread)));
    if (kind == 0) x = 0;
    if (kind == 1 && i > 0) x = -terms[i - 1];
    if (kind == 2) x = std::ldexp(x < 0 ? -1.0 : 1.0, std::ilogb(x));
    terms[i] = floats ? double(float(x)) : x;
  }
  return terms;
}

template <class Unit>
void check_against(const model& m) {
  using Output = typename Unit::inside_type;
  int wrong = 0, inexact = 0;
  generator g(std::uint64_t(m.terms * 100 + m.fraction_bits));
  struct range {
    int top, spread;
  };
  // Around one; wide; at the bottom of float's and of FP16's range; at the top; a running sum that cancels.
  for (const range r : {range{1, 4}, range{3, 30}, range{20, 60}, range{-124, 30}, range{-12, 20}, range{-20, 8},
                        range{127, 6}, range{15, 6}, range{300, 800}})
    for (int i = 0; i < 300; ++i) {
      const auto terms = hard_terms(g, r.top, r.spread, false);
      const double expected = m(terms);
      wrong += !same(sum<Unit, Output, double>(terms), float(expected));
      if (expected - expected != 0) continue;
      double plain = 0;
      for (const double t : terms) plain += t;
      inexact += plain != expected;
    }
  CHECK(wrong == 0);
  CHECK(inexact > 1000);  // otherwise no truncation was tried
}
#endif

}  // namespace

#if defined(DEVIATE_TEST_MPFR)
TEST_CASE("every bit of a matrix unit's sum is that of a model in 3000 bits") {
  check_against<matrix_unit<4, 23>>({4, 23, 24, -126, 127, false});
  check_against<matrix_unit<8, 24>>({8, 24, 24, -126, 127, false});
  check_against<matrix_unit<16, 25>>({16, 25, 24, -126, 127, false});
  check_against<matrix_unit<1, 40>>({1, 40, 24, -126, 127, false});
  check_against<matrix_unit<64, 40>>({64, 40, 24, -126, 127, false});
  check_against<matrix_unit<32, 13, fp22>>({32, 13, 14, -126, 127, false});
  check_against<matrix_unit<4, 23, dv::fp16, unit_rounding::nearest_even>>({4, 23, 11, -14, 15, true});
  check_against<matrix_unit<16, 25, dv::fp16, unit_rounding::nearest_even>>({16, 25, 11, -14, 15, true});
  check_against<matrix_unit<8, 24, float, unit_rounding::nearest_even>>({8, 24, 24, -126, 127, true});
}
#endif

TEST_CASE("what a fused addition keeps and loses") {
  using unit = matrix_unit<4, 23>;
  const auto total = [](const std::vector<double>& t) { return sum<unit, float, double>(t); };
  // In one addition each term is cut at 2^-23 below the largest; a sequential sum in float would round to nearest.
  CHECK(total({1, 0x1p-24, 0x1p-24, 0x1p-24}) == 1);
  CHECK(total({1, 0x1.8p-23, 0x1.8p-23, 0x1.8p-23}) == 1 + 3 * 0x1p-23f);
  CHECK(total({1, -0x1p-24, -0x1p-24, -0x1p-24}) == 1);
  // The largest term is gone from the sum, but what it cut off stays cut off.
  CHECK(total({1, 0x1p-24, -1, 0}) == 0);
  CHECK(total({1, 0x1p-23, -1, 0}) == 0x1p-23f);
  // In the next addition the running sum takes part.
  CHECK(total({1, 0, 0, 0, 0x1p-24, 0x1p-24, 0x1p-24, 0x1p-24}) == 1);
  CHECK(total({0x1p-24, 0x1p-24, 0x1p-24, 0x1p-24, 1, 0, 0, 0}) == 1 + 0x1p-22f);
  // Toward zero for both signs.
  CHECK(total({0x1p24, 1, 0, 0, -0x1p24, 0, 0, 0}) == 0);
  CHECK(sum<matrix_unit<4, 25>, float, double>({-0x1p24, -1, 0, 0, 0x1p24, 0, 0, 0}) == 0);
}

TEST_CASE_TEMPLATE("infinities, NaN and overflow of a matrix unit", Unit, matrix_unit<4, 23>,
                   matrix_unit<16, 25, dv::fp16, unit_rounding::nearest_even>, matrix_unit<32, 13, fp22>) {
  using Output = typename Unit::inside_type;
  const auto total = [](const std::vector<double>& t) { return sum<Unit, Output, double>(t); };
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const float canonical = std::numeric_limits<float>::quiet_NaN();
  CHECK(total({1, inf, 2}) == infinite);
  CHECK(total({-inf, 1, 1, 1, 1, 1, 5}) == -infinite);
  CHECK(same(total({inf, -inf}), canonical));
  CHECK(same(total({inf, 0, 0, 0, 0, 0, 0, 0, -inf}), canonical));
  CHECK(same(total({1, -nan}), canonical));
  CHECK(same(total({nan, inf, 0, 0, 0, 0, 0, 0, 0}), canonical));
  // Finite terms beyond the output: infinite, even though the unit truncates; but not if they cancel in one addition.
  const double most = Unit::output_format.max_finite();
  CHECK(total({most}) == float(most));
  CHECK(total({most, most}) == infinite);
  CHECK(total({-most, -most}) == -infinite);
  CHECK(total({0x1p300, -0x1p300}) == 0);
  CHECK(total({0x1p300, -0x1p300, 1}) == 0);
  CHECK(total({0x1p1023}) == infinite);
  CHECK(total({0x1p-1070}) == 0);
}

TEST_CASE_TEMPLATE("a matrix unit's sum depends on neither width nor arrangement; zeros change nothing", Unit,
                   matrix_unit<1, 23>, matrix_unit<4, 23>, matrix_unit<8, 24>, matrix_unit<32, 13, fp22>,
                   matrix_unit<16, 25, dv::fp16, unit_rounding::nearest_even>) {
  using Output = typename Unit::inside_type;
  check_arrangements<Unit, Output, float>();
  check_arrangements<Unit, Output, double>();
  check_zeros<Unit, Output, float>();
}

TEST_CASE("case 14: an accumulator with 13 fraction bits, truncated") {
  std::vector<float> terms(1 + 16384, 0x1p-14f);
  terms[0] = 1;
  CHECK(sum<matrix_unit<1, 13, fp22>, fp22, float>(terms) == 1);  // exactly 2
  CHECK(sum<matrix_unit<32, 13, fp22>, fp22, float>(terms) == 1);
}
