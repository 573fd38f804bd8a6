// SPDX-License-Identifier: Apache-2.0
// A first-order error kept apart by the group of sites whose roundings made it.
#pragma once

namespace error_test {

struct error_parts {
  double part[3] = {};
};

// A local error of a site whose scalar has this error type belongs to group G.
template <int G>
struct error_of_group : error_parts {
  error_of_group() = default;
  explicit error_of_group(double local) { part[G] = local; }
  template <int Other>
  explicit error_of_group(const error_of_group<Other>& e) : error_parts(e) {}

  friend error_of_group operator+(error_of_group a, const error_of_group& b) {
    for (int i = 0; i < 3; ++i) a.part[i] += b.part[i];
    return a;
  }
  friend error_of_group operator*(double factor, error_of_group e) {
    for (double& x : e.part) x *= factor;
    return e;
  }
};

}  // namespace error_test
