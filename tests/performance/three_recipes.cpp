// SPDX-License-Identifier: Apache-2.0
// What compile_time.py compiles: the umbrella, and three recipes of the reader's first day.
#include <deviate/deviate.hpp>

namespace dv = deviate;
using kernel = dv::flash2_fp32_state<dv::bf16>;
using suspect = dv::with<kernel, dv::at<dv::site::output_state, dv::bf16>>;

template <class Recipe>
double largest_deviation(const dv::tensor<float>& q, const dv::tensor<float>& k, const dv::tensor<float>& v) {
  const auto golden = dv::golden(q, k, v);
  return dv::deviation(dv::flash_forward(Recipe{}, q, k, v).output, golden.output).max_abs;
}

int main() {
  const dv::tensor<float> x({1, 1, 32, 16}, 0.5f);
  const double sum = largest_deviation<kernel>(x, x, x) + largest_deviation<suspect>(x, x, x) +
                     largest_deviation<dv::uniform<dv::fp16>>(x, x, x);
  return sum < 1 ? 0 : 1;
}
