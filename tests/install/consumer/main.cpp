// SPDX-License-Identifier: Apache-2.0
#include <deviate/number/format.hpp>

#include <cstdio>

int main() {
  constexpr deviate::format bf16{8, 7};
  std::printf("largest bf16: %g\n", bf16.max_finite());
  return bf16.max_finite() == 0x1.fep127 ? 0 : 1;
}
