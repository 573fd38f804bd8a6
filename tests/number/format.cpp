// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/format.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "number/oracle.hpp"

namespace dv = deviate;
using dv::format;
using dv::overflow_rule;
using dv::special_values;
using dv::subnormal_rule;

namespace {

constexpr format bf16{8, 7}, fp16{5, 10}, tf32{8, 10}, e5m2{5, 2};
constexpr format e4m3{4, 3, special_values::nan_only, overflow_rule::nan};

// IEEE 754-2019, table 3.5; OCP OFP8 1.0, table 1.
static_assert(fp16.max_finite() == 65504 && fp16.min_normal() == 0x1p-14 && fp16.min_positive() == 0x1p-24);
static_assert(bf16.max_finite() == 0x1.fep127 && bf16.min_normal() == 0x1p-126 && bf16.min_positive() == 0x1p-133);
static_assert(tf32.max_finite() == 0x1.ffcp127 && tf32.epsilon() == 0x1p-10 && tf32.width() == 19);
static_assert(e5m2.max_finite() == 57344 && e5m2.min_normal() == 0x1p-14 && e5m2.min_positive() == 0x1p-16);
static_assert(e4m3.max_finite() == 448 && e4m3.min_normal() == 0x1p-6 && e4m3.min_positive() == 0x1p-9);
static_assert(format{4, 3}.max_finite() == 240, "E4M3 as IEEE would have it");
static_assert(format{2, 1}.max_finite() == 3 && format{3, 2}.max_finite() == 14);
static_assert(dv::binary32.max_finite() == double(std::numeric_limits<float>::max()));
static_assert(dv::binary32.min_positive() == double(std::numeric_limits<float>::denorm_min()));
static_assert(dv::binary64.max_finite() == std::numeric_limits<double>::max());
static_assert(dv::binary64.min_positive() == std::numeric_limits<double>::denorm_min());
static_assert(dv::binary64.min_normal() == std::numeric_limits<double>::min() && dv::binary64.width() == 64);
static_assert(format{5, 10, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush}.min_positive() ==
              0x1p-14);

static_assert(bf16.subset_of(dv::binary32) && tf32.subset_of(dv::binary32) && bf16.subset_of(tf32));
static_assert(!bf16.subset_of(fp16) && !fp16.subset_of(bf16) && fp16.subset_of(tf32));
static_assert(e4m3.subset_of(fp16) && e4m3.subset_of(bf16) && !e4m3.subset_of(format{4, 3}));
static_assert(e5m2.subset_of(fp16) && !e5m2.subset_of(e4m3) && !dv::binary64.subset_of(dv::binary32));
static_assert(!format{8, 7, special_values::nan_only}.subset_of(dv::binary32), "its largest exponent is 128");

static_assert(dv::double_rounding_is_innocuous(bf16, dv::binary32), "the smallest products just fit");
static_assert(dv::double_rounding_is_innocuous(fp16, dv::binary32));
static_assert(dv::double_rounding_is_innocuous(e4m3, dv::binary32) &&
              dv::double_rounding_is_innocuous(e5m2, dv::binary32));
static_assert(!dv::double_rounding_is_innocuous(tf32, dv::binary32), "its subnormal products do not fit");
static_assert(dv::double_rounding_is_innocuous(tf32, dv::binary64));
static_assert(dv::double_rounding_is_innocuous(dv::binary32, dv::binary64));
static_assert(dv::double_rounding_is_innocuous(format{10, 24}, dv::binary64));
static_assert(!dv::double_rounding_is_innocuous(format{10, 25}, dv::binary64), "2 · 26 + 2 exceeds 53");
static_assert(dv::double_rounding_is_innocuous(format{11, 16}, dv::binary64));
static_assert(!dv::double_rounding_is_innocuous(format{11, 17}, dv::binary64), "its subnormal products do not fit");
static_assert(!dv::double_rounding_is_innocuous(format{5, 11}, dv::binary32), "2 · 12 + 2 exceeds 24");

std::vector<format> small_formats(int most_exponent_bits, int most_fraction_bits) {
  std::vector<format> all;
  for (int e = 2; e <= most_exponent_bits; ++e)
    for (int m = 1; m <= most_fraction_bits; ++m)
      for (auto specials : {special_values::ieee, special_values::nan_only})
        for (auto overflow :
             {overflow_rule::infinity, overflow_rule::nan, overflow_rule::saturate, overflow_rule::saturate_finite})
          for (auto subnormals : {subnormal_rule::gradual, subnormal_rule::flush})
            all.push_back({e, m, specials, overflow, subnormals});
  return all;
}

/// The numbers of a format, by its codes.
std::vector<double> numbers(const format& f) {
  const oracle::limits of(f);
  std::vector<double> all;
  for (std::uint64_t code = 0; code < std::uint64_t(1) << f.width(); ++code) {
    const double x = oracle::decoded(of, code);
    if (oracle::is_member(of, x)) all.push_back(x);
  }
  return all;
}

}  // namespace

TEST_CASE("a format's limits are those of its list of codes") {
  for (const format& f : small_formats(5, 4)) {
    CAPTURE(oracle::name(f));
    double largest = 0, smallest = oracle::infinite, least_normal = oracle::infinite, after_one = oracle::infinite;
    for (double x : numbers(f)) {
      if (std::isinf(x)) CHECK(f.has_infinity());
      if (!std::isfinite(x) || x <= 0) continue;
      largest = std::max(largest, x);
      smallest = std::min(smallest, x);
      if (std::ilogb(x) >= f.min_exponent()) least_normal = std::min(least_normal, x);
      if (x > 1) after_one = std::min(after_one, x);
    }
    CHECK(f.max_finite() == largest);
    CHECK(f.min_positive() == smallest);
    CHECK(f.min_normal() == least_normal);
    if (f.max_exponent() > 0) CHECK(f.epsilon() == after_one - 1);
    CHECK(f.max_exponent() == std::ilogb(largest));
    CHECK(f.precision() == f.fraction_bits + 1);
  }
}

TEST_CASE("subset_of is the inclusion of the numbers, with exponent and fraction bits taken as given") {
  const auto formats = small_formats(4, 3);
  long subsets = 0, missed = 0;
  for (const format& f : formats)
    for (const format& g : formats) {
      if (f.overflow != overflow_rule::infinity || g.overflow != overflow_rule::infinity) continue;
      const oracle::limits of_g(g);
      bool included = true;
      for (double x : numbers(f)) included = included && oracle::is_member(of_g, x);
      if (f.subset_of(g)) {
        CAPTURE(oracle::name(f));
        CAPTURE(oracle::name(g));
        CHECK(included);
        ++subsets;
      } else if (included && f.exponent_bits <= g.exponent_bits && f.fraction_bits <= g.fraction_bits) {
        ++missed;
      }
    }
  CHECK(subsets > 100);
  CHECK(missed == 0);
}

#if defined(DEVIATE_TEST_MPFR)
TEST_CASE("where double rounding is called innocuous, it is: every pair of small formats, every pair of operands") {
  long innocuous = 0;
  for (const format& target : small_formats(3, 2)) {
    for (int e = 3; e <= 5; ++e)
      for (int m = 5; m <= 8; ++m) {
        const format working{e, m};
        if (!dv::double_rounding_is_innocuous(target, working)) continue;
        ++innocuous;
        oracle::judge in_target(target), in_working(working);
        oracle::tally tally(oracle::name(target) + " through " + oracle::name(working));
        for (double a : numbers(target))
          for (double b : numbers(target)) {
            if ((std::isinf(a) || std::isinf(b)) && in_target.of.from_infinity != oracle::infinite) continue;
            for (auto op : oracle::binary_operations)
              tally.compare(in_target.round(in_working.apply(op, a, b)), in_target.apply(op, a, b), a, oracle::name(op),
                            b);
          }
        tally.expect();
      }
  }
  CHECK(innocuous > 100);
}
#endif
