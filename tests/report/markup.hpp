// SPDX-License-Identifier: Apache-2.0
// A strict reader of the markup that reports are made of: enough to see that no name has become part of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace report_test {

struct markup {
  std::string problem;             // what is wrong first; empty if all elements are closed in order
  std::vector<std::string> names;  // of every element, in order
  std::vector<std::string> texts;  // between tags, entities replaced
  bool has_text(std::string_view part) const {
    return std::any_of(texts.begin(), texts.end(), [&](const auto& t) { return t.find(part) != std::string::npos; });
  }
  bool has_element(std::string_view name) const { return std::find(names.begin(), names.end(), name) != names.end(); }
};

// Text with its entities replaced; an ampersand that begins none is a problem.
inline std::string plain(std::string_view text, std::string& problem) {
  struct entity {
    std::string_view written, character;
  };
  constexpr entity entities[] = {{"&amp;", "&"}, {"&lt;", "<"},    {"&gt;", ">"},
                                 {"&#39;", "'"}, {"&quot;", "\""}, {"&nbsp;", " "}};
  std::string result;
  while (!text.empty()) {
    std::size_t taken = 1;
    std::string_view character = text.substr(0, 1);
    if (text[0] == '&') {
      const auto found = std::find_if(std::begin(entities), std::end(entities),
                                      [&](const entity& e) { return text.substr(0, e.written.size()) == e.written; });
      if (found == std::end(entities)) {
        if (problem.empty()) problem = "a bare ampersand: " + std::string(text.substr(0, 40));
      } else {
        taken = found->written.size();
        character = found->character;
      }
    }
    result += character;
    text.remove_prefix(taken);
  }
  return result;
}

inline markup read_markup(std::string_view text) {
  markup m;
  std::vector<std::string> open;
  while (!text.empty() && m.problem.empty()) {
    if (text[0] != '<') {
      const std::size_t end = std::min(text.find('<'), text.size());
      m.texts.push_back(plain(text.substr(0, end), m.problem));
      text.remove_prefix(end);
      continue;
    }
    // The end of a tag is a > outside of quotes.
    std::size_t end = 1;
    for (char quote = 0; end < text.size() && (quote != 0 || text[end] != '>'); ++end) {
      if (quote == 0 && (text[end] == '"' || text[end] == '\''))
        quote = text[end];
      else if (text[end] == quote)
        quote = 0;
      else if (text[end] == '<')
        m.problem = "< within a tag: " + std::string(text.substr(0, 60));
    }
    if (end == text.size()) m.problem = "a tag without an end: " + std::string(text.substr(0, 60));
    const std::string_view tag = text.substr(1, end - 1);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (tag == "!DOCTYPE html") continue;
    if (tag.substr(0, 1) == "/") {
      if (open.empty() || open.back() != tag.substr(1)) m.problem = "closed out of order: " + std::string(tag);
      if (!open.empty()) open.pop_back();
      continue;
    }
    const std::string name(tag.substr(0, tag.find_first_of(" \n/")));
    if (name.empty() ||
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ123456") != std::string::npos)
      m.problem = "not an element: " + std::string(tag.substr(0, 60));
    m.names.push_back(name);
    if (name != "meta" && tag.back() != '/') open.push_back(name);
  }
  if (m.problem.empty() && !open.empty()) m.problem = "never closed: " + open.back();
  return m;
}

}  // namespace report_test
