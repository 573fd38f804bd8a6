// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "deviate/report/gnuplot.hpp"
#include "deviate/report/text.hpp"

namespace deviate::tool {
namespace {

// Lengths in pixels.
constexpr double margin_left = 86, margin_right = 14, panel_height = 196, subtitle_line = 17, below_panel = 60;
constexpr double title_height = 56, legend_row_height = 22, character_width = 8;

struct style {
  const char* colour;  // of Okabe and Ito (2008), told apart under every common colour blindness
  const char* dashes;
  int point;
};
// Yellow is left out: it vanishes on white paper.
constexpr style baseline_style{"#000000", "(7,5)", 4};
constexpr std::array<style, 6> styles = {{{"#D55E00", "solid", 7},
                                          {"#0072B2", "(14,5)", 8},
                                          {"#009E73", "(10,4,2,4)", 13},
                                          {"#CC79A7", "(3,4)", 5},
                                          {"#E69F00", "(14,4,2,4,2,4)", 11},
                                          {"#56B4E9", "(5,3)", 6}}};

// Baseline looks the same whatever it is compared with; the others take their places in turn.
style style_of(const std::string& recipe, const std::vector<std::string>& recipes) {
  std::size_t place = 0;
  for (const std::string& other : recipes) {
    if (other == recipe) break;
    if (other != "baseline") ++place;
  }
  return recipe == "baseline" ? baseline_style : styles[place % styles.size()];
}

std::string number(double x) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.6g", x);
  return buffer;
}

// A single-quoted string of gnuplot, in which only the quote is special. It becomes an apostrophe, since gnuplot 5.4
// ends a string at two doubled quotes and reads what follows as commands.
std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : printable(text)) {
    if (c == '\'')
      result += "’";
    else
      result += c;
  }
  return result + "'";
}

// Looks of a curve, by `with`: "lines", "points" or "linespoints".
std::string looks(const style& s, bool connected) {
  const std::string colour = std::string(" lc rgb '") + s.colour + "'";
  const std::string point = " pt " + std::to_string(s.point) + " ps 0.8";
  if (!connected) return "points" + colour + point + " lw 1.5";
  return "linespoints" + colour + " lw 1.8 dt " + s.dashes + point;
}

class writer {
 public:
  explicit writer(const figure& picture) : picture_(picture) {
    const std::size_t panels = std::max<std::size_t>(picture.panels.size(), 1);
    columns_ = std::clamp<std::size_t>(picture.columns, 1, panels);
    const std::size_t rows = (panels + columns_ - 1) / columns_;
    constexpr double panel_widths[] = {520, 330, 222, 200};
    panel_width_ = panel_widths[std::min<std::size_t>(columns_, 4) - 1];
    width_ = double(columns_) * (margin_left + panel_width_ + margin_right);
    std::size_t longest = 0;
    for (const std::string& recipe : picture.recipes) longest = std::max(longest, width_of(printable(recipe)));
    legend_column_ = 60 + character_width * double(std::min(longest, most_in_legend));
    legend_columns_ = std::clamp<std::size_t>(std::size_t((width_ - 20) / legend_column_), 1,
                                              std::max<std::size_t>(picture.recipes.size(), 1));
    const std::size_t legend_rows = (picture.recipes.size() + legend_columns_ - 1) / legend_columns_;
    head_ = title_height + legend_row_height * double(legend_rows);
    for (const figure_panel& p : picture.panels)
      subtitle_lines_ = std::max(subtitle_lines_, lines_of(p.subtitle).size());
    above_panel_ = 32 + subtitle_line * double(subtitle_lines_);
    height_ = head_ + double(rows) * (above_panel_ + panel_height + below_panel);
  }

  std::string script() {
    text_ = "set terminal svg size " + number(width_) + "," + number(height_) +
            " font 'sans-serif,14' noenhanced background rgb 'white'\nset encoding utf8\n";
    text_ += "set multiplot\nunset key\n";
    for (std::size_t i = 0; i < picture_.panels.size(); ++i) panel(i);
    heading();
    text_ += "unset multiplot\n";
    return std::move(text_);
  }

 private:
  static constexpr std::size_t most_in_legend = 40;

  std::string screen(double x, double y_from_top) const {
    return "screen " + number(x / width_) + ", screen " + number(1 - y_from_top / height_);
  }
  void label(const std::string& words, double x, double y, int size, const char* colour, const char* how = "left") {
    text_ += "set label " + quoted(words) + " at " + screen(x, y) + " " + how + " font '," + std::to_string(size) +
             "' textcolor rgb '" + colour + "'\n";
  }
  void margins(double left, double right, double top, double bottom) {
    text_ += "set lmargin at screen " + number(left / width_) + "\nset rmargin at screen " + number(right / width_) +
             "\nset tmargin at screen " + number(1 - top / height_) + "\nset bmargin at screen " +
             number(1 - bottom / height_) + "\n";
  }

  // What stands under a panel's title, in lines that fit it, broken after commas.
  std::vector<std::string> lines_of(const std::string& words) const {
    const std::size_t most = std::size_t(panel_width_ / 7.2);
    std::vector<std::string> lines;
    std::string rest = printable(words);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(", "), rest.size());
      const std::string item = shortened(rest.substr(0, end), most);
      rest.erase(0, end + 2);
      if (!lines.empty() && width_of(lines.back()) + 2 + width_of(item) <= most)
        lines.back() += ", " + item;
      else
        lines.push_back(item);
    }
    return lines;
  }

  void axis(const char* name, const figure_axis& a) {
    const std::string n = name;
    text_ += (a.logarithmic ? "set logscale " : "unset logscale ") + n + "\n";
    if (n == "x") text_ += "set xlabel " + quoted(a.title) + " offset 0,0.2\n";
    text_ += "set " + n + "range [" + number(a.least) + ":" + number(a.most) + "]\n";
    text_ += "set " + n + "tics scale 0.6 nomirror (";
    std::string_view separator;
    for (const figure_tick& tick : a.ticks) {
      text_ += separator;
      text_ += quoted(tick.label) + " " + shortest(tick.at);
      separator = ", ";
    }
    text_ += ")\n";
  }

  void panel(std::size_t i) {
    const figure_panel& p = picture_.panels[i];
    const double left = double(i % columns_) * (margin_left + panel_width_ + margin_right) + margin_left;
    const double top = head_ + double(i / columns_) * (above_panel_ + panel_height + below_panel) + above_panel_;
    margins(left, left + panel_width_, top, top + panel_height);
    text_ += "unset label\nset border 3 lw 1\nset grid xtics ytics lc rgb '#DDDDDD' lt 1 lw 0.7\n";
    double line = top - 14 - subtitle_line * double(subtitle_lines_);
    label(middle_shortened(printable(p.title), std::size_t(panel_width_ / 8.3)), left, line, 15, "#000000");
    for (const std::string& words : lines_of(p.subtitle)) label(words, left, line += subtitle_line, 13, "#444444");
    // gnuplot's own label moves with the width of the tick labels, up to the edge of the picture and beyond.
    label(p.y.title, left - margin_left + 16, top + panel_height / 2, 14, "#000000", "center rotate by 90");
    axis("x", p.x);
    axis("y", p.y);

    std::string curves, data;
    const auto curve = [&](const std::string& words) { curves += (curves.empty() ? "plot " : ", \\\n  ") + words; };
    if (p.reference) curve(number(*p.reference) + " with lines lc rgb '#000000' lw 1.5 dt (7,5) notitle");
    for (std::size_t s = 0; s < p.series.size(); ++s) {
      const figure_series& one = p.series[s];
      if (one.points.empty()) continue;
      const std::string block = "$panel" + std::to_string(i) + "series" + std::to_string(s);
      data += block + " << END\n";
      for (const auto& [x, y] : one.points) data += shortest(x) + " " + shortest(y) + "\n";
      data += "END\n";
      curve(block + " using 1:2 with " + looks(style_of(one.recipe, picture_.recipes), one.connected) + " notitle");
    }
    if (curves.empty()) curve(number(p.y.most) + " with lines lc rgb '#FFFFFF' notitle");  // the frame alone
    text_ += data + curves + "\n";
  }

  // Title and legend stand above the panels, where they cover no data: samples of the curves in a frame of pixels.
  void heading() {
    text_ += "unset label\nunset border\nunset tics\nunset grid\nunset xlabel\nunset logscale\n";
    margins(0, width_, 0, height_);
    text_ += "set xrange [0:" + number(width_) + "]\nset yrange [" + number(height_) + ":0]\n";
    label(picture_.title, 12, 18, 18, "#000000");
    label(picture_.subtitle, 12, 41, 14, "#444444");
    std::string curves, data;
    for (std::size_t i = 0; i < picture_.recipes.size(); ++i) {
      const double x = 14 + double(i % legend_columns_) * legend_column_;
      const double y = title_height + 10 + legend_row_height * double(i / legend_columns_);
      const std::string block = "$legend" + std::to_string(i);
      const auto at = [&](double offset) { return number(x + offset) + " " + number(y) + "\n"; };
      data += block + " << END\n" + at(0) + at(19) + at(38) + "END\n";
      const style s = style_of(picture_.recipes[i], picture_.recipes);
      // The middle point carries the marker.
      curves += (curves.empty() ? "plot " : ", \\\n  ") + block + " using 1:2 with lines lc rgb '" + s.colour +
                "' lw 1.8 dt " + s.dashes + " notitle, " + block + " every ::1::1 using 1:2 with " + looks(s, false) +
                " notitle";
      label(shortened(printable(picture_.recipes[i]), most_in_legend), x + 45, y, 14, "#000000");
    }
    text_ += data + (curves.empty() ? "plot " + number(2 * height_) + " notitle" : curves) + "\n";
  }

  const figure& picture_;
  std::size_t columns_ = 1, legend_columns_ = 1, subtitle_lines_ = 1;
  double panel_width_ = 0, width_ = 0, height_ = 0, head_ = 0, legend_column_ = 0, above_panel_ = 0;
  std::string text_;
};

}  // namespace

std::string gnuplot_script(const figure& picture) { return writer(picture).script(); }

}  // namespace deviate::tool
