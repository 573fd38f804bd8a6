// SPDX-License-Identifier: Apache-2.0
// One recipe through every executor and register tile, over masks and ragged sizes: every bit of O, LSE and rescales.
#pragma once

#include <doctest/doctest.h>

#include <deviate/attention/forward.hpp>
#include <deviate/attention/named_recipes.hpp>
#include <deviate/number/named.hpp>
#include <string>
#include <vector>

#include "attention/inputs.hpp"

namespace bits_test {

namespace dv = deviate;
using namespace attention_test;

struct mask_case {
  dv::mask mask;
  bool lengths, visible;
};
// Each mask is met by each size somewhere below.
inline const mask_case masks[] = {
    {{}, false, false},
    {dv::causal{}, false, false},
    {dv::window{5, 2}, false, false},
    {{}, true, true},
    {dv::causal{dv::alignment::top_left}, true, false},
};
struct size_case {
  std::int64_t n_query, n_key, d, d_v, tile_query, tile_key;
};
inline const size_case size_cases[] = {
    {1, 1, 1, 1, 64, 64}, {3, 17, 5, 33, 2, 8}, {17, 3, 16, 7, 8, 1}, {13, 70, 8, 17, 5, 33}, {35, 41, 9, 16, 16, 16},
};

// Calls use(q, k, v, problem, plan) for every mask and size; a third of the scores is far above the others, so that the
// running maximum rises, and values have either sign.
template <class Use>
void every_problem(Use use) {
  std::uint64_t seed = 0;
  for (const mask_case& m : masks)
    for (const size_case& s : size_cases) {
      const auto in = draw_inputs<float>({.batch = 2,
                                          .query_heads = 2,
                                          .key_heads = 1,
                                          .n_query = s.n_query,
                                          .n_key = s.n_key,
                                          .d = s.d,
                                          .d_v = s.d_v},
                                         ++seed, [](generator& g) { return 2 * g.two_sided(); });
      const std::vector<std::int64_t> lengths{s.n_key / 2, s.n_key};
      std::vector<std::uint8_t> visible(2 * std::size_t(s.n_key));
      generator g(seed);
      for (auto& x : visible) x = std::uint8_t(g.bits() % 4 != 0);
      dv::problem p{.mask = m.mask};
      if (m.lengths) p.key_lengths = lengths;
      if (m.visible) p.key_visible = visible;
      use(in, p,
          dv::schedule{.tile_query = s.tile_query,
                       .tile_key = s.tile_key,
                       .order = seed % 2 == 0 ? dv::key_order::ascending : dv::key_order::descending});
    }
}

// forward(recipe, inputs, problem, plan, execution) under every executor has the bits of the plain text on one lane.
template <class Recipe, class Forward>
void check_executors(const Recipe& r, Forward forward) {
  using dv::lane_order;
  int nonzero = 0;
  every_problem([&](const auto& in, const dv::problem& p, const dv::schedule& plan) {
    const auto plain = forward(r, in, p, plan, dv::one_by_one<dv::plain_tile>{});
    for (const auto& x : plain.output.values()) nonzero += x != 0;
    const auto agrees = [&](const auto& execution) { return same_bits(forward(r, in, p, plan, execution), plain); };
    for (const int lanes : {1, 3, 8})
      for (const auto order : {lane_order::forward, lane_order::reverse, lane_order::shuffled}) {
        CAPTURE(lanes);
        CHECK(agrees(dv::one_by_one<dv::plain_tile>{lanes, order, 3}));
        CHECK(agrees(dv::one_by_one<>{lanes, order, 4}));
      }
    CHECK(agrees(dv::by_threads<>{3}));
    CHECK(agrees(dv::workers{1}));
    CHECK(agrees(dv::workers{2}));
  });
  CHECK(nonzero > 1000);
}
const auto flash = [](const auto& r, const auto& in, const auto& p, const auto& plan, const auto& execution) {
  return dv::flash_forward(r, in.q, in.k, in.v, p, plan, execution);
};
const auto baseline = [](const auto& r, const auto& in, const auto& p, const auto&, const auto& execution) {
  return dv::baseline_forward(r, in.q, in.k, in.v, p, execution);
};

// The recipe in a compile-time scalar and the same in a run-time format, as it is run by default.
template <class Fixed, class Chosen, class Forward>
void check_same_recipe(const Fixed& fixed, const Chosen& chosen, Forward forward) {
  every_problem([&](const auto& in, const dv::problem& p, const dv::schedule& plan) {
    CHECK(same_bits(forward(fixed, in, p, plan, dv::workers{1}), forward(chosen, in, p, plan, dv::workers{1})));
  });
}

// FNV-1a, 64 bits.
class hash {
 public:
  template <class T>
  void add(const std::vector<T>& values) {
    for (const T& x : values) {
      unsigned char bytes[sizeof(T)];
      std::memcpy(bytes, &x, sizeof(T));
      for (const unsigned char b : bytes) state_ = (state_ ^ b) * 0x100000001b3u;
    }
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

// Of every bit that a recipe gives over all problems.
template <class Recipe, class Forward>
std::uint64_t hash_of(const Recipe& r, Forward forward) {
  hash h;
  every_problem([&](const auto& in, const dv::problem& p, const dv::schedule& plan) {
    const auto got = forward(r, in, p, plan, dv::workers{1});
    h.add(got.output.values());
    h.add(got.log_sum_exp.values());
    h.add(got.rescales.values());
  });
  return h.value();
}

// The named recipes in S, in two parts for their compile time; `format` is that of a run-time S, and nothing for a
// compile-time one.
template <class S, class... Format>
void check_stored_executors(const Format&... format) {
  check_executors(dv::flash1_all<S>(format...), flash);
  check_executors(dv::flash2_all<S>(format...), flash);
}
template <class S, class... Format>
void check_other_executors(const Format&... format) {
  check_executors(dv::flash2_fp32_state<S>(format...), flash);
  check_executors(dv::uniform<S>(format...), flash);
  check_executors(dv::baseline<S>(format...), baseline);
}
template <class S>
void check_all_executors() {
  check_stored_executors<S>();
  check_other_executors<S>();
}
// The same recipes in a compile-time scalar and in its format chosen at run time.
template <class S, class Runtime>
void check_runtime_of() {
  const dv::format f = S::number_format;
  check_same_recipe(dv::flash1_all<S>{}, dv::flash1_all<Runtime>(f), flash);
  check_same_recipe(dv::flash2_all<S>{}, dv::flash2_all<Runtime>(f), flash);
  check_same_recipe(dv::flash2_fp32_state<S>{}, dv::flash2_fp32_state<Runtime>(f), flash);
  check_same_recipe(dv::uniform<S>{}, dv::uniform<Runtime>(f), flash);
  check_same_recipe(dv::baseline<S>{}, dv::baseline<Runtime>(f), baseline);
}

}  // namespace bits_test
