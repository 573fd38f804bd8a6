// SPDX-License-Identifier: Apache-2.0
#include "deviate/io/atomic_file.hpp"

#include "deviate/io/file_error.hpp"

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace deviate::tool {
namespace {

std::string reason(int error) { return std::generic_category().message(error != 0 ? error : EIO); }

// A file nobody may write was protected on purpose, and rename() would not notice.
bool write_protected(const std::filesystem::file_status& status) {
  using std::filesystem::perms;
  return (status.permissions() & (perms::owner_write | perms::group_write | perms::others_write)) == perms::none;
}

}  // namespace

atomic_file::atomic_file(const std::filesystem::path& target) : target_(target) {
  namespace fs = std::filesystem;
  if (target.empty()) throw file_error("output", "its name is empty; give a file name");
  std::error_code problem;
  const fs::file_status status = fs::status(target, problem);
  if (fs::is_directory(status) || !target.has_filename()) {
    throw file_error(target.string(), "is a directory; give the name of a file to write");
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    errno = 0;
    stream_.open(target_, std::ios::binary);
    if (!stream_) throw file_error(target.string(), "cannot be opened for writing: " + reason(errno));
    return;
  }
  if (fs::exists(status)) {
    if (write_protected(status)) throw file_error(target.string(), "is write-protected; choose another name");
    const fs::path resolved = fs::canonical(target, problem);
    if (!problem) target_ = resolved;
  }
  create_partial();
}

void atomic_file::create_partial() {
  constexpr int most_names = 1000;
  for (int i = 1; i <= most_names; ++i) {
    std::filesystem::path candidate = target_;
    candidate += i == 1 ? std::string(".partial") : ".partial" + std::to_string(i);
    errno = 0;
    std::FILE* const created = std::fopen(candidate.c_str(), "wbx");
    if (created == nullptr && errno == EEXIST) continue;
    if (created == nullptr) throw file_error(target_.string(), "cannot be written: " + reason(errno));
    std::fclose(created);
    partial_ = candidate;
    stream_.open(partial_, std::ios::binary);
    if (stream_) return;
    const int error = errno;
    discard();
    throw file_error(target_.string(), "cannot be written: " + reason(error));
  }
  throw file_error(target_.string(), "cannot be written: " + std::to_string(most_names) + " files named " +
                                         in_quotes(target_.filename().string() + ".partial…") + " exist; remove them");
}

void atomic_file::discard() noexcept {
  if (partial_.empty()) return;
  std::error_code ignored;  // the error that led here is the one to report
  std::filesystem::remove(partial_, ignored);
  partial_.clear();
}

atomic_file::~atomic_file() {
  stream_.close();
  discard();
}

void atomic_file::commit() {
  errno = 0;
  stream_.close();
  if (!stream_) {
    const int error = errno;
    discard();
    throw file_error(target_.string(), "cannot be written completely: " + reason(error));
  }
  if (partial_.empty()) return;
  std::error_code problem;
  std::filesystem::rename(partial_, target_, problem);
  if (problem) {
    discard();
    throw file_error(target_.string(), "cannot be written: " + problem.message());
  }
  partial_.clear();
}

void write_file(const std::filesystem::path& target, std::string_view content) {
  atomic_file file(target);
  file.stream().write(content.data(), static_cast<std::streamsize>(content.size()));
  file.commit();
}

}  // namespace deviate::tool
