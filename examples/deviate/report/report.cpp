// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/report.hpp"

#include <unistd.h>

#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "deviate/io/atomic_file.hpp"
#include "deviate/io/file_error.hpp"
#include "deviate/report/csv.hpp"
#include "deviate/report/html.hpp"
#include "deviate/report/json.hpp"
#include "deviate/report/plots.hpp"

namespace deviate::tool {
namespace {

namespace fs = std::filesystem;

// A directory nobody may write to was protected on purpose, even from those whom permissions do not bind.
bool writable(const fs::path& directory) {
  using fs::perms;
  std::error_code problem;
  const perms allowed = fs::status(directory, problem).permissions();
  if (problem || (allowed & (perms::owner_write | perms::group_write | perms::others_write)) == perms::none)
    return false;
  return access(directory.c_str(), W_OK | X_OK) == 0;
}

// Undoes what was done, unless told to keep it.
class unfinished_report {
 public:
  explicit unfinished_report(const fs::path& out) {
    check_report_directory(out);
    std::error_code problem;
    if (fs::is_directory(out, problem)) return;
    if (!fs::create_directory(out, problem)) throw file_error(out.string(), "cannot be made: " + problem.message());
    directory_ = out;
  }
  unfinished_report(const unfinished_report&) = delete;
  unfinished_report& operator=(const unfinished_report&) = delete;
  ~unfinished_report() {
    files_.clear();  // their partial files go first, or the directory is not empty
    std::error_code ignored;
    for (const fs::path& path : appeared_) fs::remove(path, ignored);
    if (!directory_.empty()) fs::remove(directory_, ignored);
  }

  void add(const fs::path& path, const std::string& content) {
    auto file = std::make_unique<atomic_file>(path);
    file->stream() << content << std::flush;
    if (!file->stream()) throw file_error(path.string(), "cannot be written completely; is the disk full?");
    files_.emplace_back(path, std::move(file));
  }

  void commit() {
    for (const auto& [path, file] : files_) {
      std::error_code ignored;
      const bool is_new = !fs::exists(path, ignored);
      file->commit();
      if (is_new) appeared_.push_back(path);
    }
    appeared_.clear();
    directory_.clear();
  }

 private:
  fs::path directory_;  // made here; empty where it was there before
  std::vector<std::pair<fs::path, std::unique_ptr<atomic_file>>> files_;
  std::vector<fs::path> appeared_;
};

}  // namespace

void check_report_directory(const fs::path& out) {
  if (out.empty()) throw file_error("--out", "its name is empty; give a directory");
  std::error_code problem;
  const fs::file_status status = fs::status(out, problem);
  if (fs::exists(status)) {
    if (!fs::is_directory(status)) throw file_error(out.string(), "is not a directory; give one for the report");
    if (!writable(out)) throw file_error(out.string(), "is write-protected; choose another directory");
    return;
  }
  if (fs::is_symlink(fs::symlink_status(out, problem)))
    throw file_error(out.string(), "is a link to nothing; give a directory for the report");
  // "out/" has the parent "out".
  const fs::path named = out.has_filename() ? out : out.parent_path();
  const fs::path parent = named.has_parent_path() ? named.parent_path() : fs::path(".");
  if (!fs::is_directory(parent, problem))
    throw file_error(out.string(), "cannot be made: " + parent.string() + " is not a directory");
  if (!writable(parent)) throw file_error(out.string(), "cannot be made: " + parent.string() + " is write-protected");
}

std::string write_report(const study_result& study, const fs::path& out, const std::string& gnuplot) {
  check_report_directory(out);
  const picture_list drawn = draw_pictures(study, gnuplot);
  std::vector<std::pair<std::string, std::string>> files;
  for (const picture& p : drawn.pictures) files.emplace_back(p.file, p.svg);
  files.emplace_back("study.csv", study_csv(study));
  files.emplace_back("study.json", study_json(study));
  files.emplace_back("report.html", report_html(study, drawn));
  write_files(out, files);
  return drawn.problem;
}

void write_files(const fs::path& out, const std::vector<std::pair<std::string, std::string>>& files) {
  unfinished_report report(out);
  for (const auto& [name, content] : files) report.add(out / name, content);
  report.commit();
}

}  // namespace deviate::tool
