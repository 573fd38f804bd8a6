// SPDX-License-Identifier: Apache-2.0
#include "bits/same_bits.hpp"

namespace dv = deviate;

TEST_CASE("a narrow format chosen at run time has the bits of the compile-time one") {
  bits_test::check_runtime_of<dv::bf16, dv::narrow_runtime>();
  using fp8 = dv::fp8_e4m3;
  bits_test::check_same_recipe(dv::uniform<fp8>{}, dv::uniform<dv::narrow_runtime>(fp8::number_format),
                               bits_test::flash);
}
