// SPDX-License-Identifier: Apache-2.0
#include "bits/same_bits.hpp"

TEST_CASE("same bits on every executor: a format chosen at run time, held in float") {
  bits_test::check_other_executors<deviate::medium_runtime>(deviate::format{8, 15});
}
