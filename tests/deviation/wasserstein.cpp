// SPDX-License-Identifier: Apache-2.0
#include <deviate/deviation/wasserstein.hpp>
//
#include <deviate/number/named.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "allocation.hpp"
#include "generator.hpp"
#include "patterns.hpp"

using namespace deviate;
using deviation_test::close;
using deviation_test::generator;
using deviation_test::values;

namespace {

using numbers = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// W_1 and W_2 of sorted samples of n · 1000 values. Blocks of 1000 keep the rounding of this sum, in 64 bits, below that of
// one double.
struct moved_mean {
  template <class T>
  moved_mean(const std::vector<T>& x, const std::vector<T>& y) {
    long double sum = 0, squares = 0;
    for (std::size_t block = 0; block < x.size(); block += 1000) {
      long double block_sum = 0, block_squares = 0;
      for (std::size_t i = block; i < block + 1000; ++i) {
        const long double moved = std::fabs(static_cast<long double>(x[i]) - static_cast<long double>(y[i]));
        block_sum += moved;
        block_squares += moved * moved;
      }
      sum += block_sum;
      squares += block_squares;
    }
    const auto n = static_cast<long double>(x.size());
    first = double(sum / n);
    second = double(std::sqrt(squares / n));
  }
  double first, second;
};

void shuffle(numbers& x, numbers* along, std::uint64_t seed) {
  generator g(seed);
  for (std::size_t i = x.size() - 1; i > 0; --i) {
    const std::size_t j = g.bits() % (i + 1);
    std::swap(x[i], x[j]);
    if (along) std::swap((*along)[i], (*along)[j]);
  }
}

std::string message_of(const weighted_sample& a, const weighted_sample& b, double p = 1) {
  try {
    wasserstein(a, b, p);
  } catch (const contract_violation& e) {
    return e.what();
  }
  return "";
}

using floats = std::vector<float>;

numbers widened(const floats& x) { return numbers(x.begin(), x.end()); }

floats finite_floats(std::uint64_t seed, std::size_t n) {
  floats x = deviation_test::random_patterns<float>(seed, n);
  for (float& v : x)
    if (std::isinf(v)) v = 0x1.8p127f;
  return x;
}

// By definition: both samples repeated to the same size, sorted by std::sort and matched, with sums in 64 bits.
template <class T>
double by_definition(const std::vector<T>& a, const std::vector<T>& b, int p) {
  const std::size_t common = std::lcm(a.size(), b.size());
  const auto repeated = [&](const std::vector<T>& x) {
    std::vector<T> all;
    for (std::size_t i = 0; i < common / x.size(); ++i) all.insert(all.end(), x.begin(), x.end());
    std::sort(all.begin(), all.end());
    return all;
  };
  const std::vector<T> x = repeated(a), y = repeated(b);
  long double sum = 0;
  for (std::size_t i = 0; i < common; ++i) {
    const long double moved = std::fabs(static_cast<long double>(x[i]) - static_cast<long double>(y[i]));
    sum += p == 1 ? moved : moved * moved;
  }
  const long double mean = sum / static_cast<long double>(common);
  return double(p == 1 ? mean : std::sqrt(mean));
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("case 82: [1, 2, 3, 54] against [1, 2, 3, 4], of order 1, 2, 540 and infinity") {
  const numbers a{1, 2, 3, 54}, b{1, 2, 3, 4};
  CHECK(wasserstein(a, b) == 12.5);
  CHECK(wasserstein(a, b, 1) == 12.5);
  CHECK(wasserstein(a, b, 2) == 25);
  // 50·4^(−1/540); the distance of the distribution functions would be 50^(1/540)·¼, and its powers underflow.
  CHECK(close(wasserstein(a, b, 540), 50 * std::pow(4.0, -1.0 / 540), 1e-15));
  CHECK(wasserstein(a, b, 540) == doctest::Approx(49.87).epsilon(1e-4));
  CHECK(close(wasserstein(a, b, 1900), 50 * std::pow(4.0, -1.0 / 1900), 1e-15));
  CHECK(close(wasserstein(a, b, 1e6), 50, 1e-5));
  CHECK(wasserstein(a, b, infinity) == 50);
  CHECK(wasserstein_infinity(a, b) == 50);
  CHECK(wasserstein(b, a, 2) == 25);
}

TEST_CASE("case 82: permuting points together with their weights changes no bit") {
  // Values repeat, with different weights: their order in the cumulated sum would show.
  numbers x = values(21, 500), y = values(22, 300), wx = values(23, 500), wy = values(24, 300);
  for (double& v : x) v = std::floor(v / 4);
  for (double& w : wx) w = std::exp(2 * w);
  for (double& w : wy) w = std::exp(2 * w);
  const monotone_coupling first({x, wx}, {y, wy});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    shuffle(x, &wx, seed);
    shuffle(y, &wy, seed + 100);
    const monotone_coupling again({x, wx}, {y, wy});
    for (const double p : {1.0, 2.0, 3.5, 540.0, infinity}) CHECK(again.distance(p) == first.distance(p));
  }
  const double equally_weighted = wasserstein(x, {y, wy});
  CHECK(equally_weighted != first.distance(1));
}

TEST_CASE("case 82: errors, not numbers") {
  const numbers x{1, 2, 3}, none;
  CHECK(contains(message_of(none, x), "sample a is empty"));
  CHECK(contains(message_of(x, none), "sample b is empty"));
  CHECK(contains(message_of(numbers{1, not_a_number}, x), "sample a holds NaN at index 1"));
  CHECK(contains(message_of(x, numbers{not_a_number}), "sample b holds NaN at index 0"));
  CHECK(contains(message_of({x, numbers{1, 1}}, x), "sample a: 2 weights given for 3 values"));
  CHECK(contains(message_of(x, {x, none}), "sample b: 0 weights given for 3 values"));
  CHECK(contains(message_of({x, numbers{1, -1e-9, 1}}, x), "weight -1e-09 at index 1"));
  CHECK(contains(message_of({x, numbers{1, not_a_number, 1}}, x), "weight nan at index 1"));
  CHECK(contains(message_of(x, {x, numbers{1, infinity, 1}}), "weight inf at index 1"));
  CHECK(contains(message_of({x, numbers{0, 0, 0}}, x), "sample a sum to zero"));
  CHECK(contains(message_of({x, numbers{1e308, 1e308, 1}}, x), "sum to infinity"));
  CHECK(contains(message_of(x, x, 0.5), "order p = 0.5 must be 1 or more"));
  CHECK(contains(message_of(x, x, not_a_number), "order p = nan"));
  CHECK(message_of(x, x) == "");
}

TEST_CASE("case 82: infinities cost nothing where both samples hold them in equal shares, else everything") {
  CHECK(wasserstein(numbers{1, infinity}, numbers{2, infinity}) == 0.5);
  CHECK(wasserstein(numbers{-infinity, 1}, numbers{4, -infinity}, 2) == std::sqrt(4.5));
  CHECK(wasserstein(numbers{1, infinity}, numbers{2, 3}) == infinity);
  CHECK(wasserstein(numbers{infinity}, numbers{-infinity}, 2) == infinity);
  CHECK(wasserstein(numbers{1, infinity}, numbers{1, 1, infinity}) == infinity);
  CHECK(wasserstein(numbers{1, infinity}, numbers{1, 1, infinity, infinity}) == 0);
  // A point without weight is not there.
  CHECK(wasserstein({numbers{1, infinity}, numbers{1, 0}}, numbers{3}) == 2);
  CHECK(wasserstein(numbers{-1.7e308}, numbers{1.7e308}) == infinity);
}

TEST_CASE("case 82: a shift by a dyadic c is at distance |c|, exactly") {
  const numbers x = values(31, 4097);
  for (const double c : {0.375, -2.0, 0x1p-20, 1024.0}) {
    numbers y = x;
    for (double& v : y) v += c;
    shuffle(y, nullptr, 7);
    const monotone_coupling coupling(x, y);
    for (const double p : {1.0, 2.0, infinity}) CHECK(coupling.distance(p) == std::fabs(c));
    CHECK(close(coupling.distance(7), std::fabs(c), 1e-15));
  }
  CHECK(wasserstein(x, x, 3) == 0);
}

TEST_CASE("samples of different sizes and weights, against exact rational arithmetic") {
  // Expected: Σ share·|x − y|^p in Python fractions, the root with 40 decimal digits. For p = 1
  // scipy.stats.wasserstein_distance (SciPy 1.17) gives the same to 15 digits.
  numbers x = values(3, 40), y = values(4, 25), wx = values(5, 40), wy = values(6, 25);
  for (double& v : y) v += 1;
  for (double& w : wx) w = std::fabs(w);
  for (double& w : wy) w = std::fabs(w);
  struct expected {
    double p, sizes, weights, one_weighted;
  };
  for (const expected& e : {expected{1, 1.3315959453582764, 0.9865819845863283, 1.405235136501516},
                            expected{2, 1.6111470328408628, 1.2393057390173234, 1.6864041398535867},
                            expected{3, 1.81507508786039, 1.4442066474120252, 1.8955953221037645},
                            expected{540, 3.2735452789965414, 2.9259216895973434, 3.5553653093227617},
                            expected{infinity, 3.2959842681884766, 2.950725555419922, 3.590799331665039}}) {
    CHECK(close(wasserstein(x, y, e.p), e.sizes, 1e-15));
    CHECK(close(wasserstein({x, wx}, {y, wy}, e.p), e.weights, 1e-14));
    CHECK(close(wasserstein({x, wx}, y, e.p), e.one_weighted, 1e-14));
    CHECK(close(wasserstein(y, {x, wx}, e.p), e.one_weighted, 1e-14));
  }
}

TEST_CASE("weights that agree up to rounding leave no sliver that decides a high order") {
  // 0.1 + 0.2 = 0.30000000000000004: a share of 4e-17 of the point at 0 would be matched with 100.
  const numbers x{0, 0.5, 100}, wx{0.1, 0.2, 0.7}, y{0, 100}, wy{0.3, 0.7};
  CHECK(wasserstein_infinity({x, wx}, {y, wy}) == 0.5);
  CHECK(close(wasserstein({x, wx}, {y, wy}, 540), 0.5 * std::pow(0.2, 1.0 / 540), 1e-14));
  // Points of tiny weight are not lost when there are many: 2^20 of share 2^-52 each, all at 1, the rest at 0.
  numbers many(std::size_t(1) << 20, 1), weights(many.size(), 0x1p-52);
  many.push_back(0);
  weights.push_back(1 - 0x1p-32);
  CHECK(close(wasserstein({many, weights}, numbers{0}), 0x1p-32, 1e-5));
}

TEST_CASE("orders neither over- nor underflow") {
  for (const double unit : {1e-320, 1e-200, 1e200, 1e307}) {
    const numbers x{0, 0}, y{unit, 3 * unit};
    CHECK(close(wasserstein(x, y, 1), 2 * unit, 1e-15));
    CHECK(close(wasserstein(x, y, 2), std::sqrt(5.0) * unit, unit < 1e-300 ? 1e-3 : 1e-15));
    CHECK(close(wasserstein(x, y, 540), 3 * unit * std::pow(0.5, 1.0 / 540), unit < 1e-300 ? 1e-3 : 1e-15));
  }
}

TEST_CASE("case 82: a million points against a million, with a compensated sum") {
  const std::size_t n = 1000000;
  numbers x = values(41, n), y(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = x[(i * 7919) % n] * 1.125 + 0.01;
  const monotone_coupling coupling(x, y);
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  const moved_mean right(x, y);
  CHECK(close(coupling.distance(1), right.first, 3e-16));
  CHECK(close(coupling.distance(2), right.second, 3e-16));
  // Summed exactly, 10^6 times 0.1 is 10^6 times the double 0.1; a plain sum is off by 1e-11 of it.
  CHECK(wasserstein(numbers(n, 0), numbers(n, 0.1)) == 0.1);
}

TEST_CASE("arrays and spans are samples too") {
  const std::array<double, 2> a{0, 1};
  CHECK(wasserstein(a, std::span<const double>(a).first(1)) == 0.5);
}

TEST_CASE("floats: the definition, and the bits of the same values in double") {
  // Sizes on both sides of where digits take over from comparisons; equal, multiples, and without a common factor.
  for (const auto& sizes : {std::pair<std::size_t, std::size_t>{1, 1},
                            {1, 7},
                            {50, 50},
                            {64, 63},
                            {300, 300},
                            {300, 450},
                            {257, 64},
                            {5000, 5000}}) {
    const std::size_t n = sizes.first, m = sizes.second;
    CAPTURE(n);
    CAPTURE(m);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const floats a = seed == 3 ? deviation_test::ties<float>(seed, n) : finite_floats(seed, n);
      const floats b = seed == 3 ? deviation_test::ties<float>(seed + 9, m) : finite_floats(seed + 9, m);
      CHECK(close(wasserstein(a, b), by_definition(a, b, 1), 1e-15));
      CHECK(close(wasserstein(a, b, 2), by_definition(a, b, 2), 1e-15));
      CHECK(close(wasserstein(widened(a), widened(b), 2), by_definition(a, b, 2), 1e-15));
      const monotone_coupling in_float(a, b), in_double(widened(a), widened(b));
      for (const double p : {1.0, 1.5, 2.0, 3.0, 540.0, infinity}) CHECK(in_float.distance(p) == in_double.distance(p));
      CHECK(wasserstein_infinity(a, b) == in_double.distance(infinity));
    }
  }
}

TEST_CASE("floats at the ends of their range: subnormals and the largest, by closed form") {
  const float least = std::numeric_limits<float>::denorm_min(), top = std::numeric_limits<float>::max();
  const floats zeros(300, -0.0f), least_ones(300, least), tops(300, top), bottoms(300, -top);
  for (const double p : {1.0, 2.0, 3.0, infinity}) {
    CHECK(wasserstein(zeros, least_ones, p) == double(least));
    CHECK(wasserstein(tops, bottoms, p) == 2 * double(top));
    CHECK(wasserstein(zeros, floats(300, 0.0f), p) == 0);
  }
  const float endless = std::numeric_limits<float>::infinity();
  for (const double p : {1.0, 2.0, 3.0, infinity}) {
    CHECK(wasserstein(floats{1, endless}, floats{1, endless}, p) == 0);
    CHECK(wasserstein(floats{1, endless}, floats{2, 3}, p) == infinity);
    CHECK(wasserstein(floats{endless}, floats{-endless}, p) == infinity);
  }
  CHECK(wasserstein(floats{1, endless}, floats{2, endless}) == 0.5);
}

TEST_CASE("floats and 16-bit numbers: errors, not numbers") {
  const auto message = [](const auto& a, const auto& b, double p = 1) {
    try {
      wasserstein(a, b, p);
    } catch (const contract_violation& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const floats x{1, 2, 3}, none, broken{1, std::numeric_limits<float>::quiet_NaN()};
  CHECK(contains(message(none, x), "sample a is empty"));
  CHECK(contains(message(x, none), "sample b is empty"));
  CHECK(contains(message(broken, x), "sample a holds NaN at index 1"));
  CHECK(contains(message(x, broken), "sample b holds NaN at index 1"));
  CHECK(contains(message(x, x, 0.5), "order p = 0.5"));
  const std::vector<bf16> no_halves, halves{bf16(1.f)};
  CHECK(contains(message(no_halves, halves), "sample a is empty"));
  CHECK(contains(message(halves, no_halves), "sample b is empty"));
  CHECK(contains(message(std::vector<bf16>{bf16(broken[1])}, halves), "NaN at index 0"));
}

TEST_CASE("16-bit numbers: counted, they are as far apart as sorted") {
  for (const auto& [n, m] : {std::pair<std::size_t, std::size_t>{1, 1}, {3000, 3000}, {3000, 4500}, {64, 81}}) {
    std::vector<bf16> a;
    std::vector<fp16> b;
    floats in_float_a, in_float_b;
    for (const float v : finite_floats(n, n))
      in_float_a.push_back(float(a.emplace_back(std::fabs(v) < 1e9f ? v : 2.f)));
    for (const double v : values(m, m)) in_float_b.push_back(float(b.emplace_back(v)));
    const monotone_coupling counted(a, b);
    CHECK(close(counted.distance(1), by_definition(in_float_a, in_float_b, 1), 1e-15));
    CHECK(close(counted.distance(2), by_definition(in_float_a, in_float_b, 2), 1e-15));
    CHECK(close(wasserstein(a, b, 540), wasserstein(in_float_a, in_float_b, 540), 1e-13));
    CHECK(wasserstein_infinity(a, b) == wasserstein_infinity(in_float_a, in_float_b));
    CHECK(wasserstein(a, a, 2) == 0);
  }
  // Codes and their format, mixed with numbers; an infinity in equal shares costs nothing.
  const std::vector<std::uint16_t> codes{0x7f80, 0x3f80};  // infinity, 1
  CHECK(wasserstein({codes, bf16_format}, std::vector<fp16>{fp16(infinity), fp16(3)}) == 1);
  CHECK(wasserstein({codes, bf16_format}, std::vector<fp16>{fp16(2), fp16(3)}) == infinity);
}

TEST_CASE("a million floats with few fraction bits are counted, to the result of sorting") {
  const std::size_t n = 1000000;
  floats a(n), b(n);
  generator g(77);
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = float(int(g.bits() % 2001) - 1000);
    b[i] = float(int(g.bits() % 1501) - 700) / 2;
  }
  const std::size_t before = deviation_test::allocated_bytes();
  const double first = wasserstein(a, b);
  CHECK(deviation_test::allocated_bytes() - before < 2 * n * sizeof(float) * 3 / 2);  // less than sorting takes
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double sum = 0;  // exact: halves below 2^53
  for (std::size_t i = 0; i < n; ++i) sum += std::fabs(double(a[i]) - double(b[i]));
  CHECK(first == sum / double(n));
}

TEST_CASE("equal weights take a copy of each sample and one of the larger: at most two copies of the inputs") {
  const auto taken = [](const auto& work) {
    const std::size_t before = deviation_test::allocated_bytes();
    work();
    return deviation_test::allocated_bytes() - before;
  };
  const std::size_t other = 1024;  // texts of errors that do not happen, reference counts
  for (const auto& [n, m] : {std::pair<std::size_t, std::size_t>{20000, 20000}, {20000, 30000}, {1, 40000}}) {
    const floats a = finite_floats(1, n), b = finite_floats(2, m);
    CHECK(taken([&] { wasserstein(a, b, 2); }) <= (n + m + std::max(n, m)) * sizeof(float) + other);
    const numbers wide_a = widened(a), wide_b = widened(b);
    CHECK(taken([&] { wasserstein(wide_a, wide_b, 2); }) <= (n + m + std::max(n, m)) * sizeof(double) + other);
  }
  const std::vector<bf16> halves(2000000, bf16(1.f));
  CHECK(taken([&] { wasserstein(halves, halves); }) < std::size_t(3) << 19);  // a mebibyte of counts
}

TEST_CASE("slow: W_1 and W_2 of 10^8 floats are those of std::sort") {
  const std::size_t n = 100000000;
  floats a(n), b(n);
  generator g(5);
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = float(g.value());
    b[i] = float(g.value() * 1.125 + 0.01);
  }
  const std::size_t before = deviation_test::allocated_bytes();
  const monotone_coupling coupling(a, b);
  CHECK(deviation_test::allocated_bytes() - before <= 4 * n * sizeof(float));
  const double first = coupling.distance(1), second = coupling.distance(2);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const moved_mean right(a, b);
  CHECK(close(first, right.first, 3e-16));
  CHECK(close(second, right.second, 3e-16));
}
