// SPDX-License-Identifier: Apache-2.0
/// \file safetensors.hpp
/// \brief Named tensors in `.safetensors` files.
#pragma once

#include "deviate/io/input_file.hpp"
#include "deviate/io/loaded_tensor.hpp"
#include "deviate/io/safetensors_header.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace deviate::tool {

/// \brief An open `.safetensors` file: its header is read and checked at once, a tensor's data when it is asked for.
///
/// Readable are F64, F32, F16, BF16, F8_E4M3 and F8_E5M2. A file may hold other tensors beside them; asking for one of
/// those is an error that names its dtype.
class safetensors_file {
 public:
  /// \throws file_error if the file or its header is not as the format demands
  explicit safetensors_file(const std::filesystem::path& path) : safetensors_file(input_file(path)) {}
  /// \copydoc safetensors_file(const std::filesystem::path&)
  explicit safetensors_file(input_file file);

  const std::string& name() const { return file_.name(); }
  const std::map<std::string, safetensors_entry>& tensors() const { return header_.tensors; }
  /// \brief The text entries under `__metadata__`.
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }

  /// \brief Reads one tensor.
  /// \throws file_error if there is none of this name (the message lists those there are) or its dtype is not readable
  loaded_tensor load(const std::string& tensor);

 private:
  input_file file_;
  safetensors_header header_;
  std::uint64_t data_offset_ = 0;
};

/// \brief Reads all tensors of a file.
/// \throws file_error if the file is malformed or any dtype is not readable
std::map<std::string, loaded_tensor> read_safetensors(const std::filesystem::path& path);

/// \brief A tensor to write; it refers to values that live elsewhere.
struct named_tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::variant<std::span<const float>, std::span<const double>> values;  ///< row-major; written as F32 or F64
};

/// \brief Writes tensors as one file; it appears complete or not at all. Those of F64 come first, so that all are aligned.
/// \pre names are unique valid UTF-8 other than `__metadata__`; each has as many values as the product of its sizes
/// \throws file_error if it cannot be written
void write_safetensors(const std::filesystem::path& path, std::span<const named_tensor> tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace deviate::tool
