// SPDX-License-Identifier: Apache-2.0
/// \file error_size.hpp
/// \brief The size of an error in a few numbers, for many runs: what attribution shares out.
#pragma once

#include <deviate/contract.hpp>
#include <deviate/deviation/detail/compensated_sum.hpp>

#include <cmath>
#include <cstdint>
#include <span>

namespace deviate {

/// \brief The error e = got − golden over all elements at which both are finite.
struct error_size {
  double mse = 0;               ///< Σ e² / count
  double bias = 0;              ///< Σ e / count
  double mean_abs = 0;          ///< Σ |e| / count
  double max_abs = 0;           ///< max |e|
  double relative_l2 = 0;       ///< √(Σ e² / Σ golden²); 0 where there is no error
  std::int64_t count = 0;       ///< elements compared
  std::int64_t not_finite = 0;  ///< elements at which only golden is finite; they count nowhere else
};

/// \brief Which of these numbers is meant.
enum class error_metric : std::uint8_t { mse, bias, mean_abs, max_abs, relative_l2 };

/// \brief The number that a metric names.
inline double value_of(const error_size& e, error_metric m) {
  switch (m) {
    case error_metric::mse: return e.mse;
    case error_metric::bias: return e.bias;
    case error_metric::mean_abs: return e.mean_abs;
    case error_metric::max_abs: return e.max_abs;
    default: return e.relative_l2;
  }
}

/// \brief Measures got against golden, element by element, in order.
/// \throws contract_violation if they have different lengths
inline error_size error_between(std::span<const double> got, std::span<const double> golden) {
  expects(got.size() == golden.size(), "error_between: got and golden must have as many elements");
  error_size r;
  detail::compensated_sum sum, squares, sizes, reference;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(golden[i])) continue;
    if (!std::isfinite(got[i])) {
      ++r.not_finite;
      continue;
    }
    const double e = got[i] - golden[i], size = std::fabs(e);
    ++r.count;
    sum.add(e);
    squares.add(e * e);
    sizes.add(size);
    reference.add(golden[i] * golden[i]);
    if (size > r.max_abs) r.max_abs = size;
  }
  if (r.count == 0) return r;
  const double n = double(r.count);
  r.mse = squares.value() / n;
  r.bias = sum.value() / n;
  r.mean_abs = sizes.value() / n;
  r.relative_l2 = squares.value() == 0 ? 0 : std::sqrt(squares.value() / reference.value());
  return r;
}

}  // namespace deviate
