// SPDX-License-Identifier: Apache-2.0
/// \file result.hpp
/// \brief What a forward pass returns.
#pragma once

#include <cstdint>
#include <deviate/tensor/tensor.hpp>

namespace deviate {

/// \brief Output of a forward pass.
/// \tparam T carrier of the output
/// \tparam L carrier of the log-sum-exp
template <class T, class L = T>
struct attention_result {
  tensor<T> output;       ///< O, [batch, query heads, n_query, d_v]
  tensor<L> log_sum_exp;  ///< LSE = ln Σ exp(scaled scores), [batch, query heads, n_query, 1]; −∞ without a key
  tensor<std::int32_t> rescales;  ///< per row: how often the running maximum rose after its first tile
};

}  // namespace deviate
