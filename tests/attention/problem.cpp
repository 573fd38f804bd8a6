// SPDX-License-Identifier: Apache-2.0
// What each mask lets a query see, and what becomes of a row that sees nothing.
#include <deviate/attention/problem.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <deviate/deviation/metrics.hpp>
#include <limits>
#include <string>
#include <vector>

#include "attention/every_forward.hpp"

using namespace attention_test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// 1, 2, …, n.
std::vector<double> counting(std::int64_t n) {
  std::vector<double> v;
  for (std::int64_t i = 1; i <= n; ++i) v.push_back(double(i));
  return v;
}

// Set-up Z: q = 0, scale 1, d = 1, so that O is the mean of the visible V. Every forward must give `want`.
void check_means(std::int64_t n_query, const std::vector<double>& values, const dv::problem& p,
                 const std::vector<float>& want) {
  const auto q = column<double>(std::vector<double>(std::size_t(n_query)));
  const auto k = column<double>(std::vector<double>(values.size()));
  dv::problem z = p;
  z.scale = 1;
  every_forward(q, k, column<double>(values), z, [&](const auto& got, const std::string& name) {
    CAPTURE(name);
    REQUIRE(got.output.values().size() == want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
      CHECK(got.output.values()[i] == doctest::Approx(want[i]).epsilon(1e-6));
  });
}
std::vector<float> lse_of(std::int64_t n_query, std::int64_t n_key, const dv::problem& p) {
  const dv::tensor<double> q({1, 1, n_query, 1}), k({1, 1, n_key, 1});
  std::vector<float> lse;
  every_forward(q, k, k, p, [&](const auto& got, const std::string& name) {
    CAPTURE(name);
    if (lse.empty()) lse = got.log_sum_exp.values();
    for (std::size_t i = 0; i < lse.size(); ++i)
      CHECK((got.log_sum_exp.values()[i] == lse[i] || std::fabs(got.log_sum_exp.values()[i] - lse[i]) < 1e-6f));
  });
  return lse;
}

}  // namespace

TEST_CASE("case 2: a running maximum starts at −∞, in whatever order the tiles come") {
  // Causal, all scores −200: a maximum of 0 left by a hidden tile would make every exponential 0.
  const auto q = column<double>(std::vector<double>(8, 1));
  const auto k = column<double>(std::vector<double>(8, -200));
  every_forward(q, k, column<double>(counting(8)), {.scale = 1, .mask = dv::causal{}},
                [&](const auto& got, const std::string& name) {
                  CAPTURE(name);
                  CHECK(got.output.values()[2] == doctest::Approx(2).epsilon(1e-6));
                  CHECK(got.log_sum_exp.values()[2] == doctest::Approx(-198.9014).epsilon(1e-6));
                  for (std::size_t i = 0; i < 8; ++i) {
                    CHECK(got.output.values()[i] == doctest::Approx(0.5 * double(i + 2)).epsilon(1e-6));
                    CHECK(got.log_sum_exp.values()[i] == doctest::Approx(-200 + std::log(double(i + 1))).epsilon(1e-6));
                  }
                });
}

TEST_CASE("case 23: a row without a visible key is 0, its LSE −∞, and nothing is NaN") {
  const auto q = column<double>({1, 2, -3});
  const auto k = column<double>({1, -1, 2, 0.5});
  const auto v = column<double>({1, 2, 3, 6});
  const auto empty_rows = [&](const dv::problem& p, const std::vector<bool>& empty) {
    every_forward(q, k, v, p, [&](const auto& got, const std::string& name) {
      CAPTURE(name);
      for (std::size_t i = 0; i < 3; ++i) {
        if (empty[i]) {
          CHECK(got.output.values()[i] == 0);
          CHECK(!std::signbit(got.output.values()[i]));
          CHECK(got.log_sum_exp.values()[i] == -infinity);
          CHECK(got.rescales.values()[i] == 0);
        } else {
          CHECK(got.output.values()[i] > 0);
          CHECK(std::isfinite(got.log_sum_exp.values()[i]));
        }
      }
    });
  };
  SUBCASE("(a) a key mask that hides all") {
    const std::vector<std::uint8_t> none(4, 0);
    empty_rows({.key_visible = none}, {true, true, true});
    const std::vector<std::int64_t> no_key{0};
    empty_rows({.key_lengths = no_key}, {true, true, true});
  }
  SUBCASE("(b) causal and padding together") {
    // Row i sees keys 0 … i + 1; keys 0 and 1 are hidden.
    const std::vector<std::uint8_t> late{0, 0, 1, 1};
    empty_rows({.mask = dv::causal{}, .key_visible = late}, {true, false, false});
    empty_rows({.mask = dv::causal{dv::alignment::top_left}, .key_visible = late}, {true, true, false});
    // A window that lies beyond the length.
    const std::vector<std::int64_t> two{2};
    empty_rows({.mask = dv::window{0, -1}, .key_lengths = two}, {false, true, true});
  }
  SUBCASE("(d) the hidden tile first, in the middle, last") {
    for (int hidden = 0; hidden < 4; ++hidden) {
      std::vector<std::uint8_t> visible(4, 1);
      visible[std::size_t(hidden)] = 0;
      double mean = 0;
      for (int j = 0; j < 4; ++j)
        if (j != hidden) mean += v.values()[std::size_t(j)] / 3;
      check_means(3, v.values(), {.key_visible = visible}, std::vector<float>(3, float(mean)));
    }
  }
  SUBCASE("(e) five live keys and a padded query row") {
    // Six query rows, ten keys of which five exist; the padded row is the last, whatever stands in it.
    const sizes s{.n_query = 6, .n_key = 10, .d = 4, .d_v = 4};
    const auto in = gaussian_inputs(s, 1);
    auto padded = in.q;
    for (std::int64_t c = 0; c < 4; ++c) padded(0, 0, 5, c) = not_a_number;
    const std::vector<std::int64_t> five{5};
    std::vector<std::vector<float>> clean;
    every_forward(in.q, in.k, in.v, {.key_lengths = five},
                  [&](const auto& got, const std::string&) { clean.push_back(got.output.values()); });
    std::size_t at = 0;
    every_forward(padded, in.k, in.v, {.key_lengths = five}, [&](const auto& got, const std::string& name) {
      CAPTURE(name);
      std::vector<float> live = got.output.values(), expected = clean[at++];
      live.resize(20);
      expected.resize(20);
      CHECK(same_bits(live, expected));
    });
  }
}

TEST_CASE("case 24: the LSE of nothing is −∞, for no key as well") {
  CHECK(lse_of(3, 0, {}) == std::vector<float>(3, -infinity));
  CHECK(lse_of(3, 0, {.mask = dv::causal{}}) == std::vector<float>(3, -infinity));
  const std::vector<std::int64_t> no_key{0};
  CHECK(lse_of(2, 5, {.key_lengths = no_key}) == std::vector<float>(2, -infinity));
}

TEST_CASE("case 25: a mask is boolean: a hidden row is 0, not the mean of V") {
  const std::vector<std::uint8_t> none(4, 0);
  check_means(1, {1, 2, 3, 6}, {.key_visible = none}, {0});
  check_means(1, {1, 2, 3, 6}, {}, {3});  // what an additive finite mask would give
}

TEST_CASE("case 27: what stands in a key that is not seen never reaches the output") {
  const std::vector<std::int64_t> lengths{1, 3};
  const auto check = [&](const inputs<double>& in, const dv::problem& p, const auto& hidden) {
    const auto with_value = [&](double x, bool in_keys) {
      inputs<double> changed = in;
      for (std::int64_t b = 0; b < in.k.shape().batch; ++b)
        for (std::int64_t j = 0; j < in.k.shape().rows; ++j)
          if (hidden(b, j))
            for (std::int64_t c = 0; c < in.k.shape().columns; ++c) {
              changed.v(b, 0, j, c) = x;
              if (in_keys) changed.k(b, 0, j, c) = x;
            }
      return changed;
    };
    const inputs<double> zero = with_value(0, true);
    using result = dv::attention_result<float>;
    std::vector<result> clean;
    every_forward(zero.q, zero.k, zero.v, p, [&](const result& got, const std::string&) { clean.push_back(got); });
    for (const double x : {not_a_number, double(infinity), -double(infinity), 1e30, -1e30})
      for (const bool in_keys : {false, true}) {
        const inputs<double> dirty = with_value(x, in_keys);
        std::size_t at = 0;
        every_forward(dirty.q, dirty.k, dirty.v, p, [&](const result& got, const std::string& name) {
          CAPTURE(name);
          CAPTURE(x);
          CAPTURE(in_keys);
          CHECK(same_bits(got, clean[at++]));
        });
      }
  };
  SUBCASE("beyond the key lengths") {
    auto in =
        gaussian_inputs({.batch = 2, .query_heads = 1, .key_heads = 1, .n_query = 2, .n_key = 3, .d = 2, .d_v = 2}, 1);
    for (double& x : in.q.values()) x = 0.5;
    check(in, {.key_lengths = lengths}, [&](std::int64_t b, std::int64_t j) { return j >= lengths[std::size_t(b)]; });
  }
  SUBCASE("under a key mask, in the tail of a tile: 5 keys, tiles of 4") {
    const std::vector<std::uint8_t> visible{1, 0, 1, 0, 0};
    check(gaussian_inputs({.n_query = 9, .n_key = 5, .d = 3, .d_v = 3}, 2), {.key_visible = visible},
          [&](std::int64_t, std::int64_t j) { return visible[std::size_t(j)] == 0; });
  }
  SUBCASE("after the diagonal, of a row by itself") {
    // The last two keys are seen by the last rows only: compare the rows that do not see them.
    const auto in = gaussian_inputs({.n_query = 7, .n_key = 7, .d = 3, .d_v = 3}, 3);
    auto dirty = in;
    for (std::int64_t j = 5; j < 7; ++j)
      for (std::int64_t c = 0; c < 3; ++c) dirty.k(0, 0, j, c) = dirty.v(0, 0, j, c) = not_a_number;
    const dv::problem p{.mask = dv::causal{}};
    std::vector<std::vector<float>> clean;
    every_forward(in.q, in.k, in.v, p,
                  [&](const auto& got, const std::string&) { clean.push_back(got.output.values()); });
    std::size_t at = 0;
    every_forward(dirty.q, dirty.k, dirty.v, p, [&](const auto& got, const std::string& name) {
      CAPTURE(name);
      std::vector<float> seen = got.output.values(), expected = clean[at++];
      CHECK(std::isnan(seen[15]));  // row 5 does see NaN, and says so
      seen.resize(15);
      expected.resize(15);
      CHECK(same_bits(seen, expected));
    });
  }
}

TEST_CASE("case 32: causal alignment, with more keys than queries and with fewer") {
  const auto top_left = dv::causal{dv::alignment::top_left};
  check_means(2, counting(5), {.mask = dv::causal{}}, {2.5f, 3});
  check_means(2, counting(5), {.mask = top_left}, {1, 1.5f});
  check_means(5, counting(2), {.mask = dv::causal{}}, {0, 0, 0, 1, 1.5f});
  check_means(5, counting(2), {.mask = top_left}, {1, 1.5f, 1.5f, 1.5f, 1.5f});
  const auto lse = lse_of(5, 2, {.mask = dv::causal{}});
  CHECK(lse[0] == -infinity);
  CHECK(lse[1] == -infinity);
  CHECK(lse[2] == -infinity);
  CHECK(lse[3] == 0);
  CHECK(lse[4] == doctest::Approx(std::log(2.0)));
  // A single query is the last row of the square problem, and of the problem without a mask.
  const auto in = gaussian_inputs({.n_query = 9, .n_key = 9, .d = 4, .d_v = 4}, 1);
  auto last = dv::tensor<double>({1, 1, 1, 4});
  for (std::int64_t c = 0; c < 4; ++c) last(0, 0, 0, c) = in.q(0, 0, 8, c);
  std::vector<dv::attention_result<float>> square, decode;
  every_forward(in.q, in.k, in.v, {.mask = dv::causal{}},
                [&](const auto& got, const std::string&) { square.push_back(got); });
  every_forward(last, in.k, in.v, {.mask = dv::causal{}},
                [&](const auto& got, const std::string&) { decode.push_back(got); });
  std::size_t at = 0;
  every_forward(last, in.k, in.v, {}, [&](const auto& got, const std::string& name) {
    CAPTURE(name);
    CHECK(same_bits(got, decode[at]));
    for (std::int64_t c = 0; c < 4; ++c) CHECK(got.output(0, 0, 0, c) == square[at].output(0, 0, 8, c));
    ++at;
  });
}

TEST_CASE("case 33: sliding windows count keys besides the diagonal") {
  check_means(4, counting(4), {.mask = dv::window{1, 0}}, {1, 1.5f, 2.5f, 3.5f});  // two keys in total
  check_means(4, counting(4), {.mask = dv::window{2, 0}}, {1, 1.5f, 2, 3});        // two back, and self
  check_means(4, counting(4), {.mask = dv::window{0, 0}}, {1, 2, 3, 4});
  check_means(4, counting(4), {.mask = dv::window{1, 1}}, {1.5f, 2, 3, 3.5f});
  check_means(4, counting(4), {.mask = dv::window{0, 1}}, {1.5f, 2.5f, 3.5f, 4});
  check_means(4, counting(4), {.mask = dv::window{-1, 1}}, {1.5f, 2, 2.5f, 2.5f});
  check_means(4, counting(4), {.mask = dv::window{0, -1}}, {2.5f, 3, 3.5f, 4});
  // left = N − 1 and left = −1 are plain causal, to the bit.
  const auto in = gaussian_inputs({.n_query = 13, .n_key = 13, .d = 4, .d_v = 4}, 1);
  for (const std::int64_t left : {std::int64_t(12), std::int64_t(-1), std::numeric_limits<std::int64_t>::max()}) {
    std::vector<dv::attention_result<float>> causal;
    every_forward(in.q, in.k, in.v, {.mask = dv::causal{}},
                  [&](const auto& got, const std::string&) { causal.push_back(got); });
    std::size_t at = 0;
    every_forward(in.q, in.k, in.v, {.mask = dv::window{left, 0}}, [&](const auto& got, const std::string& name) {
      CAPTURE(name);
      CAPTURE(left);
      CHECK(same_bits(got, causal[at++]));
    });
  }
  // A window as wide as can be said is none.
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  check_means(3, counting(3), {.mask = dv::window{most, most}}, {2, 2, 2});
  check_means(3, counting(2), {.mask = dv::window{most, most}}, {1.5f, 1.5f, 1.5f});
}

TEST_CASE("case 52: no result depends on what scratch memory held") {
  // Block by block on one arena: the first batch is all NaN and fills it, the second must not notice.
  const auto in = gaussian_inputs({.n_query = 21, .n_key = 37, .d = 5, .d_v = 7}, 1);
  inputs<double> both;
  const auto doubled = [&](const dv::tensor<double>& t) {
    dv::extents e = t.shape();
    e.batch = 2;
    std::vector<double> values(t.values().size(), not_a_number);
    values.insert(values.end(), t.values().begin(), t.values().end());
    return dv::tensor<double>(e, values);
  };
  both = {doubled(in.q), doubled(in.k), doubled(in.v)};
  for (const auto& mask : {dv::mask{}, dv::mask(dv::causal{}), dv::mask(dv::window{3, 1})}) {
    const dv::problem p{.mask = mask};
    std::vector<dv::attention_result<float>> alone;
    every_forward(in.q, in.k, in.v, p, [&](const auto& got, const std::string&) { alone.push_back(got); });
    std::size_t at = 0;
    every_forward(both.q, both.k, both.v, p, [&](const auto& got, const std::string& name) {
      CAPTURE(name);
      const auto second = [](const auto& t) {
        return std::vector(t.values().begin() + t.count() / 2, t.values().end());
      };
      CHECK(same_bits(second(got.output), alone[at].output.values()));
      CHECK(same_bits(second(got.log_sum_exp), alone[at].log_sum_exp.values()));
      CHECK(std::isnan(got.output.values()[0]));
      for (const float x : alone[at].output.values()) CHECK(std::isfinite(x));
      ++at;
    });
  }
}

TEST_CASE("case 87: V = identity shows the weights: rows sum to 1, hidden ones are 0, P = exp(S − LSE)") {
  const std::int64_t n = 37;
  auto in = gaussian_inputs({.n_query = n, .n_key = n, .d = 8, .d_v = n}, 1);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t c = 0; c < n; ++c) in.v(0, 0, j, c) = j == c;
  every_forward(in.q, in.k, in.v, {.mask = dv::window{20, 0}}, [&](const auto& got, const std::string& name) {
    CAPTURE(name);
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        const double weight = got.output(0, 0, i, j);
        sum += weight;
        if (j > i || j < i - 20) {
          CHECK(weight == 0);
          continue;
        }
        double score = 0;
        for (std::int64_t c = 0; c < 8; ++c) score += in.q(0, 0, i, c) * in.k(0, 0, j, c);
        const double expected = std::exp(score / std::sqrt(8.0) - double(got.log_sum_exp(0, 0, i, 0)));
        CHECK(weight == doctest::Approx(expected).epsilon(1e-5));
      }
      CHECK(std::fabs(sum - 1) <= double(n) * 0x1p-24);
    }
  });
}

TEST_CASE("case 89: padded query rows are compared only where a mask of valid rows says so") {
  const auto in = gaussian_inputs({.n_query = 6, .n_key = 6, .d = 4, .d_v = 4}, 1);
  const auto golden = dv::baseline_forward(dv::uniform<double>{}, in.q, in.k, in.v);
  auto arbitrary = golden.output;
  for (std::int64_t c = 0; c < 4; ++c) arbitrary(0, 0, 5, c) = not_a_number;
  const std::vector<std::uint8_t> valid{1, 1, 1, 1, 1, 0};
  CHECK(std::isnan(dv::deviation(arbitrary, golden.output).max_abs));
  CHECK(dv::deviation(arbitrary, golden.output, {.valid_rows = valid}).max_abs == 0);
}

TEST_CASE("a key that is seen but scores minus infinity has no weight, and its value is left out, in any tile") {
  const float large = 3e38f, nan = std::numeric_limits<float>::quiet_NaN();
  const dv::tensor<float> q({1, 1, 3, 1}, {large, large, large});
  const dv::tensor<float> k({1, 1, 3, 1}, {-large, 0.0f, -large});
  const dv::tensor<float> v({1, 1, 3, 1}, {nan, 2.0f, std::numeric_limits<float>::infinity()});
  for (const std::int64_t tile : {1, 2, 3, 64}) {
    const dv::schedule plan{.tile_query = 2, .tile_key = tile};
    const auto native = dv::flash_forward(dv::recipe<float>{}, q, k, v, {.scale = 1.0}, plan);
    const auto plain =
        dv::flash_forward(dv::recipe<float>{}, q, k, v, {.scale = 1.0}, plan, dv::one_by_one<dv::plain_tile>{});
    for (const float o : native.output.values()) CHECK(o == 2.0f);
    for (const float o : plain.output.values()) CHECK(o == 2.0f);
  }
  const auto baseline = dv::baseline_forward(dv::recipe<float>{}, q, k, v, {.scale = 1.0});
  for (const float o : baseline.output.values()) CHECK(o == 2.0f);
}
