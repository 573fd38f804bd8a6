// SPDX-License-Identifier: Apache-2.0
#include "bits/same_bits.hpp"

namespace dv = deviate;

TEST_CASE("a format chosen at run time and held in double has the bits of the compile-time one") {
  bits_test::check_runtime_of<dv::binary_number<11, 20>, dv::wide_runtime>();
  using narrower = dv::binary_number<11, 6>;
  bits_test::check_same_recipe(dv::uniform<narrower>{}, dv::uniform<dv::wide_runtime>(narrower::number_format),
                               bits_test::flash);
}
