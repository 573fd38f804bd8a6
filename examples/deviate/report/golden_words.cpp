// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/golden_words.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "deviate/report/groups.hpp"
#include "deviate/report/text.hpp"

namespace deviate::tool {
namespace {

// One study row for each golden: recipes and tiles share it.
row_list goldens_of(const study_result& study) {
  const auto key = [](const study_row& r) {
    return std::tie(r.sweep, r.inputs, r.format, r.golden, r.n_query, r.n_key, r.d, r.heads);
  };
  row_list goldens;
  for (const study_row& row : study.rows)
    if (goldens.empty() || key(*goldens.back()) != key(row)) goldens.push_back(&row);
  return goldens;
}

struct totals {
  std::int64_t rows = 0, double_double = 0, uncertified = 0;
};

totals totals_of(const row_list& goldens) {
  totals t;
  for (const study_row* row : goldens) {
    t.rows += row->certificate.rows;
    t.double_double += row->certificate.double_double_rows;
    t.uncertified += row->certificate.uncertified_rows;
  }
  return t;
}

std::string share_of_rows(std::int64_t some, std::int64_t all) {
  return std::to_string(some) + " of " + std::to_string(all) + " rows of O";
}

std::string place(const study_row& row) {
  return printable(row.format) + " on " + printable(family_of(row.inputs)) + " (N = " + std::to_string(row.n_key) + ")";
}

std::string certified(const row_list& goldens, const totals& t) {
  const study_row* largest = nullptr;
  double bound = 0;
  for (const study_row* row : goldens) {
    if (row->certificate.uncertified_rows == row->certificate.rows) continue;
    bound = std::max(bound, row->certificate.bound);
    if (largest == nullptr || row->certificate.half_ulps > largest->certificate.half_ulps) largest = row;
  }
  if (largest == nullptr) return "Golden: no row of it is certified.";
  std::string text = "Golden: ";
  if (t.double_double == 0)
    text += "FP64";
  else if (t.double_double == t.rows)
    text += "double_double, because FP64 cannot be proved to a thousandth of half an ulp of the format";
  else
    text += "FP64, and double_double in " + share_of_rows(t.double_double, t.rows) +
            ", where FP64 cannot be proved to a thousandth of half an ulp of the format";
  text += t.double_double == 0 ? ", " : "; ";
  text += "each element proved within " + three_digits(bound) + " of the exact result (";
  const std::string share = three_digits(largest->certificate.half_ulps) + " of half ";
  if (goldens.size() == 1)
    text += share + "a " + printable(largest->format) + " ulp at the largest element of its row";
  else
    text += "at most " + share + "an ulp at the largest element of its row: " + place(*largest);
  return text + ").";
}

}  // namespace

std::vector<std::string> golden_accuracy_in_words(const study_result& study) {
  const row_list goldens = goldens_of(study);
  if (goldens.empty()) return {};
  const totals t = totals_of(goldens);
  std::vector<std::string> sentences = {certified(goldens, t)};
  if (t.uncertified > 0) {
    const study_row& row = **std::find_if(goldens.begin(), goldens.end(),
                                          [](const study_row* r) { return r->certificate.uncertified_rows > 0; });
    const golden_certificate::doubt& first = row.certificate.first;
    sentences.push_back("Golden is not certified in " + share_of_rows(t.uncertified, t.rows) + ", first in batch " +
                        std::to_string(first.batch) + ", head " + std::to_string(first.head) + ", row " +
                        std::to_string(first.row) + " of " + place(row) + ": " + first.reason + ".");
  }
  return sentences;
}

std::string golden_in_words(const study_result& study) {
  std::vector<std::string> words;
  for (const study_row& row : study.rows) {
    const std::string where = row.golden == "rounded"     ? "on the inputs rounded to the format"
                              : row.golden == "unrounded" ? "on the unrounded inputs"
                                                          : "“" + printable(row.golden) + "”";
    if (std::find(words.begin(), words.end(), where) == words.end()) words.push_back(where);
  }
  const totals t = totals_of(goldens_of(study));
  const std::string scalar = t.double_double == 0        ? "FP64"
                             : t.double_double == t.rows ? "double_double"
                                                         : "FP64 or double_double";
  return scalar + " attention " + joined(words, " or ");
}

}  // namespace deviate::tool
