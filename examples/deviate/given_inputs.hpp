// SPDX-License-Identifier: Apache-2.0
/// \file given_inputs.hpp
/// \brief Q, K, V and the problem as the options of `study` and `run` give them, read and checked.
#pragma once

#include "deviate/io/element_type.hpp"
#include "deviate/io/loaded_tensor.hpp"
#include "deviate/option_set.hpp"
#include "deviate/study_options.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace deviate::tool {

/// \brief One input as read from files.
struct given_input {
  attention_inputs tensors;
  bool has_batch = false;  ///< the files hold [batch, heads, n, d] rather than [heads, n, d]
};

/// \brief Declares --input, --q, --k, --v and --dtype.
void add_input_options(option_set& options);

/// \brief Declares --causal, --window, --alignment and --scale.
void add_problem_options(option_set& options);

/// \brief True if --input, or one of --q, --k and --v, was given.
bool names_files(const option_set& options);

/// \brief Reads all inputs that are named, in order.
/// \throws usage_error, file_error
std::vector<given_input> read_inputs(const option_set& options);

/// \brief Reads `q`, `k` and `v` of a .safetensors file.
given_input read_safetensors_input(const std::string& path);

/// \brief The mask that --causal or --window with --alignment describe; all keys without them.
deviate::mask mask_of(const option_set& options);

/// \brief The type that --dtype names, for .npy files that do not say it.
std::optional<element_type> raw_type_of(const option_set& options);

/// \brief Checks shapes and values before any work.
///
/// Rows of K and V that the mask hides from every query, and queries without a visible key, may hold anything: they never
/// reach an output.
/// \throws usage_error naming the tensor and the place if the shapes do not fit, or a visible value is NaN or infinite
void expect_sound(const attention_inputs& inputs, const problem& p, bool allow_nan);

}  // namespace deviate::tool
