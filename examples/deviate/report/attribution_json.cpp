// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "deviate/report/attribution_report.hpp"
#include "deviate/report/attribution_text.hpp"
#include "deviate/report/text.hpp"

namespace deviate::tool {
namespace {

using json = nlohmann::ordered_json;

json number(double x) { return std::isfinite(x) ? json(x) : json(shortest(x)); }

json size_object(const error_size& e) {
  return {{"mse", number(e.mse)},           {"relative_l2", number(e.relative_l2)}, {"bias", number(e.bias)},
          {"mean_abs", number(e.mean_abs)}, {"max_abs", number(e.max_abs)},         {"not_finite", e.not_finite}};
}

json birth_object(const std::optional<birth>& b) {
  if (!b) return nullptr;
  json operands = json::array();
  for (int i = 0; i < b->what.operand_count; ++i) operands.push_back(number(b->what.operands[std::size_t(i)]));
  return {{"site", std::string(name(b->what.where))},     {"row", b->row},        {"key_tile", b->first_key},
          {"operation", std::string(name(b->what.what))}, {"operands", operands}, {"result", number(b->what.result)}};
}

json counters_object(const head_headroom& h, std::size_t index, std::int64_t heads) {
  json object{{"batch", std::int64_t(index) / heads},
              {"head", std::int64_t(index) % heads},
              {"rescales_per_row", number(h.mean_rescales())},
              {"most_rescales", h.most_rescales},
              {"ties", h.ties},
              {"probabilities", h.probabilities},
              {"ones", h.ones},
              {"flushed", h.flushed},
              {"operand_flushed", h.operand_flushed}};
  object["sites"] = json::object();
  for (int i = 0; i < site_count; ++i) {
    const site_headroom& s = h.at(site(i));
    if (s.largest > 0 || s.saturated + s.overflowed > 0)
      object["sites"][std::string(name(site(i)))] = {{"largest", number(s.largest)},
                                                     {"limit", number(s.limit)},
                                                     {"share", number(s.share)},
                                                     {"saturated", s.saturated},
                                                     {"overflowed", s.overflowed}};
  }
  object["first_not_finite"] = birth_object(h.first_not_finite);
  object["first_nan"] = birth_object(h.first_nan);
  return object;
}

json result_object(const attribution_result& r) {
  const attribution& a = r.shares;
  json object{{"command", valid_utf8(r.command)},
              {"input", valid_utf8(r.inputs.name)},
              {"recipe", r.request.recipe},
              {"format", valid_utf8(r.request.numbers.name)},
              {"rows", a.rows},
              {"verdict", valid_utf8(attribution_verdict(r))},
              {"warnings", json::array()},
              {"total", size_object(a.total)}};
  for (const std::string& w : attribution_warnings(r)) object["warnings"].push_back(valid_utf8(w));
  object["groups"] = json::array();
  for (const group_attribution& g : a.groups) {
    json group{{"name", valid_utf8(g.name)}, {"sites", json::array()}, {"shapley_mse", number(g.shapley_mse)}};
    for (int i = 0; i < site_count; ++i)
      if (g.sites.contains(site(i))) group["sites"].push_back(std::string(name(site(i))));
    if (a.subsets.empty()) group["shapley_mse_half_width"] = number(g.half_width);
    group["shapley_bias"] = number(g.shapley_bias);
    group["demote_relative_l2"] = number(g.demoted.not_finite > 0 ? std::nan("") : g.demoted.relative_l2);
    group["promote_relative_l2"] = number(g.promoted.not_finite > 0 ? std::nan("") : g.promoted.relative_l2);
    group["first_order_mse"] = a.first_order ? number(g.first_order_mse) : json(nullptr);
    if (g.sampled)
      group["stochastic"] = {{"samples", g.sampled->samples},
                             {"mse", number(g.sampled->mse)},
                             {"bias_mse", number(g.sampled->bias_mse)},
                             {"variance", number(g.sampled->variance)},
                             {"significant_digits", number(g.sampled->significant_digits)}};
    if (!std::isnan(g.bound_ratio)) group["measured_over_bound"] = number(g.bound_ratio);
    object["groups"].push_back(group);
  }
  object["interactions"] = json::array();
  const std::size_t n = a.groups.size();
  for (std::size_t i = 0; i < n && !a.interactions.empty(); ++i)
    for (std::size_t j = i + 1; j < n; ++j)
      object["interactions"].push_back({{"a", valid_utf8(a.groups[i].name)},
                                        {"b", valid_utf8(a.groups[j].name)},
                                        {"mse", number(a.interactions[i * n + j])}});
  object["removed"] = {{"rescaling", {{"relative_l2", number(a.without_rescaling.relative_l2)}}},
                       {"tiling", {{"relative_l2", number(a.without_tiling.relative_l2)}}}};
  if (a.with_lazy_rescaling)
    object["removed"]["lazy_rescaling"] = {{"threshold", *r.request.options.rescale_threshold},
                                           {"relative_l2", number(a.with_lazy_rescaling->relative_l2)}};
  object["residual"] = number(a.residual);
  if (!std::isnan(a.bound_ratio)) object["measured_over_bound"] = number(a.bound_ratio);
  if (a.first_order)
    object["first_order"] = {{"mse", number(a.first_order->mse)}, {"unexplained", number(a.first_order->unexplained)}};
  object["rescales"] = a.rescales;
  object["worst"] = {{"batch", a.worst.batch},
                     {"head", a.worst.head},
                     {"row", a.worst.row},
                     {"rms", number(std::sqrt(a.worst.mse))},
                     {"key_tile", a.worst.worst_tile}};
  if (r.seen) {
    object["counters"] = json::array();
    for (std::size_t h = 0; h < r.seen->heads.size(); ++h)
      object["counters"].push_back(counters_object(r.seen->heads[h], h, r.inputs.q.shape().heads));
  }
  if (r.differs_from_own >= 0) object["differs_from_own_run"] = r.differs_from_own;
  return object;
}

}  // namespace

std::string attribution_json(const std::vector<attribution_result>& results) {
  if (results.size() == 1) return result_object(results.front()).dump(1) + "\n";
  json all = json::array();
  for (const attribution_result& r : results) all.push_back(result_object(r));
  return json{{"attributions", all}}.dump(1) + "\n";
}

}  // namespace deviate::tool
