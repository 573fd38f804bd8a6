// SPDX-License-Identifier: Apache-2.0
/// \file npy_header.hpp
/// \brief The text header of a `.npy` file: a Python dictionary of three keys.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deviate::tool {

/// \brief What the header of a `.npy` file says.
struct npy_header {
  std::string descr;           ///< byte order, kind and width of an element, as "<f4"
  bool fortran_order = false;  ///< true: the first index runs fastest
  std::vector<std::int64_t> shape;
};

/// \brief Parses `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }` and what Python accepts in its place: keys
/// in any order, either quote, spaces, integers of Python 2 (`3L`).
/// \param file its name, for messages
/// \throws file_error on anything else
npy_header parse_npy_header(std::string_view text, const std::string& file);

/// \brief The bytes before the data of a version 1.0 file: magic, length and header, padded to a multiple of 64.
/// \pre the header fits 65535 bytes, as it does for every rank numpy allows
std::string npy_prologue(std::string_view descr, std::span<const std::int64_t> shape);

}  // namespace deviate::tool
