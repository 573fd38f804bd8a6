// SPDX-License-Identifier: Apache-2.0
// What is allocated: this program's operator new counts, so that tests can hold functions to the memory they state.
#pragma once

#include <cstddef>

namespace deviation_test {

/// \brief All bytes that this thread has asked for so far, whether given back since or not.
std::size_t allocated_bytes();

}  // namespace deviation_test
