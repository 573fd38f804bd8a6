// SPDX-License-Identifier: Apache-2.0
/// \file npy.hpp
/// \brief Tensors in numpy's `.npy` files.
#pragma once

#include "deviate/io/input_file.hpp"
#include "deviate/io/loaded_tensor.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace deviate::tool {

/// \brief Reads a `.npy` file of version 1.0, 2.0 or 3.0.
///
/// Elements f2, f4 and f8, of either byte order, say what they are. numpy has no name for bf16 and FP8: ml_dtypes stores
/// them as `<V2`, `<V1` and `<f1`, others as integers of their width (u1, i1, u2, i2). Those need `raw_type`.
/// \param raw_type what elements are that do not say it (the option `--dtype`); not used for files that do, so one option
/// serves a bf16 file and its binary32 reference together
/// \return values in row-major order; a file in Fortran order is transposed while it is read
/// \throws file_error on any other file. Memory is at most 4 times the file's size, whatever its header claims.
loaded_tensor read_npy(const std::filesystem::path& path, std::optional<element_type> raw_type = std::nullopt);
/// \copydoc read_npy(const std::filesystem::path&, std::optional<element_type>)
loaded_tensor read_npy(input_file& file, std::optional<element_type> raw_type = std::nullopt);

/// \brief Writes a version 1.0 file of `<f4` or `<f8` elements in row-major order; it appears complete or not at all.
/// \pre `values.size()` is the product of the sizes
/// \throws file_error if it cannot be written
void write_npy(const std::filesystem::path& path, std::span<const std::int64_t> shape, std::span<const float> values);
/// \copydoc write_npy(const std::filesystem::path&, std::span<const std::int64_t>, std::span<const float>)
void write_npy(const std::filesystem::path& path, std::span<const std::int64_t> shape, std::span<const double> values);

}  // namespace deviate::tool
