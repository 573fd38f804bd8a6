// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/gnuplot.hpp"

#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

#include "deviate/io/file_error.hpp"
#include "deviate/report/text.hpp"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace deviate::tool {
namespace {

struct closes_file {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using temporary_file = std::unique_ptr<std::FILE, closes_file>;

std::string content_of(std::FILE* file) {
  std::string content;
  std::rewind(file);
  std::array<char, 65536> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file)) content.append(buffer.data(), n);
  return content;
}

gnuplot_result failure(const std::string& problem) { return {true, "", one_line(problem)}; }

std::string reason(int error) { return std::generic_category().message(error); }

struct spawn_actions {
  posix_spawn_file_actions_t actions;
  spawn_actions() { posix_spawn_file_actions_init(&actions); }
  spawn_actions(const spawn_actions&) = delete;
  spawn_actions& operator=(const spawn_actions&) = delete;
  ~spawn_actions() { posix_spawn_file_actions_destroy(&actions); }
  void redirect(int descriptor, std::FILE* file) {
    posix_spawn_file_actions_adddup2(&actions, fileno(file), descriptor);
  }
};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Removes every occurrence of begin … end, both included.
void remove_between(std::string& text, const std::string& begin, const std::string& end) {
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    const std::size_t stop = text.find(end, at + begin.size());
    if (stop == std::string::npos) return;
    text.erase(at, stop + end.size() - at);
  }
}

}  // namespace

gnuplot_result run_gnuplot(const std::string& script, const std::string& program) {
  // Files instead of pipes: neither side ever waits for the other, and they have no names that anyone could take.
  const temporary_file in(std::tmpfile()), out(std::tmpfile()), err(std::tmpfile());
  if (!in || !out || !err) return failure("no temporary file can be made: " + reason(errno));
  if (std::fwrite(script.data(), 1, script.size(), in.get()) != script.size() || std::fflush(in.get()) != 0)
    return failure("its script cannot be written: " + reason(errno));
  std::rewind(in.get());

  spawn_actions streams;
  streams.redirect(0, in.get());
  streams.redirect(1, out.get());
  streams.redirect(2, err.get());
  // -d: a user's own settings would change the picture.
  std::array<std::string, 3> words = {program, "-d", "-"};
  std::array<char*, 4> arguments = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, program.c_str(), &streams.actions, nullptr, arguments.data(), environ);
  if (error == ENOENT) return {false, "", one_line(program + " was not found")};
  if (error != 0) return failure(program + " cannot be started: " + reason(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return failure(program + " was lost: " + reason(errno));

  std::string svg = content_of(out.get());
  const bool complete = svg.find("</svg>") != std::string::npos;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && complete) return {true, std::move(svg), ""};
  std::string said = content_of(err.get());
  said.erase(0, said.find_first_not_of(" \n"));
  std::replace(said.begin(), said.end(), '\n', ' ');
  return failure(program + " drew no picture" + (said.empty() ? "" : ": " + shortened(printable(said), 200)));
}

std::string page_ready_svg(const std::string& svg, const figure& picture) {
  std::string text = svg;
  // Only the program's own words are searched for: names of inputs are in <text>, where < and ' of a tag cannot occur.
  remove_between(text, "<?xml", "?>");
  remove_between(text, "<desc>", "</desc>");
  remove_between(text, "<filter", "</filter>");
  remove_between(text, "<title>", "</title>");  // a tooltip for each curve, and the program's name
  remove_between(text, " id=\"gnuplot_", "\"");
  for (const std::string quote : {"id='", "href='#"}) replace_all(text, quote + "gp", quote + picture.name + "-");
  replace_all(text, "]]>", "]]&gt;");  // XML forbids it in text, and gnuplot does not know
  text.erase(0, text.find("<svg"));
  const std::size_t body = text.find('>') + 1;
  text.insert(body, "\n<title>" + picture.title + "</title>");
  text.insert(4, " role=\"img\"");
  return text;
}

}  // namespace deviate::tool
