// SPDX-License-Identifier: Apache-2.0
#include "deviate/command_text.hpp"

#include "deviate/report/text.hpp"

#include <array>

namespace deviate::tool {
namespace {

constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./,:=+-";

template <class T>
std::string list_text(const std::vector<T>& items) {
  std::string text;
  for (const T& item : items) {
    if (!text.empty()) text += ",";
    if constexpr (std::is_same_v<T, named_format>)
      text += item.name;
    else if constexpr (std::is_same_v<T, random_inputs>)
      text += std::to_string(item.n);
    else if constexpr (std::is_same_v<T, std::string>)
      text += item;
    else
      text += std::to_string(item);
  }
  return text;
}

}  // namespace

std::string shell_word(const std::string& word) {
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string study_command_text(const option_set& options, const study_options& study) {
  std::string text = "deviate study";
  const auto add = [&](const std::string& name, const std::string& value) {
    text += " " + name + " " + shell_word(value);
  };
  for (const char* file : {"--input", "--q", "--k", "--v", "--dtype"})
    for (const std::string& value : options.all(file)) add(file, value);
  if (!study.random.empty()) {
    const random_inputs& how = study.random.front();
    add("--random", how.distribution);
    add("--n", list_text(study.random));
    add("--d", std::to_string(how.d));
    add("--heads", std::to_string(how.heads));
    add("--seed", std::to_string(how.seed));
  }
  const auto add_list = [&](const std::string& name, const std::string& value) {
    if (!study.default_study || options.given(name)) add(name, value);
  };
  add_list("--formats", list_text(study.formats));
  if (study.rounding.mode != rounding_mode::nearest_even)
    add("--mode", mode_names()[static_cast<std::size_t>(study.rounding.mode)]);
  if (study.rounding.mode == rounding_mode::stochastic) {
    add("--random-bits", std::to_string(study.rounding.random_bits));
    add("--rounding-seed", std::to_string(study.rounding.seed));
  }
  add_list("--recipes", list_text(study.recipes));
  add_list("--tile-query", list_text(study.tile_query));
  add_list("--tile-key", list_text(study.tile_key));
  if (options.given("--causal")) text += " --causal";
  if (options.given("--window"))
    add("--window", std::to_string(study.mask.left) + "," + std::to_string(study.mask.right));
  if (study.mask.align == alignment::top_left) add("--alignment", "top_left");
  if (study.scale) add("--scale", shortest(*study.scale));
  add_list("--golden", study.golden_on_rounded_inputs ? "rounded" : "unrounded");
  if (study.allow_nan) text += " --allow-nan";
  return text;
}

}  // namespace deviate::tool
