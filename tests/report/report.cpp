// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "deviate/io/file_error.hpp"
#include "deviate/report/csv.hpp"
#include "deviate/report/json.hpp"
#include "io/scratch.hpp"
#include "report/synthetic_study.hpp"

namespace {

namespace fs = std::filesystem;
using deviate::tool::check_report_directory;
using deviate::tool::file_error;
using deviate::tool::write_report;
using io_test::bytes_of;
using io_test::contains;
using names = std::vector<std::string>;

// Pictures have tests of their own; without them a report takes no time.
constexpr const char* no_gnuplot = "no-such-gnuplot";

names files_in(const fs::path& directory) {
  names found;
  for (const auto& entry : fs::directory_iterator(directory)) found.push_back(entry.path().filename().string());
  std::sort(found.begin(), found.end());
  return found;
}

// What both the check beforehand and the writing say.
std::string refusal(const fs::path& out) {
  const std::string checked = io_test::message_of<file_error>([&] { check_report_directory(out); });
  const std::string written =
      io_test::message_of<file_error>([&] { write_report(report_test::small_study(), out, no_gnuplot); });
  CHECK(checked == written);
  return written;
}

}  // namespace

TEST_CASE("a report makes its directory and has all its files") {
  const io_test::scratch_directory scratch;
  const auto study = report_test::whole_study();
  check_report_directory(scratch / "out");
  CHECK(scratch.names().empty());
  CHECK(write_report(study, scratch / "out", no_gnuplot) == "gnuplot was not found: no pictures");
  CHECK(files_in(scratch / "out") == names{"report.html", "study.csv", "study.json"});
  CHECK(bytes_of(scratch / "out/study.csv") == study_csv(study));
  CHECK(bytes_of(scratch / "out/study.json") == study_json(study));
  CHECK(contains(bytes_of(scratch / "out/report.html"), "gnuplot was not found: no pictures"));
}

TEST_CASE("a second report replaces the first and leaves other files alone") {
  const io_test::scratch_directory scratch;
  io_test::put(scratch / "mine.txt", "mine");
  write_report(report_test::whole_study(), scratch / "", no_gnuplot);
  const std::string first = bytes_of(scratch / "report.html");
  write_report(report_test::small_study(), scratch / "", no_gnuplot);
  CHECK(bytes_of(scratch / "report.html") != first);
  CHECK(bytes_of(scratch / "mine.txt") == "mine");
  CHECK(files_in(scratch / "") == names{"mine.txt", "report.html", "study.csv", "study.json"});
}

TEST_CASE("pictures are files and parts of the page") {
  const io_test::scratch_directory scratch;
  const std::string warning = write_report(report_test::whole_study(), (scratch / "out").string() + "/");
  if (contains(warning, "not found")) return;  // the tests of pictures tell
  CHECK(warning.empty());
  CHECK(files_in(scratch / "out") == names{"deviation_against_fraction_bits.svg", "deviation_against_key_tile.svg",
                                           "deviation_against_length.svg", "deviation_per_head.svg",
                                           "ratio_to_baseline.svg", "report.html", "study.csv", "study.json"});
  const std::string page = bytes_of(scratch / "out/report.html");
  CHECK(contains(page, "<svg"));
  CHECK(contains(page, "(ratio_to_baseline.svg)"));
}

TEST_CASE("where no report can be written, nothing appears, and one line says why") {
  const io_test::scratch_directory scratch;
  io_test::put(scratch / "file", "content");
  CHECK(contains(refusal(scratch / "file"), "is not a directory"));
  CHECK(contains(refusal(scratch / "absent/out"), "absent is not a directory"));
  CHECK(contains(refusal(scratch / "file/out"), "is not a directory"));
  CHECK(contains(refusal(""), "name is empty"));
  CHECK(contains(refusal("/dev/null"), "is not a directory"));
  fs::create_symlink("nothing", scratch / "link");
  CHECK(contains(refusal(scratch / "link"), "is a link to nothing"));
  CHECK(files_in(scratch / "") == names{"file", "link"});
  CHECK(bytes_of(scratch / "file") == "content");

  fs::create_directory(scratch / "locked");
  fs::permissions(scratch / "locked", fs::perms::owner_read | fs::perms::owner_exec);
  CHECK(contains(refusal(scratch / "locked"), "is write-protected"));
  CHECK(contains(refusal(scratch / "locked/out"), "locked is write-protected"));
  CHECK(files_in(scratch / "locked").empty());
  fs::permissions(scratch / "locked", fs::perms::owner_all);
}

TEST_CASE("a failure half way leaves no new file, and the older files as they were") {
  const io_test::scratch_directory scratch;
  fs::create_directories(scratch / "out/report.html");  // the last of the files cannot be written
  CHECK_THROWS_AS(write_report(report_test::small_study(), scratch / "out", no_gnuplot), file_error);
  CHECK(files_in(scratch / "out") == names{"report.html"});
  io_test::put(scratch / "out/study.csv", "older");
  CHECK_THROWS_AS(write_report(report_test::small_study(), scratch / "out", no_gnuplot), file_error);
  CHECK(files_in(scratch / "out") == names{"report.html", "study.csv"});
  CHECK(bytes_of(scratch / "out/study.csv") == "older");
}
