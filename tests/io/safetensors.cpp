// SPDX-License-Identifier: Apache-2.0
#include "deviate/io/safetensors.hpp"

#include <deviate/contract.hpp>
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "deviate/io/file_error.hpp"
#include "io/scratch.hpp"

namespace {

using namespace std::string_literals;
using namespace deviate::tool;
using io_test::contains;

using shape = std::vector<std::int64_t>;

std::string file_of(const std::string& json, const std::string& data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(std::uint64_t{json.size()} >> (8 * i) & 0xff);
  return bytes + json + data;
}

safetensors_file open(const std::string& bytes) { return safetensors_file(input_file("a.safetensors", bytes)); }

std::string refusal(const std::string& bytes) {
  return io_test::message_of<file_error>([&] { open(bytes); });
}

// One F32 entry named q with the given fields, over four bytes of data.
std::string refusal_of_entry(const std::string& entry) {
  return refusal(file_of("{\"q\":" + entry + "}", "\0\0\x80\x3f"s));
}

std::vector<float> floats(const loaded_tensor& t) { return std::get<std::vector<float>>(t.values); }
std::vector<double> doubles(const loaded_tensor& t) { return std::get<std::vector<double>>(t.values); }

// safetensors.numpy.save, version 0.8.0: F64 d, F32 q and z (of shape 0 × 4), BF16 b, and metadata.
const std::string from_python =
    "\xf8\x00\x00\x00\x00\x00\x00\x00{\"__metadata__\":{\"k\":\"v\"},"
    "\"d\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},"
    "\"q\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[8,24]},"
    "\"z\":{\"dtype\":\"F32\",\"shape\":[0,4],\"data_offsets\":[24,24]},"
    "\"b\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[24,30]}}"
    "\x9a\x99\x99\x99\x99\x99\xb9?\x00\x00\x80?\x00\x00\x00@\x00\x00@@\x00\x00\x80@\xc0?\x00\xc0@@"s;

const std::string fp8_from_python =
    "x\x00\x00\x00\x00\x00\x00\x00{\"e\":{\"dtype\":\"F8_E4M3\",\"shape\":[2],\"data_offsets\":[0,2]},"
    "\"f\":{\"dtype\":\"F8_E5M2\",\"shape\":[2],\"data_offsets\":[2,4]}}     <~{\x04"s;

}  // namespace

TEST_CASE("case 85: a file of Python's, with metadata, a tensor of no elements and BF16") {
  safetensors_file file = open(from_python);
  CHECK(file.tensors().size() == 4);
  CHECK_FALSE(file.tensors().contains("__metadata__"));
  CHECK(file.metadata() == std::map<std::string, std::string>{{"k", "v"}});
  CHECK(file.tensors().at("b").dtype == "BF16");
  CHECK(doubles(file.load("d")) == std::vector<double>{0.1});
  CHECK(file.load("q").shape == shape{2, 2});
  CHECK(floats(file.load("q")) == std::vector<float>{1, 2, 3, 4});
  CHECK(file.load("z").shape == shape{0, 4});
  CHECK(file.load("z").count() == 0);
  CHECK(file.load("b").type == element_type::bfloat16);
  CHECK(floats(file.load("b")) == std::vector<float>{1.5f, -2, 3});
}

TEST_CASE("case 85: FP8 and F16 by byte") {
  safetensors_file file = open(fp8_from_python);
  CHECK(floats(file.load("e")) == std::vector<float>{1.5f, 448});
  CHECK(floats(file.load("f")) == std::vector<float>{57344, 0x1p-14f});
  safetensors_file half =
      open(file_of(R"({"h":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})", "\x00\x3c\xff\xfb"s));
  CHECK(floats(half.load("h")) == std::vector<float>{1, -65504});
}

TEST_CASE("case 85: a dtype that is not understood is named, and only when its tensor is wanted") {
  safetensors_file file = open(file_of(R"({"i":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
                                       R"("q":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
                                       "\0\0\0\0\0\0\0\0\0\0\x80\x3f"s));
  CHECK(floats(file.load("q")) == std::vector<float>{1});
  const std::string message = io_test::message_of<file_error>([&] { file.load("i"); });
  CHECK(contains(message, "a.safetensors: tensor 'i' has dtype 'I64'"));
  CHECK(contains(message, "allowed are F64"));
}

TEST_CASE("a tensor that is not there: the error lists those that are") {
  safetensors_file file = open(from_python);
  CHECK(contains(io_test::message_of<file_error>([&] { file.load("k"); }), "no tensor 'k'; it has 'b', 'd', 'q', 'z'"));
  safetensors_file none = open(file_of("{}", ""));
  CHECK(contains(io_test::message_of<file_error>([&] { none.load("k"); }), "it has none"));
}

TEST_CASE("case 85: offsets are checked") {
  const auto offsets = [](const std::string& range) {
    return refusal_of_entry(R"({"dtype":"F32","shape":[1],"data_offsets":)" + range + "}");
  };
  CHECK(offsets("[0,4]").empty());
  CHECK(contains(offsets("[0,8]"), "data_offsets [0, 8]"));
  CHECK(contains(offsets("[4,0]"), "data_offsets [4, 0]"));
  CHECK(contains(offsets("[18446744073709551612,18446744073709551615]"), "data_offsets"));
  CHECK(contains(offsets("[0,3]"), "does not fit"));
  CHECK(contains(offsets("[4,4]"), "does not fit"));
  CHECK(contains(offsets("[0]"), "less than two"));
  CHECK(contains(offsets("[]"), "less than two"));
  CHECK(contains(offsets("[0,4,4]"), "a number in 'q'"));
  CHECK(contains(offsets("[-1,4]"), "negative"));
  CHECK(contains(offsets("[0,4.0]"), "no 64-bit integer"));
  CHECK(contains(offsets("[0,99999999999999999999]"), "no 64-bit integer"));
  CHECK(contains(offsets("\"0,4\""), "a string"));
}

TEST_CASE("case 85: sizes are multiplied without overflow, and fit the offsets") {
  const auto sizes = [](const std::string& list) {
    return refusal_of_entry(R"({"dtype":"F32","data_offsets":[0,4],"shape":)" + list + "}");
  };
  CHECK(sizes("[1,1,1]").empty());
  CHECK(sizes("[]").empty());  // a scalar
  for (const std::string list : {"[2]", "[0]", "[1152921504606846976]", "[4294967296,4294967296]",
                                 "[4611686018427387905,4]", "[9223372036854775807,9223372036854775807,0]"}) {
    CHECK(contains(sizes(list), "does not fit"));
  }
  CHECK(contains(sizes("[9223372036854775808]"), "above 2^63"));
  CHECK(contains(sizes("[[1]]"), "an array"));
}

TEST_CASE("data is covered without gap or overlap") {
  const auto two = [](const std::string& first, const std::string& second, std::size_t bytes) {
    return refusal(file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)" + first +
                               R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + second + "}}",
                           std::string(bytes, '\0')));
  };
  CHECK(two("[0,4]", "[4,8]", 8).empty());
  CHECK(two("[4,8]", "[0,4]", 8).empty());
  CHECK(contains(two("[0,4]", "[0,4]", 4), "overlap at byte 0"));
  CHECK(contains(two("[0,4]", "[2,6]", 6), "overlap at byte 2"));
  CHECK(contains(two("[0,4]", "[5,9]", 9), "gap at byte 4"));
  CHECK(contains(two("[0,4]", "[4,8]", 9), "1 bytes after its last tensor"));
  CHECK(contains(refusal(file_of("{}", "x")), "1 bytes after"));
}

TEST_CASE("headers that are refused, each with its reason") {
  const auto json = [](const std::string& text) { return refusal(file_of(text, "")); };
  CHECK(json("{}   ").empty());
  CHECK(contains(json(""), "does not begin with '{'"));
  CHECK(contains(json(" {}"), "does not begin with '{'"));
  CHECK(contains(json("{"), "is not JSON: error at its byte"));
  CHECK(contains(json("{}x"), "is not JSON"));
  CHECK(contains(json("{\"a\":nan}"), "is not JSON"));
  CHECK(contains(json("{\"\xff\":{}}"), "is not JSON"));
  CHECK(contains(json("{\"a\":1}"), "a number in 'a'"));
  CHECK(contains(json("{\"a\":null}"), "null in 'a'"));
  CHECK(contains(json("{\"a\":{}}"), "all three are needed"));
  CHECK(contains(json("{\"a\":{\"dtype\":7}}"), "a number in 'a'"));
  CHECK(contains(json("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}"), "twice"));
  CHECK(contains(json("{\"a\":{\"stride\":[1]}}"), "unknown key 'stride'"));
  CHECK(contains(json("{\"__metadata__\":{\"a\":1}}"), "a number in 'a'"));
  CHECK(contains(json("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}"), "twice"));
  CHECK(contains(json("{\"__metadata__\":{},\"__metadata__\":{}}"), "twice"));
  CHECK(contains(json("{\"__metadata__\":[]}"), "an array"));
  const std::string empty = R"("a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  CHECK(contains(json("{" + empty + "," + empty + "}"), "the tensor 'a' twice"));
  CHECK(contains(json(R"({"a\n":1})"), "'a\\x0a'"));
}

TEST_CASE("depth and length cost nothing") {
  constexpr std::size_t depth = 1'000'000;
  CHECK(contains(refusal(file_of("{\"a\":" + std::string(depth, '['), "")), "an array"));
  std::string objects;
  for (std::size_t i = 0; i < depth / 10; ++i) objects += "{\"a\":";
  CHECK(contains(refusal(file_of(objects, "")), "unknown key 'a'"));
  CHECK(contains(refusal("\xff\xff\xff\xff\xff\xff\xff\xff{}"), "18446744073709551615 bytes"));
  CHECK(contains(refusal("\x03\0\0\0\0\0\0\0{}"s), "is truncated"));
  CHECK(contains(refusal("\x02\0\0\0\0\0\0"s), "shorter than the 8-byte length"));
  CHECK(contains(refusal(""), "is empty"));
}

TEST_CASE("what is written is read again, bit for bit") {
  const std::vector<float> q{1, 2, 0.1f, -0.0f, std::numeric_limits<float>::denorm_min(), 3};
  const std::vector<double> golden{0.1, 5e-324};
  const std::vector<named_tensor> tensors{{"q", {2, 3}, std::span<const float>(q)},
                                          {"empty", {0, 3}, std::span<const float>()},
                                          {"golden \"1\"", {2}, std::span<const double>(golden)}};
  const io_test::scratch_directory scratch;
  write_safetensors(scratch / "o.safetensors", tensors, {{"seed", "7"}});
  CHECK(scratch.names() == std::vector<std::string>{"o.safetensors"});
  CHECK(safetensors_file(scratch / "o.safetensors").metadata().at("seed") == "7");
  const auto read = read_safetensors(scratch / "o.safetensors");
  CHECK(read.size() == 3);
  CHECK(read.at("q").shape == shape{2, 3});
  CHECK(floats(read.at("q")) == q);
  CHECK(std::signbit(floats(read.at("q"))[3]));
  CHECK(doubles(read.at("golden \"1\"")) == golden);
  CHECK(read.at("empty").count() == 0);
  // Data begins at a multiple of 8, F64 first.
  const std::string bytes = io_test::bytes_of(scratch / "o.safetensors");
  CHECK(static_cast<unsigned char>(bytes[0]) % 8 == 0);
  CHECK(safetensors_file(scratch / "o.safetensors").tensors().at("golden \"1\"").begin == 0);
}

TEST_CASE("we write the bytes that Python writes") {
  const std::vector<double> d{0.1};
  const std::vector<float> q{1, 2, 3, 4};
  const std::vector<named_tensor> tensors{{"d", {1}, std::span<const double>(d)},
                                          {"q", {2, 2}, std::span<const float>(q)}};
  const io_test::scratch_directory scratch;
  write_safetensors(scratch / "o.safetensors", tensors);
  CHECK(io_test::bytes_of(scratch / "o.safetensors") ==
        "p\x00\x00\x00\x00\x00\x00\x00{\"d\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},"
        "\"q\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[8,24]}}  "
        "\x9a\x99\x99\x99\x99\x99\xb9?\x00\x00\x80?\x00\x00\x00@\x00\x00@@\x00\x00\x80@"s);
}

TEST_CASE("a caller's mistakes are refused before anything is written") {
  const std::vector<float> one{1};
  const io_test::scratch_directory scratch;
  const auto write = [&](const std::vector<named_tensor>& tensors) { write_safetensors(scratch / "o", tensors); };
  const named_tensor good{"q", {1}, std::span<const float>(one)};
  CHECK_THROWS_AS(write({good, good}), deviate::contract_violation);
  CHECK_THROWS_AS(write({{"__metadata__", {1}, std::span<const float>(one)}}), deviate::contract_violation);
  CHECK_THROWS_AS(write({{"q", {2}, std::span<const float>(one)}}), deviate::contract_violation);
  CHECK_THROWS_AS(write({{"\xff", {1}, std::span<const float>(one)}}), deviate::contract_violation);
  CHECK(scratch.names().empty());
}

TEST_CASE("20,000 damaged files are read or refused, nothing else") {
  const std::array<std::string, 3> files{from_python, fp8_from_python, file_of("{}", "")};
  io_test::generator random(85);
  int whole = 0;
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string bytes = io_test::damaged(files[random.below(files.size())], random);
    try {
      safetensors_file file = open(bytes);
      for (const auto& [name, entry] : file.tensors()) {
        if (file.load(name).count() > bytes.size()) FAIL_CHECK("more values than bytes");
      }
      ++whole;
    } catch (const file_error&) {
      ++refused;
    }
  }
  CHECK(whole + refused == 20'000);
  CHECK(whole > 400);
  CHECK(refused > 8000);
}
