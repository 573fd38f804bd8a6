// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/attribution_pictures.hpp"

#include <algorithm>
#include <cmath>

#include "deviate/report/gnuplot.hpp"
#include "deviate/report/text.hpp"

namespace deviate::tool {
namespace {

// A single-quoted string of gnuplot; see gnuplot_script.cpp.
std::string as_literal(std::string_view text) {
  std::string result = "'";
  for (const char c : printable(text)) result += c == '\'' ? std::string("’") : std::string(1, c);
  return result + "'";
}

std::string terminal(int width, int height) {
  return "set terminal svg size " + std::to_string(width) + "," + std::to_string(height) +
         " font 'sans-serif,14' noenhanced background rgb 'white'\nset encoding utf8\n";
}

std::string tick_list(const attribution& a) {
  std::string text = "(";
  for (std::size_t g = 0; g < a.groups.size(); ++g)
    text += (g > 0 ? ", " : "") + as_literal(a.groups[g].name) + " " + std::to_string(g);
  return text + ")";
}

// Three bars for each group: its share, what first order says, and what it makes alone.
std::string shares_script(const attribution_result& r) {
  const attribution& a = r.shares;
  std::string text = terminal(820, 180 + 44 * int(a.groups.size()));
  text += "set title " +
          as_literal("Shares of the mean square error: " + r.inputs.name + ", " + r.request.recipe + " in " +
                     r.request.numbers.name) +
          "\nset lmargin 17\nset yrange [" + std::to_string(double(a.groups.size()) - 0.4) + ":-0.6]\nset ytics " +
          tick_list(a) + "\nset xlabel 'share of the whole mean square error, %'\nset grid xtics lc rgb '#cccccc'\n" +
          "set xzeroaxis\nset yzeroaxis lt -1\nset style fill solid 0.9 noborder\nset key outside bottom center "
          "horizontal\n";
  const auto block = [&](const char* name, const auto& value, double shift) {
    text += std::string("$") + name + " << EOD\n";
    for (std::size_t g = 0; g < a.groups.size(); ++g)
      text += "0 " + std::to_string(double(g) + shift) + " " + shortest(100 * value(a.groups[g])) + "\n";
    text += "EOD\n";
  };
  block(
      "shapley", [](const group_attribution& g) { return g.shapley_mse; }, -0.25);
  block(
      "first", [](const group_attribution& g) { return g.first_order_mse; }, 0);
  block(
      "alone",
      [&](const group_attribution& g) {
        return g.demoted.not_finite > 0 || a.total.mse == 0 ? 0 : g.demoted.mse / a.total.mse;
      },
      0.25);
  const auto bars = [](const char* name, const char* colour, const char* title) {
    return std::string("$") + name + " using ($3/2.0):2:(abs($3)/2.0):(0.11) with boxxyerror lc rgb '" + colour +
           "' title '" + title + "'";
  };
  text += "plot " + bars("shapley", "#0072B2", "Shapley share");
  if (a.first_order) text += ", " + bars("first", "#E69F00", "first order");
  return text + ", " + bars("alone", "#009E73", "this group alone low") + "\n";
}

std::string interactions_script(const attribution_result& r) {
  const attribution& a = r.shares;
  const std::size_t n = a.groups.size();
  double most = 0;
  for (const double x : a.interactions) most = std::max(most, std::fabs(x));
  if (most == 0) most = 1;
  const std::string end = shortest(100 * most);
  std::string text = terminal(720, 620);
  text +=
      "set title " + as_literal("Interactions of pairs, % of the mean square error: " + r.inputs.name) +
      "\nset lmargin 16\nset bmargin 9\nset rmargin 12\nset xtics rotate by -40 " + tick_list(a) + "\nset ytics " +
      tick_list(a) + "\nset xrange [-0.5:" + std::to_string(double(n) - 0.5) + "]\nset yrange [" +
      std::to_string(double(n) - 0.5) + ":-0.5]\nset cbrange [-" + end + ":" + end +
      "]\nset palette defined (-1 '#0072B2', 0 '#ffffff', 1 '#D55E00')\nset cblabel 'blue: they cancel; orange: they "
      "reinforce each other'\nset tics scale 0\nunset key\n$m << EOD\n";
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double x = 100 * a.interactions[i * n + j];
      const std::string shown = i == j ? "" : std::fabs(x) < 0.05 ? "0" : three_digits(x);
      text += std::to_string(j) + " " + std::to_string(i) + " " + shortest(x) + " \"" + shown + "\"\n";
    }
  return text + "EOD\nplot $m using 1:2:3 with image pixels, $m using 1:2:4 with labels font ',12'\n";
}

std::string position_script(const attribution_result& r) {
  const attribution& a = r.shares;
  const std::size_t rows = a.rows.size(), heads = rows > 0 ? a.row_mse.size() / rows : 0;
  const bool followed = !a.worst.tiles.empty();
  std::string text = terminal(820, followed ? 640 : 360);
  text += followed ? "set multiplot layout 2,1\n" : "";
  text += "set lmargin 12\nset grid lc rgb '#cccccc'\nset format y '%.0e'\nset title " +
          as_literal("Error of each row looked at: " + r.inputs.name + ", " + r.request.recipe + " in " +
                     r.request.numbers.name) +
          "\nset xlabel 'row'\nset ylabel 'root mean square error'\nset logscale y\nset key top right\n$all << EOD\n";
  std::string means = "$mean << EOD\n";
  bool any = false;
  for (std::size_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::size_t h = 0; h < heads; ++h) {
      const double mse = a.row_mse[h * rows + i];
      sum += mse;
      if (mse > 0 && std::isfinite(mse)) {
        text += std::to_string(a.rows[i]) + " " + shortest(std::sqrt(mse)) + "\n";
        any = true;
      }
    }
    if (sum > 0 && std::isfinite(sum))
      means += std::to_string(a.rows[i]) + " " + shortest(std::sqrt(sum / double(heads))) + "\n";
  }
  if (!any) return "";
  text += "EOD\n" + means + "EOD\n";
  text +=
      "plot $all with points pt 7 ps 0.5 lc rgb '#56B4E9' title 'a row of a head', $mean with lines lw 2 lc rgb "
      "'#0072B2' title 'over all heads'\n";
  if (!followed) return text;
  text += "unset logscale y\nset format y '%.1e'\nset yrange [0:*]\nset title " +
          as_literal("The worst row, " + std::to_string(a.worst.row) + " of head " + std::to_string(a.worst.head) +
                     ": its error on the way through the keys") +
          "\nset xlabel 'keys seen so far'\nset ylabel 'error × share of weight'\nunset key\n$way << EOD\n";
  const std::int64_t tile = r.request.plan.tile_key;
  for (std::size_t t = 0; t < a.worst.tiles.size(); ++t)
    if (std::isfinite(a.worst.error_after[t]))
      text += std::to_string(std::min(a.worst.tiles[t] + tile, r.inputs.k.shape().rows)) + " " +
              shortest(a.worst.error_after[t]) + "\n";
  return text + "EOD\nplot $way with linespoints pt 7 ps 0.4 lw 1.5 lc rgb '#D55E00'\nunset multiplot\n";
}

}  // namespace

picture_list draw_attribution(const attribution_result& r, const std::string& suffix, const std::string& gnuplot) {
  picture_list drawn;
  const auto draw = [&](const std::string& name, const std::string& title, const std::string& caption,
                        const std::string& script) {
    if (script.empty() || !drawn.problem.empty()) return;
    figure f;
    f.name = name + suffix;
    f.title = title;
    const gnuplot_result result = run_gnuplot(script, gnuplot);
    if (!result.found)
      drawn.problem = "gnuplot was not found: no pictures";
    else if (!result.problem.empty())
      drawn.problem = f.name + ".svg is missing: " + result.problem;
    else
      drawn.pictures.push_back({f.name + ".svg", caption, page_ready_svg(result.svg, f)});
  };
  draw("shares", "Shares of the error",
       "Blue: each group's Shapley share. Orange: what the first-order pass predicts. Green: the error that the group "
       "makes alone; where green differs from blue, errors of several groups meet.",
       shares_script(r));
  if (!r.shares.interactions.empty())
    draw("interactions", "Interactions of pairs",
         "How much more two groups make together than each alone, averaged over what else is low. Negative: their "
         "errors cancel, or one makes up for the other.",
         interactions_script(r));
  draw("position", "Error against position",
       "Above: the error of every row that was looked at. Below: the worst row, cut off after each key tile; its error "
       "is weighted by the share of the row's weight that lies so far.",
       position_script(r));
  return drawn;
}

}  // namespace deviate::tool
