// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "deviate/report/columns.hpp"
#include "deviate/report/text.hpp"

namespace deviate::tool {
namespace {

using json = nlohmann::ordered_json;

json number(double x) { return std::isfinite(x) ? json(x) : json(shortest(x)); }

struct to_json_value {
  json operator()(std::monostate) const { return nullptr; }
  json operator()(std::int64_t x) const { return x; }
  json operator()(double x) const { return number(x); }
  json operator()(const std::string& x) const { return valid_utf8(x); }
};

json worst_element(const element_location& worst) {
  return {{"batch", worst.batch},   {"head", worst.head},       {"row", worst.row},
          {"column", worst.column}, {"got", number(worst.got)}, {"golden", number(worst.golden)}};
}

json first_doubt(const golden_certificate& c) {
  if (c.uncertified_rows == 0) return nullptr;
  return {{"batch", c.first.batch}, {"head", c.first.head}, {"row", c.first.row}, {"reason", c.first.reason}};
}

json head_summary(const deviation_summary& head) {
  return {{"max_abs", number(head.max_abs)},         {"rmse", number(head.rmse)},
          {"relative_l2", number(head.relative_l2)}, {"bias", number(head.bias)},
          {"bias_ci95", number(head.bias_ci95)},     {"max_ulp", number(head.max_ulp)}};
}

// Bins that hold something: [largest distance, count].
json histogram(const ulp_histogram& ulps) {
  json bins = json::array();
  for (std::size_t bin = 0; bin < ulp_histogram::bins; ++bin)
    if (ulps.counts[bin] != 0) bins.push_back(json::array({number(ulp_histogram::upper(bin)), ulps.counts[bin]}));
  return bins;
}

json row_object(const study_row& row) {
  json object = json::object();
  for (const column& c : main_columns()) object[std::string(c.name)] = std::visit(to_json_value(), c.of(row));
  const deviation_report& deviation = row.deviation;
  object["sweep"] = valid_utf8(row.sweep);
  object["fraction_bits"] = row.fraction_bits;
  object["golden_double_double_rows"] = row.certificate.double_double_rows;
  object["golden_first_uncertified"] = first_doubt(row.certificate);
  object["wasserstein_2"] = number(deviation.wasserstein_2);
  object["norm_ratio"] = number(deviation.norm_ratio);
  object["mean_ulp"] = number(deviation.mean_ulp);
  object["saturated"] = deviation.saturated;
  object["flushed_to_zero"] = deviation.flushed_to_zero;
  object["worst"] = worst_element(deviation.worst);
  object["per_head"] = json::array();
  for (const deviation_summary& head : deviation.heads) object["per_head"].push_back(head_summary(head));
  object["ulp_histogram"] = histogram(deviation.ulps);
  return object;
}

}  // namespace

// One row on each line: a reader's eye, grep and diff all work by lines.
std::string study_json(const study_result& study) {
  json notes = json::array();
  for (const std::string& note : study.notes) notes.push_back(valid_utf8(note));
  std::string text = "{\n\"command\": " + json(valid_utf8(study.command)).dump() + ",\n\"notes\": " + notes.dump();
  text += ",\n\"rows\": [";
  std::string_view separator = "\n";
  for (const study_row& row : study.rows) {
    text += separator;
    text += row_object(row).dump();
    separator = ",\n";
  }
  return text + "\n]\n}\n";
}

}  // namespace deviate::tool
