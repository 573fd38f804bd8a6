// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/findings.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "deviate/report/golden_words.hpp"
#include "deviate/report/text.hpp"

namespace deviate::tool {
namespace {

std::string times(double ratio) { return ratio_text(ratio) + "x"; }

row_list all_rows(const study_result& study) {
  row_list rows;
  for (const study_row& row : study.rows) rows.push_back(&row);
  return rows;
}

row_list rows_of(const row_list& rows, std::string_view recipe) {
  row_list found;
  for (const study_row* row : rows)
    if (row->recipe == recipe) found.push_back(row);
  return found;
}

template <class Of>
bool differ(const row_list& rows, Of of) {
  return std::any_of(rows.begin(), rows.end(), [&](const study_row* row) { return of(*row) != of(*rows.front()); });
}

// The rows with the least and the largest ratio; null where none is finite.
struct extremes {
  const study_row* least = nullptr;
  const study_row* most = nullptr;
  std::size_t not_finite = 0;
};

extremes ratio_extremes(const row_list& rows) {
  extremes e;
  for (const study_row* row : rows) {
    if (!std::isfinite(row->ratio_max_abs)) {
      ++e.not_finite;
      continue;
    }
    if (e.least == nullptr || row->ratio_max_abs < e.least->ratio_max_abs) e.least = row;
    if (e.most == nullptr || row->ratio_max_abs > e.most->ratio_max_abs) e.most = row;
  }
  return e;
}

std::string ratio_range(const extremes& e) {
  const std::string least = times(e.least->ratio_max_abs), most = times(e.most->ratio_max_abs);
  return least == most ? most : least + " to " + most;
}

std::string element(const element_location& at) {
  return "batch " + std::to_string(at.batch) + ", head " + std::to_string(at.head) + ", row " + std::to_string(at.row) +
         ", column " + std::to_string(at.column) + ": " + three_digits(at.got) + " instead of " +
         three_digits(at.golden);
}

std::string setting(const study_row& row) {
  return printable(row.recipe) + " on " + printable(family_of(row.inputs)) + " (" + shared_setting({&row}) + ")";
}

// "a, b and c"; beyond `most` words their number stands for them.
std::string listed(const std::vector<std::string>& words, std::size_t most) {
  if (words.size() > most)
    return words.front() + ", " + words[1] + " … " + words.back() + " (" + std::to_string(words.size()) + " in all)";
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

template <class Of>
std::vector<std::string> distinct(const study_result& study, Of of) {
  std::vector<std::string> words;
  for (const study_row& row : study.rows) {
    const std::string word = printable(of(row));
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

std::string bias_finding(const study_result& study) {
  const study_row* strongest = nullptr;  // in units of its own rmse: how much of the deviation is one-sided
  std::size_t biased = 0;
  const auto one_sided = [](const study_row& r) { return std::fabs(r.deviation.bias) / r.deviation.rmse; };
  for (const study_row& row : study.rows) {
    if (!row.deviation.is_biased()) continue;
    ++biased;
    if (strongest == nullptr || one_sided(row) > one_sided(*strongest)) strongest = &row;
  }
  if (strongest == nullptr)
    return "Bias: in no row does the mean of O − golden differ from 0 by more than its 95 % interval.";
  const deviation_summary& d = strongest->deviation;
  return "Bias: in " + std::to_string(biased) + " of " + std::to_string(study.rows.size()) +
         " rows the mean of O − golden differs from 0 by more than its 95 % interval, which takes errors as "
         "independent. "
         "The most one-sided is " +
         setting(*strongest) + ": outputs are too " + (d.bias > 0 ? "large" : "small") + " by " +
         three_digits(std::fabs(d.bias)) + " in the mean, " + percent_text(one_sided(*strongest)) + " of the RMSE.";
}

std::string ulp_finding(const study_result& study) {
  std::vector<std::string> shares;
  const row_list rows = all_rows(study);
  std::int64_t all_within = 0;
  for (const std::string& recipe : recipes_of(rows)) {
    double within = 0, elements = 0;
    for (const study_row* row : rows_of(rows, recipe)) {
      if (row->deviation.max_ulp <= 1) ++all_within;
      const double total = double(row->deviation.ulps.total());
      if (total > 0) within += share_within_one_ulp(row->deviation) * total;
      elements += total;
    }
    shares.push_back(printable(recipe) + " " + percent_text(within / elements));
  }
  return "Output precision: in " + std::to_string(all_within) + " of " + std::to_string(study.rows.size()) +
         " rows every element lies within one ulp of golden, the spacing of the row's own format. Share of elements "
         "within "
         "one ulp, over all rows: " +
         joined(shares, ", ") + ".";
}

std::string finiteness_finding(const study_result& study) {
  std::size_t rows_with_nan = 0, rows_with_infinity = 0, saturated = 0;
  const study_row* first = nullptr;
  for (const study_row& row : study.rows) {
    const bool nan = nan_count(row.deviation) > 0;
    const bool infinity = row.deviation.infinity_mismatches + row.deviation.infinities_equal > 0;
    rows_with_nan += nan;
    rows_with_infinity += infinity;
    saturated += row.deviation.saturated > 0;
    if (first == nullptr && (nan || infinity)) first = &row;
  }
  std::string text = first == nullptr ? "Every output and every golden value is finite."
                                      : "Not finite: NaN in " + std::to_string(rows_with_nan) + " and infinity in " +
                                            std::to_string(rows_with_infinity) + " of " +
                                            std::to_string(study.rows.size()) + " rows, first " + setting(*first) + ".";
  if (saturated > 0) text += " Saturated elements: in " + std::to_string(saturated) + " rows.";
  return text;
}

}  // namespace

std::string verdict(const row_list& rows) {
  if (rows.empty()) return "";
  const bool formats_differ = differ(rows, [](const study_row& r) { return r.format; });
  const bool lengths_differ = differ(rows, [](const study_row& r) { return r.n_key; });
  std::string text;
  std::string_view separator;
  bool first = true;
  for (const std::string& recipe : recipes_of(rows)) {
    if (recipe == "baseline") continue;
    const row_list mine = rows_of(rows, recipe);
    const extremes e = ratio_extremes(mine);
    text += separator;
    text += printable(recipe);
    separator = ", ";
    if (e.most != nullptr) {
      text += (first ? " lies " : " ") + ratio_range(e) + (first ? " as far from golden as baseline" : "");
      first = false;
    }
    if (e.most != nullptr && times(e.least->ratio_max_abs) != times(e.most->ratio_max_abs)) {
      std::vector<std::string> where;
      if (formats_differ) where.push_back(printable(e.most->format));
      if (lengths_differ) where.push_back("N = " + std::to_string(e.most->n_key));
      if (differ(mine, [](const study_row& r) { return r.tile_query; }) && e.most->tile_query)
        where.push_back("query tile " + std::to_string(*e.most->tile_query));
      if (differ(mine, [](const study_row& r) { return r.tile_key; }) && e.most->tile_key)
        where.push_back("key tile " + std::to_string(*e.most->tile_key));
      text += " (most at " + joined(where, ", ") + ")";
    }
    if (e.not_finite > 0)
      text += (e.most != nullptr ? " and" : "") + std::string(" is NaN or infinite in ") +
              std::to_string(e.not_finite) + " of " + std::to_string(mine.size()) + " rows";
  }
  if (separator.empty()) return "only baseline, largest deviation " + scientific(rows.front()->deviation.max_abs);
  return text + ".";
}

std::string what_was_compared(const study_result& study) {
  const auto recipes = distinct(study, [](const study_row& r) { return r.recipe; });
  const auto formats = distinct(study, [](const study_row& r) { return r.format; });
  const auto inputs = distinct(study, [](const study_row& r) { return family_of(r.inputs); });
  return std::to_string(study.rows.size()) + " runs of attention: " + listed(recipes, 8) + ", in " +
         (formats.size() == 1 ? "the format " : "the formats ") + listed(formats, 6) + ", on " + listed(inputs, 8) +
         ". Each output O is compared, element by element, with golden: " + golden_in_words(study) +
         ". Beside each deviation stands its ratio to that of baseline in the same format: 1 is as far from golden as "
         "baseline, 2 twice as far, below 1 closer.";
}

std::vector<std::string> main_findings(const study_result& study) {
  if (study.rows.empty()) return {"There are no rows."};
  std::vector<std::string> findings;
  const row_list rows = all_rows(study);
  const study_row* worst = nullptr;
  for (const study_row* row : rows)
    if (std::isfinite(row->deviation.max_abs) &&
        (worst == nullptr || row->deviation.max_abs > worst->deviation.max_abs))
      worst = row;
  for (const std::string& recipe : recipes_of(rows)) {
    if (recipe == "baseline") continue;
    const extremes e = ratio_extremes(rows_of(rows, recipe));
    if (e.most == nullptr) continue;
    findings.push_back(printable(recipe) + " lies " + ratio_range(e) + " as far from golden as baseline; most on " +
                       printable(family_of(e.most->inputs)) + " (" + shared_setting({e.most}) + ").");
  }
  if (worst != nullptr)
    findings.push_back("The largest deviation of all is " + three_digits(worst->deviation.max_abs) + ", by " +
                       setting(*worst) + ", at " + element(worst->deviation.worst) + ".");
  findings.push_back(bias_finding(study));
  findings.push_back(ulp_finding(study));
  findings.push_back(finiteness_finding(study));
  for (std::string& sentence : golden_accuracy_in_words(study)) findings.push_back(std::move(sentence));
  return findings;
}

}  // namespace deviate::tool
