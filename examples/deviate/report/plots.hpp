// SPDX-License-Identifier: Apache-2.0
/// \file plots.hpp
/// \brief The pictures of a study.
#pragma once

#include "deviate/report/figure.hpp"
#include "deviate/study_row.hpp"

#include <string>
#include <vector>

namespace deviate::tool {

/// \brief A drawn picture.
struct picture {
  std::string file;     ///< "deviation_against_length.svg"
  std::string caption;  ///< what it shows and how to read it
  std::string svg;
};

/// \brief The pictures of a study, and why some are missing.
struct picture_list {
  std::vector<picture> pictures;
  std::string problem;  ///< "gnuplot was not found: no pictures", or what gnuplot said; empty where all is well
};

/// \brief What there is to draw: deviation against fraction bits, against length, against the key tile, per head, and
/// the ratio to baseline; each where rows for it exist.
std::vector<figure> study_figures(const study_result& study);

/// \brief Draws the figures of a study as SVG.
/// \param gnuplot the program; a name is looked up in PATH
picture_list draw_pictures(const study_result& study, const std::string& gnuplot = "gnuplot");

}  // namespace deviate::tool
