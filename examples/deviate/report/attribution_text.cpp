// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/attribution_text.hpp"

#include <deviate/deviation/search.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "deviate/report/text.hpp"

namespace deviate::tool {
namespace {

std::vector<std::size_t> by_share(const attribution& a) {
  std::vector<std::size_t> order(a.groups.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return a.groups[x].shapley_mse > a.groups[y].shapley_mse; });
  return order;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::string range_end(const attribution_result& r) {
  return r.request.numbers.name + " ends at " + shortest(r.request.numbers.numbers.max_finite());
}

// "output_state, row 0 of head 0, keys from 32704: 65472 + 128 = inf"
std::string birth_text(const birth& b) {
  const observation& o = b.what;
  std::string operands;
  for (int i = 0; i < o.operand_count; ++i) operands += (i > 0 ? ", " : "") + shortest(o.operands[std::size_t(i)]);
  return std::string(name(o.where)) + ", row " + std::to_string(b.row) + " of head " + std::to_string(b.head) +
         (b.first_key >= 0 ? ", key tile from " + std::to_string(b.first_key) : "") + ": " + std::string(name(o.what)) +
         "(" + operands + ") = " + shortest(o.result);
}

std::string born(const attribution_result& r) {
  if (!r.seen) return "";
  const head_headroom all = r.seen->whole();
  return all.first_not_finite ? "; first at " + birth_text(*all.first_not_finite) : "";
}

// Which groups make a run overflow, alone or together.
std::string not_finite_verdict(const attribution_result& r) {
  const attribution& a = r.shares;
  std::vector<std::string> alone, needed;
  for (const group_attribution& g : a.groups) {
    if (g.demoted.not_finite > 0) alone.push_back(printable(g.name));
    if (g.promoted.not_finite == 0) needed.push_back(printable(g.name));
  }
  const std::string what = std::to_string(a.total.not_finite) + " of " +
                           std::to_string(a.total.not_finite + a.total.count) + " elements are NaN or infinite";
  if (!alone.empty())
    return list_of(alone) + (alone.size() > 1 ? " each make" : " makes") +
           " the output NaN or infinite, alone: " + what + "; " + range_end(r) + born(r) + ".";
  if (!needed.empty())
    return list_of(needed) + (needed.size() > 1 ? ", any of them raised, would keep" : ", if raised, would keep") +
           " the output finite: " + what + "; " + range_end(r) + born(r) + ".";
  return "Several groups make the output NaN or infinite independently of each other: " + what + born(r) + ".";
}

std::string columns(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += "  ";
    line += i == 0 ? left_aligned(cells[i], widths[i]) : right_aligned(cells[i], widths[i]);
  }
  return line + "\n";
}

std::string site_names(site_set sites) {
  std::string text;
  for (int i = 0; i < site_count; ++i)
    if (sites.contains(site(i))) text += (text.empty() ? "" : " ") + std::string(name(site(i)));
  return text;
}

std::string counters_text(const attribution_result& r) {
  const head_headroom all = r.seen->whole();
  std::string text = "Counters: " + three_digits(all.mean_rescales()) + " rescales a row, at most " +
                     std::to_string(all.most_rescales) + "; " + std::to_string(all.ties) + " ties at the maximum; of " +
                     std::to_string(all.probabilities) + " P, " + std::to_string(all.ones) + " are 1, " +
                     std::to_string(all.flushed) + " were flushed to 0, and " + std::to_string(all.operand_flushed) +
                     " more as they enter P·V.\n";
  text += "Headroom, largest value (share of the format's end):";
  for (const site s : {site::score, site::row_sum, site::output_state, site::output})
    text += std::string(s == site::score ? " " : ", ") + std::string(name(s)) + " " + three_digits(all.at(s).largest) +
            " (" + percent_text(all.at(s).share) + ")";
  std::int64_t saturated = 0, overflowed = 0;
  for (const site_headroom& s : all.sites) {
    saturated += s.saturated;
    overflowed += s.overflowed;
  }
  text += "; " + std::to_string(saturated) + " results saturated, " + std::to_string(overflowed) + " overflowed.\n";
  if (all.first_not_finite)
    text += "First infinity or NaN of finite operands: " + birth_text(*all.first_not_finite) + ".\n";
  if (all.first_nan) text += "First NaN: " + birth_text(*all.first_nan) + ".\n";
  return text;
}

std::string size_text(const error_size& e) { return e.not_finite > 0 ? "not finite" : three_digits(e.relative_l2); }

const char* metric_name(error_metric m) {
  switch (m) {
    case error_metric::mse: return "mse";
    case error_metric::bias: return "bias";
    case error_metric::mean_abs: return "mean_abs";
    case error_metric::max_abs: return "max_abs";
    default: return "relative_l2";
  }
}

}  // namespace

std::string attribution_verdict(const attribution_result& r) {
  const attribution& a = r.shares;
  if (a.total.not_finite > 0) return not_finite_verdict(r);
  if (a.total.mse == 0) return "No group is to blame: every element looked at is exact.";
  // As many groups as it takes to explain four fifths, but no more than three.
  std::string text;
  double told = 0;
  int named = 0;
  for (const std::size_t g : by_share(a)) {
    const group_attribution& group = a.groups[g];
    if (named == 3 || told >= 0.8 || group.shapley_mse < 0.05) break;
    text += (named == 0 ? "" : ", ") + printable(group.name) + (named == 0 ? " carries " : " ") +
            percent_text(group.shapley_mse);
    told += group.shapley_mse;
    ++named;
  }
  if (named == 0) text = "No group carries as much as 5 %";
  text += " of the mean square error (" +
          (std::isfinite(a.total.relative_l2) ? "relative_l2 " + three_digits(a.total.relative_l2)
                                              : "max_abs " + three_digits(a.total.max_abs) + "; golden is 0") +
          ")";
  if (a.rescales > 0 && a.without_rescaling.not_finite == 0) {
    const double change = a.without_rescaling.relative_l2 / a.total.relative_l2 - 1;
    text += std::fabs(change) < 0.05
                ? "; without any rescaling it would be the same within " + percent_text(std::fabs(change))
                : "; without any rescaling it would be " +
                      ratio_text(a.without_rescaling.relative_l2 / a.total.relative_l2) + " times as large";
  }
  return text + ".";
}

std::vector<std::string> attribution_warnings(const attribution_result& r) {
  const attribution& a = r.shares;
  std::vector<std::string> warnings;
  if (a.total.not_finite > 0)
    warnings.push_back("Shares leave out the elements that are not finite; NaN and infinities have no size.");
  for (const group_attribution& g : a.groups)
    if (a.total.not_finite == 0 && g.promoted.not_finite == 0 && g.promoted.relative_l2 > 1.05 * a.total.relative_l2) {
      std::string partner;
      double most = 0;
      const std::size_t n = a.groups.size(), i = std::size_t(&g - a.groups.data());
      for (std::size_t j = 0; j < n && !a.interactions.empty(); ++j)
        if (a.interactions[i * n + j] < most) {
          most = a.interactions[i * n + j];
          partner = printable(a.groups[j].name);
        }
      warnings.push_back("Raising " + printable(g.name) + " alone makes the error " +
                         ratio_text(g.promoted.relative_l2 / a.total.relative_l2) + " times as large" +
                         (partner.empty() ? "" : ": its error cancels part of that of " + partner) + ".");
    }
  if (a.first_order && a.total.mse > 0) {
    double most = 0;
    std::string worst;
    for (const group_attribution& g : a.groups)
      if (std::fabs(g.first_order_mse - g.shapley_mse) > most) {
        most = std::fabs(g.first_order_mse - g.shapley_mse);
        worst = printable(g.name);
      }
    if (most > 0.1)
      warnings.push_back("First order and Shapley shares differ by up to " + percent_text(most) + " of the error (" +
                         worst + "): the groups' errors influence each other, and the shares are the ones to trust.");
  }
  if (r.differs_from_own > 0)
    warnings.push_back(std::to_string(r.differs_from_own) +
                       " elements of the run with every group low differ from the recipe's own run: sums of wide "
                       "operands are rounded twice here.");
  return warnings;
}

std::string search_text(const attribution_result& r, error_metric metric, double tolerance) {
  const attribution& a = r.shares;
  const std::string goal = std::string(metric_name(metric)) + " <= " + shortest(tolerance);
  if (a.subsets.empty()) return "Search for " + goal + ": needs at most 10 groups.";
  const auto found = cheapest_raised(a.subsets, metric, tolerance);
  if (!found)
    return "Search: no set of groups meets " + goal + "; with all of them exact it is " +
           three_digits(std::fabs(value_of(a.exact, metric))) + ".";
  std::vector<std::string> raised, low;
  for (std::size_t g = 0; g < a.groups.size(); ++g)
    ((found->raised >> g & 1) != 0 ? raised : low).push_back(printable(a.groups[g].name));
  return "Search: to meet " + goal + " raise " + (raised.empty() ? "nothing" : list_of(raised)) + " (" +
         metric_name(metric) + " " + three_digits(std::fabs(value_of(found->left, metric))) + "); " +
         (low.empty() ? "nothing" : list_of(low)) + " may stay low. Every group costs 1; all subsets were looked at.";
}

std::string attribution_text(const attribution_result& r, error_metric metric) {
  const attribution& a = r.shares;
  const std::int64_t heads = r.inputs.q.shape().batch * r.inputs.q.shape().heads;
  std::string text = attribution_verdict(r) + "\n";
  for (const std::string& w : attribution_warnings(r)) text += "Warning: " + w + "\n";
  text += "\n" + printable(r.inputs.name) + ", " + r.request.recipe + " in " + printable(r.request.numbers.name) +
          ", " + std::to_string(a.rows.size()) + " rows" +
          (heads > 1 ? " in each of " + std::to_string(heads) + " heads" : "") + ", evenly spread; " +
          std::to_string(a.rescales) + " rescales\n";
  text += "Whole error: relative_l2 " + size_text(a.total) + ", mse " + scientific(a.total.mse) + ", bias " +
          scientific(a.total.bias) + ", max_abs " + three_digits(a.total.max_abs) + "\n\n";
  const bool sampled = a.subsets.empty(), other = metric != error_metric::mse && !sampled;
  std::vector<std::string> head{"group", "share of mse"};
  if (sampled) head.push_back("± (95 %)");
  head.insert(head.end(), {"first order", "share of bias"});
  if (other) head.push_back(std::string("share of ") + metric_name(metric));
  head.insert(head.end(), {"alone low", "alone exact", "digits"});
  const bool bounded = !std::isnan(a.bound_ratio);
  if (bounded) head.push_back("÷ bound");
  std::vector<double> values;
  if (other) {
    std::vector<double> worth;
    for (const error_size& e : a.subsets) worth.push_back(value_of(e, metric));
    values = shapley_values(worth);
  }
  std::vector<std::vector<std::string>> rows{head};
  double sum = 0, first_order = 0;
  for (const std::size_t g : by_share(a)) {
    const group_attribution& group = a.groups[g];
    std::vector<std::string> row{printable(group.name), percent_text(group.shapley_mse)};
    if (sampled) row.push_back(percent_text(group.half_width));
    row.push_back(a.first_order ? percent_text(group.first_order_mse) : "–");
    row.push_back(scientific(group.shapley_bias));
    if (other) row.push_back(scientific(values[g]));
    row.push_back(size_text(group.demoted));
    row.push_back(size_text(group.promoted));
    row.push_back(!group.sampled || std::isinf(group.sampled->significant_digits)
                      ? "–"
                      : three_digits(group.sampled->significant_digits));
    if (bounded) row.push_back(three_digits(group.bound_ratio));
    rows.push_back(row);
    sum += group.shapley_mse;
    first_order += group.first_order_mse;
  }
  std::vector<std::size_t> widths(head.size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  for (const auto& row : rows) text += columns(row, widths);
  text += "Sum of the shares " + percent_text(sum) + ", residual (every group exact) " + scientific(a.residual) +
          " of the mse" + (a.first_order ? "; first order explains " + percent_text(first_order) : "") + ".\n";
  text += "\"alone low\" and \"alone exact\" are relative_l2 with only that group rounded, or all but that group.\n";
  if (r.request.options.samples >= 2)
    text += "\"digits\": significant decimal digits of O that " + std::to_string(r.request.options.samples) +
            " runs share in which that group alone rounds stochastically.\n";
  if (bounded)
    text += "\"÷ bound\": the largest first-order error of an element ÷ its a-priori bound; of the whole error " +
            three_digits(a.bound_ratio) + ".\n";
  for (const group_attribution& g : a.groups)
    if (g.sampled && g.demoted.not_finite == 0 && g.demoted.mse > 2 * g.sampled->mse)
      text +=
          printable(g.name) + " errs " + ratio_text(g.demoted.mse / g.sampled->mse) +
          " times as much (mean square) as with stochastic rounding, whose error is spread alone: its roundings are "
          "biased, as where a sum stagnates.\n";
  if (r.request.recipe != "baseline")
    text += "Removed: relative_l2 " + size_text(a.without_rescaling) + " without rescaling (maxima known first), " +
            size_text(a.without_tiling) + " without tiling (one key tile)" +
            (a.with_lazy_rescaling ? ", " + size_text(*a.with_lazy_rescaling) + " with a threshold of " +
                                         shortest(*r.request.options.rescale_threshold)
                                   : "") +
            ".\n";
  if (r.seen) text += counters_text(r);
  if (a.total.mse > 0 || a.total.not_finite > 0) {
    text += "Worst row: " + std::to_string(a.worst.row) + " of head " + std::to_string(a.worst.head) +
            (r.inputs.q.shape().batch > 1 ? " of batch " + std::to_string(a.worst.batch) : "") +
            ", root mean square error " + three_digits(std::sqrt(a.worst.mse));
    if (a.worst.worst_tile >= 0)
      text += "; its error grows most at the tile of keys from " + std::to_string(a.worst.worst_tile);
    text += ".\n";
  }
  std::string groups;
  for (const group_attribution& g : a.groups)
    groups += (groups.empty() ? "" : "; ") + printable(g.name) + " = " + site_names(g.sites);
  return text + wrapped("Groups: " + groups + ".", 110, "  ") + "\n";
}

}  // namespace deviate::tool
