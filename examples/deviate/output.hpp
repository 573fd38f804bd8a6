// SPDX-License-Identifier: Apache-2.0
/// \file output.hpp
/// \brief Where a command's results go, checked before the work and written whole after it.
#pragma once

#include <csignal>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace deviate::tool {

/// \brief While it lives, Ctrl-C and a request to end wait: files that belong together appear together or not at all.
class held_signals {
 public:
  held_signals();
  held_signals(const held_signals&) = delete;
  held_signals& operator=(const held_signals&) = delete;
  ~held_signals();

 private:
  sigset_t before_;
};

/// \brief True for the file name that stands for standard output.
inline bool is_standard_output(const std::optional<std::string>& name) { return name && *name == "-"; }

/// \brief Fails before the work rather than after it, where a file could not be written.
/// \throws file_error if its folder does not exist or may not be written to, or the name is a folder's
void expect_writable_file(const std::string& name);

/// \brief Writes to a file, or to `out` if its name is `-`; the text ends in a line break.
/// \throws file_error if it cannot be written
void write_text(const std::string& name, std::string text, std::ostream& out);

}  // namespace deviate::tool
