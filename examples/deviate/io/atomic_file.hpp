// SPDX-License-Identifier: Apache-2.0
/// \file atomic_file.hpp
/// \brief Output that appears under its name when it is complete, or not at all.
#pragma once

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string_view>

namespace deviate::tool {

/// \brief Writes `NAME.partial` beside `NAME` and renames it on `commit()`.
///
/// Without `commit()`, as when an exception passes, the partial file is removed and an older `NAME` stays as it was. The
/// partial file is created exclusively, under a numbered name where `NAME.partial` exists, so two writers never share one.
/// A symbolic link is followed: the file it names is replaced. A device or pipe (`/dev/null`) is written directly, for it
/// can be neither renamed over nor left half-written.
class atomic_file {
 public:
  /// \throws file_error if the directory does not exist, the target is a directory or is write-protected, or no file can be
  /// created beside it
  explicit atomic_file(const std::filesystem::path& target);
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;
  ~atomic_file();

  /// \brief Where the content goes. Its failures are reported by `commit()`.
  std::ostream& stream() { return stream_; }

  /// \brief Makes the content visible under the target's name. Nothing may be written afterwards.
  /// \throws file_error if anything could not be written; the partial file is gone then
  void commit();

 private:
  void create_partial();
  void discard() noexcept;

  std::filesystem::path target_;
  std::filesystem::path partial_;  // empty: nothing to rename or remove
  std::ofstream stream_;
};

/// \brief Writes one text or byte string as a whole file.
/// \throws file_error as `atomic_file`
void write_file(const std::filesystem::path& target, std::string_view content);

}  // namespace deviate::tool
