// SPDX-License-Identifier: Apache-2.0
#include "deviate/io/input_file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "deviate/io/file_error.hpp"
#include "io/scratch.hpp"

namespace {

namespace fs = std::filesystem;
using deviate::tool::file_error;
using deviate::tool::input_file;
using io_test::contains;

std::string refusal(const fs::path& path) {
  return io_test::message_of<file_error>([&] { input_file file(path); });
}

}  // namespace

TEST_CASE("bytes are read at any place, from a file and from memory") {
  const io_test::scratch_directory scratch;
  io_test::put(scratch / "a", "0123456789");
  input_file on_disk(scratch / "a");
  input_file in_memory("a", "0123456789");
  for (input_file* file : {&on_disk, &in_memory}) {
    CHECK(file->size() == 10);
    std::array<char, 3> bytes{};
    file->read(7, bytes);
    CHECK(std::string_view(bytes.data(), 3) == "789");
    CHECK_THROWS_AS(file->read(8, bytes), file_error);
    CHECK_THROWS_AS(file->read(~std::uint64_t{0}, bytes), file_error);
    file->read(0, bytes);  // an error before does not matter
    CHECK(std::string_view(bytes.data(), 3) == "012");
    CHECK_NOTHROW(file->read(10, std::span<char>()));
  }
}

TEST_CASE("only a regular file is opened") {
  const io_test::scratch_directory scratch;
  CHECK(contains(refusal(scratch / "none"), "does not exist"));
  CHECK(contains(refusal(scratch / "none/a"), "does not exist"));
  CHECK(contains(refusal(scratch / ""), "is a directory"));
  CHECK(contains(refusal(scratch / std::string(300, 'a')), "name too long"));
  io_test::put(scratch / "empty", "");
  CHECK(contains(refusal(scratch / "empty"), "is empty"));
  CHECK(contains(refusal(scratch / "empty/a"), "does not exist"));
  REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
  CHECK(contains(refusal(scratch / "pipe"), "is a device, pipe or socket"));  // and does not wait for a writer
  fs::create_symlink("loop", scratch / "loop");
  CHECK(contains(refusal(scratch / "loop"), "cannot be read"));
}

TEST_CASE("a file that shrinks while it is read is an error") {
  const io_test::scratch_directory scratch;
  io_test::put(scratch / "a", std::string(100'000, 'x'));
  input_file file(scratch / "a");
  fs::resize_file(scratch / "a", 10);
  std::array<char, 8> bytes{};
  CHECK(contains(io_test::message_of<file_error>([&] { file.read(50'000, bytes); }), "shrank"));
}

TEST_CASE("a message is one line, whatever the names hold") {
  CHECK(deviate::tool::one_line("a\n\x1b[2J\x7f") == "a\\x0a\\x1b[2J\\x7f");
  CHECK(deviate::tool::in_quotes("q") == "'q'");
  CHECK(deviate::tool::in_quotes(std::string(1000, 'q')).size() < 70);
  CHECK(std::string(file_error("a\tb", "is bad").what()) == "a\\x09b: is bad");
}
