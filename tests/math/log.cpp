// SPDX-License-Identifier: Apache-2.0
#include <deviate/math/log.hpp>

#include "fixed_inputs.hpp"
#if DEVIATE_TEST_MPFR
#include "oracle.hpp"
#endif

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace {

namespace dm = deviate::math;

struct log_function {
  template <class L>
  static L call(const L& x) {
    return dm::log(x);
  }
#if DEVIATE_TEST_MPFR
  static int exact(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t mode) { return mpfr_log(r, x, mode); }
#endif
};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double smallest = std::numeric_limits<double>::denorm_min();

// Number types of someone else: their functions are the only right ones, although they convert to double.
namespace elsewhere {
struct number {
  double value;
  explicit number(double x) : value(x) {}
  operator double() const { return value; }
};
number log(const number& x) { return number(x.value + 2000); }
struct without {
  double value;
  operator double() const { return value; }
};
}  // namespace elsewhere

template <class T>
concept can_log = requires(const T& x) {
  dm::log(x);
};
static_assert(can_log<double> && can_log<float> && can_log<deviate::pack<float, 8>> && can_log<elsewhere::number>);
static_assert(!can_log<int> && !can_log<long double> && !can_log<elsewhere::without> &&
              !can_log<deviate::pack<std::int64_t, 4>>);

}  // namespace

TEST_CASE("log: special cases") {
  using deviate::bits;
  CHECK(bits(dm::log(1.0)) == bits(0.0));
  CHECK(bits(dm::log(1.0f)) == bits(0.0f));
  CHECK(dm::log(0.0) == -infinity);
  CHECK(dm::log(-0.0) == -infinity);
  CHECK(dm::log(infinity) == infinity);
  for (const double x : {not_a_number, -not_a_number, deviate::from_bits(std::uint64_t{0xfff0000000000001}), -infinity,
                         -1.0, -smallest, -std::numeric_limits<double>::max()})
    CHECK(bits(dm::log(x)) == 0x7ff8000000000000u);
  for (const float x : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(), -1.0f})
    CHECK(bits(dm::log(x)) == 0x7fc00000u);
  CHECK(dm::log(smallest) == -0x1.74385446d71c3p+9);
  CHECK(dm::log(std::numeric_limits<double>::max()) == 0x1.62e42fefa39efp+9);
}

TEST_CASE("log_to_odd: a neighbour of the nearest double, and odd unless the parts add up to a double") {
  using deviate::bits;
  CHECK(bits(dm::log_to_odd(1.0)) == bits(0.0));
  CHECK(dm::log_to_odd(0.0) == -infinity);
  CHECK(dm::log_to_odd(infinity) == infinity);
  CHECK(bits(dm::log_to_odd(-1.0)) == 0x7ff8000000000000u);
  oracle::words random(7);
  int even = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double x = random.uniform(0, 4);
    const auto odd = bits(dm::log_to_odd(x));
    const auto nearest = bits(dm::log(x));
    if (odd % 2 == 0) ++even;
    CHECK((odd == nearest || (odd % 2 == 1 && (odd == nearest + 1 || odd + 1 == nearest))));
  }
  CHECK(even < 200);
}

TEST_CASE("log: packs have the bits of the plain value") {
  oracle::check_packs<log_function>(oracle::fixed_inputs(500'000, 0, 4));
}

TEST_CASE("log: every compiler, flag and machine gives these bits") {
  CHECK(oracle::hash_of<log_function>(oracle::fixed_inputs(500'000, 0, 4)) == 0xef9c7ee78cff7568u);
}

TEST_CASE("log: another number type is served by its own function") {
  CHECK(dm::log(elsewhere::number{1}).value == 2001);
}

#if DEVIATE_TEST_MPFR

namespace {

// Draws for the accuracy of doubles: every positive number, near 1 at all distances, and the binades around 1.
double any_positive(oracle::words& random) { return deviate::from_bits(random.next() % 0x7ff0000000000000u); }
double subnormal(oracle::words& random) { return deviate::from_bits(1 + random.next() % 0x000fffffffffffffu); }
double near_one(oracle::words& random) {
  const double distance = std::ldexp(random.uniform(1, 2), -2 - int(random.next() % 52));
  return random.next() % 2 ? 1 + distance : 1 - distance;
}
double around_one(oracle::words& random) { return random.uniform(0.25, 4); }

}  // namespace

TEST_CASE("log: the double result is within 0.65 ulp") {
  CHECK(oracle::largest_ulp_error<log_function>(1, 50'000, any_positive) < 0.65);
  CHECK(oracle::largest_ulp_error<log_function>(2, 20'000, subnormal) < 0.65);
  CHECK(oracle::largest_ulp_error<log_function>(3, 100'000, near_one) < 0.65);
  CHECK(oracle::largest_ulp_error<log_function>(4, 100'000, around_one) < 0.65);
}

TEST_CASE("log: correct in FP32, TF32, FP16 and BF16 for every 1009th float") {
  oracle::check_sweep(oracle::sweep_floats<log_function>(1009, 61), 0);
}

TEST_CASE("log: the five floats whose logarithm is nearest to a midpoint of floats") {
  for (const float x : {0x1.827a74p-7f, 0x1.2f1fd6p+3f, 0x1.bacb4ap+25f, 0x1.b121a6p+76f, 0x1.6351d8p+95f})
    oracle::check_lost_in_double<log_function>(x);
}

TEST_CASE("log: rounded once to FP16 and BF16, correct for all inputs of the format") {
  CHECK(oracle::wrong_in_16_bits<log_function>(oracle::fp16) == 0);
  CHECK(oracle::wrong_in_16_bits<log_function>(oracle::bf16) == 0);
}

TEST_CASE("slow: log: correct in FP32, TF32, FP16 and BF16 for all 2^32 floats") {
  const auto found = oracle::sweep_floats<log_function>(1, 4001);
  MESSAGE("decided by MPFR: ", found.asked);
  oracle::check_sweep(found, 5);
}

TEST_CASE("slow: log: the double result is within 0.65 ulp for five million inputs") {
  const double errors[] = {oracle::largest_ulp_error<log_function>(11, 1'000'000, any_positive),
                           oracle::largest_ulp_error<log_function>(12, 200'000, subnormal),
                           oracle::largest_ulp_error<log_function>(13, 1'800'000, near_one),
                           oracle::largest_ulp_error<log_function>(14, 2'000'000, around_one)};
  for (const double error : errors) {
    CHECK(error < 0.65);
    MESSAGE("largest error in ulp: ", error);
  }
}

#endif  // DEVIATE_TEST_MPFR
