// SPDX-License-Identifier: Apache-2.0
/// \file exact_product.hpp
/// \brief A product that remembers its factors' exponents, as the multipliers of a matrix unit hand it to the adder.
#pragma once

#include <deviate/accumulate/detail/fused_add.hpp>
#include <type_traits>

namespace deviate::accumulate {

/// \brief Scalar of score_product and value_product that makes `matrix_unit` align as hardware does: by the sum of the
/// factors' exponents, not by that of the product, which may be one larger (1.5 × 1.5 = 2.25).
///
/// A factor below Factor's smallest normal number has that number's exponent, so its significand lies below one. The
/// value is exact. A software scalar: fragments have one lane.
/// \tparam Factor format of both factors; where they differ, that of the smaller minimum exponent
/// \pre factors are members of Factor
///
/// tests/accumulate/exact_product.cpp holds sums of them to a model written from arXiv 2511.10909.
template <format Factor>
class exact_product {
  static_assert(2 * Factor.precision() <= binary64.precision() && 2 * Factor.quantum_exponent() >= -1022 &&
                    2 * Factor.max_exponent() + 1 <= binary64.max_exponent(),
                "double must hold every product of two factors");

 public:
  exact_product() = default;
  /// \brief A factor.
  template <class T>
  requires std::is_arithmetic_v<T> DEVIATE_HD explicit exact_product(T x)
      : value_(double(x)), factor_exponents_(detail::exponent_of(value_)) {
    if (factor_exponents_ < Factor.min_exponent()) factor_exponents_ = Factor.min_exponent();
  }
  /// \brief The product of two factors, exactly.
  friend DEVIATE_HD exact_product operator*(const exact_product& a, const exact_product& b) {
    exact_product r;
    r.value_ = a.value_ * b.value_;
    r.factor_exponents_ = a.factor_exponents_ + b.factor_exponents_;
    return r;
  }
  /// \brief The value.
  DEVIATE_HD explicit operator double() const { return value_; }
  /// \brief The sum of the factors' exponents; without meaning for zero, infinity and NaN.
  DEVIATE_HD int factor_exponents() const { return factor_exponents_; }

 private:
  double value_;
  int factor_exponents_;
};

}  // namespace deviate::accumulate
