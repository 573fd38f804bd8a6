// SPDX-License-Identifier: Apache-2.0
#include "deviate/io/element_type.hpp"

#include <doctest/doctest.h>

TEST_CASE("element types are found by the names of the options") {
  using namespace deviate::tool;
  for (const element_description& d : element_descriptions) {
    CHECK(element_type_named(d.name) == d.type);
    CHECK(&describe(d.type) == &d);
  }
  CHECK_FALSE(element_type_named("int8").has_value());
  CHECK(describe(element_type::bfloat16).bytes() == 2);
  CHECK(describe(element_type::float64).bytes() == 8);
  CHECK(names_of_width(2) == "bf16 or fp16");
  CHECK(names_of_width(1) == "fp8_e5m2 or fp8_e4m3");
}
