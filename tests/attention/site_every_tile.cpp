// SPDX-License-Identifier: Apache-2.0
// The sites of FlashAttention (1), in a file of its own because each is an instantiation of the algorithm.
#include <deviate/attention/site.hpp>

#include <doctest/doctest.h>

#include "attention/lowered_sites.hpp"

using namespace attention_test;

TEST_CASE("FlashAttention (1): every site in bf16 alone changes what depends on it, and nothing else") {
  every_site<fp64_every_tile>(all_sites, flash, true);
}
