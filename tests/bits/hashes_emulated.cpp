// SPDX-License-Identifier: Apache-2.0
#include "bits/same_bits.hpp"

// The bits of a fixed set of problems, committed: every compiler, optimisation level and vector width must reproduce
// them. A change here is a change of results, and needs a reason.

using namespace bits_test;

TEST_CASE("committed bits of bf16") {
  CHECK(hash_of(dv::flash1_all<dv::bf16>{}, flash) == 0xe79d073dfe29600bu);
  CHECK(hash_of(dv::flash2_all<dv::bf16>{}, flash) == 0xf744d6dbcc52f060u);
  CHECK(hash_of(dv::flash2_fp32_state<dv::bf16>{}, flash) == 0x45e27c63b858973bu);
  CHECK(hash_of(dv::baseline<dv::bf16>{}, baseline) == 0x94e24e7afaf8494eu);
  CHECK(hash_of(dv::uniform<dv::bf16>{}, flash) == 0x29fb10514f77b6e9u);
}
TEST_CASE("committed bits of fp16, tf32 and FP8") {
  CHECK(hash_of(dv::flash1_all<dv::fp16>{}, flash) == 0xf6b500e5c278014au);
  CHECK(hash_of(dv::flash2_all<dv::tf32>{}, flash) == 0x5e9f7a0dd900c0d1u);
  CHECK(hash_of(dv::flash2_fp32_state<dv::fp8_e4m3>{}, flash) == 0xb218e1456801e096u);
  CHECK(hash_of(dv::baseline<dv::fp8_e5m2>{}, baseline) == 0x77b383ee2a095181u);
}
