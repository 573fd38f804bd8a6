// SPDX-License-Identifier: Apache-2.0
/// \file figure.hpp
/// \brief A picture before it is drawn: panels of series over labelled axes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deviate::tool {

/// \brief A tick and its label.
struct figure_tick {
  double at = 0;
  std::string label;
};

/// \brief One axis. Its range is that of the data with a margin, made by `fit`.
struct figure_axis {
  std::string title;
  bool logarithmic = false;
  double least = 0;
  double most = 1;
  std::vector<figure_tick> ticks;
};

/// \brief Points of one recipe. The style belongs to the recipe, in every panel of every picture.
struct figure_series {
  std::string recipe;
  bool connected = true;
  std::vector<std::pair<double, double>> points;
};

/// \brief One panel.
struct figure_panel {
  std::string title;
  std::string subtitle;
  figure_axis x;
  figure_axis y;
  std::vector<figure_series> series;
  std::optional<double> reference;  ///< a horizontal line, as 1 for a ratio
};

/// \brief A whole picture.
struct figure {
  std::string name;  ///< of its file, without ".svg"
  std::string title;
  std::string subtitle;
  std::string caption;  ///< for the report
  std::size_t columns = 1;
  std::vector<figure_panel> panels;
  std::vector<std::string> recipes;  ///< of the legend; all recipes of the study, which fixes their styles
};

/// \brief A logarithmic axis around positive values, ticks at 1, 2, 5 or at powers of ten.
void fit_logarithmic(figure_axis& axis, double least, double most);

/// \brief A logarithmic axis whose ticks are the values themselves, as many as can be read.
void fit_values(figure_axis& axis, std::vector<double> values);

/// \brief A logarithmic axis with ticks at powers of two, for ratios.
void fit_ratios(figure_axis& axis, double least, double most);

/// \brief A linear axis with ticks at integers.
void fit_integers(figure_axis& axis, double least, double most);

}  // namespace deviate::tool
