// SPDX-License-Identifier: Apache-2.0
#include "bits/same_bits.hpp"

TEST_CASE("same bits on every executor, state stored: a format chosen at run time, computed in float") {
  bits_test::check_stored_executors<deviate::narrow_runtime>(deviate::format{6, 8});
}
