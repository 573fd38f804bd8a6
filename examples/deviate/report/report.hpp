// SPDX-License-Identifier: Apache-2.0
/// \file report.hpp
/// \brief The folder that `--out` asks for.
#pragma once

#include "deviate/study_row.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace deviate::tool {

/// \brief Checks that a report can be written to `out`, before a long study is begun. Nothing is created.
/// \throws file_error if `out` is not a directory or cannot be written to, or does not exist and cannot be made
void check_report_directory(const std::filesystem::path& out);

/// \brief Writes `report.html`, `study.csv`, `study.json` and the pictures.
/// \param out is created if its parent exists; other files in it stay as they are
/// \param gnuplot the program that draws; a name is looked up in PATH
/// \return a warning for standard error, as "gnuplot was not found: no pictures"; empty where all is well
/// \throws file_error as `check_report_directory`, or if a file cannot be written
///
/// Every file is complete before the first one gets its name. After an error none of those that were not there before
/// is left, nor a directory that was made for them.
std::string write_report(const study_result& study, const std::filesystem::path& out,
                         const std::string& gnuplot = "gnuplot");

/// \brief Writes files into a folder, which is made if need be: all of them, or none.
/// \throws file_error if the folder or a file cannot be written
void write_files(const std::filesystem::path& out, const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace deviate::tool
