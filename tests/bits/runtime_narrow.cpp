// SPDX-License-Identifier: Apache-2.0
#include "bits/same_bits.hpp"

namespace dv = deviate;

TEST_CASE("a narrow format chosen at run time has the bits of the compile-time one") {
  bits_test::check_runtime_of<dv::bf16, dv::narrow_runtime>();
  bits_test::check_runtime_of<dv::fp8_e4m3, dv::narrow_runtime>();
}
