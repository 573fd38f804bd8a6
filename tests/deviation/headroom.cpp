// SPDX-License-Identifier: Apache-2.0
// Every count against a case that is decided by hand.
#include <deviate/deviation/headroom.hpp>

#include <cmath>
#include <cstdint>
#include <deviate/attention/named_recipes.hpp>
#include <deviate/number/named.hpp>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include "generator.hpp"

namespace {

namespace dv = deviate;
using dv::site;

constexpr double infinite = std::numeric_limits<double>::infinity();

// The formats of every case are chosen at run time: one recipe for all.
using any = dv::uniform<dv::wide_runtime>;

any in_format(const dv::format& f) { return any(f); }
any but(any r, site where, const dv::format& f) {
  r.formats[int(where)] = f;
  return r;
}

dv::tensor<double> column(const std::vector<double>& x) {
  return dv::tensor<double>({1, 1, std::int64_t(x.size()), 1}, x);
}
dv::tensor<double> constant(std::int64_t rows, std::int64_t columns, double x) {
  dv::tensor<double> t({1, 1, rows, columns});
  for (double& y : t.values()) y = x;
  return t;
}

// One row whose scores are given, exactly: q = 1, k = score, v = 1.
dv::head_headroom of_scores(const any& r, const std::vector<double>& scores, const dv::schedule& plan = {},
                            dv::problem p = {}) {
  p.scale = 1;
  return dv::observe(r, column({1}), column(scores), constant(std::int64_t(scores.size()), 1, 1), p, plan).whole();
}
// One row of equal weights: O after the i-th key is i times v.
dv::head_headroom of_equal_weights(const any& r, std::int64_t n, double v) {
  return dv::observe(r, column({0}), constant(n, 1, 0), constant(n, 1, v), {}, {.tile_key = 64}).whole();
}

const any wide = in_format(dv::binary64);

TEST_CASE("headroom: an FP16 output state of ever more keys passes 65504 at the 512th tile of 64") {
  const auto h = of_equal_weights(but(in_format(dv::binary32), site::output_state, dv::fp16_format), 40000, 2);
  REQUIRE(h.first_not_finite);
  CHECK(h.first_not_finite->what.where == site::output_state);
  CHECK(h.first_not_finite->what.what == dv::operation::add);
  CHECK(h.first_not_finite->first_key == 511 * 64);
  CHECK(h.first_not_finite->row == 0);
  CHECK(h.first_not_finite->what.operands[0] == 65408);
  CHECK(h.first_not_finite->what.operands[1] == 128);
  CHECK(h.first_not_finite->what.result == infinite);
  CHECK_FALSE(h.first_nan);
  CHECK(h.at(site::output_state).largest == 65408);
  CHECK(h.at(site::output_state).limit == 65504);
  CHECK(h.at(site::output_state).share == 65408 / 65504.0);
  CHECK(h.at(site::output_state).overflowed == 1);
  CHECK(h.at(site::row_sum).largest == 40000);
  CHECK(h.at(site::row_sum).overflowed == 0);
  CHECK(h.ones == 40000);
  CHECK(h.ties == 39999);
  CHECK(h.rescales == 0);
}

TEST_CASE("headroom: 64 products of 32 x 32 pass the end of FP16 inside the sum, at the last of them") {
  for (const auto maximum : {dv::row_maximum::running, dv::row_maximum::known}) {
    const auto h = dv::observe(in_format(dv::fp16_format), constant(1, 64, 32), constant(1, 64, 32), constant(1, 64, 1),
                               {}, {.maximum = maximum})
                       .whole();
    REQUIRE(h.first_not_finite);
    const dv::observation& o = h.first_not_finite->what;
    CHECK(o.where == site::score_product);
    CHECK(o.in_sum);
    CHECK(o.at.step == 63);
    CHECK(o.operands[0] == 64512);
    CHECK(o.operands[1] == 1024);
    CHECK(h.first_not_finite->first_key == 0);
    CHECK(h.at(site::score_product).largest == 64512);
    CHECK(h.at(site::score_product).overflowed == 1);
    CHECK(h.at(site::score).overflowed == 0);
    REQUIRE(h.first_nan);
    CHECK(h.first_nan->what.where == site::shifted_score);  // infinity − infinity
  }
}

TEST_CASE("headroom: probabilities that vanish, in P itself or where P enters the product") {
  const std::vector<double> scores{0, -5, -7, -20};  // e^−5 = 0.0067, e^−7 = 0.00091, e^−20 = 2.1e−9
  const auto flushed = [&](const dv::format& f) {
    const auto h = of_scores(but(wide, site::probability, f), scores);
    CHECK(h.probabilities == 4);
    CHECK(h.ones == 1);
    CHECK(h.operand_flushed == 0);
    return h.flushed;
  };
  CHECK(flushed(dv::binary64) == 0);
  CHECK(flushed(dv::bf16_format) == 0);
  CHECK(flushed(dv::fp16_format) == 1);      // half of the smallest number: 3.0e−8
  CHECK(flushed(dv::fp8_e5m2_format) == 1);  // 7.6e−6
  CHECK(flushed(dv::fp8_e4m3_format) == 2);  // 9.8e−4
  const auto h = of_scores(but(wide, site::probability_operand, dv::fp8_e4m3_format), scores);
  CHECK(h.flushed == 0);
  CHECK(h.operand_flushed == 2);
  // A score of −∞ has no weight to lose.
  CHECK(of_scores(wide, {0, -infinite}).flushed == 0);
}

TEST_CASE("headroom: ties and the largest score are those of the keys that are seen") {
  const std::vector<double> scores{1, 3, -40, 3, 2, 3, 50};
  CHECK(of_scores(wide, scores).ties == 0);
  const std::vector<std::uint8_t> visible{1, 1, 1, 1, 1, 0, 0};
  dv::problem p;
  p.key_visible = visible;
  for (const std::int64_t tile : {1, 3, 64}) {
    const auto h = of_scores(but(wide, site::score, dv::fp8_e4m3_format), scores, {.tile_key = tile}, p);
    CHECK(h.ties == 1);
    CHECK(h.probabilities == 5);
    CHECK(h.at(site::score).largest == 40);
    CHECK(h.at(site::score).share == 40 / 448.0);
  }
  const std::int64_t length = 5;
  p.key_visible = {};
  p.key_lengths = {&length, 1};
  CHECK(of_scores(wide, scores, {}, p).ties == 1);
}

TEST_CASE("headroom: scores that grow cost a rescale at every tile but the first") {
  std::vector<double> scores;
  for (int i = 0; i < 16; ++i) scores.push_back(i);
  const auto up = of_scores(wide, scores, {.tile_key = 4});
  CHECK(up.rescales == 3);
  CHECK(up.most_rescales == 3);
  CHECK(up.mean_rescales() == 3);
  CHECK(up.ones == 4);
  const auto down = of_scores(wide, scores, {.tile_key = 4, .order = dv::key_order::descending});
  CHECK(down.rescales == 0);
  CHECK(down.ones == 1);
  const auto known = of_scores(wide, scores, {.tile_key = 4, .maximum = dv::row_maximum::known});
  CHECK(known.rescales == 0);
  CHECK(known.ones == 1);
  CHECK(known.ties == 0);
  CHECK(known.probabilities == 16);
}

TEST_CASE("headroom: clamped results are saturations, those that round to the largest number are not") {
  const any saturating = but(wide, site::output_state, dv::fp8_e4m3_saturating_format);
  const auto state = [&](const any& r, std::int64_t n) {  // tiles of 64 keys add 128 each
    const auto h = of_equal_weights(r, n, 2);
    CHECK(h.at(site::output_state).share == (n < 192 ? double(2 * n) / 448 : n < 224 ? 384 / 448.0 : 1));
    return h;
  };
  CHECK(state(saturating, 64).at(site::output_state).saturated == 0);
  CHECK(state(saturating, 228).at(site::output_state).saturated == 0);  // 384 + 72 = 456, which rounds to 448
  const auto clamped = state(saturating, 300);                          // 384 + 128, then 448 + 88
  CHECK(clamped.at(site::output_state).saturated == 2);
  CHECK(clamped.at(site::output_state).overflowed == 0);
  CHECK_FALSE(clamped.first_not_finite);
  const auto lost = of_equal_weights(but(wide, site::output_state, dv::fp8_e4m3_format), 300, 2);
  CHECK(lost.at(site::output_state).saturated == 0);
  CHECK(lost.at(site::output_state).overflowed == 1);  // 512 becomes NaN, and stays
  CHECK(lost.at(site::output_state).largest == 384);
  REQUIRE(lost.first_nan);
  CHECK(lost.first_nan->first_key == 192);
}

TEST_CASE("headroom: heads are counted apart, and alike for any number of workers") {
  dv::tensor<double> q({2, 4, 3, 1}), k({2, 2, 5, 1}), v({2, 2, 5, 1});
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t h = 0; h < 4; ++h)
      for (std::int64_t i = 0; i < 3; ++i) q(b, h, i, 0) = b == 1 && h == 2 && i == 1 ? 30000 : 1;
  for (std::int64_t i = 0; i < 5; ++i) k(1, 1, i, 0) = double(i);
  dv::problem p;
  p.scale = 1;
  for (const int workers : {1, 3}) {
    const auto r = dv::observe(in_format(dv::fp16_format), q, k, v, p, {.tile_key = 2}, 24, {.count = workers});
    REQUIRE(r.heads.size() == 8);
    CHECK(r.rows.size() == 3);
    for (std::size_t h = 0; h < 8; ++h) {
      CHECK(r.heads[h].ties == (h < 6 ? 12 : h == 6 ? 1 : 0));  // 3 and 4 times 30000 are infinite
      CHECK(bool(r.heads[h].first_not_finite) == (h == 6));
    }
    const auto& born = *r.heads[6].first_not_finite;
    CHECK(born.batch == 1);
    CHECK(born.head == 2);
    CHECK(born.row == 1);
    CHECK(born.first_key == 2);
    CHECK(born.what.at.column == 3);
    CHECK(r.whole().rows == 24);
    CHECK(r.whole().ties == 73);
  }
}

TEST_CASE("headroom: an observed run has the bits of the switchable one") {
  deviation_test::generator g(3);
  const auto drawn = [&](const dv::extents& shape) {
    dv::tensor<double> t(shape);
    for (double& x : t.values()) x = double(float(g.value()));
    return t;
  };
  const auto q = drawn({1, 2, 5, 6}), k = drawn({1, 1, 19, 6}), v = drawn({1, 1, 19, 3});
  const dv::problem p{.mask = dv::causal{}};
  for (const dv::format& f : {dv::bf16_format, dv::fp8_e4m3_format, dv::binary32}) {
    const auto formats = dv::formats_of(in_format(f));
    const dv::schedule plan{.tile_query = 2, .tile_key = 4};
    const auto of = [&]<class Recipe>(const Recipe& r) { return dv::flash_forward(r, q, k, v, p, plan); };
    const auto plain = of(dv::switched_to<dv::switchable<any>>(formats, dv::site_set::all()));
    const auto watched = of(dv::switched_to<dv::observed_switchable<any>>(formats, dv::site_set::all()));
    CHECK(watched.output.values() == plain.output.values());
    CHECK(watched.log_sum_exp.values() == plain.log_sum_exp.values());
    CHECK(watched.rescales.values() == plain.rescales.values());
  }
}

TEST_CASE("headroom: Baseline Attention loses P where P / l is stored") {
  dv::problem p;
  p.scale = 1;
  const auto h = dv::observe_baseline(but(wide, site::probability_operand, dv::fp8_e4m3_format), column({1}),
                                      column({0, 0, 0, 0, -6}), constant(5, 1, 1), p)
                     .whole();
  CHECK(h.ties == 3);
  CHECK(h.ones == 4);
  CHECK(h.flushed == 0);
  CHECK(h.operand_flushed == 1);  // e^−6 = 0.0025 would stay, a quarter of it does not
  CHECK(h.at(site::row_sum).largest == doctest::Approx(4 + std::exp(-6.0)));
}

}  // namespace
