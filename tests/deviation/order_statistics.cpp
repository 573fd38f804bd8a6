// SPDX-License-Identifier: Apache-2.0
#include <deviate/deviation/order_statistics.hpp>
//
#include <deviate/number/named.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "allocation.hpp"
#include "patterns.hpp"

using namespace deviate;
using namespace deviation_test;

namespace {

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

template <class T>
std::vector<T> sorted_by_comparisons(std::vector<T> x) {
  std::sort(x.begin(), x.end(), less_or_minus_zero<T>);
  return x;
}

// Sorts in both ways and compares with std::sort, bit by bit.
template <class T>
bool sorts(const std::vector<T>& x) {
  const std::vector<T> expected = sorted_by_comparisons(x);
  std::vector<T> in_place = x;
  sort_values(in_place);
  return same_bits<T>(sorted_values(x), expected) && same_bits<T>(in_place, expected);
}

// Numbers whose bits differ in `bytes` bytes only, from byte `first` on: as many passes of the sort.
template <class T>
std::vector<T> differing_bytes(int first, int bytes, std::size_t n) {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  generator g(std::uint64_t(first * 8 + bytes));
  std::vector<T> x(n);
  for (T& v : x) {
    bits u = std::bit_cast<bits>(T(1.7));
    for (int i = first; i < first + bytes; ++i) u ^= bits(g.bits() & 0x3f) << (8 * i);
    v = std::bit_cast<T>(u);
  }
  return x;
}

std::string message_of(auto work) {
  try {
    work();
  } catch (const contract_violation& e) {
    return e.what();
  }
  return "";
}
bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_TEMPLATE("sorting has the bits of std::sort, whatever the values and however many", T, float, double) {
  // On both sides of where digits take over from comparisons.
  for (const std::size_t n : {0u, 1u, 2u, 3u, 63u, 64u, 65u, 255u, 256u, 257u, 1000u, 4097u}) {
    CAPTURE(n);
    CHECK(sorts(random_patterns<T>(n, n)));
    CHECK(sorts(ties<T>(n, n)));
    CHECK(sorts(std::vector<T>(n, T(-1.25))));
    std::vector<T> x = sorted_by_comparisons(random_patterns<T>(n + 1, n));
    CHECK(sorts(x));
    std::reverse(x.begin(), x.end());
    CHECK(sorts(x));
  }
  CHECK(sorts(random_patterns<T>(1, 100000)));
  // Every number of passes, even and odd: the result must come to lie in the caller's array.
  for (int bytes = 0; bytes <= int(sizeof(T)) - 1; ++bytes)
    for (int first = 0; first + bytes <= int(sizeof(T)) - 1; ++first)
      CHECK(sorts(differing_bytes<T>(first, bytes, 600)));
}

TEST_CASE("bytes that are 0 in all values cost no pass, whatever their signs") {
  std::vector<double> floats_in_double;
  for (const float x : random_patterns<float>(3, 5000))
    if (!std::isinf(x)) floats_in_double.push_back(double(x));
  const detail::digit_counts<double> counts{std::span<const double>(floats_in_double)};
  for (int d = 0; d < 8; ++d) CHECK(counts.differs(d) == (d >= 3));
  CHECK(sorts(floats_in_double));
  CHECK(sorts(ties<double>(4, 5000)));
  for (double& x : floats_in_double) x = std::copysign(1.5, x);
  CHECK(sorts(floats_in_double));
}

TEST_CASE_TEMPLATE("NaN stands at the ends, by its sign", T, float, double) {
  for (const std::size_t n : {10u, 1000u}) {
    std::vector<T> x = random_patterns<T>(n, n);
    x[2] = x[7] = not_a_number<T>;
    x[5] = -not_a_number<T>;
    sort_values(x);
    CHECK((std::isnan(x[0]) && std::signbit(x[0])));
    CHECK((std::isnan(x[n - 1]) && std::isnan(x[n - 2]) && !std::signbit(x[n - 1]) && !std::signbit(x[n - 2])));
    CHECK(std::is_sorted(x.begin() + 1, x.end() - 2));
    CHECK(!std::isnan(x[1]));
  }
}

TEST_CASE_TEMPLATE("every rank is the value that sorting puts there", T, float, double) {
  for (const std::size_t n : {1u, 2u, 5u, 300u}) {
    for (const std::vector<T>& x : {random_patterns<T>(n, n), ties<T>(n, n)}) {
      const std::vector<T> expected = sorted_by_comparisons(x);
      bool all = true;
      for (std::size_t rank = 0; rank < n; ++rank)
        all = all && order_statistic(x, rank) == double(expected[rank]) &&
              std::signbit(order_statistic(x, rank)) == std::signbit(expected[rank]);
      CHECK(all);
    }
  }
}

TEST_CASE_TEMPLATE("quantiles in closed form", T, float, double) {
  std::vector<T> x(101);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = T((i * 37) % 101);  // 0 … 100, shuffled
  CHECK(median(x) == 50);
  CHECK(quantile(x, 0) == 0);
  CHECK(quantile(x, 1) == 100);
  CHECK(quantile(x, 0.125) == 12.5);
  CHECK(quantile(x, 0.34375) == 34.375);
  const std::vector<T> four{3, 1, 4, 1};  // numpy.quantile: 1, 2, 3.25 at ¼, ½, ¾
  CHECK(quantile(four, 0.25) == 1);
  CHECK(median(four) == 2);
  CHECK(quantile(four, 0.75) == 3.25);
  CHECK(median(std::vector<T>{5}) == 5);
  // No overflow between the largest numbers, and each end of an interval is its number.
  const T top = std::numeric_limits<T>::max();
  CHECK(median(std::vector<T>{top, top}) == double(top));
  CHECK(median(std::vector<T>{-top, top}) == 0);
  CHECK(median(std::vector<T>{1, infinity<T>}) == infinity<double>);
  CHECK(median(std::vector<T>{-infinity<T>, 1, infinity<T>}) == 1);
  CHECK(std::isnan(median(std::vector<T>{-infinity<T>, infinity<T>})));
  CHECK(median(std::vector<T>{infinity<T>, infinity<T>}) == infinity<double>);
}

TEST_CASE_TEMPLATE("quantiles refuse what has no order", T, float, double) {
  const std::vector<T> x{1, 2}, none, broken{1, 2, not_a_number<T>};
  CHECK(contains(message_of([&] { quantile(none, 0.5); }), "no values"));
  CHECK(contains(message_of([&] { quantile(x, 1.5); }), "q = 1.5"));
  CHECK(contains(message_of([&] { quantile(x, not_a_number<double>); }), "q = nan"));
  CHECK(contains(message_of([&] { median(broken); }), "NaN at index 2"));
  CHECK(contains(message_of([&] { order_statistic(broken, 0); }), "NaN at index 2"));
  CHECK(contains(message_of([&] { order_statistic(x, 2); }), "rank 2 of 2"));
}

TEST_CASE_TEMPLATE("sorting takes one more copy of the values, order statistics take none", T, float, double) {
  std::vector<T> x = random_patterns<T>(1, 100000);
  const std::size_t copy = x.size() * sizeof(T);
  std::size_t before = allocated_bytes();
  sort_values(x);
  CHECK(allocated_bytes() - before == copy);
  before = allocated_bytes();
  const std::vector<T> sorted = sorted_values(x);
  CHECK(allocated_bytes() - before == 2 * copy);
  before = allocated_bytes();
  const double middle = median(x);
  CHECK(allocated_bytes() - before == 0);
  CHECK(middle == (double(sorted[49999]) + double(sorted[50000])) / 2);
}

TEST_CASE("counting has the values of sorting, of every 16-bit code") {
  for (const format& of : {bf16_format, fp16_format, format{3, 12}, format{11, 4}, fp8_e4m3_fnuz_format,
                           format{5, 10, special_values::ieee, overflow_rule::infinity, subnormal_rule::flush}}) {
    std::vector<std::uint16_t> codes;
    std::vector<double> values;
    const std::uint32_t all = std::uint32_t(1) << of.width();
    for (std::uint32_t i = 0; i < all; ++i) {
      const std::uint32_t code = (i * 40503) % all;  // odd, so that every code comes once
      for (std::uint32_t times = 0; times < 1 + code % 3 && !std::isnan(decode(code, of)); ++times) {
        codes.push_back(std::uint16_t(code));
        values.push_back(decode(code, of));
      }
    }
    const counted_values counted(codes, of);
    REQUIRE(counted.size() == values.size());
    std::sort(values.begin(), values.end());
    std::vector<double> expanded;
    for (std::size_t i = 0; i < counted.values().size(); ++i)
      expanded.insert(expanded.end(), counted.counts()[i], counted.values()[i]);
    CHECK(expanded == values);
    CHECK(std::adjacent_find(counted.values().begin(), counted.values().end(), std::greater_equal<>()) ==
          counted.values().end());
    CHECK(order_statistic(counted, values.size() - 2) == values[values.size() - 2]);
    CHECK(quantile(counted, 0.3) == quantile(values, 0.3));
    CHECK(median(counted) == median(values));
  }
}

TEST_CASE("emulated numbers and floats with few fraction bits are counted too") {
  std::vector<bf16> halves;
  std::vector<fp16> other;
  std::vector<float> as_float, as_other;
  for (const float x : random_patterns<float>(5, 20000)) {
    halves.push_back(bf16(x));
    as_float.push_back(float(halves.back()));
    other.push_back(fp16(x));
    as_other.push_back(float(other.back()));
  }
  for (const auto& [counted, values] : {std::pair(counted_values(halves), &as_float),
                                        std::pair(counted_values(std::span<const float>(as_float)), &as_float),
                                        std::pair(counted_values(other), &as_other),
                                        std::pair(counted_values(std::span<const float>(as_other)), &as_other)}) {
    std::vector<float> sorted = *values;
    std::sort(sorted.begin(), sorted.end());
    std::vector<float> expanded;
    for (std::size_t i = 0; i < counted.values().size(); ++i)
      expanded.insert(expanded.end(), counted.counts()[i], float(counted.values()[i]));
    CHECK(expanded == sorted);
  }
}

TEST_CASE("counting refuses NaN and what does not fit") {
  const std::vector<std::uint16_t> codes{0, 0x7fc0};
  CHECK(contains(message_of([&] { counted_values(codes, bf16_format); }), "NaN at index 1"));
  CHECK(contains(message_of([&] { counted_values(codes, tf32_format); }), "19 bits"));
  CHECK(contains(message_of([&] {
                   counted_values(std::vector<bf16>{bf16(1.f), bf16(not_a_number<float>)});
                 }),
                 "NaN at index 1"));
  // Where the format has no code for NaN, its carrier may hold one.
  CHECK(
      contains(message_of([&] { counted_values(std::vector<fp4_e2m1>{fp4_e2m1::from_carrier(not_a_number<float>)}); }),
               "NaN at index 0"));
  const std::vector<float> fine{1.5f, 0.1f}, broken{1.5f, not_a_number<float>};
  CHECK(contains(message_of([&] { counted_values(std::span<const float>(fine)); }), "more than 10 fraction bits"));
  CHECK(contains(message_of([&] { counted_values(std::span<const float>(broken)); }), "NaN at index 1"));
  CHECK(contains(message_of([&] { median(counted_values(std::vector<bf16>())); }), "no values"));
}

TEST_CASE("slow: 10^8 floats have the bits and the quantiles of std::sort") {
  const std::vector<float> x = random_patterns<float>(9, 100000000);
  const std::vector<float> expected = sorted_by_comparisons(x);
  CHECK(same_bits<float>(sorted_values(x), expected));
  CHECK(order_statistic(x, 12345678) == double(expected[12345678]));
  CHECK(median(x) == (double(expected[49999999]) + double(expected[50000000])) / 2);
}
