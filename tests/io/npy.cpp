// SPDX-License-Identifier: Apache-2.0
#include "deviate/io/npy.hpp"

#include <deviate/contract.hpp>
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "deviate/io/file_error.hpp"
#include "io/scratch.hpp"

namespace {

using namespace std::string_literals;
using namespace deviate::tool;
using io_test::contains;

using shape = std::vector<std::int64_t>;

// A file of version `major` around a header and data.
std::string npy(const std::string& header, const std::string& data, int major = 1) {
  std::string bytes = "\x93NUMPY"s + static_cast<char>(major) + '\0' + static_cast<char>(header.size() & 0xff) +
                      static_cast<char>(header.size() >> 8);
  if (major > 1) bytes += "\0\0"s;
  return bytes + header + data;
}

std::string npy_of(const std::string& descr, const std::string& sizes, const std::string& data) {
  return npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + sizes + ", }\n", data);
}

loaded_tensor read(const std::string& bytes, std::optional<element_type> raw_type = std::nullopt) {
  input_file file("a.npy", bytes);
  return read_npy(file, raw_type);
}

std::string refusal(const std::string& bytes, std::optional<element_type> raw_type = std::nullopt) {
  return io_test::message_of<file_error>([&] { read(bytes, raw_type); });
}

std::vector<float> floats(const loaded_tensor& t) { return std::get<std::vector<float>>(t.values); }
std::vector<double> doubles(const loaded_tensor& t) { return std::get<std::vector<double>>(t.values); }

// numpy.save of [[1.5, -2, 0.1], [3, inf, -0.0]] as float32, numpy 2.4.6.
const std::string from_numpy =
    "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
    "                                                          \n"
    "\x00\x00\xc0?\x00\x00\x00\xc0\xcd\xcc\xcc=\x00\x00@@\x00\x00\x80\x7f\x00\x00\x00\x80"s;

// The same of numpy.arange(24.) as asfortranarray of shape (2, 3, 4), version 2.0.
const std::string fortran_from_numpy =
    "\x93NUMPY\x02\x00t\x00\x00\x00{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3, 4), }"
    "                                                      \n"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00(@\x00\x00\x00\x00\x00\x00\x10@\x00\x00\x00\x00\x00\x00"
    "0@\x00\x00\x00\x00\x00\x00 @\x00\x00\x00\x00\x00\x00"
    "4@\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00*@\x00\x00\x00\x00\x00\x00\x14@\x00\x00\x00\x00\x00\x00"
    "1@\x00\x00\x00\x00\x00\x00\"@\x00\x00\x00\x00\x00\x00"
    "5@\x00\x00\x00\x00\x00\x00\x00@\x00\x00\x00\x00\x00\x00,@\x00\x00\x00\x00\x00\x00\x18@\x00\x00\x00\x00\x00\x00"
    "2@\x00\x00\x00\x00\x00\x00$@\x00\x00\x00\x00\x00\x00"
    "6@\x00\x00\x00\x00\x00\x00\x08@\x00\x00\x00\x00\x00\x00.@\x00\x00\x00\x00\x00\x00\x1c@\x00\x00\x00\x00\x00\x00"
    "3@\x00\x00\x00\x00\x00\x00&@\x00\x00\x00\x00\x00\x00"
    "7@"s;

const std::string bf16_from_numpy =
    "\x93NUMPY\x01\x00v\x00{'descr': '<V2', 'fortran_order': False, 'shape': (4,), }"
    "                                                            \n\x00\x00\x80?\x00@@@"s;

const std::string big_endian_from_numpy =
    "\x93NUMPY\x01\x00v\x00{'descr': '>f2', 'fortran_order': False, 'shape': (3,), }"
    "                                                            \n>\x00\xfb\xff\x00\x01"s;

}  // namespace

TEST_CASE("case 84: bf16 in .npy is read with the option, and refused without") {
  const loaded_tensor t = read(bf16_from_numpy, element_type::bfloat16);
  CHECK(t.shape == shape{4});
  CHECK(t.type == element_type::bfloat16);
  CHECK(floats(t) == std::vector<float>{0, 1, 2, 3});
  CHECK(floats(read(npy_of("|V2", "(4,)", "\x00\x00\x80\x3f\x00\x40\x40\x40"s), element_type::bfloat16)) == floats(t));

  const std::string message = refusal(bf16_from_numpy);
  CHECK(contains(message, "a.npy"));
  CHECK(contains(message, "'<V2'"));
  CHECK(contains(message, "--dtype bf16"));
}

TEST_CASE("case 84: FP8 in .npy, as V1, f1 or bytes") {
  for (const std::string descr : {"<V1", "|V1", "<f1", "|f1", "|u1", "|i1"}) {
    const std::string bytes = npy_of(descr, "(2,)", "\x38\x7b");
    CHECK(floats(read(bytes, element_type::float8_e5m2)) == std::vector<float>{0.5, 57344});
    CHECK(floats(read(bytes, element_type::float8_e4m3)) == std::vector<float>{1, 352});
    CHECK(contains(refusal(bytes), "--dtype fp8_e5m2"));
    CHECK(contains(refusal(bytes), "fp8_e4m3"));
  }
}

TEST_CASE("codes stored as 16-bit integers") {
  CHECK(floats(read(npy_of("<u2", "(1,)", "\x40\x40"), element_type::bfloat16)) == std::vector<float>{3});
  CHECK(floats(read(npy_of(">i2", "(1,)", "\xbf\x80"), element_type::bfloat16)) == std::vector<float>{-1});
  CHECK(floats(read(npy_of("<u2", "(1,)", "\x00\x3c"s), element_type::float16)) == std::vector<float>{1});
  CHECK(contains(refusal(npy_of("<u2", "(1,)", "\x40\x40")), "--dtype bf16"));
}

TEST_CASE("the option does not touch a file that says what it holds, and must fit one that does not") {
  CHECK(floats(read(from_numpy, element_type::bfloat16)) == floats(read(from_numpy)));
  CHECK(read(from_numpy, element_type::bfloat16).type == element_type::float32);
  const std::string message = refusal(npy_of("|V1", "(1,)", "\x38"), element_type::bfloat16);
  CHECK(contains(message, "--dtype bf16 does not fit"));
  CHECK(contains(message, "fp8_e5m2"));
}

TEST_CASE("binary32 as numpy writes it, and we write the same bytes") {
  const loaded_tensor t = read(from_numpy);
  CHECK(t.shape == shape{2, 3});
  CHECK(floats(t) == std::vector<float>{1.5f, -2, 0.1f, 3, HUGE_VALF, -0.0f});
  CHECK(std::signbit(floats(t)[5]));
  const io_test::scratch_directory scratch;
  write_npy(scratch / "o.npy", t.shape, floats(t));
  CHECK(io_test::bytes_of(scratch / "o.npy") == from_numpy);
}

TEST_CASE("binary64 keeps every bit") {
  const std::vector<double> values{0.1, 5e-324, -1.7976931348623157e308, std::numeric_limits<double>::quiet_NaN()};
  const io_test::scratch_directory scratch;
  write_npy(scratch / "o.npy", shape{1, 4}, values);
  const loaded_tensor t = read_npy(scratch / "o.npy");
  CHECK(t.type == element_type::float64);
  CHECK(doubles(t)[0] == 0.1);
  CHECK(t.as_double()[1] == 5e-324);
  CHECK(doubles(t)[2] == values[2]);
  CHECK(std::isnan(doubles(t)[3]));
  CHECK(t.count() == 4);
}

TEST_CASE("Fortran order is transposed") {
  const loaded_tensor t = read(fortran_from_numpy);
  CHECK(t.shape == shape{2, 3, 4});
  for (std::size_t i = 0; i < 24; ++i) CHECK(doubles(t)[i] == static_cast<double>(i));
}

TEST_CASE("big-endian binary16, 32 and 64") {
  CHECK(floats(read(big_endian_from_numpy)) == std::vector<float>{1.5f, -65504, 0x1p-24f});
  CHECK(floats(read(npy_of(">f4", "(1,)", "\x3f\xc0\x00\x00"s))) == std::vector<float>{1.5f});
  CHECK(doubles(read(npy_of(">f8", "(1,)", "\x3f\xf8\x00\x00\x00\x00\x00\x00"s))) == std::vector<double>{1.5});
}

TEST_CASE("files of more than one block, in both orders") {
  constexpr std::int64_t rows = 257;
  constexpr std::int64_t columns = 131;
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * columns; ++i) values.push_back(static_cast<float>(i));
  const io_test::scratch_directory scratch;
  write_npy(scratch / "o.npy", shape{rows, columns}, values);
  CHECK(floats(read_npy(scratch / "o.npy")) == values);

  std::string bytes = io_test::bytes_of(scratch / "o.npy");
  bytes.replace(bytes.find("False"), 5, "True ");
  const std::vector<float> transposed = floats(read(bytes));
  bool right = true;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      right = right && transposed[static_cast<std::size_t>(r * columns + c)] == static_cast<float>(c * rows + r);
    }
  }
  CHECK(right);
}

TEST_CASE("empty tensors and rank 4") {
  CHECK(read(npy_of("<f4", "(0, 3)", "")).count() == 0);
  CHECK(read(npy_of("<f4", "(1, 1, 1, 2)", "abcdefgh")).shape == shape{1, 1, 1, 2});
  const io_test::scratch_directory scratch;
  write_npy(scratch / "o.npy", shape{0}, std::vector<float>{});
  CHECK(read_npy(scratch / "o.npy").shape == shape{0});
}

TEST_CASE("headers that Python accepts") {
  for (const std::string header : {"{\"shape\":(1,),\"fortran_order\":False,\"descr\":\"<f4\"}",
                                   " { 'shape' : ( 1 , ) , 'descr':'<f4' , 'fortran_order' : False , } \n ",
                                   "{'descr': '<f4', 'fortran_order': False, 'shape': (1L, 1L)}"}) {
    for (const int major : {1, 2, 3}) CHECK(read(npy(header, "\0\0\x80\x3f"s, major)).count() == 1);
  }
}

TEST_CASE("headers that are refused, each with its reason") {
  const auto with_header = [](const std::string& header) { return refusal(npy(header, "\0\0\x80\x3f"s)); };
  const std::string front = "{'descr': '<f4', 'fortran_order': False, 'shape': ";
  CHECK(contains(with_header(""), "'{' is wanted"));
  CHECK(contains(with_header("{}"), "all three are needed"));
  CHECK(contains(with_header(front + "(1,)"), "is wanted"));
  CHECK(contains(with_header(front + "(1)}"), "',' is wanted"));
  CHECK(contains(with_header(front + "(-1,)}"), "negative size"));
  CHECK(contains(with_header(front + "(1.0,)}"), "is wanted"));
  CHECK(contains(with_header(front + "(99999999999999999999,)}"), "above 2^63"));
  CHECK(contains(with_header(front + "(1,)} x"), "text after"));
  CHECK(contains(with_header(front + "(1,), 'descr': '<f4'}"), "twice"));
  CHECK(contains(with_header(front + "(1,), 'names': '<f4'}"), "unknown key 'names'"));
  CHECK(contains(with_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"), "structured"));
  CHECK(contains(with_header("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}"), "True or False"));
  CHECK(contains(with_header("{'descr"), "string without end"));
  CHECK(contains(with_header("{'a\\n': 1}"), "backslash"));
  CHECK(contains(with_header("{'a\nb': 1}"), "unknown key 'a\\x0ab'"));
}

TEST_CASE("element types that are refused are named") {
  for (const std::string descr : {"<i4", "<i8", "|b1", "<c8", "|O", "<U4", "<f16", ">V2", "=f4", "f4", "<", ""}) {
    const std::string message = refusal(npy_of(descr, "(1,)", "\0\0\0\0"s), element_type::bfloat16);
    CHECK(contains(message, "'" + descr + "'"));
    CHECK(contains(message, "allowed are f2, f4 and f8"));
  }
}

TEST_CASE("a header that claims 2^60 elements is an error, not an allocation") {
  for (const std::string sizes : {"(1152921504606846976,)", "(1073741824, 1073741824)", "(4294967296, 4294967296)",
                                  "(9223372036854775807, 9223372036854775807)", "(2,)", "(4611686018427387905, 4)"}) {
    CHECK(contains(refusal(npy_of("<f4", sizes, "\0\0\0\0"s)), "is truncated"));
  }
  CHECK(contains(refusal(npy_of("<f4", "(4294967296, 4294967296, 0)", "")), "is truncated"));  // strides would overflow
  CHECK(contains(refusal(npy_of("<f4", "(1,)", "\0\0\0\0\0"s)), "1 bytes after the data"));
}

TEST_CASE("files that are not .npy") {
  CHECK(contains(refusal(""), "is empty"));
  CHECK(contains(refusal("\x93NUMP"), "does not begin with"));
  CHECK(contains(refusal("PK\x03\x04 and more bytes"), "does not begin with"));
  CHECK(contains(refusal("\x93NUMPY"), "version"));
  CHECK(contains(refusal("\x93NUMPY\x04\0\0\0\0\0"s), "version 4.0"));
  CHECK(contains(refusal("\x93NUMPY\x01\0"s), "is truncated"));
  CHECK(contains(refusal("\x93NUMPY\x01\0\xff\xff"s), "is truncated"));
  CHECK(contains(refusal("\x93NUMPY\x02\0\xff\xff\xff\xff"s), "claims a .npy header of 4294967295 bytes"));
  const io_test::scratch_directory scratch;
  const auto refused = [](const std::filesystem::path& path) {
    return io_test::message_of<file_error>([&] { read_npy(path); });
  };
  CHECK(contains(refused(scratch / "none.npy"), "does not exist"));
  CHECK(contains(refused(scratch / ""), "is a directory"));
  CHECK(contains(refused("/dev/zero"), "device, pipe or socket"));
}

TEST_CASE("what is written is whole, or not there") {
  const io_test::scratch_directory scratch;
  CHECK_THROWS_AS(write_npy(scratch / "o.npy", shape{3}, std::vector<float>{1, 2}), deviate::contract_violation);
  CHECK_THROWS_AS(write_npy(scratch / "o.npy", shape{-1}, std::vector<float>{}), deviate::contract_violation);
  CHECK_THROWS_AS(write_npy(scratch / "none/o.npy", shape{1}, std::vector<float>{1}), file_error);
  CHECK(scratch.names().empty());
}

TEST_CASE("20,000 damaged files are read or refused, nothing else") {
  const std::array<std::string, 6> files{from_numpy,
                                         fortran_from_numpy,
                                         bf16_from_numpy,
                                         big_endian_from_numpy,
                                         npy_of("|V1", "(2, 3, 2)", "0123456789ab"),
                                         npy("{'descr': '<f8', 'fortran_order': True, 'shape': (0, 7)}", "", 3)};
  const std::array<std::optional<element_type>, 3> options{std::nullopt, element_type::bfloat16,
                                                           element_type::float8_e4m3};
  io_test::generator random(84);
  int whole = 0;
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string bytes = io_test::damaged(files[random.below(files.size())], random);
    try {
      const loaded_tensor t = read(bytes, options[random.below(options.size())]);
      if (t.count() * sizeof(float) > 4 * bytes.size()) FAIL_CHECK("more values than bytes");
      ++whole;
    } catch (const file_error&) {
      ++refused;
    }
  }
  CHECK(whole + refused == 20'000);
  CHECK(whole > 1000);
  CHECK(refused > 8000);
}

TEST_CASE("shapes of rank 1 to 4 are aligned at the right") {
  CHECK(right_aligned_extents(shape{5}, "a") == deviate::extents{1, 1, 1, 5});
  CHECK(right_aligned_extents(shape{3, 4, 5}, "a") == deviate::extents{1, 3, 4, 5});
  CHECK(right_aligned_extents(shape{2, 3, 4, 5}, "a") == deviate::extents{2, 3, 4, 5});
  const auto refused = [](const shape& sizes) {
    return io_test::message_of<file_error>([&] { right_aligned_extents(sizes, "a.npy"); });
  };
  CHECK(contains(refused({}), "rank 0"));
  CHECK(contains(refused({1, 2, 3, 4, 5}), "rank 5, shape [1, 2, 3, 4, 5]"));
}
