// SPDX-License-Identifier: Apache-2.0
// nvcc compiles the golden for the host, and packs for the device, where a part of a pack is one plain value.
#include <deviate/attention/golden.hpp>
#include <deviate/number/lanes.hpp>
#include <deviate/number/named.hpp>
#include <deviate/number/rounding.hpp>

namespace dv = deviate;

__global__ void round_four(const float* from, float* to) {
  dv::pack<float, 4> x;
  for (int i = 0; i < 4; ++i) x.set(i, from[i]);
  x = dv::maximum(dv::round_to<dv::bf16_format>(x), dv::multiply_add(x, x, x));
  const auto wide = dv::convert_lanes<double>(x);
  for (int i = 0; i < 4; ++i) to[i] = float(wide[i]);
}

double first_of_golden(const dv::tensor<float>& q, const dv::tensor<float>& k, const dv::tensor<float>& v) {
  return dv::golden(q, k, v).output(0, 0, 0, 0);
}
