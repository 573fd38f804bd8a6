// SPDX-License-Identifier: Apache-2.0
// What the tests of file input and output share: a directory of their own, and bytes to and from files.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace io_test {

// A new directory, removed with all it holds.
class scratch_directory {
 public:
  scratch_directory() {
    std::random_device random;
    do {
      path_ = std::filesystem::temp_directory_path() / ("deviate_io_test_" + std::to_string(random()));
    } while (!std::filesystem::create_directory(path_));
  }
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;
  ~scratch_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  // Names of the files there are, so that a test sees what was left behind.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      found.push_back(entry.path().filename().string());
    }
    return found;
  }

 private:
  std::filesystem::path path_;
};

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void put(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// What an error says; "" where there is none. Any other exception than `Error` passes and fails the test.
template <class Error, class Body>
std::string message_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    CHECK_MESSAGE(std::string_view(error.what()).find('\n') == std::string_view::npos, error.what());
    return error.what();
  }
  return "";
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// SplitMix64 (Steele, Lea and Flood, 2014): the same damage everywhere.
class generator {
 public:
  explicit generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % bound;
  }

 private:
  std::uint64_t state_;
};

// One to four damages to the bytes: a bit, a byte, a sign, a cut, a doubled or an inserted piece. Most are one damage that
// keeps the length, for those get furthest into a reader.
inline std::string damaged(std::string bytes, generator& random) {
  for (std::uint64_t left = 1 + random.below(1 + random.below(4)); left > 0 && !bytes.empty(); --left) {
    const std::size_t at = static_cast<std::size_t>(random.below(bytes.size()));
    switch (random.below(10)) {
      case 0: bytes.resize(at); break;
      case 1: bytes.insert(at, bytes.substr(at / 2, static_cast<std::size_t>(random.below(40)))); break;
      case 2:
        bytes.insert(at, static_cast<std::size_t>(1 + random.below(20)), "90[{(\0\xff \""[random.below(9)]);
        break;
      case 3:
      case 4: bytes[at] = static_cast<char>(static_cast<unsigned char>(random.below(256))); break;
      case 5:
      case 6: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8))); break;
      default: bytes[at] = "0123456789-+.eE,:;[]{}()'\"\\ LTF"[random.below(31)];
    }
  }
  return bytes;
}

}  // namespace io_test
