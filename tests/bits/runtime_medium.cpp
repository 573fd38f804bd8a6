// SPDX-License-Identifier: Apache-2.0
#include "bits/same_bits.hpp"

namespace dv = deviate;

TEST_CASE("a format chosen at run time and held in float has the bits of the compile-time one") {
  bits_test::check_runtime_of<dv::tf32, dv::medium_runtime>();
  using wider = dv::binary_number<8, 17>;
  bits_test::check_same_recipe(dv::uniform<wider>{}, dv::uniform<dv::medium_runtime>(wider::number_format),
                               bits_test::flash);
}
