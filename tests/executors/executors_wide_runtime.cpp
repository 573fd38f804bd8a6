// SPDX-License-Identifier: Apache-2.0
#include "bits/same_bits.hpp"

TEST_CASE("same bits on every executor: a format chosen at run time, held in double") {
  bits_test::check_other_executors<deviate::wide_runtime>(deviate::format{11, 20});
}
