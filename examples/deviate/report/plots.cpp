// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/plots.hpp"

#include "deviate/report/gnuplot.hpp"

namespace deviate::tool {

picture_list draw_pictures(const study_result& study, const std::string& gnuplot) {
  picture_list drawn;
  for (const figure& f : study_figures(study)) {
    const gnuplot_result result = run_gnuplot(gnuplot_script(f), gnuplot);
    if (!result.found) return {{}, "gnuplot was not found: no pictures"};
    if (!result.problem.empty()) {
      drawn.problem = f.name + ".svg is missing: " + result.problem;
      continue;
    }
    drawn.pictures.push_back({f.name + ".svg", f.caption, page_ready_svg(result.svg, f)});
  }
  return drawn;
}

}  // namespace deviate::tool
