// SPDX-License-Identifier: Apache-2.0
#include "bits/same_bits.hpp"

TEST_CASE("same bits on every executor: a format chosen at run time, computed in float") {
  bits_test::check_other_executors<deviate::narrow_runtime>(deviate::format{6, 8});
}
