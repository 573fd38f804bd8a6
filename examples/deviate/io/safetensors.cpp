// SPDX-License-Identifier: Apache-2.0
#include "deviate/io/safetensors.hpp"

#include <deviate/contract.hpp>

#include "deviate/io/atomic_file.hpp"
#include "deviate/io/elements.hpp"
#include "deviate/io/file_error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace deviate::tool {
namespace {

constexpr std::size_t length_bytes = 8;
// The limit of the reference implementation.
constexpr std::uint64_t longest_header = 100'000'000;

std::uint64_t header_length(input_file& file) {
  if (file.size() < length_bytes) {
    throw file_error(file.name(), "is not a .safetensors file: it is shorter than the 8-byte length of a header");
  }
  std::array<char, length_bytes> bytes{};
  file.read(0, bytes);
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  if (length > longest_header || length > file.size() - length_bytes) {
    throw file_error(file.name(), "is truncated or not a .safetensors file: it claims a header of " +
                                      std::to_string(length) + " bytes, and " +
                                      std::to_string(file.size() - length_bytes) + " follow; allowed are up to " +
                                      std::to_string(longest_header));
  }
  return length;
}

std::string names_for_message(const std::map<std::string, safetensors_entry>& tensors) {
  constexpr std::size_t most_names = 8;
  if (tensors.empty()) return "none";
  std::string names;
  std::size_t listed = 0;
  for (const auto& [name, entry] : tensors) {
    if (listed == most_names) return names + " and " + std::to_string(tensors.size() - listed) + " more";
    names += (listed++ == 0 ? "" : ", ") + in_quotes(name);
  }
  return names;
}

bool is_binary64(const named_tensor& tensor) { return std::holds_alternative<std::span<const double>>(tensor.values); }

std::size_t value_count(const named_tensor& tensor) {
  return std::visit([](const auto& values) { return values.size(); }, tensor.values);
}

std::string header_text(const std::vector<const named_tensor*>& tensors,
                        const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t offset = 0;
  for (const named_tensor* tensor : tensors) {
    const std::uint64_t end = offset + value_count(*tensor) * (is_binary64(*tensor) ? sizeof(double) : sizeof(float));
    header[tensor->name] = {
        {"dtype", is_binary64(*tensor) ? "F64" : "F32"}, {"shape", tensor->shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::type_error&) {
    throw contract_violation("write_safetensors: a name or a metadata text is not valid UTF-8");
  }
  text.append((length_bytes - text.size() % length_bytes) % length_bytes, ' ');
  return text;
}

void check_tensors(std::span<const named_tensor> tensors) {
  std::set<std::string> names{"__metadata__"};
  for (const named_tensor& tensor : tensors) {
    expects(names.insert(tensor.name).second,
            "write_safetensors: the name '" + tensor.name + "' is given twice or reserved");
    expects(element_count(tensor.shape) == value_count(tensor), "write_safetensors: tensor '" + tensor.name + "' has " +
                                                                    std::to_string(value_count(tensor)) +
                                                                    " values for shape " + shape_text(tensor.shape));
  }
}

}  // namespace

safetensors_file::safetensors_file(input_file file) : file_(std::move(file)) {
  const std::uint64_t length = header_length(file_);
  data_offset_ = length_bytes + length;
  std::string json(static_cast<std::size_t>(length), '\0');
  file_.read(length_bytes, json);
  if (json.empty() || json[0] != '{') {
    throw file_error(file_.name(), "is not a .safetensors file: its header does not begin with '{'");
  }
  header_ = parse_safetensors_header(json, file_.size() - data_offset_, file_.name());
}

loaded_tensor safetensors_file::load(const std::string& tensor) {
  const auto found = header_.tensors.find(tensor);
  if (found == header_.tensors.end()) {
    throw file_error(name(), "has no tensor " + in_quotes(tensor) + "; it has " + names_for_message(header_.tensors));
  }
  const safetensors_entry& entry = found->second;
  if (!entry.type) {
    throw file_error(name(), "tensor " + in_quotes(tensor) + " has dtype " + in_quotes(entry.dtype) +
                                 "; allowed are F64, F32, F16, BF16, F8_E4M3 and F8_E5M2");
  }
  return read_elements(file_, {.offset = data_offset_ + entry.begin, .type = *entry.type}, entry.shape);
}

std::map<std::string, loaded_tensor> read_safetensors(const std::filesystem::path& path) {
  safetensors_file file(path);
  std::map<std::string, loaded_tensor> tensors;
  for (const auto& [name, entry] : file.tensors()) tensors.emplace(name, file.load(name));
  return tensors;
}

void write_safetensors(const std::filesystem::path& path, std::span<const named_tensor> tensors,
                       const std::map<std::string, std::string>& metadata) {
  check_tensors(tensors);
  std::vector<const named_tensor*> ordered;
  for (const named_tensor& tensor : tensors) ordered.push_back(&tensor);
  std::stable_partition(ordered.begin(), ordered.end(), [](const named_tensor* t) { return is_binary64(*t); });

  const std::string header = header_text(ordered, metadata);
  atomic_file file(path);
  for (std::size_t i = 0; i < length_bytes; ++i) {
    file.stream().put(static_cast<char>(static_cast<unsigned char>(std::uint64_t{header.size()} >> (8 * i))));
  }
  file.stream() << header;
  for (const named_tensor* tensor : ordered) {
    std::visit([&](const auto& values) { write_elements(file.stream(), values); }, tensor->values);
  }
  file.commit();
}

}  // namespace deviate::tool
