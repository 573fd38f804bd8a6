// SPDX-License-Identifier: Apache-2.0
#include "deviate/study.hpp"

#include "deviate/attention_runs.hpp"
#include "deviate/golden_reference.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace deviate::tool {

namespace {

/// One input under one format: golden and baseline once, then every recipe and tile.
struct work_item {
  std::string sweep;
  std::vector<named_format> formats;
  std::vector<std::string> recipes;
  std::vector<schedule> plans;
  deviate::mask mask;
};

/// Sizes of a job, before its inputs exist.
struct job_sizes {
  std::int64_t heads, n_query, n_key, columns;
};
job_sizes sizes(const attention_inputs& x) {
  return {x.q.shape().batch * x.q.shape().heads, x.q.shape().rows, x.k.shape().rows,
          x.q.shape().columns + x.v.shape().columns};
}
job_sizes sizes(const random_inputs& how) { return {how.heads, how.n, how.n, 2 * how.d}; }

/// Rough cost of one run in multiply-adds, for the progress bar; a golden counts as four, in double_double as a hundred.
double multiply_adds(const job_sizes& s) {
  return double(s.heads) * double(s.n_query) * double(s.n_key) * double(s.columns);
}
constexpr double golden_cost = 4, double_double_cost = 100;

class study_runner {
 public:
  study_runner(const study_options& options, const std::function<void(double)>& progress)
      : options_(options), progress_(progress) {
    who_.count = options.workers;
  }

  void expect(const work_item& item, const job_sizes& s) {
    const auto flash =
        std::count_if(item.recipes.begin(), item.recipes.end(), [](const std::string& r) { return r != "baseline"; });
    const double goldens = options_.golden_on_rounded_inputs ? double(item.formats.size()) : 1;
    expected_ += multiply_adds(s) * (goldens * golden_cost +
                                     double(item.formats.size()) * (1 + double(flash) * double(item.plans.size())));
  }

  void run(const work_item& item, const attention_inputs& inputs) {
    problem p{.scale = options_.scale, .mask = item.mask};
    const double unit = multiply_adds(sizes(inputs));
    std::optional<certified_golden> golden;
    const auto compute_golden = [&](const attention_inputs& of) {
      golden.emplace(of, p, who_);
      done(golden_cost * unit);
    };
    if (!options_.golden_on_rounded_inputs) compute_golden(inputs);
    for (const named_format& chosen : item.formats) {
      const attention_inputs rounded = rounded_inputs(inputs, chosen.numbers, options_.rounding);
      if (options_.golden_on_rounded_inputs) compute_golden(rounded);
      const double before = golden->share_in_double_double();
      const golden_reference reference = golden->for_format(nearest(chosen.numbers));
      // Work that nobody expected is work, too.
      const double more = (golden->share_in_double_double() - before) * double_double_cost * unit;
      expected_ += more;
      done(more);
      study_row base = measure(item, inputs, rounded, chosen, "baseline", nullptr, p, reference);
      base.ratio_max_abs = ratio(base.deviation.max_abs, base.deviation.max_abs);  // 1, or NaN where it is NaN
      base.ratio_relative_l2 = ratio(base.deviation.relative_l2, base.deviation.relative_l2);
      done(unit);
      if (std::find(item.recipes.begin(), item.recipes.end(), "baseline") != item.recipes.end())
        result_.rows.push_back(base);
      for (const std::string& recipe : item.recipes) {
        if (recipe == "baseline") continue;
        for (const schedule& plan : item.plans) {
          study_row row = measure(item, inputs, rounded, chosen, recipe, &plan, p, reference);
          row.ratio_max_abs = ratio(row.deviation.max_abs, base.deviation.max_abs);
          row.ratio_relative_l2 = ratio(row.deviation.relative_l2, base.deviation.relative_l2);
          result_.rows.push_back(std::move(row));
          done(unit);
        }
      }
    }
  }

  study_result finish() { return std::move(result_); }

 private:
  /// The format in which ulps are counted.
  static format nearest(const format& f) { return f.rounded(rounding_mode::nearest_even); }
  /// 0 ÷ 0 is 1: both are exact.
  static double ratio(double x, double base) { return x == base ? 1 : x / base; }

  study_row measure(const work_item& item, const attention_inputs& inputs, const attention_inputs& rounded,
                    const named_format& chosen, const std::string& recipe, const schedule* plan, const problem& p,
                    const golden_reference& reference) const {
    const forward_output got =
        run_attention(recipe, chosen, options_.rounding, rounded, p, plan != nullptr ? *plan : schedule{}, who_);
    study_row row;
    row.sweep = item.sweep;
    row.inputs = inputs.name;
    row.heads = inputs.q.shape().batch * inputs.q.shape().heads;
    row.n_query = inputs.q.shape().rows;
    row.n_key = inputs.k.shape().rows;
    row.d = inputs.q.shape().columns;
    if (plan != nullptr) {
      row.tile_query = plan->tile_query;
      row.tile_key = plan->tile_key;
    }
    row.recipe = recipe;
    row.format = chosen.name;
    row.rounding = mode_names()[static_cast<std::size_t>(chosen.numbers.rounding)];
    row.fraction_bits = chosen.numbers.fraction_bits;
    row.golden = options_.golden_on_rounded_inputs ? "rounded" : "unrounded";
    row.certificate = reference.certificate;
    deviation_options how;
    how.ulp_format = nearest(chosen.numbers);
    row.deviation =
        std::visit([&](const auto& golden) { return deviation(got.output, golden, how); }, reference.output);
    row.rescales = std::accumulate(got.rescales.values().begin(), got.rescales.values().end(), std::int64_t(0));
    return row;
  }

  void done(double cost) {
    finished_ += cost;
    if (progress_ && expected_ > 0) progress_(std::min(1.0, finished_ / expected_));
  }

  const study_options& options_;
  const std::function<void(double)>& progress_;
  workers who_;
  study_result result_;
  double expected_ = 0, finished_ = 0;
};

std::vector<schedule> all_plans(const std::vector<std::int64_t>& tile_query,
                                const std::vector<std::int64_t>& tile_key) {
  std::vector<schedule> plans;
  for (const std::int64_t br : tile_query)
    for (const std::int64_t bc : tile_key) plans.push_back({.tile_query = br, .tile_key = bc});
  return plans;
}

/// A piece of a study; random inputs are drawn when their turn comes.
struct job {
  work_item item;
  const attention_inputs* given = nullptr;
  random_inputs drawn;
};

std::vector<job> asked_jobs(const study_options& options) {
  const work_item item{"study", options.formats, options.recipes, all_plans(options.tile_query, options.tile_key),
                       options.mask};
  std::vector<job> jobs;
  for (const attention_inputs& inputs : options.inputs) jobs.push_back({item, &inputs, {}});
  for (const random_inputs& how : options.random) jobs.push_back({item, nullptr, how});
  return jobs;
}

/// The real layers over key tiles, then the paper's synthetic inputs over fraction bits and over length.
std::vector<job> default_jobs(const study_options& options) {
  constexpr std::int64_t d = 64, heads = 2, n_of_bits = 1024, tile = 64;
  const std::vector<schedule> one_plan{{.tile_query = tile, .tile_key = tile}};
  std::vector<job> jobs;
  const work_item real{"real", options.formats, options.recipes, all_plans(options.tile_query, options.tile_key),
                       causal{}};
  for (const attention_inputs& inputs : options.inputs) jobs.push_back({real, &inputs, {}});
  work_item bits{"fraction bits", {}, options.recipes, one_plan, {}};
  for (int m = 7; m <= 23; ++m)
    bits.formats.push_back(in_mode(format_named("e8m" + std::to_string(m)), options.rounding.mode));
  const work_item length{"length", {options.formats.front()}, options.recipes, one_plan, {}};
  for (const char* distribution : {"uniform", "normal"}) {
    jobs.push_back({bits, nullptr, {distribution, n_of_bits, d, heads, 1}});
    for (std::int64_t n = 256; n <= 4096; n *= 2) jobs.push_back({length, nullptr, {distribution, n, d, heads, 1}});
  }
  return jobs;
}

}  // namespace

study_result run_study(const study_options& options, const std::function<void(double share_done)>& progress) {
  const std::vector<job> jobs = options.default_study ? default_jobs(options) : asked_jobs(options);
  study_runner runner(options, progress);
  for (const job& j : jobs) runner.expect(j.item, j.given != nullptr ? sizes(*j.given) : sizes(j.drawn));
  for (const job& j : jobs) runner.run(j.item, j.given != nullptr ? *j.given : draw(j.drawn));
  return runner.finish();
}

}  // namespace deviate::tool
