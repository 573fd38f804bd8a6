// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/named.hpp>

#include <doctest/doctest.h>

#include <vector>

#include "number/hard_inputs.hpp"
#include "number/mode_oracle.hpp"

#if defined(DEVIATE_TEST_MPFR)

namespace dv = deviate;
using dv::format;
using dv::rounding_mode;

namespace {

using conversion = double (*)(double);
template <format F>
double converted(double x) {
  return double(dv::emulated<F>(x));
}
/// In the order of oracle::every_mode.
template <format F>
constexpr conversion in_every_mode[6] = {&converted<F>,
                                         &converted<F.rounded(rounding_mode::nearest_away)>,
                                         &converted<F.rounded(rounding_mode::toward_zero)>,
                                         &converted<F.rounded(rounding_mode::upward)>,
                                         &converted<F.rounded(rounding_mode::downward)>,
                                         &converted<F.rounded(rounding_mode::to_odd)>};

void check_conversions(const format& f, const conversion (&ours)[6], long count) {
  const oracle::limits of(f);
  oracle::exact_result exact;
  oracle::tally tally(oracle::name(f));
  oracle::words random(1985);
  const std::vector<double> special = oracle::special_inputs<double>();
  for (long i = 0; i < count + long(special.size()); ++i) {
    const double x = i < count ? oracle::near_midpoint<double>(of, random) : special[std::size_t(i - count)];
    exact.value(x);
    for (int mode = 0; mode < 6; ++mode)
      tally.compare(ours[mode](x), exact.rounded(of, oracle::every_mode[mode]), x, "mode", mode);
  }
  tally.expect(6 * count);
}

void check_named_formats(long count) {
  oracle::for_each_format<dv::bf16_format, dv::fp16_format, dv::tf32_format, dv::fp8_e5m2_format, dv::fp8_e4m3_format,
                          dv::fp8_e4m3_saturating_format, dv::fp8_e4m3_fnuz_format, dv::fp8_e5m2_fnuz_format,
                          dv::fp6_e3m2_format, dv::fp6_e2m3_format, dv::fp4_e2m1_format, dv::fp24_e8m15_format,
                          dv::fp24_e7m16_format, dv::e8m13_format>(
      [&]<format F>() { check_conversions(F, in_every_mode<F>, count); });
}

}  // namespace

TEST_CASE("doubles near midpoints to every named format in every mode") { check_named_formats(5000); }

TEST_CASE("slow: a million doubles near midpoints to every named format in every mode") {
  check_named_formats(1'000'000);
}

#endif
