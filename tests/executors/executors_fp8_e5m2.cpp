// SPDX-License-Identifier: Apache-2.0
#include "bits/same_bits.hpp"

TEST_CASE("same bits on every executor: fp8_e5m2") { bits_test::check_all_executors<deviate::fp8_e5m2>(); }
