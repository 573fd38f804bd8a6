// SPDX-License-Identifier: Apache-2.0
/// \file golden_reference.hpp
/// \brief The golden that a study compares with: in FP64 where that is proved to be near enough, else in double_double.
#pragma once

#include <deviate/attention/golden.hpp>
#include <deviate/math/double_double.hpp>

#include "deviate/golden_certificate.hpp"
#include "deviate/study_options.hpp"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace deviate::tool {

/// \brief A golden output, and what is proved of it. Rows that FP64 does exactly enough are FP64's in either tensor.
struct golden_reference {
  std::variant<tensor<double>, tensor<double_double>> output;
  golden_certificate certificate;
};

/// \brief Golden of one problem: FP64 at once, double_double for the rows in which a format needs it.
///
/// A row is certified for a format if the bound of its error is below a thousandth of half an ulp of the format at the
/// largest |O| of the row: there golden is as good as exact. The largest, because one bound holds for the whole row;
/// an element near 0 has smaller ulps, which no golden of a fixed precision resolves where a sum cancels.
class certified_golden {
 public:
  /// \param inputs must outlive this object
  /// \param p likewise what it refers to
  /// \param who threads; no bit depends on them
  certified_golden(const attention_inputs& inputs, const problem& p, const workers& who);

  /// \brief Golden for a format. A row that is not certified in FP64 in some head is in double_double in all of them;
  /// what was computed for one format serves the next.
  golden_reference for_format(const format& f);

  /// \brief Rows computed in double_double so far, as a share of all.
  double share_in_double_double() const;

 private:
  void compute_in_double_double(const std::vector<std::int64_t>& rows);

  const attention_inputs& inputs_;
  problem problem_;
  workers who_;
  golden_result<double> plain_;
  std::optional<golden_result<double_double>> precise_;
  std::vector<std::uint8_t> is_precise_;  // for each row position
};

}  // namespace deviate::tool
