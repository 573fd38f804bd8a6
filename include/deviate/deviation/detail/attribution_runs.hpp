// SPDX-License-Identifier: Apache-2.0
/// \file attribution_runs.hpp
/// \brief The runs that an attribution is made of.
// host only
#pragma once

#include <algorithm>
#include <cmath>
#include <deviate/attention/forward.hpp>
#include <deviate/attention/golden.hpp>
#include <deviate/deviation/a_priori.hpp>
#include <deviate/deviation/attribution_types.hpp>
#include <limits>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace deviate::detail {

inline void expect_sound(const attribution_options& o) {
  expects(!o.groups.empty() && o.groups.size() <= 64, "attribute: 1 to 64 groups");
  site_set seen;
  for (const site_group& g : o.groups) {
    expects(!g.sites.empty(), "attribute: group '" + g.name + "' has no site");
    expects((seen & g.sites).empty(), "attribute: a site of group '" + g.name + "' is in another group, too");
    expects(!g.sites.contains(site::input), "attribute: `input` belongs to no group: inputs are rounded beforehand");
    seen = seen | g.sites;
  }
  expects(o.rows >= 1, "attribute: at least one row");
}

inline workers_by<native_double_tile> in_double(const workers& who) { return {who}; }

/// Runs Flash Attention or Baseline Attention in a recipe.
struct flash_kernel {
  schedule plan;
  template <class Recipe>
  auto operator()(const Recipe& r, const row_sample& in, const problem& p, const workers& who) const {
    return flash_forward(r, in.q, in.k, in.v, p, plan, in_double(who));
  }
};
struct baseline_kernel {
  template <class Recipe>
  auto operator()(const Recipe& r, const row_sample& in, const problem& p, const workers& who) const {
    return baseline_forward(r, in.q, in.k, in.v, p, in_double(who));
  }
};

/// Everything that is run for one attribution.
template <class Low, class Kernel>
class attribution_runs {
 public:
  attribution_runs(const recipe_formats& formats, const Kernel& kernel, const row_sample& sample,
                   const attribution_options& o)
      : kernel_(kernel), sample_(sample), options_(o), formats_(formats) {
    golden_ = golden(sample.q, sample.k, sample.v, sample.with_masks(), o.who).output;
    always_ = site_set::all();
    for (const site_group& g : o.groups) always_ = always_ - g.sites;
  }

  /// The sites that are low where a subset of the groups is.
  site_set sites_of(std::uint64_t mask) const {
    site_set low = always_;
    for (std::size_t g = 0; g < options_.groups.size(); ++g)
      if ((mask >> g & 1) != 0) low = low | options_.groups[g].sites;
    return low;
  }
  /// The whole error, its mean square in every row, and the worst row.
  void look_at_rows(attribution& a, site_set low) const {
    auto all = dispatch(kernel_, sample_, low, options_.who);
    for (const std::int32_t n : all.rescales.values()) a.rescales += n;
    a.low_output = std::move(all.output);
    const tensor<double>& got = a.low_output;
    a.total = error_between(got.values(), golden_.values());
    const std::int64_t rows = got.shape().rows, columns = got.shape().columns;
    for (std::int64_t b = 0; b < got.shape().batch; ++b)
      for (std::int64_t h = 0; h < got.shape().heads; ++h)
        for (std::int64_t i = 0; i < rows; ++i) {
          const auto row = [&](const tensor<double>& t) {
            return std::span<const double>(&t(b, h, i, 0), std::size_t(columns));
          };
          const error_size e = error_between(row(got), row(golden_));
          a.row_mse.push_back(e.not_finite > 0 ? std::numeric_limits<double>::infinity() : e.mse);
          if (a.row_mse.size() == 1 || a.row_mse.back() > a.worst.mse)
            a.worst = {b, h, sample_.rows[std::size_t(i)], a.row_mse.back(), {}, {}, -1};
        }
  }
  /// Follows the worst row through its key tiles.
  void follow_worst(attribution& a, site_set low) const {
    if constexpr (std::is_same_v<Kernel, flash_kernel>) {
      if (kernel_.plan.order != key_order::ascending || a.row_mse.empty()) return;
      const row_sample one = sample_.only(a.worst.batch, a.worst.head, a.worst.row);
      const std::int64_t n = one.k.shape().rows, tile = std::min(kernel_.plan.tile_key, std::max<std::int64_t>(n, 1));
      const problem p = one.with_masks();
      const key_range seen = bind(one.q.shape(), one.k.shape(), one.v.shape(), p).keys(0, 0);
      for (std::int64_t first = seen.begin / tile * tile; first < seen.end; first += tile)
        a.worst.tiles.push_back(first);
      a.worst.error_after.resize(a.worst.tiles.size());
      std::vector<double> log_sum_exp(a.worst.tiles.size());
      parallel_for(options_.who, std::int64_t(a.worst.tiles.size()), [&](std::int64_t t, arena&) {
        row_sample prefix = one;
        prefix.key_length = std::min(a.worst.tiles[std::size_t(t)] + tile, seen.end);
        const workers alone{.count = 1};
        const auto exact = golden(prefix.q, prefix.k, prefix.v, prefix.with_masks(), alone);
        const auto got = dispatch(kernel_, prefix, low, alone).output;
        const error_size e = error_between(got.values(), exact.output.values());
        log_sum_exp[std::size_t(t)] = exact.log_sum_exp(0, 0, 0, 0);
        a.worst.error_after[std::size_t(t)] =
            e.not_finite > 0 ? std::numeric_limits<double>::infinity() : std::sqrt(e.mse);
      });
      for (std::size_t t = 0; t < a.worst.tiles.size(); ++t)
        a.worst.error_after[t] *= std::exp(log_sum_exp[t] - log_sum_exp.back());
      double before = 0, most = -1;
      for (std::size_t t = 0; t < a.worst.tiles.size() && std::isfinite(before); ++t) {
        const double grown = a.worst.error_after[t] - before;
        if (grown > most) {
          most = grown;
          a.worst.worst_tile = a.worst.tiles[t];
        }
        before = a.worst.error_after[t];
      }
    }
  }
  error_size run(std::uint64_t mask, const workers& who) const { return run_with(kernel_, sites_of(mask), who); }
  template <class AnyKernel>
  error_size run_with(const AnyKernel& kernel, site_set low, const workers& who) const {
    return error_between(dispatch(kernel, sample_, low, who).output.values(), golden_.values());
  }
  /// The pass of tracked numbers, and what it says of the bounds.
  void first_order(attribution& a, site_set low) const {
    const auto output = output_of<tracked_switchable<Low>>(kernel_, sample_, low, options_.who).output;
    a.first_order = moments_of(output);
    if constexpr (std::is_same_v<Kernel, flash_kernel> && Low::when_normalized == normalization::once) {
      const schedule& plan = kernel_.plan;
      if (plan.order == key_order::ascending && plan.maximum == row_maximum::running && plan.rescale_threshold == 0 &&
          std::is_same_v<typename Low::exponential_type, natural_exponential>)
        compare_with_bounds(a, output, bound_a_priori<Low>(formats_, sample_, plan));
    }
  }
  /// The error of samples in which the stored values of `low` are rounded stochastically.
  sampled_error sampled(site_set low) const {
    std::vector<std::vector<double>> samples(static_cast<std::size_t>(options_.samples));
    const workers one{.count = 1};
    parallel_for(options_.who, std::int64_t(samples.size()), [&](std::int64_t i, arena&) {
      const problem p = switched_problem(sample_.with_masks(), formats_, low, sample_.q.shape().columns);
      const auto r = randomly_switched_to<random_switchable<Low>>(formats_, low, options_.seed + std::uint64_t(i));
      const auto got = kernel_(r, sample_, p, one).output;
      samples[std::size_t(i)].assign(got.values().begin(), got.values().end());
    });
    return split_error(samples, golden_.values());
  }
  std::uint64_t everything() const {
    const std::size_t n = options_.groups.size();
    return n == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << n) - 1;
  }

 private:
  template <class Number>
  void compare_with_bounds(attribution& a, const tensor<Number>& output, const a_priori_bounds& bounds) const {
    const extents& shape = output.shape();
    a.bound_ratio = 0;
    for (group_attribution& g : a.groups) g.bound_ratio = 0;
    for (std::int64_t b = 0; b < shape.batch; ++b)
      for (std::int64_t h = 0; h < shape.heads; ++h)
        for (std::int64_t i = 0; i < shape.rows; ++i)
          for (std::int64_t c = 0; c < shape.columns; ++c) {
            const Number& x = output(b, h, i, c);
            if (!std::isfinite(double(x.value()))) continue;
            const auto larger = [](double& most, double error, double bound) {
              if (error != 0) most = std::max(most, std::fabs(error) / bound);
            };
            larger(a.bound_ratio, a.low_output(b, h, i, c) - golden_(b, h, i, c), bounds.total(b, h, i, c));
            for (group_attribution& g : a.groups) {
              double error = 0, bound = 0;
              for (int s = 0; s < site_count; ++s)
                if (g.sites.contains(site(s))) {
                  error += x.error().part[std::size_t(s)];
                  bound += bounds.at(b, h, i, c, site(s));
                }
              larger(g.bound_ratio, error, bound);
            }
          }
  }
  /// The recipe's exponential is that of `probability`: exact where the site is.
  template <class AnyKernel>
  auto dispatch(const AnyKernel& kernel, const row_sample& in, site_set low, const workers& who) const {
    if constexpr (!std::is_same_v<typename Low::exponential_type, natural_exponential>)
      if (!low.contains(site::probability))
        return output_of<switchable<Low, natural_exponential>>(kernel, in, low, who);
    return output_of<switchable<Low>>(kernel, in, low, who);
  }
  template <class Switchable, class AnyKernel>
  auto output_of(const AnyKernel& kernel, const row_sample& in, site_set low, const workers& who) const {
    const problem p = switched_problem(in.with_masks(), formats_, low, in.q.shape().columns);
    return kernel(switched_to<Switchable>(formats_, low), in, p, who);
  }

  Kernel kernel_;
  const row_sample& sample_;
  const attribution_options& options_;
  recipe_formats formats_;
  tensor<double> golden_;
  site_set always_;
};

/// Shapley values from every subset, or from sampled orders.
template <class Runs, class Report>
void share_out(attribution& a, const Runs& runs, const attribution_options& o, Report report) {
  const std::size_t n = o.groups.size();
  const workers one{.count = 1};
  if (n <= std::size_t(most_factorial_groups)) {
    a.subsets.resize(std::size_t(1) << n);
    workers who = o.who;
    who.progress = [&](std::int64_t done, std::int64_t) { report(done); };
    parallel_for(who, std::int64_t(a.subsets.size()),
                 [&](std::int64_t mask, arena&) { a.subsets[std::size_t(mask)] = runs.run(std::uint64_t(mask), one); });
    std::vector<double> mse, bias;
    for (const error_size& e : a.subsets) {
      mse.push_back(e.mse);
      bias.push_back(e.bias);
    }
    const std::vector<double> shares = shapley_values(mse), biases = shapley_values(bias);
    a.interactions = shapley_interactions(mse);
    for (double& x : a.interactions) x = a.total.mse > 0 ? x / a.total.mse : 0;
    for (std::size_t g = 0; g < n; ++g) {
      a.groups[g].shapley_mse = a.total.mse > 0 ? shares[g] / a.total.mse : 0;
      a.groups[g].shapley_bias = biases[g];
    }
    return;
  }
  // Both games meet the same subsets, so each is run once.
  std::unordered_map<std::uint64_t, error_size> met;
  const auto size_of = [&](std::uint64_t mask) -> const error_size& {
    const auto found = met.find(mask);
    if (found != met.end()) return found->second;
    // Every order meets as many new subsets as there are groups, or fewer.
    report(std::int64_t(met.size() / n));
    return met.emplace(mask, runs.run(mask, o.who)).first->second;
  };
  const auto shares = sampled_shapley_values(
      int(n), [&](std::uint64_t mask) { return size_of(mask).mse; }, o.pairs_of_orders, o.seed);
  const auto biases = sampled_shapley_values(
      int(n), [&](std::uint64_t mask) { return size_of(mask).bias; }, o.pairs_of_orders, o.seed);
  for (std::size_t g = 0; g < n; ++g) {
    a.groups[g].shapley_mse = a.total.mse > 0 ? shares[g].value / a.total.mse : 0;
    a.groups[g].half_width = a.total.mse > 0 ? shares[g].half_width / a.total.mse : 0;
    a.groups[g].shapley_bias = biases[g].value;
  }
}

template <class Low, class Kernel>
attribution attribute(const recipe_formats& formats, const Kernel& kernel, const row_sample& sample,
                      const attribution_options& o) {
  expect_sound(o);
  // Progress is that of the whole; the first-order pass takes about as long as every subset does.
  const bool factorial = o.groups.size() <= std::size_t(most_factorial_groups);
  const std::int64_t subsets = factorial ? std::int64_t(1) << o.groups.size() : 2 * o.pairs_of_orders;
  const std::int64_t samples = o.samples >= 2 ? o.samples * std::int64_t(o.groups.size()) : 0;
  const std::int64_t every_run = subsets + samples + (o.first_order ? subsets : 0);
  const auto report = [&](std::int64_t done) {
    if (o.who.progress) o.who.progress(done, every_run);
  };
  attribution_options quiet = o;
  quiet.who.progress = nullptr;
  const attribution_runs<Low, Kernel> runs(formats, kernel, sample, quiet);
  attribution a;
  a.rows = sample.rows;
  const std::uint64_t all = runs.everything();
  const site_set every = runs.sites_of(all);
  runs.look_at_rows(a, every);
  runs.follow_worst(a, every);
  a.exact = runs.run(0, quiet.who);
  a.residual = a.total.mse > 0 ? a.exact.mse / a.total.mse : 0;
  for (std::size_t g = 0; g < o.groups.size(); ++g) {
    group_attribution share;
    share.name = o.groups[g].name;
    share.sites = o.groups[g].sites;
    a.groups.push_back(share);
  }
  share_out(a, runs, quiet, report);
  for (std::size_t g = 0; g < o.groups.size(); ++g) {
    const std::uint64_t bit = std::uint64_t(1) << g;
    a.groups[g].demoted = a.subsets.empty() ? runs.run(bit, quiet.who) : a.subsets[bit];
    a.groups[g].promoted = a.subsets.empty() ? runs.run(all ^ bit, quiet.who) : a.subsets[all ^ bit];
  }
  a.without_rescaling = a.without_tiling = a.total;
  if constexpr (std::is_same_v<Kernel, flash_kernel>) {
    flash_kernel changed = kernel;
    changed.plan.maximum = row_maximum::known;
    a.without_rescaling = runs.run_with(changed, every, quiet.who);
    changed = kernel;
    changed.plan.tile_key = std::max<std::int64_t>(sample.k.shape().rows, 1);
    a.without_tiling = runs.run_with(changed, every, quiet.who);
    if (o.rescale_threshold) {
      changed = kernel;
      changed.plan.rescale_threshold = *o.rescale_threshold;
      a.with_lazy_rescaling = runs.run_with(changed, every, quiet.who);
    }
  }
  for (std::size_t g = 0; g < a.groups.size() && samples > 0; ++g) {
    group_attribution& group = a.groups[g];
    if (group.demoted.mse > 0 && group.demoted.not_finite == 0) group.sampled = runs.sampled(group.sites);
    report(subsets + std::int64_t(g + 1) * o.samples);
  }
  if (o.first_order) {
    runs.first_order(a, site_set::all());
    report(every_run);
    const site_set tracked_sites = site_set::all();
    for (group_attribution& g : a.groups)
      g.first_order_mse = a.total.mse > 0 ? a.first_order->between(g.sites, tracked_sites) / a.total.mse : 0;
  }
  return a;
}

}  // namespace deviate::detail
