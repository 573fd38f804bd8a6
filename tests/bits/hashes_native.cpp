// SPDX-License-Identifier: Apache-2.0
#include "bits/same_bits.hpp"

// The bits of a fixed set of problems, committed: every compiler, optimisation level and vector width must reproduce
// them. A change here is a change of results, and needs a reason.

using namespace bits_test;

TEST_CASE("committed bits of float and double") {
  CHECK(hash_of(dv::uniform<float>{}, flash) == 0xe1de2d1c8f20babdu);
  CHECK(hash_of(dv::uniform<double>{}, flash) == 0x40d18638dd5d9458u);
  CHECK(hash_of(dv::flash1_all<float>{}, flash) == 0x3f7e54da266e263fu);
  CHECK(hash_of(dv::baseline<float>{}, baseline) == 0x83acf86b20b8d996u);
}
TEST_CASE("committed bits of formats chosen at run time") {
  CHECK(hash_of(dv::flash1_all<dv::narrow_runtime>(dv::format{6, 8}), flash) == 0x21e27c40cdfd9debu);
  CHECK(hash_of(dv::flash2_all<dv::medium_runtime>(dv::format{8, 15}), flash) == 0x14c96c176d6618a8u);
  CHECK(hash_of(dv::uniform<dv::wide_runtime>(dv::format{11, 20}), flash) == 0x186475c73ecd8425u);
}
