// SPDX-License-Identifier: Apache-2.0
#include "deviate/command_line.hpp"

#include <deviate/config.hpp>

#include "deviate/commands.hpp"
#include "deviate/io/file_error.hpp"
#include "deviate/usage_error.hpp"

#include <array>
#include <exception>
#include <new>
#include <string>

namespace deviate::tool {
namespace {

constexpr int failed = 2;

struct command {
  std::string name;
  int (*run)(const words&, std::ostream&, std::ostream&);
};
const std::array<command, 6>& commands() {
  static const std::array<command, 6> all{{{"study", study_command},
                                           {"attribute", attribute_command},
                                           {"run", run_command},
                                           {"compare", compare_command},
                                           {"formats", formats_command},
                                           {"round", round_command}}};
  return all;
}

std::string version() {
  return std::to_string(DEVIATE_VERSION_MAJOR) + "." + std::to_string(DEVIATE_VERSION_MINOR) + "." +
         std::to_string(DEVIATE_VERSION_PATCH);
}

std::string overview() {
  return "deviate " + version() + R"(: how far is attention from the right answer, and does it matter?
  study    deviation of recipes, formats and tiles on real or random Q, K, V
  attribute  which step is to blame: the error shared out over the steps of the algorithm
  run      attention under one recipe and format, written as .npy
  compare  all metrics between two tensor files, with a recommended tolerance
  formats  the number formats and their limits
  round    numbers rounded to a format, once
Try: deviate round --format bf16 0.1 65520
     deviate study --random uniform --n 256,1024 --formats bf16
     deviate study --out report
`deviate COMMAND --help` explains a command, `deviate --version` tells the version.
)";
}

int dispatch(const words& given, std::ostream& out, std::ostream& errors) {
  words rest = given;
  if (!rest.empty() && rest.front() == "help") {
    rest.erase(rest.begin());
    rest.push_back("--help");
    if (rest.size() > 2) throw usage_error("help explains one command at a time");
  }
  if (rest.empty() || rest.front() == "--help" || rest.front() == "-h") {
    out << overview();
    return 0;
  }
  if (rest.front() == "--version") {
    out << "deviate " << version() << "\n";
    return 0;
  }
  words names;
  for (const command& c : commands()) {
    if (c.name == rest.front()) return c.run({rest.begin() + 1, rest.end()}, out, errors);
    names.push_back(c.name);
  }
  if (rest.front().starts_with('-'))
    throw usage_error(in_quotes(rest.front()) + " stands before a command; only --help and --version do");
  throw usage_error("unknown command " + in_quotes(rest.front()) + "; " + suggestion(rest.front(), names));
}

}  // namespace

int run_command_line(const words& given, std::ostream& out, std::ostream& errors) {
  std::string problem;
  try {
    const int status = dispatch(given, out, errors);
    out.flush();
    if (!out) throw file_error("standard output", "cannot be written");
    return status;
  } catch (const std::bad_alloc&) {
    problem = "not enough memory; try fewer heads or a smaller N";
  } catch (const std::exception& error) {
    problem = error.what();
  }
  errors << "deviate: " << one_line(problem) << std::endl;
  return failed;
}

}  // namespace deviate::tool
