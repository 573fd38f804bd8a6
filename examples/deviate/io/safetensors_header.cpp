// SPDX-License-Identifier: Apache-2.0
#include "deviate/io/safetensors_header.hpp"

#include "deviate/io/file_error.hpp"
#include "deviate/io/loaded_tensor.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace deviate::tool {
namespace {

using json = nlohmann::json;

// Receives the JSON piece by piece and accepts only what may come next. No document is built, so neither depth nor
// length costs more memory than the entries themselves.
class header_reader : public json::json_sax_t {
 public:
  explicit header_reader(const std::string& file) : file_(file) {}

  safetensors_header take() {
    if (next_ != state::done) fail("ends too early");
    return std::move(header_);
  }

  bool start_object(std::size_t) override {
    switch (next_) {
      case state::root: return go(state::name);
      case state::entry: return go(state::entry_key);
      case state::metadata: return go(state::metadata_key);
      default: unexpected("an object");
    }
  }

  bool end_object() override {
    switch (next_) {
      case state::name: return go(state::done);
      case state::metadata_key: return go(state::name);
      default: break;  // the parser calls this only where a key may stand
    }
    if (!has_dtype_ || !has_shape_ || !has_offsets_) {
      fail("lacks dtype, shape or data_offsets of tensor " + in_quotes(name_) + "; all three are needed");
    }
    header_.tensors.emplace(name_, std::move(entry_));
    return go(state::name);
  }

  bool key(std::string& text) override {
    switch (next_) {
      case state::name: return begin_entry(text);
      case state::metadata_key:
        name_ = text;
        if (header_.metadata.contains(text)) fail("has the metadata key " + in_quotes(text) + " twice");
        return go(state::metadata_value);
      default: break;
    }
    if (text == "dtype") return once(has_dtype_, text, state::dtype);
    if (text == "shape") return once(has_shape_, text, state::shape);
    if (text == "data_offsets") return once(has_offsets_, text, state::offsets);
    fail("has the unknown key " + in_quotes(text) + " in tensor " + in_quotes(name_) +
         "; allowed are dtype, shape and data_offsets");
  }

  bool string(std::string& text) override {
    if (next_ == state::metadata_value) {
      header_.metadata.emplace(name_, text);
      return go(state::metadata_key);
    }
    if (next_ != state::dtype) unexpected("a string");
    entry_.dtype = text;
    return go(state::entry_key);
  }

  bool start_array(std::size_t) override {
    switch (next_) {
      case state::shape: return go(state::shape_size);
      case state::offsets: return go(state::begin);
      default: unexpected("an array");
    }
  }

  bool number_unsigned(std::uint64_t value) override {
    switch (next_) {
      case state::shape_size:
        if (value > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) unexpected("a size above 2^63 − 1");
        entry_.shape.push_back(static_cast<std::int64_t>(value));
        return true;
      case state::begin: entry_.begin = value; return go(state::end);
      case state::end: entry_.end = value; return go(state::offsets_end);
      default: unexpected("a number");
    }
  }

  bool end_array() override {
    if (next_ != state::shape_size && next_ != state::offsets_end) unexpected("an array of less than two numbers");
    return go(state::entry_key);
  }

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a truth value"); }
  bool number_integer(std::int64_t) override { unexpected("a negative number"); }
  bool number_float(double, const std::string&) override { unexpected("a number that is no 64-bit integer"); }
  bool binary(json::binary_t&) override { unexpected("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    fail("is not JSON: error at its byte " + std::to_string(position));
  }

 private:
  // What may come next.
  enum class state {
    root,
    name,
    entry,
    entry_key,
    dtype,
    shape,
    shape_size,
    offsets,
    begin,
    end,
    offsets_end,
    metadata,
    metadata_key,
    metadata_value,
    done,
  };

  [[noreturn]] void fail(const std::string& problem) const {
    throw file_error(file_, "its .safetensors header " + problem);
  }
  [[noreturn]] void unexpected(const std::string& what) const {
    fail("has " + what + (name_.empty() ? "" : " in " + in_quotes(name_)) +
         " where none is allowed; an entry is {\"dtype\": \"F32\", \"shape\": [2, 3], \"data_offsets\": [0, 24]}");
  }

  bool go(state next) {
    next_ = next;
    return true;
  }

  bool begin_entry(const std::string& name) {
    name_ = name;
    if (name == "__metadata__") {
      if (std::exchange(has_metadata_, true)) fail("has __metadata__ twice");
      return go(state::metadata);
    }
    if (header_.tensors.contains(name)) fail("has the tensor " + in_quotes(name) + " twice");
    entry_ = {};
    has_dtype_ = has_shape_ = has_offsets_ = false;
    return go(state::entry);
  }

  bool once(bool& seen, const std::string& text, state next) {
    if (std::exchange(seen, true)) fail("has " + text + " of tensor " + in_quotes(name_) + " twice");
    return go(next);
  }

  const std::string& file_;
  state next_ = state::root;
  safetensors_header header_;
  std::string name_;  // of the tensor or metadata key being read
  safetensors_entry entry_;
  bool has_dtype_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  bool has_metadata_ = false;
};

std::optional<element_type> type_of(std::string_view dtype) {
  for (const element_description& d : element_descriptions) {
    if (d.safetensors == dtype) return d.type;
  }
  return std::nullopt;
}

void check_entry(const std::string& name, const safetensors_entry& entry, std::uint64_t data_bytes,
                 const std::string& file) {
  const std::string range = std::string("[") + std::to_string(entry.begin) + ", " + std::to_string(entry.end) + "]";
  if (entry.begin > entry.end || entry.end > data_bytes) {
    throw file_error(file, "tensor " + in_quotes(name) + " has data_offsets " + range +
                               "; allowed are increasing ones up to " + std::to_string(data_bytes) +
                               ", the bytes of data in the file");
  }
  const std::optional<std::uint64_t> count = element_count(entry.shape);
  const std::uint64_t bytes = entry.end - entry.begin;
  const std::size_t width = entry.type ? describe(*entry.type).bytes() : 0;
  if (!count || (entry.type && (*count > bytes / width || *count * width != bytes))) {
    throw file_error(file, "tensor " + in_quotes(name) + " of shape " + shape_text(entry.shape) + " and dtype " +
                               in_quotes(entry.dtype) + " does not fit its data_offsets " + range + ", " +
                               std::to_string(bytes) + " bytes");
  }
}

// Every byte of the data belongs to exactly one tensor, as the format demands.
void check_cover(const safetensors_header& header, std::uint64_t data_bytes, const std::string& file) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const auto& [name, entry] : header.tensors) ranges.emplace_back(entry.begin, entry.end);
  std::sort(ranges.begin(), ranges.end());
  std::uint64_t covered = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != covered) {
      throw file_error(file, "tensors " + std::string(begin < covered ? "overlap" : "leave a gap") + " at byte " +
                                 std::to_string(std::min(begin, covered)) + " of the data; allowed is neither");
    }
    covered = end;
  }
  if (covered != data_bytes) {
    throw file_error(file,
                     "has " + std::to_string(data_bytes - covered) + " bytes after its last tensor; allowed are none");
  }
}

}  // namespace

safetensors_header parse_safetensors_header(std::string_view text, std::uint64_t data_bytes, const std::string& file) {
  header_reader reader(file);
  json::sax_parse(text.begin(), text.end(), &reader);
  safetensors_header header = reader.take();
  for (auto& [name, entry] : header.tensors) {
    entry.type = type_of(entry.dtype);
    check_entry(name, entry, data_bytes, file);
  }
  check_cover(header, data_bytes, file);
  return header;
}

}  // namespace deviate::tool
