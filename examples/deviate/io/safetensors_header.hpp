// SPDX-License-Identifier: Apache-2.0
/// \file safetensors_header.hpp
/// \brief The JSON header of a `.safetensors` file.
#pragma once

#include "deviate/io/element_type.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deviate::tool {

/// \brief What the header says of one tensor.
struct safetensors_entry {
  std::string dtype;                 ///< as in the file
  std::optional<element_type> type;  ///< nothing for a dtype that cannot be read, such as "I64"
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  ///< first byte, from the start of the data
  std::uint64_t end = 0;    ///< past the last byte
};

/// \brief All tensors of a file by name, and its `__metadata__`.
struct safetensors_header {
  std::map<std::string, safetensors_entry> tensors;
  std::map<std::string, std::string> metadata;
};

/// \brief Parses and checks a header.
///
/// Checked: the JSON is an object of entries with exactly dtype, shape and data_offsets (no nesting beyond that can be
/// entered); no name or key twice; offsets in range and in order; the data covered without gap or overlap; the size of
/// every readable tensor = elements × width, without overflow.
/// \param data_bytes size of the data after the header
/// \param file its name, for messages
/// \throws file_error if any of it does not hold
safetensors_header parse_safetensors_header(std::string_view json, std::uint64_t data_bytes, const std::string& file);

}  // namespace deviate::tool
