// SPDX-License-Identifier: Apache-2.0
/// \file golden_certificate.hpp
/// \brief How far the golden output of a study is proved to lie from the exact one.
#pragma once

#include <cstdint>
#include <string>

namespace deviate::tool {

/// \brief What is proved of a golden output, for one format. Its rows are those of all heads and batches.
struct golden_certificate {
  /// \brief Largest share of half an ulp that the bound of a certified row may be.
  static constexpr double enough = 1e-3;

  /// \brief A row of which too little is proved.
  struct doubt {
    std::int64_t batch = 0;
    std::int64_t head = 0;
    std::int64_t row = 0;
    std::string reason;  ///< a clause: "golden is NaN or infinite there"
  };

  std::int64_t rows = 0;                ///< of the output
  std::int64_t double_double_rows = 0;  ///< of these, computed in double_double, because FP64 did not suffice
  std::int64_t uncertified_rows = 0;    ///< of these, proved in neither to less than a thousandth of half an ulp
  double bound = 0;  ///< of |golden − exact|, any element of the certified rows; +∞ if there are none
  double half_ulps =
      0;        ///< largest bound ÷ (half an ulp of the format at the row's largest |golden|), of certified rows
  doubt first;  ///< the first uncertified row, if there is one

  /// \brief "fp64", "double_double", or "fp64, double_double" if both were needed.
  std::string scalar() const {
    return double_double_rows == 0 ? "fp64" : double_double_rows == rows ? "double_double" : "fp64, double_double";
  }
};

}  // namespace deviate::tool
