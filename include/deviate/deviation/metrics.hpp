// SPDX-License-Identifier: Apache-2.0
/// \file metrics.hpp
/// \brief The deviation of a computed tensor from the golden one: whole, per head, and per row position.
#pragma once

#include <deviate/contract.hpp>
#include <deviate/deviation/detail/measure.hpp>
#include <deviate/deviation/detail/read_view.hpp>
#include <deviate/deviation/summary.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace deviate {

/// \brief A deviation. The report itself is the summary of the whole tensor: `d.max_abs`, `d.bias`, `d.worst`.
struct deviation_report : deviation_summary {
  std::vector<deviation_summary> heads;  ///< one for each head, batch-major: index b·(heads of a batch) + h
  std::vector<deviation_summary> rows;   ///< one for each row position, over batch and heads; empty unless asked for

  /// \brief The summary of the whole tensor alone.
  const deviation_summary& whole() const { return *this; }
};

/// \brief Measures how far `got` is from `golden`.
/// \param got the computed values, [batch, heads, rows, columns], any strides: a tensor or a view of any element that
/// converts to double
/// \param golden the reference values, in the same shape
/// \param options ulp format, valid rows, NaN policy, and what to compute
/// \return the metrics as \ref deviation_summary defines them; indices of `worst` are those of the tensors in every part
/// of the report
///
/// Computed values are converted to double first, and so is golden unless it is wider: from one of double_double or of
/// Boost numbers the differences are formed in its own type and then rounded to double, so all that is made of d, and
/// W_1 and W_2, keep what lies below double. Costs two passes and 16 bytes an element (24 with double_double), and a sort
/// for Wasserstein. Runs on the host, on one thread.
/// \throws contract_violation if the shapes differ, or `valid_rows` has a size that is not one of the two allowed
template <readable_tensor Got, readable_tensor Golden>
deviation_report deviation(const Got& got, const Golden& golden, const deviation_options& options = {}) {
  const auto computed = detail::read_view(got);
  const auto reference = detail::read_view(golden);
  const extents& shape = computed.shape();
  detail::expects_same_shape("deviation", shape, reference.shape());
  const std::int64_t mask = std::int64_t(options.valid_rows.size());
  if (mask != 0 && mask != shape.batch * shape.rows && mask != shape.batch * shape.heads * shape.rows)
    throw contract_violation("deviation: valid_rows has " + std::to_string(mask) + " entries for shape " +
                             detail::shape_text(shape) + "; allowed are none, batch × rows or batch × heads × rows");

  const auto measured = [&](const detail::region& where) {
    return detail::measure(computed, reference, where, options);
  };
  deviation_report report{measured({0, shape.batch, 0, shape.heads, 0, shape.rows}), {}, {}};
  const bool single = shape.batch * shape.heads == 1;
  for (std::int64_t b = 0; b < shape.batch; ++b)
    for (std::int64_t h = 0; h < shape.heads; ++h)
      report.heads.push_back(single ? report.whole() : measured({b, b + 1, h, h + 1, 0, shape.rows}));
  if (options.per_row)
    for (std::int64_t r = 0; r < shape.rows; ++r)
      report.rows.push_back(measured({0, shape.batch, 0, shape.heads, r, r + 1}));
  return report;
}

}  // namespace deviate
