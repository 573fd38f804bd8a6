// SPDX-License-Identifier: Apache-2.0
/// \file input_file.hpp
/// \brief Bytes of known number, read at any place: the only way the readers touch a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <span>
#include <string>

namespace deviate::tool {

/// \brief A regular file opened for reading, or bytes in memory that stand for one.
///
/// The size is known before anything is read, so a reader compares every size a header claims with it before it
/// allocates.
class input_file {
 public:
  /// \throws file_error if `path` does not exist, cannot be opened, is empty, or is a directory, device, pipe or socket
  /// (opening a pipe would wait for ever for its writer)
  explicit input_file(const std::filesystem::path& path);
  /// \brief Bytes in memory, under a name for messages.
  input_file(std::string name, std::string bytes);

  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }

  /// \brief Fills `into` with the bytes from `offset` on.
  /// \throws file_error if the file ends before, or reading fails
  void read(std::uint64_t offset, std::span<char> into);

 private:
  std::string name_;
  std::uint64_t size_ = 0;
  std::unique_ptr<std::istream> stream_;
};

}  // namespace deviate::tool
