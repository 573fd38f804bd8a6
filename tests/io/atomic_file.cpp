// SPDX-License-Identifier: Apache-2.0
#include "deviate/io/atomic_file.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "deviate/io/file_error.hpp"
#include "io/scratch.hpp"

namespace {

namespace fs = std::filesystem;
using deviate::tool::atomic_file;
using deviate::tool::file_error;
using deviate::tool::write_file;
using io_test::bytes_of;
using io_test::contains;
using names = std::vector<std::string>;

std::string refusal(const fs::path& target) {
  return io_test::message_of<file_error>([&] { write_file(target, "new"); });
}

}  // namespace

TEST_CASE("a file appears on commit, and only then") {
  const io_test::scratch_directory scratch;
  {
    atomic_file file(scratch / "a.txt");
    file.stream() << "one";
    CHECK(scratch.names() == names{"a.txt.partial"});
    file.commit();
    CHECK(scratch.names() == names{"a.txt"});
  }
  CHECK(bytes_of(scratch / "a.txt") == "one");
  write_file(scratch / "a.txt", "two");
  CHECK(bytes_of(scratch / "a.txt") == "two");
}

TEST_CASE("without commit nothing is left, and the older file stays") {
  const io_test::scratch_directory scratch;
  write_file(scratch / "a.txt", "old");
  CHECK_THROWS_AS(
      [&] {
        atomic_file file(scratch / "a.txt");
        file.stream() << "half of it" << std::flush;
        throw std::runtime_error("the study failed");
      }(),
      std::runtime_error);
  CHECK(scratch.names() == names{"a.txt"});
  CHECK(bytes_of(scratch / "a.txt") == "old");
}

TEST_CASE("two writers of one name do not share a partial file, nor does one take over an old one") {
  const io_test::scratch_directory scratch;
  io_test::put(scratch / "a.txt.partial", "left by a killed process");
  {
    atomic_file first(scratch / "a.txt");
    atomic_file second(scratch / "a.txt");
    first.stream() << "first";
    second.stream() << "second";
    first.commit();
    CHECK(bytes_of(scratch / "a.txt") == "first");
    second.commit();
  }
  CHECK(bytes_of(scratch / "a.txt") == "second");
  CHECK(bytes_of(scratch / "a.txt.partial") == "left by a killed process");
  CHECK(scratch.names().size() == 2);
}

TEST_CASE("a symbolic link is followed") {
  const io_test::scratch_directory scratch;
  fs::create_directory(scratch / "real");
  write_file(scratch / "real/a.txt", "old");
  fs::create_symlink("real/a.txt", scratch / "link");
  write_file(scratch / "link", "new");
  CHECK(fs::is_symlink(scratch / "link"));
  CHECK(bytes_of(scratch / "real/a.txt") == "new");
}

TEST_CASE("targets that cannot be written are refused in one line") {
  const io_test::scratch_directory scratch;
  fs::create_directory(scratch / "d");
  CHECK(contains(refusal(scratch / "d"), "is a directory"));
  CHECK(contains(refusal((scratch / "d").string() + "/"), "is a directory"));
  CHECK(contains(refusal(""), "name is empty"));
  CHECK(contains(refusal(scratch / "none/a.txt"), "none/a.txt: cannot be written: No such file or directory"));
  CHECK(contains(refusal(scratch / std::string(255, 'a')), "name too long"));
  CHECK(contains(refusal(scratch / "none/a\nb"), "a\\x0ab"));
  write_file(scratch / "d/golden", "old");
  fs::permissions(scratch / "d/golden", fs::perms::owner_read);
  CHECK(contains(refusal(scratch / "d/golden"), "write-protected"));
  CHECK(bytes_of(scratch / "d/golden") == "old");
  CHECK(scratch.names() == names{"d"});
}

TEST_CASE("a directory that vanishes, or takes the name, is reported and leaves nothing") {
  const io_test::scratch_directory scratch;
  atomic_file file(scratch / "a");
  file.stream() << "content";
  fs::create_directory(scratch / "a");
  CHECK_THROWS_AS(file.commit(), file_error);
  CHECK(scratch.names() == names{"a"});
}

TEST_CASE("devices are written directly, and a full one is an error") {
  if (fs::exists("/dev/null")) {
    write_file("/dev/null", "gone");
    CHECK(fs::is_character_file("/dev/null"));
  }
  if (fs::exists("/dev/full")) {
    CHECK(contains(refusal("/dev/full"), "cannot be written completely"));
    CHECK(fs::is_character_file("/dev/full"));
  }
}
