// SPDX-License-Identifier: Apache-2.0
#include <deviate/math/exp.hpp>

#include "fixed_inputs.hpp"
#if DEVIATE_TEST_MPFR
#include "oracle.hpp"
#endif

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace {

namespace dm = deviate::math;

struct exp_function {
  template <class L>
  static L call(const L& x) {
    return dm::exp(x);
  }
#if DEVIATE_TEST_MPFR
  static int exact(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t mode) { return mpfr_exp(r, x, mode); }
#endif
};
struct exp2_function {
  template <class L>
  static L call(const L& x) {
    return dm::exp2(x);
  }
#if DEVIATE_TEST_MPFR
  static int exact(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t mode) { return mpfr_exp2(r, x, mode); }
#endif
};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double smallest = std::numeric_limits<double>::denorm_min();

// A number type of someone else: its functions are the only right ones, although it converts to double.
namespace elsewhere {
struct number {
  double value;
  explicit number(double x) : value(x) {}
  operator double() const { return value; }
};
number exp(const number& x) { return number(x.value + 1000); }
number log(const number& x) { return number(x.value + 0.5); }
number operator*(const number& a, const number& b) { return number(a.value * b.value); }
struct with_exp2 {
  double value;
};
with_exp2 exp2(const with_exp2& x) { return {x.value + 3000}; }
struct without {
  double value;
  operator double() const { return value; }
};
}  // namespace elsewhere

template <class T>
concept can_exp = requires(const T& x) {
  dm::exp(x);
};
static_assert(can_exp<double> && can_exp<float> && can_exp<deviate::pack<double, 4>> && can_exp<elsewhere::number>);
static_assert(!can_exp<int> && !can_exp<long double> && !can_exp<elsewhere::without> &&
              !can_exp<deviate::pack<std::int64_t, 4>>);

}  // namespace

TEST_CASE("exp: special cases") {
  using deviate::bits;
  CHECK(bits(dm::exp(0.0)) == bits(1.0));
  CHECK(bits(dm::exp(-0.0)) == bits(1.0));
  CHECK(bits(dm::exp(infinity)) == bits(infinity));
  CHECK(bits(dm::exp(-infinity)) == bits(0.0));
  for (const double x : {not_a_number, -not_a_number, deviate::from_bits(std::uint64_t{0xfff0000000000001})})
    CHECK(bits(dm::exp(x)) == 0x7ff8000000000000u);
  CHECK(bits(dm::exp(std::numeric_limits<float>::quiet_NaN())) == 0x7fc00000u);
  CHECK(bits(dm::exp(-infinity)) == bits(0.0));
  CHECK(dm::exp(0x1.62e42fefa39efp+9) < infinity);
  CHECK(dm::exp(0x1.62e42fefa39f0p+9) == infinity);
  CHECK(dm::exp(std::numeric_limits<double>::max()) == infinity);
  CHECK(dm::exp(-0x1.74910d52d3051p+9) == smallest);
  CHECK(bits(dm::exp(-0x1.74910d52d3052p+9)) == bits(0.0));
  CHECK(bits(dm::exp(-std::numeric_limits<double>::max())) == bits(0.0));
  CHECK(dm::exp(-0x1.6232bdd7abcd2p+9) >= std::numeric_limits<double>::min());
  CHECK(dm::exp(-0x1.6232bdd7abcd3p+9) < std::numeric_limits<double>::min());
}

TEST_CASE("exp2: special cases") {
  using deviate::bits;
  CHECK(bits(dm::exp2(0.0)) == bits(1.0));
  CHECK(bits(dm::exp2(-0.0)) == bits(1.0));
  CHECK(bits(dm::exp2(infinity)) == bits(infinity));
  CHECK(bits(dm::exp2(-infinity)) == bits(0.0));
  for (const double x : {not_a_number, -not_a_number, deviate::from_bits(std::uint64_t{0xfff0000000000001})})
    CHECK(bits(dm::exp2(x)) == 0x7ff8000000000000u);
  CHECK(bits(dm::exp2(std::numeric_limits<float>::quiet_NaN())) == 0x7fc00000u);
  CHECK(dm::exp2(1024.0) == infinity);
  CHECK(dm::exp2(std::nextafter(1024.0, 0.0)) < infinity);
  CHECK(bits(dm::exp2(-1075.0)) == bits(0.0));
  CHECK(dm::exp2(std::nextafter(-1075.0, 0.0)) == smallest);
  int inexact = 0;
  for (int n = -1100; n <= 1100; ++n)
    if (bits(dm::exp2(double(n))) != bits(std::ldexp(1.0, n))) ++inexact;
  CHECK(inexact == 0);
}

TEST_CASE("exp2_to_odd: a neighbour of the nearest double, and odd unless the parts add up to a double") {
  using deviate::bits;
  for (int n = -1074; n < 1024; ++n) CHECK(bits(dm::exp2_to_odd(double(n))) == bits(std::ldexp(1.0, n)));
  CHECK(dm::exp2_to_odd(1024.0) == infinity);
  CHECK(bits(dm::exp2_to_odd(not_a_number)) == 0x7ff8000000000000u);
  oracle::words random(7);
  int even = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double x = random.uniform(-1074, 1024);
    const auto odd = bits(dm::exp2_to_odd(x));
    const auto nearest = bits(dm::exp2(x));
    if (odd % 2 == 0) ++even;
    CHECK((odd == nearest || (odd % 2 == 1 && (odd == nearest + 1 || odd + 1 == nearest))));
  }
  CHECK(even < 200);
}

TEST_CASE("exp and exp2: packs have the bits of the plain value") {
  const auto inputs = oracle::fixed_inputs(500'000, -1100, 1100);
  oracle::check_packs<exp_function>(inputs);
  oracle::check_packs<exp2_function>(inputs);
}

TEST_CASE("exp and exp2: every compiler, flag and machine gives these bits") {
  const auto inputs = oracle::fixed_inputs(500'000, -1100, 1100);
  CHECK(oracle::hash_of<exp_function>(inputs) == 0x9fd5f12166037b4au);
  CHECK(oracle::hash_of<exp2_function>(inputs) == 0x34941742b243d2b2u);
}

TEST_CASE("exp and exp2: another number type is served by its own functions") {
  CHECK(dm::exp(elsewhere::number{1}).value == 1001);
  CHECK(dm::exp2(elsewhere::number{4}).value == 1010);  // exp(4·log 2), with its log 2 = 2.5
  CHECK(dm::exp2(elsewhere::with_exp2{1}).value == 3001);
}

// exp of floats against exp in double, which is held to MPFR below. For every format of at most 24 bits and every mode
// the two decide alike where no number of 25 bits lies between them, or is one of them.
void check_exp_of_floats(std::uint32_t stride) {
  constexpr int W = 16;
  std::uint64_t wrong_float = 0, wrong_interval = 0;
  for (std::uint64_t first = 0; first < (std::uint64_t{1} << 32); first += std::uint64_t{W} * stride) {
    deviate::pack<std::uint32_t, W> pattern;
    for (int i = 0; i < W; ++i) pattern.set(i, std::uint32_t(first + std::uint64_t(i) * stride));
    const auto x = deviate::from_bits(pattern);
    const auto wide = deviate::convert_lanes<double>(x);
    const auto expected = dm::exp(wide);
    const auto difference = deviate::bits(dm::exp(x)) ^ deviate::bits(deviate::convert_lanes<float>(expected));
    if (deviate::any(difference))
      for (int i = 0; i < W; ++i) wrong_float += difference[i] != 0;
    const auto ours = deviate::bits(dm::exp_of_float(wide)), theirs = deviate::bits(expected);
    if (!deviate::any(ours ^ theirs)) continue;
    for (int i = 0; i < W; ++i) {
      constexpr std::uint64_t dropped = (std::uint64_t{1} << 28) - 1;
      const bool same_interval =
          ours[i] >> 28 == theirs[i] >> 28 && (ours[i] & dropped) != 0 && (theirs[i] & dropped) != 0;
      const bool beyond = (wide[i] < -104 && ours[i] == deviate::bits(dm::exp_of_float(-104.0))) ||
                          (wide[i] > 89 && ours[i] == deviate::bits(dm::exp_of_float(89.0)) && expected[i] < infinity);
      wrong_interval += ours[i] != theirs[i] && !same_interval && !beyond;
    }
  }
  CHECK(wrong_float == 0);
  CHECK(wrong_interval == 0);
}

TEST_CASE("exp of floats: as exp in double, rounded once") {
  CHECK(dm::exp_of_float(-104.0) < 0x1p-150);
  CHECK(dm::exp_of_float(-104.0) > 0);
  CHECK(dm::exp_of_float(89.0) > 0x1.ffffffp127);
  CHECK(dm::exp_of_float(infinity) == infinity);
  CHECK(deviate::bits(dm::exp_of_float(-infinity)) == 0);
  check_exp_of_floats(61);
}

TEST_CASE("slow: exp of floats: as exp in double, rounded once, for all 2^32 floats") { check_exp_of_floats(1); }

#if DEVIATE_TEST_MPFR

namespace {

// Draws for the accuracy of doubles: the whole range of normal results, that of subnormal results, and all magnitudes.
template <int low, int high>
double in_range(oracle::words& random) {
  return random.uniform(low, high);
}
double any_magnitude(oracle::words& random) {
  const double x = std::ldexp(random.uniform(1, 2), -int(random.next() % 60));
  return random.next() % 2 ? x : -x;
}

}  // namespace

TEST_CASE("exp: the double result is within 0.63 ulp") {
  CHECK(oracle::largest_ulp_error<exp_function>(1, 100'000, in_range<-708, 709>) < 0.63);
  CHECK(oracle::largest_ulp_error<exp_function>(2, 50'000, in_range<-746, -708>) < 0.63);
  CHECK(oracle::largest_ulp_error<exp_function>(3, 100'000, any_magnitude) < 0.63);
}

TEST_CASE("exp2: the double result is within 0.63 ulp") {
  CHECK(oracle::largest_ulp_error<exp2_function>(1, 100'000, in_range<-1022, 1024>) < 0.63);
  CHECK(oracle::largest_ulp_error<exp2_function>(2, 50'000, in_range<-1076, -1022>) < 0.63);
  CHECK(oracle::largest_ulp_error<exp2_function>(3, 100'000, any_magnitude) < 0.63);
}

TEST_CASE("exp: correct in FP32, TF32, FP16 and BF16 for every 1009th float") {
  oracle::check_sweep(oracle::sweep_floats<exp_function>(1009, 61), 0);
}

TEST_CASE("exp2: correct in FP32, TF32, FP16 and BF16 for every 1009th float") {
  oracle::check_sweep(oracle::sweep_floats<exp2_function>(1009, 61), 0);
}

TEST_CASE("exp2: the two floats whose 2^x is nearest to a midpoint of floats") {
  for (const float x : {0x1.853a6ep-9f, -0x1.e7526ep-6f}) oracle::check_lost_in_double<exp2_function>(x);
}

TEST_CASE("exp and exp2: rounded once to FP16 and BF16, correct for all inputs of the format") {
  CHECK(oracle::wrong_in_16_bits<exp_function>(oracle::fp16) == 0);
  CHECK(oracle::wrong_in_16_bits<exp_function>(oracle::bf16) == 0);
  CHECK(oracle::wrong_in_16_bits<exp2_function>(oracle::fp16) == 0);
  CHECK(oracle::wrong_in_16_bits<exp2_function>(oracle::bf16) == 0);
}

TEST_CASE("slow: exp: correct in FP32, TF32, FP16 and BF16 for all 2^32 floats") {
  const auto found = oracle::sweep_floats<exp_function>(1, 4001);
  MESSAGE("decided by MPFR: ", found.asked);
  oracle::check_sweep(found, 0);
}

TEST_CASE("slow: exp2: correct in FP32, TF32, FP16 and BF16 for all 2^32 floats") {
  const auto found = oracle::sweep_floats<exp2_function>(1, 4001);
  MESSAGE("decided by MPFR: ", found.asked);
  oracle::check_sweep(found, 2);
}

TEST_CASE("slow: exp and exp2: the double result is within 0.63 ulp for ten million inputs") {
  const double errors[] = {oracle::largest_ulp_error<exp_function>(11, 2'000'000, in_range<-708, 709>),
                           oracle::largest_ulp_error<exp_function>(12, 1'000'000, in_range<-746, -708>),
                           oracle::largest_ulp_error<exp_function>(13, 2'000'000, any_magnitude),
                           oracle::largest_ulp_error<exp2_function>(14, 2'000'000, in_range<-1022, 1024>),
                           oracle::largest_ulp_error<exp2_function>(15, 1'000'000, in_range<-1076, -1022>),
                           oracle::largest_ulp_error<exp2_function>(16, 2'000'000, any_magnitude)};
  for (const double error : errors) {
    CHECK(error < 0.63);
    MESSAGE("largest error in ulp: ", error);
  }
}

#endif  // DEVIATE_TEST_MPFR
