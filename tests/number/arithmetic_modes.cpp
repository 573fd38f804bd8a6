// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/arithmetic.hpp>

#include <doctest/doctest.h>

#include <deviate/number/named.hpp>
#include <deviate/number/runtime_format.hpp>

#include "number/mode_oracle.hpp"

#if defined(DEVIATE_TEST_MPFR)

namespace dv = deviate;
using dv::emulated;
using dv::format;
using dv::overflow_rule;
using dv::rounding_mode;
using dv::special_values;
using dv::subnormal_rule;
using oracle::operation;

namespace {

constexpr format saturating{4, 3, special_values::ieee, overflow_rule::saturate};
constexpr format saturating_finite{4, 3, special_values::nan_only, overflow_rule::saturate_finite};
constexpr format flushing{5, 2, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush};
constexpr format fnuz{
    4, 3, special_values::negative_zero_nan, overflow_rule::nan, subnormal_rule::gradual, rounding_mode::nearest_even,
    1};
constexpr format fnuz_e5m2{5,
                           2,
                           special_values::negative_zero_nan,
                           overflow_rule::saturate,
                           subnormal_rule::gradual,
                           rounding_mode::nearest_even,
                           1};

using results = void (*)(double, double, double (&)[5]);

/// + − × ÷ of two numbers and √ of the first, in one format and mode, as doubles.
template <format F>
void all_results(double a, double b, double (&r)[5]) {
  const auto x = emulated<F>::from_carrier(typename emulated<F>::carrier_type(a)),
             y = emulated<F>::from_carrier(typename emulated<F>::carrier_type(b));
  r[0] = double(x + y);
  r[1] = double(x - y);
  r[2] = double(x * y);
  r[3] = double(x / y);
  r[4] = double(sqrt(x));
}

/// The operations in every mode of F, in the order of oracle::every_mode.
template <format F>
struct modes_of {
  static constexpr results function[6] = {&all_results<F>,
                                          &all_results<F.rounded(rounding_mode::nearest_away)>,
                                          &all_results<F.rounded(rounding_mode::toward_zero)>,
                                          &all_results<F.rounded(rounding_mode::upward)>,
                                          &all_results<F.rounded(rounding_mode::downward)>,
                                          &all_results<F.rounded(rounding_mode::to_odd)>};
};

/// One pair in every mode against one exact result each.
void check_pair(oracle::tally& tally, const oracle::limits& of, const results (&functions)[6], double a, double b,
                int operations) {
  double ours[6][5];
  for (int mode = 0; mode < 6; ++mode) functions[mode](a, b, ours[mode]);
  for (int op = 0; op < operations; ++op) {
    oracle::exact_result exact;
    exact.apply(operation(op), a, b);
    for (int mode = 0; mode < 6; ++mode)
      tally.compare(ours[mode][op], exact.rounded(of, oracle::every_mode[mode]), a, oracle::name(operation(op)), b,
                    "mode", mode);
  }
}

/// Every pair, or one of `stride` first operands.
void check_all_pairs(const format& f, const results (&functions)[6]) {
  const oracle::limits of(f);
  oracle::tally tally(oracle::name(f));
  const std::uint64_t codes = std::uint64_t(1) << f.width();
  for (std::uint64_t i = 0; i < codes; ++i)
    for (std::uint64_t j = 0; j < codes; ++j) {
      const double a = oracle::decoded(of, i), b = oracle::decoded(of, j);
      if (oracle::is_member(of, a) && oracle::is_member(of, b)) check_pair(tally, of, functions, a, b, j == 0 ? 5 : 4);
    }
  tally.expect(long(12 * codes * codes));
}

void check_hard_pairs(const format& f, const results (&functions)[6], long count, std::uint64_t seed) {
  const oracle::limits of(f);
  oracle::tally tally(oracle::name(f));
  for (auto op : oracle::binary_operations) {
    oracle::operands pairs(f, f, f, seed);
    for (long i = 0; i < count; ++i) {
      const auto [a, b] = pairs.next(op);
      check_pair(tally, of, functions, a, b, 5);
    }
  }
  tally.expect(count);
}

template <class Function>
void for_each_narrow_format(Function f) {
  oracle::for_each_format<format{5, 2}, format{4, 3}, format{4, 3, special_values::nan_only, overflow_rule::nan},
                          saturating, saturating_finite, flushing, fnuz, fnuz_e5m2, format{3, 4}, format{6, 1},
                          format{3, 2, special_values::finite_only}, format{2, 3, special_values::finite_only},
                          format{2, 1, special_values::finite_only}, format{3, 2}, format{2, 3}, format{2, 1}>(f);
}

}  // namespace

TEST_CASE("every mode: + - * / of all pairs and sqrt, formats of at most 8 bits") {
  for_each_narrow_format([]<format F>() { check_all_pairs(F, modes_of<F>::function); });
}

namespace {
template <class Function>
void for_each_wider_format(Function f) {
  oracle::for_each_format<dv::bf16_format, dv::fp16_format, dv::tf32_format, format{8, 15}, format{7, 16},
                          format{8, 13}, dv::binary32, format{8, 24}, format{11, 25}, format{10, 24}, format{5, 25},
                          format{5, 10, special_values::ieee, overflow_rule::saturate_finite},
                          format{8, 10, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush}>(f);
}
}  // namespace

TEST_CASE("every mode: + - * / sqrt of hard pairs, formats of more than 8 bits") {
  for_each_wider_format([]<format F>() { check_hard_pairs(F, modes_of<F>::function, 5000, 2008); });
}

TEST_CASE("slow: every mode: + - * / sqrt of 4 million hard pairs, formats of more than 8 bits") {
  for_each_wider_format([]<format F>() { check_hard_pairs(F, modes_of<F>::function, 1000000, 2009); });
}

TEST_CASE("every mode: sqrt of every bf16 and every fp16") {
  oracle::for_each_format<dv::bf16_format, dv::fp16_format>([]<format F>() {
    const oracle::limits of(F);
    oracle::tally tally(oracle::name(F) + " sqrt");
    for (std::uint64_t code = 0; code < 65536; ++code) {
      const double x = oracle::decoded(of, code);
      oracle::exact_result exact;
      exact.apply(operation::square_root, x);
      for (int mode = 0; mode < 6; ++mode) {
        double ours[5];
        modes_of<F>::function[mode](x, x, ours);
        tally.compare(ours[4], exact.rounded(of, oracle::every_mode[mode]), x, "mode", mode);
      }
    }
    tally.expect(6 * 65536);
  });
}

TEST_CASE("every mode: sites with a run-time format, and sites whose operands are doubles") {
  const format formats[] = {dv::bf16_format, dv::fp16_format, dv::fp8_e4m3_format, fnuz};
  for (const format& f : formats)
    for (auto mode : oracle::every_mode) {
      const format chosen = f.rounded(mode);
      using narrow = dv::narrow_runtime;
      using wide = dv::wide_runtime;
      const dv::rounding_site<narrow> site(dv::scalar_traits<narrow>::rounder(chosen, true));
      const dv::rounding_site<wide> wide_site(dv::scalar_traits<wide>::rounder(chosen, true));
      const oracle::limits of(chosen);
      oracle::tally tally("site of " + oracle::name(chosen));
      oracle::operands members(f, f, f, 5), doubles(dv::binary64, dv::binary64, f, 6);
      oracle::exact_result exact;
      for (int i = 0; i < 2000; ++i)
        for (auto op : oracle::binary_operations) {
          const auto apply = [op](const auto& at, auto x, auto y) {
            switch (op) {
              case operation::add: return double(at.add(x, y).value);
              case operation::subtract: return double(at.subtract(x, y).value);
              case operation::multiply: return double(at.multiply(x, y).value);
              default: return double(at.divide(x, y).value);
            }
          };
          const auto [a, b] = members.next(op);
          exact.apply(op, a, b);
          const double right = exact.rounded(of, mode);
          tally.compare(apply(site, dv::fragment<narrow>{float(a)}, dv::fragment<narrow>{float(b)}), right, a,
                        oracle::name(op), b);
          tally.compare(apply(wide_site, dv::fragment<wide>{a}, dv::fragment<wide>{b}), right, a, oracle::name(op), b);
          const auto [c, d] = doubles.next(op);
          exact.apply(op, c, d);
          tally.compare(apply(wide_site, dv::fragment<double>{c}, dv::fragment<double>{d}), exact.rounded(of, mode), c,
                        oracle::name(op), d);
        }
      tally.expect(24000);
    }
}

#endif
