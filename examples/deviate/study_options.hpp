// SPDX-License-Identifier: Apache-2.0
/// \file study_options.hpp
/// \brief What `deviate study` and `deviate run` were asked to do, after the command line has been checked.
#pragma once

#include <deviate/attention/problem.hpp>
#include <deviate/tensor/tensor.hpp>

#include "deviate/format_names.hpp"
#include "deviate/rounding_choice.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deviate::tool {

/// \brief Q, K, V of one input, exactly as given: float64 holds every element type.
struct attention_inputs {
  std::string name;  ///< "smollm2_layer00", "uniform N=512 seed 1", a file's stem
  tensor<double> q;  ///< [batch, query heads, n_query, d]
  tensor<double> k;  ///< [batch, key heads, n_key, d]
  tensor<double> v;  ///< [batch, key heads, n_key, d_v]
};

/// \brief How random inputs are drawn.
struct random_inputs {
  std::string distribution;  ///< "uniform" (0, 1), "normal" (0, 1), "outliers": N(0, 1) + N(0, 100)·Bernoulli(0.001)
  std::int64_t n = 0;
  std::int64_t d = 64;
  std::int64_t heads = 1;
  std::uint64_t seed = 1;
};

/// \brief Draws Q, K, V from the library's own counter-based generator: the same bits on every machine.
attention_inputs draw(const random_inputs& how);

/// \brief Which inputs a study compares on, and under which recipes, formats and tiles.
struct study_options {
  std::vector<attention_inputs> inputs;  ///< from files; empty with `random`
  std::vector<random_inputs> random;     ///< one for each N; empty with files
  std::vector<named_format> formats;     ///< in the mode of the rounding
  rounding_choice rounding;
  std::vector<std::string> recipes;
  std::vector<std::int64_t> tile_query;
  std::vector<std::int64_t> tile_key;
  deviate::mask mask;
  std::optional<double> scale;
  bool golden_on_rounded_inputs = true;
  bool allow_nan = false;
  int workers = 0;             ///< threads; 0 for one per core
  bool default_study = false;  ///< no inputs named: the real layers and the synthetic sweeps
};

}  // namespace deviate::tool
