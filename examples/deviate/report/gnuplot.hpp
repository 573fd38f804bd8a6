// SPDX-License-Identifier: Apache-2.0
/// \file gnuplot.hpp
/// \brief Draws figures by gnuplot, as a child process without a shell.
#pragma once

#include "deviate/report/figure.hpp"

#include <string>

namespace deviate::tool {

/// \brief The commands that draw a figure. Every name stands in single quotes, where gnuplot neither expands macros
/// nor runs commands, and is drawn as it is, save that ' becomes ’: text is never markup.
std::string gnuplot_script(const figure& picture);

/// \brief What gnuplot gave.
struct gnuplot_result {
  bool found = true;    ///< false: there is no such program
  std::string svg;      ///< empty after a failure
  std::string problem;  ///< in one line; empty where all is well
};

/// \brief Runs a script; what it prints to standard output is the picture.
/// \param program a name, looked up in PATH, or a path
gnuplot_result run_gnuplot(const std::string& script, const std::string& program);

/// \brief Makes a picture of gnuplot fit to stand beside others in one page: its title, identifiers of its own, and no
/// version of the program.
std::string page_ready_svg(const std::string& svg, const figure& picture);

}  // namespace deviate::tool
