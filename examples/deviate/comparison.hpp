// SPDX-License-Identifier: Apache-2.0
/// \file comparison.hpp
/// \brief What `deviate compare` found, and how it is told.
#pragma once

#include <deviate/deviation/metrics.hpp>
#include <deviate/deviation/tolerance.hpp>
#include <deviate/deviation/tolerance_advice.hpp>
#include <deviate/tensor/tensor.hpp>

#include "deviate/format_names.hpp"
#include "deviate/io/element_type.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deviate::tool {

/// \brief One of the two tensors.
struct compared_tensor {
  std::string source;               ///< the file, and the tensor in it if that has a name
  std::vector<std::int64_t> shape;  ///< as in the file
  element_type type = element_type::float32;
  tensor<double> values;
};

/// \brief How far a tensor lies from a reference, and how much of it is outside the advised tolerance.
struct judged_tensor {
  double max_abs = 0;
  tolerance_check check;
};

/// \brief The tolerance that the inputs of A advise.
struct comparison_advice {
  tolerance_advice found;
  tolerance_advice_options options;
  named_format inputs_in;               ///< the format of Q, K and V
  judged_tensor got, reference;         ///< A and B against golden
  judged_tensor got_against_reference;  ///< A against B
  baseline_verdict verdict;             ///< A and the baseline, both against golden
};

/// \brief A comparison with its tolerances.
struct comparison {
  compared_tensor got, reference;
  named_format ulps_of;
  bool equal_nan = false;
  deviation_report deviation;
  tolerance recommended;                    ///< for results stored in `ulps_of`
  std::optional<tolerance> allowed;         ///< as given
  tolerance_check check;                    ///< of `allowed`
  element_location furthest;                ///< the element furthest beyond `allowed`
  std::optional<comparison_advice> advice;  ///< where the inputs of A are known
};

/// \brief For reading: the advice in one line if there is one, every metric with its unit, a table of heads, and the
/// tolerances.
std::string comparison_text(const comparison& c);

/// \brief The same as a JSON object; numbers that JSON cannot write are the texts inf, -inf and nan.
std::string comparison_json(const comparison& c);

/// \brief One line on whether the given tolerance holds: how many elements exceed it, and where the worst is.
/// \pre a tolerance is given
std::string verdict(const comparison& c);

}  // namespace deviate::tool
