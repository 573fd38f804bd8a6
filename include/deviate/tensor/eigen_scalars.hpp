// SPDX-License-Identifier: Apache-2.0
/// \file eigen_scalars.hpp
/// \brief Emulated numbers and double_double as scalars of Eigen's matrices: products, norms, decompositions.
///
/// Every scalar operation of Eigen's text is then one correctly rounded operation of the format, sums included, in
/// Eigen's own order: it shows what a decomposition does in a narrow format, and is no reference for this library's
/// sums. `Eigen::bfloat16` and `Eigen::half` are other types, which compute in float and round after some operations.
///
/// Range matters as much as precision: JacobiSVD squares quotients as large as 1/ε, which overflow with the 5 exponent
/// bits of fp16, and its result is then wrong; tf32 has fp16's precision and the range. A factorisation in FP8 overflows
/// to NaN or saturates soon: products and norms are what it is for.
///
/// `Matrix::Random()` draws from integers of 31 bits, which are beyond the narrow formats: cast a matrix of double.
// host only
#pragma once

#include <deviate/math/double_double.hpp>
#include <deviate/math/site_operations.hpp>
#include <deviate/number/functions.hpp>
#include <deviate/number/limits.hpp>
#include <deviate/number/stream.hpp>

#include <Eigen/Core>

namespace Eigen {

/// \brief An emulated number is a real scalar. Costs are those of its operations on a processor without packs of it:
/// the carrier's operation and a rounding of some ten instructions.
template <deviate::format F>
struct NumTraits<deviate::emulated<F>> : GenericNumTraits<deviate::emulated<F>> {
  using number = deviate::emulated<F>;  ///< the scalar
  /// \brief What Eigen's cost model counts with.
  enum { RequireInitialization = 0, ReadCost = 1, AddCost = 10, MulCost = 10 };

  /// \brief Eight times epsilon, at most 1/2: what isApprox() calls equal.
  static number dummy_precision() { return number(8 * F.epsilon() < 0.5 ? 8 * F.epsilon() : 0.5); }
  /// \brief Decimal digits that a number keeps.
  static int digits10() { return std::numeric_limits<number>::digits10; }
  /// \brief Decimal digits that tell all numbers apart.
  static int max_digits10() { return std::numeric_limits<number>::max_digits10; }
};

/// \brief double_double is a real scalar of 31 digits; a sum costs some 20 operations of double, a product 10.
template <>
struct NumTraits<deviate::double_double> : GenericNumTraits<deviate::double_double> {
  /// \brief What Eigen's cost model counts with.
  enum { RequireInitialization = 0, ReadCost = 2, AddCost = 20, MulCost = 10 };

  /// \brief 10^−28: what isApprox() calls equal.
  static deviate::double_double dummy_precision() { return 1e-28; }
  /// \brief Decimal digits that a number keeps.
  static int digits10() { return std::numeric_limits<deviate::double_double>::digits10; }
  /// \brief Decimal digits that tell all numbers apart.
  static int max_digits10() { return std::numeric_limits<deviate::double_double>::max_digits10; }
};

}  // namespace Eigen
