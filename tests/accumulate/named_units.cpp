// SPDX-License-Identifier: Apache-2.0
#include <deviate/accumulate/named_units.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deviate/accumulate/exact.hpp>
#include <deviate/accumulate/two_level.hpp>
#include <string>
#include <vector>

#include "accumulate/sums.hpp"

using namespace accumulate_test;
using namespace dv::accumulate;

namespace {

using fp22 = dv::binary_number<8, 13>;

template <class Unit, int Terms, int FractionBits, class Output>
constexpr bool is =
    Unit::terms == Terms&& Unit::fraction_bits == FractionBits&& std::is_same_v<typename Unit::inside_type, Output>;
static_assert(is<v100_fp16, 4, 23, float>);
static_assert(is<ampere_fp16, 8, 24, float>);
static_assert(is<ampere_tf32, 4, 24, float>);
static_assert(is<hopper_fp16, 16, 25, float>);
static_assert(is<hopper_tf32, 8, 25, float>);
static_assert(is<ada_fp8, 16, 13, fp22>);
static_assert(is<hopper_fp8, 32, 13, fp22>);
static_assert(is<blackwell_fp8, 32, 25, float>);
static_assert(is<to_fp16<v100_fp16>, 4, 23, dv::fp16>);

// Errors of sums of 4096 products of E4M3 numbers, over `seeds` seeds of 64 sums each.
struct errors {
  double worst = 0;        // |error| ÷ |sum|
  double worst_large = 0;  // the same, among sums of at least a tenth of the root mean square
  double to_rms = 0;       // |error| ÷ root mean square of the sums
};
template <class Accumulation, class Inside, class Draw>
errors measured(std::uint64_t seeds, Draw draw) {
  struct one {
    double right, error;
  };
  std::vector<one> all;
  double squares = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    generator g(seed);
    const auto factor = [&] { return double(dv::fp8_e4m3(draw(g)).carrier()); };
    for (int i = 0; i < 64; ++i) {
      std::vector<float> terms(4096);
      for (float& t : terms) {
        const double a = factor();
        t = float(a * factor());
      }
      const double right = sum<exact<double>, double, float>(terms);
      all.push_back({right, std::fabs(double(sum<Accumulation, Inside, float>(terms)) - right)});
      squares += right * right;
    }
  }
  const double rms = std::sqrt(squares / double(all.size()));
  errors e;
  for (const one& x : all) {
    const double relative = x.error == 0 ? 0 : x.error / std::fabs(x.right);
    e.worst = std::max(e.worst, relative);
    if (std::fabs(x.right) >= rms / 10) e.worst_large = std::max(e.worst_large, relative);
    e.to_rms = std::max(e.to_rms, x.error / rms);
  }
  return e;
}

}  // namespace

TEST_CASE("FP8 sums of 4096 products: 13 fraction bits lose per cents, promotion brings back two digits") {
  using promoted = two_level<hopper_fp8, 128, sequential<float>>;
  const auto report = [](const std::string& draws, const std::string& name, const errors& e) {
    MESSAGE(draws << ", " << name << ": largest relative error " << e.worst
                  << " (of sums above rms/10: " << e.worst_large << "), largest error / rms " << e.to_rms);
    return e;
  };
  SUBCASE("factors of one sign: every truncation lowers the sum") {
    const auto draw = [](generator& g) { return g.uniform(); };
    const auto narrow = report("uniform in [0, 1)", "H100", measured<hopper_fp8, fp22>(4, draw));
    const auto ada = report("uniform in [0, 1)", "Ada", measured<ada_fp8, fp22>(4, draw));
    const auto wide = report("uniform in [0, 1)", "H100 promoted", measured<promoted, float>(4, draw));
    const auto plain = report("uniform in [0, 1)", "FP32", measured<sequential<float>, float>(4, draw));
    const auto next = report("uniform in [0, 1)", "B200", measured<blackwell_fp8, float>(4, draw));
    CHECK(narrow.worst > 0.05);
    CHECK(narrow.worst < 0.08);
    CHECK(ada.worst > 0.05);
    CHECK(ada.worst < 0.08);
    CHECK(wide.worst < 7e-4);
    CHECK(wide.worst < narrow.worst / 100);
    CHECK(plain.worst < 1e-6);
    CHECK(next.worst < 2e-6);
  }
  SUBCASE("Gaussian factors: the sum cancels, so that its own size is no measure") {
    const auto draw = [](generator& g) { return g.gaussian(); };
    const auto narrow = report("Gaussian", "H100", measured<hopper_fp8, fp22>(4, draw));
    const auto ada = report("Gaussian", "Ada", measured<ada_fp8, fp22>(4, draw));
    const auto wide = report("Gaussian", "H100 promoted", measured<promoted, float>(4, draw));
    const auto plain = report("Gaussian", "FP32", measured<sequential<float>, float>(4, draw));
    const auto next = report("Gaussian", "B200", measured<blackwell_fp8, float>(4, draw));
    CHECK(narrow.worst_large > 0.005);
    CHECK(narrow.worst_large < 0.03);
    CHECK(ada.worst_large > 0.005);
    CHECK(ada.worst_large < 0.03);
    CHECK(narrow.to_rms > 0.003);
    CHECK(narrow.to_rms < 0.01);
    CHECK(wide.to_rms < 7e-4);
    CHECK(wide.to_rms < narrow.to_rms / 8);
    CHECK(plain.to_rms < 1e-6);
    CHECK(next.to_rms < 1e-6);
  }
}
