// SPDX-License-Identifier: Apache-2.0
#include <deviate/accumulate/two_level.hpp>

#include <doctest/doctest.h>

#include <deviate/accumulate/compensated.hpp>
#include <deviate/accumulate/exact.hpp>
#include <deviate/accumulate/named_units.hpp>
#include <deviate/number/runtime_format.hpp>
#include <limits>
#include <vector>

#include "accumulate/sums.hpp"

using namespace accumulate_test;
using namespace dv::accumulate;

namespace {
using fp22 = dv::binary_number<8, 13>;

// The inner sums one by one, then their sum, each through an accumulation of its own.
template <class Inner, class InnerScalar, int Interval, class Outer, class OuterScalar, class Terms>
dv::carrier_of<OuterScalar> plain(const std::vector<dv::carrier_of<Terms>>& terms) {
  std::vector<dv::carrier_of<InnerScalar>> partial;
  for (std::size_t first = 0; first < terms.size(); first += std::size_t(Interval)) {
    const auto end = std::min(terms.size(), first + std::size_t(Interval));
    partial.push_back(sum<Inner, InnerScalar, Terms>({terms.begin() + long(first), terms.begin() + long(end)}));
  }
  return sum<Outer, OuterScalar, InnerScalar>(partial);
}
}  // namespace

TEST_CASE("a two-level sum is the sum of its inner sums") {
  for (std::size_t n = 0; n <= 100; ++n) {
    const auto terms = terms_of<float>(n, n + 1);
    CAPTURE(n);
    CHECK(same(sum<two_level<sequential<>, 16, sequential<>>, float>(terms),
               plain<sequential<>, float, 16, sequential<>, float, float>(terms)));
    CHECK(same(sum<two_level<sequential<dv::bf16>, 5, sequential<float>>, float>(terms),
               plain<sequential<dv::bf16>, dv::bf16, 5, sequential<float>, float, float>(terms)));
    CHECK(same(sum<two_level<lane_sums<4>, 32, pairwise<>>, float>(terms),
               plain<lane_sums<4>, float, 32, pairwise<>, float, float>(terms)));
    CHECK(same(sum<two_level<hopper_fp8, 32, compensated<float>>, float>(terms),
               plain<hopper_fp8, fp22, 32, compensated<float>, float, float>(terms)));
    CHECK(same(sum<two_level<sequential<>, 1, sequential<>>, float>(terms), sum<sequential<>, float>(terms)));
    CHECK(same(sum<two_level<sequential<>, 100, sequential<>>, float>(terms), sum<sequential<>, float>(terms)));
    // Levels nest.
    using nested = two_level<two_level<sequential<dv::bf16>, 4, sequential<float>>, 32, sequential<double>>;
    CHECK(
        same(sum<nested, double, float>(terms),
             plain<two_level<sequential<dv::bf16>, 4, sequential<float>>, float, 32, sequential<double>, double, float>(
                 terms)));
  }
}

TEST_CASE_TEMPLATE("a two-level sum depends on neither width nor arrangement; zeros change nothing", A,
                   two_level<sequential<dv::bf16>, 5, sequential<float>>, two_level<hopper_fp8, 48, sequential<float>>,
                   two_level<pairwise<>, 16, sequential<float>>, two_level<exact<dv::fp16>, 7, compensated<float>>) {
  check_arrangements<A, float>();
  check_zeros<A, float>();
}

TEST_CASE("a format chosen at run time serves both levels") {
  using A = two_level<sequential<>, 8, pairwise<>>;
  const dv::rounding_site<dv::narrow_runtime> site(
      dv::scalar_traits<dv::narrow_runtime>::rounder(dv::bf16_format, true));
  const auto terms = terms_of<dv::bf16>(100, 9);
  A::accumulator<dv::rounding_site<dv::narrow_runtime>, 1> total;
  for (const float t : terms) total.push(site, dv::fragment<dv::narrow_runtime, 1>{t});
  CHECK(same(total.total(site).value, sum<A, dv::bf16>(terms)));
}

TEST_CASE("infinities and NaN pass through both levels") {
  using A = two_level<hopper_fp8, 4, sequential<float>>;
  constexpr float inf = std::numeric_limits<float>::infinity();
  CHECK(sum<A, float>({1, inf, 2, 3, 4, 5}) == inf);
  CHECK(std::isnan(sum<A, float>({1, inf, 2, 3, 4, -inf})));
  CHECK(std::isnan(sum<A, float>({1, 2, 3, 4, std::numeric_limits<float>::quiet_NaN()})));
}

TEST_CASE("case 14: inner sums of 64 terms keep what 13 fraction bits lose") {
  std::vector<float> terms(16384, 0x1p-14f);
  // 64·2^-14 = 2^-8 is exact inside; the 1 is an interval of its own.
  std::vector<float> with_one(64, 0.0f);
  with_one[0] = 1;
  with_one.insert(with_one.end(), terms.begin(), terms.end());
  using narrow = matrix_unit<1, 13, fp22>;
  CHECK(sum<narrow, fp22, float>(with_one) == 1);
  CHECK(sum<two_level<narrow, 64, sequential<float>>, float>(with_one) == 2);
  CHECK(sum<two_level<hopper_fp8, 64, sequential<float>>, float>(with_one) == 2);
  // With the 1 inside an interval, that interval alone loses its terms.
  std::vector<float> together(1, 1.0f);
  together.insert(together.end(), terms.begin(), terms.end());
  CHECK(sum<two_level<narrow, 64, sequential<float>>, float>(together) == 2 - 63 * 0x1p-14f);
}
