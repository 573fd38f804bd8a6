// SPDX-License-Identifier: Apache-2.0
#include "deviate/output.hpp"

#include "deviate/io/atomic_file.hpp"
#include "deviate/io/file_error.hpp"

#include <cerrno>
#include <system_error>
#include <unistd.h>

namespace deviate::tool {
namespace {

void expect_writable(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path place = folder.empty() ? "." : folder;
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(place, problem);
  if (!std::filesystem::exists(status))
    throw file_error(name, "the folder " + in_quotes(place.string()) + " does not exist");
  if (!std::filesystem::is_directory(status)) throw file_error(name, in_quotes(place.string()) + " is not a folder");
  if (access(place.c_str(), W_OK | X_OK) != 0)
    throw file_error(name, "the folder " + in_quotes(place.string()) +
                               " may not be written to: " + std::generic_category().message(errno));
}

}  // namespace

held_signals::held_signals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, signal);
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

held_signals::~held_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void expect_writable_file(const std::string& name) {
  const std::filesystem::path path(name);
  if (name.empty()) throw file_error("output", "its name is empty; give a file name");
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(path, problem);
  if (std::filesystem::is_directory(status) || !path.has_filename())
    throw file_error(name, "is a folder; give the name of a file to write");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return;  // a device, as /dev/null
  expect_writable(path.parent_path(), name);
}

void write_text(const std::string& name, std::string text, std::ostream& out) {
  if (!text.ends_with('\n')) text += '\n';
  if (name == "-") {
    out << text;
  } else {
    const held_signals while_writing;
    write_file(name, text);
  }
}

}  // namespace deviate::tool
