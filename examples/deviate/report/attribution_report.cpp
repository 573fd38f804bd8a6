// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/attribution_report.hpp"

#include "deviate/report/attribution_pictures.hpp"
#include "deviate/report/attribution_text.hpp"
#include "deviate/report/html.hpp"
#include "deviate/report/report.hpp"
#include "deviate/report/text.hpp"

namespace deviate::tool {

std::string write_attribution(const std::vector<attribution_result>& results, error_metric metric,
                              const std::filesystem::path& out, const std::string& gnuplot) {
  check_report_directory(out);
  std::vector<std::pair<std::string, std::string>> files;
  std::string problem;
  std::string page = html_page_start("Attribution of the error of attention", "Which step is to blame");
  for (std::size_t i = 0; i < results.size(); ++i) {
    const attribution_result& r = results[i];
    const std::string suffix = results.size() > 1 ? "_" + std::to_string(i + 1) : "";
    const picture_list drawn = draw_attribution(r, suffix, gnuplot);
    if (problem.empty()) problem = drawn.problem;
    const std::string text = attribution_text(r, metric), rest = text.substr(text.find('\n') + 1);
    page += "<h2>" + html_escaped(r.inputs.name) + "</h2>\n<p><strong>" + html_escaped(attribution_verdict(r)) +
            "</strong></p>\n<pre>" + html_escaped(rest) + "</pre>\n";
    for (const picture& p : drawn.pictures) {
      page += "<figure>\n" + p.svg + "\n<figcaption>" + html_escaped(p.caption) + "</figcaption>\n</figure>\n";
      files.emplace_back(p.file, p.svg);
    }
  }
  if (!results.empty()) page += "<h2>To repeat it</h2>\n<pre>" + html_escaped(results.front().command) + "</pre>\n";
  files.emplace_back("attribution.json", attribution_json(results));
  files.emplace_back("attribution.html", page + "</body>\n</html>\n");
  write_files(out, files);
  return problem;
}

}  // namespace deviate::tool
