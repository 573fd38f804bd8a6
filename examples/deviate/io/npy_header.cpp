// SPDX-License-Identifier: Apache-2.0
#include "deviate/io/npy_header.hpp"

#include <deviate/contract.hpp>

#include "deviate/io/file_error.hpp"

#include <limits>

namespace deviate::tool {
namespace {

// Reads the dictionary from left to right; every function leaves the position after what it read.
class dictionary_reader {
 public:
  dictionary_reader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  npy_header read() {
    npy_header header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        once(has_descr, key);
        header.descr = descr();
      } else if (key == "fortran_order") {
        once(has_order, key);
        header.fortran_order = boolean();
      } else if (key == "shape") {
        once(has_shape, key);
        header.shape = tuple();
      } else {
        fail("the unknown key " + in_quotes(key) + "; allowed are descr, fortran_order and shape");
      }
      if (accept('}')) break;
      expect(',');
    }
    skip_spaces();
    if (position_ != text_.size()) fail("text after the dictionary");
    if (!has_descr || !has_order || !has_shape) fail("no key descr, fortran_order or shape; all three are needed");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw file_error(file_, "its .npy header has " + problem);
  }

  [[noreturn]] void fail_here(const std::string& wanted) const {
    const std::string found = position_ < text_.size() ? in_quotes(text_.substr(position_, 1)) : "the end";
    fail(found + " at byte " + std::to_string(position_) + " where " + wanted + " is wanted");
  }

  void once(bool& seen, const std::string& key) const {
    if (seen) fail("the key " + in_quotes(key) + " twice");
    seen = true;
  }

  void skip_spaces() {
    while (position_ < text_.size() && std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos) {
      ++position_;
    }
  }

  bool accept(char c) {
    skip_spaces();
    if (position_ == text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail_here(in_quotes(std::string_view(&c, 1)));
  }

  bool accept_word(std::string_view word) {
    skip_spaces();
    if (text_.substr(position_, word.size()) != word) return false;
    position_ += word.size();
    return true;
  }

  std::string string() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"' && !accept('"')) fail_here("a string");
    const std::size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) fail("a string without end");
    const std::string_view content = text_.substr(position_, end - position_);
    if (content.find('\\') != std::string_view::npos) fail("a string with a backslash; none is needed there");
    position_ = end + 1;
    return std::string(content);
  }

  std::string descr() {
    if (accept('[') || accept('(')) fail("structured elements; allowed are plain numbers, as '<f4'");
    return string();
  }

  bool boolean() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) fail_here("True or False");
    return false;
  }

  std::int64_t size() {
    if (accept('-')) fail("a negative size in its shape");
    skip_spaces();
    const std::size_t begin = position_;
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    std::int64_t value = 0;
    for (; position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9'; ++position_) {
      const int digit = text_[position_] - '0';
      if (value > (largest - digit) / 10) fail("a size above 2^63 − 1 in its shape");
      value = 10 * value + digit;
    }
    if (position_ == begin) fail_here("a size");
    if (position_ < text_.size() && text_[position_] == 'L') ++position_;
    return value;
  }

  // A single size needs its comma: (3) is not a tuple in Python.
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      sizes.push_back(size());
      if (sizes.size() > 1 && accept(')')) break;
      expect(',');
    }
    return sizes;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t position_ = 0;
};

}  // namespace

npy_header parse_npy_header(std::string_view text, const std::string& file) {
  return dictionary_reader(text, file).read();
}

std::string npy_prologue(std::string_view descr, std::span<const std::int64_t> shape) {
  constexpr std::size_t alignment = 64;
  constexpr std::size_t length_end = 10;  // magic 6, version 2, length 2
  std::string header = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    header += std::to_string(shape[i]) + (i + 1 < shape.size() ? ", " : shape.size() == 1 ? "," : "");
  }
  header += "), }";
  const std::size_t unpadded = length_end + header.size() + 1;
  header.append((alignment - unpadded % alignment) % alignment, ' ');
  header += '\n';
  expects(header.size() <= 0xffff, "npy_prologue: a shape of this rank does not fit a version 1.0 header");
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header;
}

}  // namespace deviate::tool
