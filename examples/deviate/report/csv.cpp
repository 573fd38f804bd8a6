// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/csv.hpp"

#include <string_view>

#include "deviate/report/columns.hpp"
#include "deviate/report/text.hpp"

namespace deviate::tool {
namespace {

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

struct to_field {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(std::int64_t x) const { return std::to_string(x); }
  std::string operator()(double x) const { return shortest(x); }
  std::string operator()(const std::string& x) const { return field(valid_utf8(x)); }
};

}  // namespace

std::string study_csv(const study_result& study) {
  std::string text;
  const auto record = [&text](auto field_of) {
    std::string_view separator;
    for (const column& c : main_columns()) {
      text += separator;
      text += field_of(c);
      separator = ",";
    }
    text += "\r\n";
  };
  record([](const column& c) { return std::string(c.name); });
  for (const study_row& row : study.rows) record([&row](const column& c) { return std::visit(to_field(), c.of(row)); });
  return text;
}

}  // namespace deviate::tool
