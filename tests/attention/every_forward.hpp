// SPDX-License-Identifier: Apache-2.0
// One problem through Baseline and both Flash orders, under every cut and order of the keys.
#pragma once

#include <deviate/attention/forward.hpp>
#include <deviate/attention/named_recipes.hpp>
#include <string>

#include "attention/inputs.hpp"

namespace attention_test {

template <class S>
using every_tile = dv::with<dv::uniform<S>, dv::normalized<dv::normalization::every_tile>>;

// use(result, name) for each of them, all sites in S.
template <class S = float, class Q, class K, class V, class Use>
void every_forward(const Q& q, const K& k, const V& v, const dv::problem& p, Use use) {
  const dv::workers one{1};
  use(dv::baseline_forward(dv::uniform<S>{}, q, k, v, p, one), std::string("Baseline"));
  for (const std::int64_t tile_key : {1, 2, 3, 4, 8, 64})
    for (const auto order : {dv::key_order::ascending, dv::key_order::descending}) {
      const dv::schedule plan{.tile_query = tile_key == 3 ? 2 : 64, .tile_key = tile_key, .order = order};
      use(dv::flash_forward(dv::uniform<S>{}, q, k, v, p, plan, one), std::string("FlashAttention-2"));
      use(dv::flash_forward(every_tile<S>{}, q, k, v, p, plan, one), std::string("FlashAttention (1)"));
    }
}

}  // namespace attention_test
