// SPDX-License-Identifier: Apache-2.0
#include "deviate/io/input_file.hpp"

#include "deviate/io/file_error.hpp"

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace deviate::tool {

input_file::input_file(const std::filesystem::path& path) : name_(path.string()) {
  namespace fs = std::filesystem;
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  if (status.type() == fs::file_type::not_found) throw file_error(name_, "does not exist");
  if (status.type() == fs::file_type::none) throw file_error(name_, "cannot be read: " + problem.message());
  if (fs::is_directory(status)) throw file_error(name_, "is a directory; give the name of a file");
  if (!fs::is_regular_file(status)) {
    throw file_error(name_, "is a device, pipe or socket; copy its content to a regular file first");
  }
  size_ = fs::file_size(path, problem);
  if (problem) throw file_error(name_, "cannot be read: " + problem.message());
  if (size_ == 0) throw file_error(name_, "is empty");
  errno = 0;
  stream_ = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*stream_) throw file_error(name_, "cannot be opened: " + std::generic_category().message(errno));
}

input_file::input_file(std::string name, std::string bytes) : name_(std::move(name)), size_(bytes.size()) {
  if (size_ == 0) throw file_error(name_, "is empty");
  stream_ = std::make_unique<std::istringstream>(std::move(bytes), std::ios::binary);
}

void input_file::read(std::uint64_t offset, std::span<char> into) {
  if (offset > size_ || into.size() > size_ - offset) {
    throw file_error(name_, "is truncated: " + std::to_string(into.size()) + " bytes are wanted from byte " +
                                std::to_string(offset) + " on, the file has " + std::to_string(size_));
  }
  stream_->clear();
  stream_->seekg(static_cast<std::streamoff>(offset));
  stream_->read(into.data(), static_cast<std::streamsize>(into.size()));
  if (!*stream_ || stream_->gcount() != static_cast<std::streamsize>(into.size())) {
    throw file_error(name_, "cannot be read at byte " + std::to_string(offset) + ": it shrank or the device failed");
  }
}

}  // namespace deviate::tool
