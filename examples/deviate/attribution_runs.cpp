// SPDX-License-Identifier: Apache-2.0
#include "deviate/attribution_runs.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "deviate/attention_runs.hpp"
#include "deviate/attribution_table.hpp"
#include "deviate/usage_error.hpp"

namespace deviate::tool {
namespace {

/// The formats of a named recipe, whichever type holds the format.
template <template <class> class Named>
recipe_formats formats_in(const format& f) {
  if (double_rounding_is_innocuous(f, binary32)) return formats_of(Named<narrow_runtime>(f));
  if (f.subset_of(binary32)) return formats_of(Named<medium_runtime>(f));
  return formats_of(Named<wide_runtime>(f));
}

recipe_formats formats_of_request(const attribution_request& r) {
  const format& f = r.numbers.numbers;
  recipe_formats formats = r.recipe == "flash2_all"          ? formats_in<flash2_all>(f)
                           : r.recipe == "flash2_fp32_state" ? formats_in<flash2_fp32_state>(f)
                           : r.recipe == "flash1_all"        ? formats_in<flash1_all>(f)
                           : r.recipe == "baseline"          ? formats_in<baseline>(f)
                                                             : formats_in<uniform>(f);
  if (!r.low) return formats;
  const format other = f.subset_of(binary32) ? binary32 : binary64;
  for (int i = 0; i < site_count; ++i)
    if (site(i) != site::input) formats.of_site[i] = r.low->contains(site(i)) ? f : other;
  if (!r.low->contains(site::row_sum_partial)) formats.row_sum_inside = other;
  return formats;
}

attribution shared_out(const attribution_request& r, const recipe_formats& formats, const row_sample& sample) {
  const detail::flash_kernel flash{r.plan};
  if (r.exponential != exponential_names().front()) {
    chosen_exp2::index = int(std::find(exponential_names().begin(), exponential_names().end(), r.exponential) -
                             exponential_names().begin());
    return detail::attribute<approximate_order>(formats, flash, sample, r.options);
  }
  if (r.recipe == "flash2_all") return detail::attribute<flash2_order>(formats, flash, sample, r.options);
  if (r.recipe == "flash2_fp32_state") return detail::attribute<kernel_order>(formats, flash, sample, r.options);
  if (r.recipe == "flash1_all") return detail::attribute<flash1_order>(formats, flash, sample, r.options);
  if (r.recipe == "uniform") return detail::attribute<uniform_order>(formats, flash, sample, r.options);
  return detail::attribute<baseline_order>(formats, detail::baseline_kernel{}, sample, r.options);
}

headroom observed_in(const attribution_request& r, const recipe_formats& formats, const row_sample& sample) {
  const workers& who = r.options.who;
  if (r.exponential != exponential_names().front())
    return detail::observe_flash<approximate_order>(formats, sample, r.plan, who);
  if (r.recipe == "flash2_all") return detail::observe_flash<flash2_order>(formats, sample, r.plan, who);
  if (r.recipe == "flash2_fp32_state") return detail::observe_flash<kernel_order>(formats, sample, r.plan, who);
  if (r.recipe == "flash1_all") return detail::observe_flash<flash1_order>(formats, sample, r.plan, who);
  if (r.recipe == "uniform") return detail::observe_flash<uniform_order>(formats, sample, r.plan, who);
  return detail::observe_baseline<baseline_order>(formats, sample, who);
}

/// True where both are NaN or equal, zeros of either sign alike.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

std::span<const std::string> attributable_recipes() {
  static const std::array<std::string, 5> names{"flash2_all", "flash2_fp32_state", "flash1_all", "baseline", "uniform"};
  return names;
}

std::span<const std::string> exponential_names() {
  static const std::array<std::string, 8> names{"natural",      "exp2_fma",     "exp2_degree1", "exp2_degree2",
                                                "exp2_degree3", "exp2_degree4", "exp2_degree5", "floor24"};
  return names;
}

attribution_result run_attribution(const attribution_request& request, const attention_inputs& inputs,
                                   const problem& p) {
  const format& f = request.numbers.numbers;
  const bool approximate = request.exponential != exponential_names().front();
  if (f.rounding == rounding_mode::stochastic)
    throw usage_error("attribute compares runs with and without each rounding; --mode stochastic makes each a draw");
  if (f.precision() > 44)
    throw usage_error(request.numbers.name + " is too near to FP64, in which attribute computes what is exact");
  if (approximate && request.recipe != "flash2_all")
    throw usage_error("--exp " + request.exponential + " needs --recipe flash2_all");
  attribution_result result{request, {}, inputs, p, -1, std::nullopt, ""};
  const recipe_formats formats = formats_of_request(request);
  const row_sample sample = sample_rows(inputs.q, inputs.k, inputs.v, p, request.options.rows, f);
  result.shares = shared_out(request, formats, sample);
  if (request.counters) result.seen = observed_in(request, formats, sample);
  const auto own = recipe_names();
  if (!request.low && !approximate && std::find(own.begin(), own.end(), request.recipe) != own.end()) {
    const attention_inputs rows{inputs.name, sample.q, sample.k, sample.v};
    const forward_output got = run_attention(request.recipe, request.numbers, {.mode = f.rounding}, rows,
                                             sample.with_masks(), request.plan, request.options.who);
    result.differs_from_own = 0;
    for (std::size_t i = 0; i < got.output.values().size(); ++i)
      result.differs_from_own += !same(got.output.values()[i], result.shares.low_output.values()[i]);
  }
  return result;
}

}  // namespace deviate::tool
