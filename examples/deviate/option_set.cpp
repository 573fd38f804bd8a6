// SPDX-License-Identifier: Apache-2.0
#include "deviate/option_set.hpp"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "deviate/format_names.hpp"
#include "deviate/io/file_error.hpp"
#include "deviate/usage_error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace deviate::tool {
namespace {

std::string is(const std::string& what, const std::string& text) { return what + " is " + in_quotes(text); }

// "-inf" and "-.5" are numbers, "-inputs" is a misspelt option.
bool looks_like_number(const std::string& word) {
  if (word.size() < 2) return true;
  if ((word[1] >= '0' && word[1] <= '9') || word[1] == '.') return true;
  std::string rest = word.substr(1);
  for (char& c : rest) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return rest == "inf" || rest == "infinity" || rest == "nan";
}

template <class T>
bool read_whole(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::int64_t whole_number(const std::string& what, const std::string& text, std::int64_t lowest, std::int64_t highest) {
  std::int64_t value = 0;
  if (!read_whole(text, value) || value < lowest || value > highest)
    throw usage_error(is(what, text) + "; it must be a whole number from " + std::to_string(lowest) + " to " +
                      std::to_string(highest));
  return value;
}

std::string suggestion(std::string_view misspelt, std::span<const std::string> candidates) {
  std::string text = "did you mean " + nearest_name(misspelt, candidates) + "?";
  constexpr std::size_t few = 8;
  if (candidates.size() > few) return text;
  text += " There are ";
  for (std::size_t i = 0; i < candidates.size(); ++i)
    text += (i == 0 ? "" : i + 1 < candidates.size() ? ", " : " and ") + candidates[i];
  return text;
}

option_set::option_set(const std::string& usage, const std::string& brief, const std::string& notes)
    : app_(brief, usage) {
  app_.set_help_flag("-h,--help", "Show this help");
  app_.footer(notes);
  app_.allow_extras();
  app_.get_formatter()->column_width(34);
}

void option_set::add(const std::string& name, const std::string& value, const std::string& help) {
  app_.add_option(name, CLI::callback_t(), help)
      ->type_name(value)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void option_set::add_flag(const std::string& name, const std::string& help) {
  app_.add_flag(name, help)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

words option_set::option_names() const {
  words names;
  for (const CLI::Option* option : app_.get_options()) names.push_back("--" + option->get_lnames().front());
  return names;
}

void option_set::unknown_option(const std::string& word) const {
  const std::string name = word.substr(0, word.find('='));
  throw usage_error("unknown option " + in_quotes(name) + "; " + suggestion(name, option_names()));
}

bool option_set::parse(const words& given, std::ostream& out) {
  for (const std::string& word : given) {
    if (word == "--") break;
    if (word.size() > 3 && word.starts_with("--") && word.find('=') == word.size() - 1)
      throw usage_error(word.substr(0, word.size() - 1) + " has no value");
  }
  try {
    app_.parse(words(given.rbegin(), given.rend()));  // CLI11 takes them from the back
  } catch (const CLI::CallForHelp&) {
    out << app_.help();
    return false;
  } catch (const CLI::ArgumentMismatch&) {
    throw usage_error(given.back() + " has no value");
  } catch (const CLI::ParseError& error) {
    throw usage_error(one_line(error.what()));
  }
  const words names = option_names();
  for (const CLI::Option* option : app_.get_options())
    for (const std::string& value : option->results())
      if (std::find(names.begin(), names.end(), value) != names.end())
        throw usage_error("--" + option->get_lnames().front() + " has no value: " + value + " follows it");

  bool only_arguments = false;
  for (const std::string& word : app_.remaining()) {
    if (!only_arguments && word == "--") {
      only_arguments = true;
      continue;
    }
    if (!only_arguments && word.starts_with('-') && !looks_like_number(word)) unknown_option(word);
    arguments_.push_back(word);
  }
  return true;
}

void option_set::expect_no_arguments() const {
  if (!arguments_.empty())
    throw usage_error(in_quotes(arguments_.front()) + " is not an option; options begin with --");
}

bool option_set::given(const std::string& name) const { return app_.count(name) > 0; }

std::string option_set::first_given(std::span<const std::string> names) const {
  const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) { return given(name); });
  return found != names.end() ? *found : "";
}

words option_set::all(const std::string& name) const { return app_.get_option(name)->results(); }

std::optional<std::string> option_set::one(const std::string& name) const {
  const words values = all(name);
  if (values.empty()) return std::nullopt;
  if (values.size() > 1)
    throw usage_error(name + " is given " + std::to_string(values.size()) + " times; give it once");
  return values.front();
}

words option_set::list(const std::string& name) const {
  words items;
  for (const std::string& value : all(name)) {
    std::size_t begin = 0;
    for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
      end = value.find(',', begin);
      const std::string item = value.substr(begin, end == std::string::npos ? end : end - begin);
      if (item.empty()) throw usage_error(is(name, value) + "; an item of the list is empty");
      if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(item);
    }
  }
  return items;
}

std::string option_set::choice(const std::string& name, std::span<const std::string> allowed) const {
  const std::optional<std::string> value = one(name);
  if (!value) return allowed.front();
  if (std::find(allowed.begin(), allowed.end(), *value) == allowed.end())
    throw usage_error(is(name, *value) + "; " + suggestion(*value, allowed));
  return *value;
}

words option_set::choices(const std::string& name, std::span<const std::string> allowed) const {
  words values = list(name);
  for (const std::string& value : values)
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
      throw usage_error(name + " has " + in_quotes(value) + "; " + suggestion(value, allowed));
  return values;
}

std::vector<std::int64_t> option_set::counts(const std::string& name, std::int64_t highest) const {
  std::vector<std::int64_t> values;
  for (const std::string& item : list(name)) {
    const std::int64_t value = whole_number(name, item, 1, highest);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

std::int64_t option_set::whole(const std::string& name, std::int64_t lowest, std::int64_t highest,
                               std::int64_t otherwise) const {
  const std::optional<std::string> text = one(name);
  return text ? whole_number(name, *text, lowest, highest) : otherwise;
}

std::uint64_t option_set::seed(const std::string& name, std::uint64_t otherwise) const {
  const std::optional<std::string> text = one(name);
  if (!text) return otherwise;
  std::uint64_t value = 0;
  if (!read_whole(*text, value)) throw usage_error(is(name, *text) + "; it must be a whole number from 0 to 2^64 - 1");
  return value;
}

std::optional<double> option_set::finite(const std::string& name) const {
  const std::optional<std::string> text = one(name);
  if (!text) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text->c_str(), &end);
  const bool is_text = text->empty() || end != text->c_str() + text->size() ||
                       std::string_view(" \t\n\v\f\r").find(text->front()) != std::string_view::npos;
  if (is_text || !std::isfinite(value)) throw usage_error(is(name, *text) + "; it must be a finite number");
  return value;
}

}  // namespace deviate::tool
