// SPDX-License-Identifier: Apache-2.0
#include <deviate/deviate.hpp>

#include <cstdio>

int main() {
  namespace dv = deviate;
  const dv::tensor<float> q({1, 1, 4, 8}, 0.5f), k({1, 1, 4, 8}, 0.25f), v({1, 1, 4, 8}, 3.0f);
  const auto out = dv::flash_forward(dv::recipe<float>{}, q, k, v, dv::problem{.scale = 0.125}, dv::schedule{});
  std::printf("the mean of equal values: %g\n", double(out.output.values()[0]));
  return out.output.values()[0] == 3.0f ? 0 : 1;
}
