// SPDX-License-Identifier: Apache-2.0
#include "deviate/comparison.hpp"

#include "deviate/io/loaded_tensor.hpp"
#include "deviate/plain_text.hpp"
#include "deviate/report/text.hpp"

namespace deviate::tool {
namespace {

using lines = std::vector<std::vector<std::string>>;
using json = nlohmann::ordered_json;

std::string place(const element_location& at) {
  return "[batch " + std::to_string(at.batch) + ", head " + std::to_string(at.head) + ", row " +
         std::to_string(at.row) + ", column " + std::to_string(at.column) + "]";
}

std::string percent(double share) { return short_text(100 * share) + " %"; }

std::string described(const compared_tensor& t) {
  return printable(t.source) + "  " + std::string(describe(t.type).name) + " " + shape_text(t.shape);
}

lines metrics_of(const deviation_summary& d, const std::string& format) {
  const std::string ulp = " ulp of " + format;
  return {
      {"max |A - B|", short_text(d.max_abs), "at " + place(d.worst)},
      {"", "", "A = " + shortest(d.worst.got) + ", B = " + shortest(d.worst.golden)},
      {"mean |A - B|", short_text(d.mean_abs), "standard deviation " + short_text(d.std_abs)},
      {"RMSE", short_text(d.rmse)},
      {"relative L1", short_text(d.relative_l1), "sum |A - B| / sum |B|"},
      {"relative L2", short_text(d.relative_l2), "Frobenius; " + short_text(d.signal_to_noise_db()) + " dB"},
      {"norm ratio", short_text(d.norm_ratio), "|A| / |B|"},
      {"cosine", shortest(d.cosine)},
      {"bias", short_text(d.bias), "mean of A - B; 95 % interval +- " + short_text(d.bias_ci95)},
      {"max ulp", short_text(d.max_ulp), ulp.substr(1) + " at B; mean " + short_text(d.mean_ulp)},
      {"Wasserstein-1", short_text(d.wasserstein_1)},
      {"Wasserstein-2", short_text(d.wasserstein_2)},
      {"identical", percent(d.identical_share()),
       std::to_string(d.identical) + " of " + std::to_string(d.compared) + " elements, bit for bit"},
  };
}

lines counts_of(const deviation_summary& d, const std::string& format, bool equal_nan) {
  lines found;
  const auto add = [&](const char* what, std::int64_t number, const std::string& meaning) {
    if (number != 0) found.push_back({what, std::to_string(number), meaning});
  };
  add("NaN in A only", d.nan_in_got, "a mismatch");
  add("NaN in B only", d.nan_in_golden, "a mismatch: the reference is at fault");
  add("NaN in both", d.nan_in_both,
      equal_nan ? "an agreement, as --equal-nan asks" : "a mismatch; --equal-nan makes it an agreement");
  add("infinite", d.infinity_mismatches, "a mismatch: on one side only, or of opposite signs");
  add("infinite in both", d.infinities_equal, "an agreement");
  add("saturated", d.saturated, "A is the largest number of " + format + ", B is not");
  add("flushed to zero", d.flushed_to_zero, "A is 0, B is not");
  return found;
}

lines heads_of(const deviation_report& d, std::int64_t heads_in_batch) {
  lines table{{"batch", "head", "max |A - B|", "RMSE", "relative L2", "bias", "max ulp", "identical"}};
  for (std::size_t i = 0; i < d.heads.size(); ++i) {
    const deviation_summary& head = d.heads[i];
    const auto index = static_cast<std::int64_t>(i);
    table.push_back({std::to_string(index / heads_in_batch), std::to_string(index % heads_in_batch),
                     short_text(head.max_abs), short_text(head.rmse), short_text(head.relative_l2),
                     short_text(head.bias), short_text(head.max_ulp), percent(head.identical_share())});
  }
  return table;
}

json location_json(const element_location& at) {
  return {{"batch", at.batch},
          {"head", at.head},
          {"row", at.row},
          {"column", at.column},
          {"got", json_number(at.got)},
          {"reference", json_number(at.golden)}};
}

json summary_json(const deviation_summary& d) {
  json object;
  const auto add = [&](const char* name, double x) { object[name] = json_number(x); };
  add("max_abs", d.max_abs);
  add("mean_abs", d.mean_abs);
  add("std_abs", d.std_abs);
  add("rmse", d.rmse);
  add("relative_l1", d.relative_l1);
  add("relative_l2", d.relative_l2);
  add("norm_ratio", d.norm_ratio);
  add("cosine", d.cosine);
  add("bias", d.bias);
  add("bias_ci95", d.bias_ci95);
  add("max_ulp", d.max_ulp);
  add("mean_ulp", d.mean_ulp);
  add("wasserstein_1", d.wasserstein_1);
  add("wasserstein_2", d.wasserstein_2);
  add("identical_share", d.identical_share());
  object["compared"] = d.compared;
  object["finite_pairs"] = d.finite_pairs;
  object["nan_in_a"] = d.nan_in_got;
  object["nan_in_b"] = d.nan_in_golden;
  object["nan_in_both"] = d.nan_in_both;
  object["infinity_mismatches"] = d.infinity_mismatches;
  object["infinities_equal"] = d.infinities_equal;
  object["saturated"] = d.saturated;
  object["flushed_to_zero"] = d.flushed_to_zero;
  object["worst"] = location_json(d.worst);
  return object;
}

json tensor_json(const compared_tensor& t) {
  return {{"source", valid_utf8(t.source)}, {"dtype", describe(t.type).name}, {"shape", t.shape}};
}

// What each tensor makes of the advised tolerance.
std::string advice_table(const comparison_advice& a, const std::string& format) {
  const auto failing = [](const tolerance_check& check) {
    return std::to_string(check.failing) + " (" + percent(check.share()) + ")";
  };
  lines table{{"", "max |X - Y|", "failing"}};
  table.push_back({"A against golden", short_text(a.got.max_abs), failing(a.got.check)});
  table.push_back({"B against golden", short_text(a.reference.max_abs), failing(a.reference.check)});
  table.push_back({"A against B", short_text(a.got_against_reference.max_abs), failing(a.got_against_reference.check)});
  table.push_back({"baseline against golden", short_text(a.found.baseline_max_abs), failing(a.found.baseline_within)});
  table.push_back({"golden in " + format + " against golden", "", failing(a.found.rounded_golden)});
  return "\nAdvised tolerance; golden and the baseline are computed from the inputs in " + a.inputs_in.name + "\n" +
         in_columns(table) + "  A errs " + short_text(a.verdict.ratio) +
         " times as much as the baseline: " + (a.verdict.passed ? "passes " : "fails ") + short_text(a.found.factor) +
         " times and one ulp\n";
}

json judged_json(const judged_tensor& t) {
  return {{"max_abs", json_number(t.max_abs)},
          {"failing", t.check.failing},
          {"failing_share", t.check.share()},
          {"worst_excess", json_number(t.check.worst_excess)}};
}

json advice_json(const comparison_advice& a) {
  const tolerance_advice& found = a.found;
  json object;
  object["line"] = advice_text(found, a.got.check);
  object["atol"] = json_number(found.advised.atol);
  object["rtol"] = json_number(found.advised.rtol);
  object["because"] = found.advised.because;
  object["decided_by"] = found.decided == tolerance_source::baseline       ? "baseline"
                         : found.decided == tolerance_source::perturbation ? "perturbation"
                                                                           : "floor";
  object["floor"] = json_number(found.floor);
  object["baseline"] = json_number(found.baseline);
  object["perturbation"] = json_number(found.perturbation);
  object["factor"] = found.factor;
  object["draws"] = a.options.draws;
  object["perturbation_seed"] = a.options.seed;
  object["input_format"] = a.inputs_in.name;
  object["largest_golden"] = found.largest_output;
  object["compared"] = a.got.check.compared;
  object["a_against_golden"] = judged_json(a.got);
  object["b_against_golden"] = judged_json(a.reference);
  object["a_against_b"] = judged_json(a.got_against_reference);
  object["baseline_against_golden"] = judged_json({found.baseline_max_abs, found.baseline_within});
  object["rounded_golden_failing"] = found.rounded_golden.failing;
  object["ratio_to_baseline"] = json_number(a.verdict.ratio);
  object["two_baselines_passed"] = a.verdict.passed;
  return object;
}

json tolerance_json(const tolerance& t) {
  return {{"atol", json_number(t.atol)}, {"rtol", json_number(t.rtol)}, {"because", t.because}};
}

}  // namespace

std::string verdict(const comparison& c) {
  const std::string allowed = "|A - B| <= " + shortest(c.allowed->atol) + " + " + shortest(c.allowed->rtol) + " |B|";
  if (c.check.passed()) return "all " + std::to_string(c.check.compared) + " elements are within " + allowed;
  return std::to_string(c.check.failing) + " of " + std::to_string(c.check.compared) + " elements exceed " + allowed +
         "; the worst, by " + short_text(c.check.worst_excess) + ", is at " + place(c.furthest) +
         ": A = " + shortest(c.furthest.got) + ", B = " + shortest(c.furthest.golden);
}

std::string comparison_text(const comparison& c) {
  std::string text = c.advice ? advice_text(c.advice->found, c.advice->got.check) + "\n\n" : "";
  text += "A  " + described(c.got) + "\nB  " + described(c.reference) + " (reference)\n\n";
  lines whole = metrics_of(c.deviation, c.ulps_of.name);
  const lines counts = counts_of(c.deviation, c.ulps_of.name, c.equal_nan);
  whole.insert(whole.end(), counts.begin(), counts.end());
  text += "Differences, in the unit of the values\n" + in_columns(whole);
  if (c.deviation.heads.size() > 1)
    text += "\nPer head\n" + in_columns(heads_of(c.deviation, c.got.values.shape().heads));
  if (c.advice) text += advice_table(*c.advice, c.ulps_of.name);
  text += "\nRecommended tolerance for results in " + c.ulps_of.name + ": atol " + shortest(c.recommended.atol) +
          ", rtol " + shortest(c.recommended.rtol) + "\n  (" + c.recommended.because + ")\n";
  if (c.allowed) text += "Given tolerance: " + verdict(c) + "\n";
  return text;
}

std::string comparison_json(const comparison& c) {
  json object;
  object["a"] = tensor_json(c.got);
  object["b"] = tensor_json(c.reference);
  object["format"] = c.ulps_of.name;
  object["whole"] = summary_json(c.deviation);
  const std::int64_t heads = c.got.values.shape().heads;
  object["heads"] = json::array();
  for (std::size_t i = 0; i < c.deviation.heads.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    json head{{"batch", index / heads}, {"head", index % heads}};
    head.update(summary_json(c.deviation.heads[i]));
    object["heads"].push_back(head);
  }
  if (c.advice) object["advice"] = advice_json(*c.advice);
  object["recommended"] = tolerance_json(c.recommended);
  if (c.allowed) {
    json given = tolerance_json(*c.allowed);
    given["compared"] = c.check.compared;
    given["failing"] = c.check.failing;
    given["worst_excess"] = json_number(c.check.worst_excess);
    if (c.check.failing > 0) given["worst"] = location_json(c.furthest);
    given["passed"] = c.check.passed();
    object["tolerance"] = given;
  }
  return object.dump(1);
}

}  // namespace deviate::tool
