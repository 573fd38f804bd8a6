// SPDX-License-Identifier: Apache-2.0
#include <deviate/accumulate/exact_product.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <deviate/accumulate/named_units.hpp>
#include <deviate/attention/forward.hpp>
#include <utility>
#include <vector>

#include "attention/inputs.hpp"

using namespace attention_test;
using namespace dv::accumulate;

namespace {

struct factors {
  double a, b;
};

// Significand and exponent of a number of a format with this smallest normal exponent.
std::pair<double, int> parts(double x, int min_exponent) {
  const int e = x == 0 ? -126 : std::max(std::ilogb(x), min_exponent);
  return {std::ldexp(x, -e), e};
}

// One unit with an FP32 sum, in products of significands, as arXiv 2511.10909 describes it.
float model(const std::vector<factors>& all, std::size_t terms, int fraction_bits, int min_exponent) {
  double sum = 0;
  for (std::size_t first = 0; first < all.size(); first += terms) {
    std::vector<std::pair<double, int>> group{parts(sum, -126)};
    for (std::size_t i = first; i < std::min(all.size(), first + terms); ++i) {
      const auto [sa, ea] = parts(all[i].a, min_exponent);
      const auto [sb, eb] = parts(all[i].b, min_exponent);
      group.emplace_back(sa * sb, sa * sb == 0 ? -126 : ea + eb);
    }
    int largest = -126;
    for (const auto& [s, e] : group) largest = std::max(largest, e);
    double total = 0;  // an integer below 2^53
    for (const auto& [s, e] : group) total += std::trunc(std::ldexp(s, fraction_bits + e - largest));
    total = std::ldexp(total, largest - fraction_bits);
    const auto [s, e] = parts(total, -126);
    sum = std::ldexp(std::trunc(std::ldexp(s, 23)), e - 23);
  }
  return float(sum) + 0.0f;
}

template <class Unit, dv::format F>
float sum(const std::vector<factors>& all) {
  using site = dv::rounding_site<float>;
  const dv::rounding_site<exact_product<F>> product;
  typename Unit::template accumulator<site, 1> total;
  for (const factors& f : all)
    total.push(site{}, product.multiply(dv::fragment<double, 1>{f.a}, dv::fragment<double, 1>{f.b}));
  return total.total(site{}).value;
}

template <class Unit, dv::format F>
void check_against_model() {
  generator g(std::uint64_t(Unit::terms) * 64 + std::uint64_t(F.exponent_bits));
  int differs = 0;
  for (const int spread : {1, 4, 12, 2 * F.bias()})
    for (int i = 0; i < 500; ++i) {
      std::vector<factors> all(1 + g.bits() % 70);
      std::vector<double> values;
      for (factors& f : all) {
        const auto draw = [&] {
          const double x = std::ldexp(g.two_sided(), -int(g.bits() % unsigned(spread)));
          return g.bits() % 16 == 0 ? 0.0 : double(dv::emulated<F>(x).carrier());
        };
        f.a = draw();
        f.b = draw();
        values.push_back(f.a * f.b);
      }
      const float expected = model(all, std::size_t(Unit::terms), Unit::fraction_bits, F.min_exponent());
      const float got = sum<Unit, F>(all);
      CHECK(std::memcmp(&got, &expected, sizeof got) == 0);
      // The same products without their factors' exponents.
      typename Unit::template accumulator<dv::rounding_site<float>, 1> plain;
      for (const double v : values) plain.push({}, dv::fragment<double, 1>{v});
      differs += plain.total({}).value != got;
    }
  if (F.precision() > 8) CHECK(differs > 20);
}

}  // namespace

TEST_CASE("a product keeps its factors' exponents") {
  using product = exact_product<dv::fp16_format>;
  CHECK(double(product(1.5f) * product(1.5f)) == 2.25);
  CHECK((product(1.5f) * product(1.5f)).factor_exponents() == 0);
  CHECK((product(-3.0) * product(0.25)).factor_exponents() == -1);
  CHECK((product(0x1p-24) * product(0x1p-24)).factor_exponents() == -28);
  CHECK(double(product(0x1p-24) * product(-0x1p-24)) == -0x1p-48);
  // 2.25 with exponent 0 leaves room for two terms of 2^-23, which 2.25 with its own exponent 1 cuts off.
  CHECK(sum<v100_fp16, dv::fp16_format>({{1.5, 1.5}, {0x1p-12, 0x1p-11}, {0x1p-12, 0x1p-11}}) == 2.25f + 0x1p-22f);
  v100_fp16::accumulator<dv::rounding_site<float>, 1> plain;
  for (const double v : {2.25, 0x1p-23, 0x1p-23}) plain.push({}, dv::fragment<double, 1>{v});
  CHECK(plain.total({}).value == 2.25f);
}

TEST_CASE("sums of exact products have every bit of the published model") {
  check_against_model<v100_fp16, dv::fp16_format>();
  check_against_model<ampere_fp16, dv::fp16_format>();
  check_against_model<ampere_fp16, dv::bf16_format>();
  check_against_model<ampere_tf32, dv::tf32_format>();
  check_against_model<hopper_fp16, dv::fp16_format>();
  check_against_model<hopper_tf32, dv::tf32_format>();
  check_against_model<blackwell_fp8, dv::fp8_e4m3_format>();
  check_against_model<blackwell_fp8, dv::fp8_e5m2_format>();
}

TEST_CASE("exact products in FlashAttention: every bit of the scores is the unit's") {
  using dv::at;
  using dv::site;
  using dv::summed;
  using product = exact_product<dv::fp16_format>;
  using kernel = dv::recipe<float, at<site::input, dv::fp16>, at<site::probability_operand, dv::fp16>,
                            at<site::score_product, product>, at<site::value_product, product>,
                            summed<site::score, ampere_fp16>, summed<site::value_partial, ampere_fp16>>;
  constexpr std::int64_t n_key = 37, d = 32;
  const auto in = gaussian_inputs({.n_query = 3, .n_key = n_key, .d = d, .d_v = 5}, 8);
  const auto out = dv::flash_forward(kernel{}, in.q, in.k, in.v, {.scale = 0.25}, {.tile_key = 16}, dv::workers{1});
  using reference = dv::recipe<double, at<site::input, dv::fp16>>;
  const auto right = dv::flash_forward(reference{}, in.q, in.k, in.v, {.scale = 0.25}, {}, dv::workers{1});
  for (std::size_t i = 0; i < out.output.values().size(); ++i)
    CHECK(std::fabs(double(out.output.values()[i]) - right.output.values()[i]) < 2e-3);

  // With one key, the log-sum-exp is the score.
  for (std::int64_t key = 0; key < n_key; ++key) {
    std::vector<factors> all;
    std::vector<double> k;
    for (std::int64_t c = 0; c < d; ++c) {
      k.push_back(in.k.values()[std::size_t(key * d + c)]);
      all.push_back({double(dv::fp16(in.q.values()[std::size_t(c)])), double(dv::fp16(k.back()))});
    }
    const auto one = dv::flash_forward(kernel{}, matrix(1, d, {in.q.values().begin(), in.q.values().begin() + d}),
                                       matrix(1, d, std::move(k)), matrix(1, 1, std::vector<double>{1}),
                                       {.scale = 0.25}, {}, dv::workers{1});
    CHECK(one.log_sum_exp.values()[0] == 0.25f * model(all, 8, 24, -14));
  }
}
