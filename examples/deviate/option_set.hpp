// SPDX-License-Identifier: Apache-2.0
/// \file option_set.hpp
/// \brief The options of one command: declared once, parsed, and read with checks that name the option and what it allows.
#pragma once

#include <CLI/App.hpp>

#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deviate::tool {

/// \brief The words after the command's name.
using words = std::vector<std::string>;

/// \brief What a command takes, how it explains itself, and after `parse` what it was given.
///
/// Every reader throws usage_error for a value that it does not allow, an option given twice included.
class option_set {
 public:
  /// \param usage the command and its arguments, as "deviate compare A B"
  /// \param brief what the command does
  /// \param notes printed after the options: examples
  option_set(const std::string& usage, const std::string& brief, const std::string& notes);

  /// \brief Declares `--name VALUE`.
  void add(const std::string& name, const std::string& value, const std::string& help);
  /// \brief Declares `--name` without a value.
  void add_flag(const std::string& name, const std::string& help);

  /// \brief Reads the command line; anything that is not an option goes to `arguments()`.
  /// \return false if help was asked for and has been written to `out`
  /// \throws usage_error for an unknown option (the message suggests the nearest) or a missing value
  bool parse(const words& given, std::ostream& out);

  bool given(const std::string& name) const;
  /// \brief The first of these options that was given, or an empty text.
  std::string first_given(std::span<const std::string> names) const;

  /// \brief Values of an option that may be repeated.
  words all(const std::string& name) const;
  std::optional<std::string> one(const std::string& name) const;
  /// \brief Values separated by commas, over all occurrences, each once; empty if not given.
  words list(const std::string& name) const;
  /// \brief The one of `allowed` that was named, or the first of them if none was.
  std::string choice(const std::string& name, std::span<const std::string> allowed) const;
  /// \brief As `list`, each a name out of `allowed`.
  words choices(const std::string& name, std::span<const std::string> allowed) const;
  /// \brief As `list`, each a whole number from 1 to `highest`.
  std::vector<std::int64_t> counts(const std::string& name, std::int64_t highest) const;
  std::int64_t whole(const std::string& name, std::int64_t lowest, std::int64_t highest, std::int64_t otherwise) const;
  std::uint64_t seed(const std::string& name, std::uint64_t otherwise) const;
  std::optional<double> finite(const std::string& name) const;

  const words& arguments() const { return arguments_; }
  /// \throws usage_error if there are arguments that are not options
  void expect_no_arguments() const;

 private:
  words option_names() const;
  [[noreturn]] void unknown_option(const std::string& word) const;

  CLI::App app_;
  words arguments_;
};

/// \brief The whole text as a whole number.
/// \param what the option, for the message
/// \throws usage_error if it is not one between `lowest` and `highest`
std::int64_t whole_number(const std::string& what, const std::string& text, std::int64_t lowest, std::int64_t highest);

/// \brief "did you mean x?" for the candidate nearest to a misspelt name; where there are few, all of them too.
/// \pre there is a candidate
std::string suggestion(std::string_view misspelt, std::span<const std::string> candidates);

/// \brief Largest count that an option accepts; products of four of them are checked where they are formed.
inline constexpr std::int64_t largest_count = 2'147'483'647;
/// \brief Largest tile size that an option accepts, within what `flash_forward` does.
inline constexpr std::int64_t largest_tile = 1 << 20;

}  // namespace deviate::tool
