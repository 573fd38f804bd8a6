// SPDX-License-Identifier: Apache-2.0
#include "deviate/io/npy.hpp"

#include <deviate/contract.hpp>

#include "deviate/io/atomic_file.hpp"
#include "deviate/io/elements.hpp"
#include "deviate/io/file_error.hpp"
#include "deviate/io/npy_header.hpp"

#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <vector>

namespace deviate::tool {
namespace {

// A shape needs at most 20 characters a size, so a longer header is not one of a tensor.
constexpr std::uint32_t longest_header = 0xffff;

struct located_header {
  npy_header header;
  std::uint64_t data_offset;
};

located_header read_header(input_file& file) {
  constexpr std::string_view magic = "\x93NUMPY";
  std::array<char, 12> start{};
  const std::size_t available = file.size() < start.size() ? static_cast<std::size_t>(file.size()) : start.size();
  file.read(0, std::span(start).first(available));
  if (std::string_view(start.data(), available).substr(0, magic.size()) != magic) {
    throw file_error(file.name(), "is not a .npy file: it does not begin with \\x93NUMPY");
  }
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(start[i])); };
  const std::uint32_t major = byte(6);
  if (available < 8 || major < 1 || major > 3 || byte(7) != 0) {
    throw file_error(file.name(), "is .npy version " + std::to_string(major) + "." + std::to_string(byte(7)) +
                                      "; allowed are 1.0, 2.0 and 3.0");
  }
  const std::size_t header_offset = major == 1 ? 10 : 12;
  if (available < header_offset) throw file_error(file.name(), "is truncated in its .npy header");
  std::uint32_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > longest_header) {
    throw file_error(file.name(), "claims a .npy header of " + std::to_string(length) + " bytes; allowed are " +
                                      std::to_string(longest_header));
  }
  if (length > file.size() - header_offset) throw file_error(file.name(), "is truncated in its .npy header");
  std::string text(length, '\0');
  file.read(header_offset, text);
  return {parse_npy_header(text, file.name()), header_offset + length};
}

// The option's values for a width, and a remark where only one program writes such a file.
std::string option_help(std::string_view code, std::size_t width) {
  const std::string remark = code == "f1" ? " (ml_dtypes stores float8_e5m2 so)" : "";
  return "--dtype " + names_of_width(width) + remark;
}

// The `order` is '<', '>', '|' (no order: one byte, or raw), the `code` kind and width.
stored_elements stored_as(const std::string& descr, std::optional<element_type> raw_type, const std::string& file) {
  const char order = descr.empty() ? ' ' : descr[0];
  const std::string_view code = descr.empty() ? std::string_view() : std::string_view(descr).substr(1);
  stored_elements result;
  result.bytes = order == '>' ? std::endian::big : std::endian::little;

  const bool ordered = order == '<' || order == '>';
  if (ordered && code == "f8") {
    result.type = element_type::float64;
    return result;
  }
  if (ordered && code == "f4") {
    result.type = element_type::float32;
    return result;
  }
  if (ordered && code == "f2") {
    result.type = element_type::float16;
    return result;
  }

  const bool one_byte = (ordered || order == '|') && (code == "V1" || code == "f1" || code == "u1" || code == "i1");
  // Raw bytes have no order, so '>V2' is no file that numpy writes.
  const bool two_bytes =
      ((order == '<' || order == '|') && code == "V2") || (ordered && (code == "u2" || code == "i2"));
  if (!one_byte && !two_bytes) {
    throw file_error(file, "has elements of type " + in_quotes(descr) +
                               "; allowed are f2, f4 and f8, and with --dtype V1, V2, f1, u1, i1, u2 and i2");
  }
  const std::size_t width = one_byte ? 1 : 2;
  if (!raw_type) {
    throw file_error(file, "has elements of type " + in_quotes(descr) +
                               ", which does not say what numbers they are; say it with " + option_help(code, width));
  }
  if (describe(*raw_type).bytes() != width) {
    throw file_error(file, "has elements of " + std::to_string(width) + " byte" + (width == 1 ? "" : "s") + " (" +
                               in_quotes(descr) + "), which --dtype " + std::string(describe(*raw_type).name) +
                               " does not fit; use " + option_help(code, width));
  }
  result.type = *raw_type;
  return result;
}

template <class Value>
void write_values(const std::filesystem::path& path, std::string_view descr, std::span<const std::int64_t> shape,
                  std::span<const Value> values) {
  expects(element_count(shape) == values.size(),
          "write_npy: " + std::to_string(values.size()) + " values given for shape " + shape_text(shape));
  atomic_file file(path);
  const std::string prologue = npy_prologue(descr, shape);
  file.stream().write(prologue.data(), static_cast<std::streamsize>(prologue.size()));
  write_elements(file.stream(), values);
  file.commit();
}

}  // namespace

loaded_tensor read_npy(const std::filesystem::path& path, std::optional<element_type> raw_type) {
  input_file file(path);
  return read_npy(file, raw_type);
}

loaded_tensor read_npy(input_file& file, std::optional<element_type> raw_type) {
  const auto [header, data_offset] = read_header(file);
  stored_elements where = stored_as(header.descr, raw_type, file.name());
  where.offset = data_offset;
  where.order = header.fortran_order ? element_order::column_major : element_order::row_major;

  const std::size_t width = describe(where.type).bytes();
  const std::uint64_t available = file.size() - data_offset;
  const std::optional<std::uint64_t> count = element_count(header.shape);
  if (!count || *count > available / width) {
    throw file_error(file.name(), "is truncated: shape " + shape_text(header.shape) + " of " + std::to_string(width) +
                                      "-byte elements needs more than the " + std::to_string(available) +
                                      " bytes it holds");
  }
  if (*count * width != available) {
    throw file_error(file.name(), "has " + std::to_string(available - *count * width) +
                                      " bytes after the data of shape " + shape_text(header.shape) +
                                      "; allowed are none");
  }
  return read_elements(file, where, header.shape);
}

void write_npy(const std::filesystem::path& path, std::span<const std::int64_t> shape, std::span<const float> values) {
  write_values(path, "<f4", shape, values);
}

void write_npy(const std::filesystem::path& path, std::span<const std::int64_t> shape, std::span<const double> values) {
  write_values(path, "<f8", shape, values);
}

}  // namespace deviate::tool
