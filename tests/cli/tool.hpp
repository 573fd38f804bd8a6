// SPDX-License-Identifier: Apache-2.0
// Runs the built tool as a user does, and looks at everything it says.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "deviate/io/npy.hpp"
#include "io/scratch.hpp"

namespace cli_test {

using words = std::vector<std::string>;
using io_test::bytes_of;
using io_test::contains;
using io_test::put;
using io_test::scratch_directory;

// What a run of the tool left: its exit status (or 128 + the signal that ended it) and both streams.
struct outcome {
  int status = -1;
  std::string out;
  std::string err;
};

// A tool that is running, its streams going to files.
class running_tool {
 public:
  running_tool(const words& arguments, const std::filesystem::path& out, const std::filesystem::path& err,
               const std::filesystem::path& folder = ".") {
    std::vector<std::string> all{DEVIATE_TOOL};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : all) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    process_ = fork();
    if (process_ < 0) throw std::runtime_error("fork failed");
    if (process_ == 0) {
      const int to_out = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      const int to_err = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      const int from = open("/dev/null", O_RDONLY);
      if (chdir(folder.c_str()) != 0 || to_out < 0 || to_err < 0 || from < 0) _exit(126);
      dup2(from, STDIN_FILENO);
      dup2(to_out, STDOUT_FILENO);
      dup2(to_err, STDERR_FILENO);
      execv(pointers.front(), pointers.data());
      _exit(127);
    }
  }
  void send(int signal) const { kill(process_, signal); }
  bool has_ended() {
    if (!ended_) ended_ = waitpid(process_, &state_, WNOHANG) == process_;
    return ended_;
  }
  int status() {
    if (!ended_) waitpid(process_, &state_, 0);
    ended_ = true;
    return WIFEXITED(state_) ? WEXITSTATUS(state_) : 128 + WTERMSIG(state_);
  }

 private:
  pid_t process_ = -1;
  int state_ = 0;
  bool ended_ = false;
};

inline outcome outcome_in(const std::filesystem::path& folder, const words& arguments) {
  const scratch_directory streams;
  running_tool tool(arguments, streams / "out", streams / "err", folder);
  const int status = tool.status();
  return {status, bytes_of(streams / "out"), bytes_of(streams / "err")};
}
inline outcome outcome_of(const words& arguments) { return outcome_in(".", arguments); }

// Text of a command line, for messages.
inline std::string text_of(const words& arguments) {
  std::string text = "deviate";
  for (const std::string& word : arguments) text += " " + word;
  return text;
}

// The JSON that a command writes to standard output, which must hold nothing else.
inline nlohmann::json json_of(const words& arguments) {
  const outcome done = outcome_of(arguments);
  INFO(text_of(arguments), " says ", done.err);
  CHECK(done.status == 0);
  CHECK(done.err.empty());
  return nlohmann::json::parse(done.out);
}

// A refusal: exit status 2, nothing on standard output, one line on standard error that begins with "deviate: " and holds
// `part`.
inline void expect_refusal(const words& arguments, const std::string& part, const std::filesystem::path& folder = ".") {
  const outcome done = outcome_in(folder, arguments);
  INFO(text_of(arguments), " says ", done.err);
  CHECK(done.status == 2);
  CHECK(done.out.empty());
  CHECK(done.err.starts_with("deviate: "));
  CHECK(done.err.find('\n') == done.err.size() - 1);
  CHECK(contains(done.err, part));
}

inline void put_npy(const std::filesystem::path& path, const std::vector<std::int64_t>& shape,
                    const std::vector<float>& values) {
  deviate::tool::write_npy(path, shape, std::span<const float>(values));
}

}  // namespace cli_test
