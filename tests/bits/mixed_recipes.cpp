// SPDX-License-Identifier: Apache-2.0
#include "bits/same_bits.hpp"

// Sites of float and of double carriers side by side, other accumulations, and special values.

#include <limits>

using namespace bits_test;
using dv::at;
using dv::recipe;
using dv::site;
using dv::summed;

TEST_CASE("same bits on every executor: carriers of both widths in one recipe") {
  check_executors(recipe<double, at<site::score, dv::bf16>, at<site::output_state, float>>{}, flash);
  check_executors(
      recipe<float, at<site::probability, double>, at<site::row_sum, double>,
             at<site::value_partial, dv::binary_number<11, 25>>, dv::normalized<dv::normalization::every_tile>>{},
      flash);
  check_executors(recipe<dv::fp16, at<site::score, double>, at<site::probability_operand, double>>{}, baseline);
}

TEST_CASE("same bits on every executor: every accumulation") {
  using dv::accumulate::lane_sums;
  using dv::accumulate::pairwise;
  check_executors(recipe<float, summed<site::score, pairwise<>>, summed<site::row_sum_partial, pairwise<dv::fp16>>,
                         summed<site::value_partial, lane_sums<4, dv::bf16>>>{},
                  flash);
  check_executors(recipe<dv::bf16, summed<site::score, lane_sums<2>>, summed<site::row_sum_partial, lane_sums<32>>,
                         summed<site::value_partial, pairwise<float>>>{},
                  flash);
}

// A key whose score is −∞ and whose V is infinite or NaN: whether 0 · V shows must not depend on which rows share a
// register tile, or on the lanes.
TEST_CASE("same bits on every executor: infinities and NaN that queries see") {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  auto in = draw_inputs<float>({.n_query = 21, .n_key = 21, .d = 4, .d_v = 5}, 1,
                               [](generator& g) { return g.uniform() + 0.5; });
  for (std::int64_t c = 0; c < 4; ++c) in.k(0, 0, 6, c) = -infinity;
  for (const float x : {infinity, nan, 1.0f})
    for (const std::int64_t hot : {6, 9}) {
      auto hit = in;
      for (std::int64_t c = 0; c < 5; ++c) hit.v(0, 0, hot, c) = x;
      for (const dv::mask& mask : {dv::mask{}, dv::mask(dv::causal{}), dv::mask(dv::window{6, 1})})
        for (const std::int64_t tile_key : {4, 7, 64}) {
          const auto all = [&](const auto& execution) {
            const dv::problem p{.mask = mask};
            const dv::schedule plan{.tile_query = 16, .tile_key = tile_key};
            // Bits but for a NaN's sign and payload, which processors choose.
            auto flash1 = dv::flash_forward(dv::flash1_all<float>{}, hit.q, hit.k, hit.v, p, plan, execution);
            auto base = dv::baseline_forward(dv::baseline<dv::bf16>{}, hit.q, hit.k, hit.v, p, execution);
            std::vector<float> values = flash1.output.values();
            values.insert(values.end(), base.output.values().begin(), base.output.values().end());
            for (float& v : values)
              if (v != v) v = nan;
            return values;
          };
          const auto plain = all(dv::one_by_one<dv::plain_tile>{});
          CHECK(same_bits(all(dv::one_by_one<>{}), plain));
          CHECK(same_bits(all(dv::one_by_one<>{3, dv::lane_order::shuffled}), plain));
          CHECK(same_bits(all(dv::workers{2}), plain));
        }
    }
}
