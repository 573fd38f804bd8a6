// SPDX-License-Identifier: Apache-2.0
// No site is dead: lowering one alone shows, and shows only where it should.
#include <deviate/attention/site.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "attention/lowered_sites.hpp"

using namespace attention_test;

TEST_CASE("every site has a name of its own") {
  std::set<std::string> names;
  for (int i = 0; i < dv::site_count; ++i) names.insert(std::string(name(site(i))));
  CHECK(names.size() == std::size_t(dv::site_count));
  CHECK(name(site::input) == "input");
  CHECK(name(site::output_state) == "output_state");
  CHECK(name(site::log_sum_exp) == "log_sum_exp");
}

TEST_CASE("FlashAttention-2: every site in bf16 alone changes what depends on it, and nothing else") {
  every_site<fp64>(all_sites, flash, true);
}
TEST_CASE("a direct division has no normaliser") {
  const change c = lowered<dv::recipe<double>, site::normalizer>(flash);
  CHECK(!c.output);
  CHECK(!c.log_sum_exp);
}
