// SPDX-License-Identifier: Apache-2.0
/// \file headroom.hpp
/// \brief How near each site comes to the end of its format, and what is counted on the way: rescales, ties, vanished
/// probabilities, overflows, the first infinity or NaN.
// host only
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deviate/attention/forward.hpp>
#include <deviate/attention/observed.hpp>
#include <deviate/attention/switchable.hpp>
#include <deviate/deviation/detail/headroom_watch.hpp>
#include <deviate/deviation/head_headroom.hpp>
#include <deviate/deviation/row_sample.hpp>
#include <vector>

namespace deviate {

namespace detail {
/// The scalars of a switchable recipe whose sites are observed.
struct observed_sites {
  template <site>
  using stored = observed<wide_runtime>;
  template <site>
  using inside = observed<switched>;
};
}  // namespace detail

/// \brief `switchable<Low>` with every site but the input observed.
template <class Low, class Exponential = typename Low::exponential_type>
using observed_switchable = typename detail::switchable_of<Low, detail::observed_sites, Exponential>::type;

/// \brief What was observed, head by head.
struct headroom {
  std::vector<head_headroom> heads;  ///< [batch × query heads]
  std::vector<std::int64_t> rows;    ///< the rows looked at, in every head

  /// \brief All heads together; what is the first of its kind is that of the first head that has one.
  head_headroom whole() const {
    head_headroom all;
    for (const head_headroom& h : heads) all.take_in(h);
    return all;
  }
};

namespace detail {

/// Runs forward(observed recipe, problem, execution) over the rows of a sample and collects what is seen.
template <class Low, class Forward>
headroom observe(const recipe_formats& formats, const row_sample& sample, bool looks_first, std::int64_t tile_key,
                 Forward forward) {
  const problem p = switched_problem(sample.with_masks(), formats, site_set::all(), sample.q.shape().columns);
  headroom_watch watch(formats, sample, p, looks_first, tile_key);
  auto low = switched_to<observed_switchable<Low>>(formats, site_set::all());
  low.seen_by = &watch;
  const auto got = forward(low, p);
  headroom r{watch.heads(), sample.rows};
  const std::int64_t rows = sample.q.shape().rows;
  for (std::size_t h = 0; h < r.heads.size(); ++h) {
    r.heads[h].rows = rows;
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int32_t n = got.rescales.values()[h * std::size_t(rows) + std::size_t(i)];
      r.heads[h].rescales += n;
      r.heads[h].most_rescales = std::max(r.heads[h].most_rescales, n);
    }
  }
  return r;
}

/// The same of Flash Attention and of Baseline Attention, over the order of Low in formats chosen at run time.
template <class Low>
headroom observe_flash(const recipe_formats& formats, const row_sample& sample, schedule plan, const workers& who) {
  // All rows of a head are one block: the order of what is seen is then the same for any number of workers.
  plan.tile_query = std::max<std::int64_t>(sample.q.shape().rows, 1);
  return observe<Low>(formats, sample, plan.maximum == row_maximum::known, plan.tile_key,
                      [&](const auto& low, const problem& p) {
                        return flash_forward(low, sample.q, sample.k, sample.v, p, plan, workers_by<plain_tile>{who});
                      });
}
template <class Low>
headroom observe_baseline(const recipe_formats& formats, const row_sample& sample, const workers& who) {
  // Baseline Attention takes 64 rows of a head at a time: more of them must not be seen from two threads.
  const workers_by<plain_tile> by{sample.q.shape().rows <= 64 ? who : workers{.count = 1}};
  return observe<Low>(
      formats, sample, false, std::max<std::int64_t>(sample.k.shape().rows, 1),
      [&](const auto& low, const problem& p) { return baseline_forward(low, sample.q, sample.k, sample.v, p, by); });
}

}  // namespace detail

/// \brief Runs Flash Attention in a recipe over a sample of rows and observes every operation.
///
/// Keys that a row does not see are left out. The inputs are rounded to the recipe's input format beforehand; rounding
/// them is not observed. The same counts for any number of workers.
/// \param low the recipe under study: native, emulated or run-time formats
/// \param q queries, k keys, v values: as for `flash_forward`
/// \param k keys
/// \param v values
/// \param p scale and masks
/// \param plan tile sizes, key order and maximum; `tile_query` does not matter
/// \param rows how many rows are looked at over all heads; see row_sample
/// \param who threads
/// \throws contract_violation as `flash_forward`
template <class Low, class Q, class K, class V>
headroom observe(const Low& low, const Q& q, const K& k, const V& v, const problem& p = {}, const schedule& plan = {},
                 std::int64_t rows = 128, const workers& who = {}) {
  const recipe_formats formats = formats_of(low);
  return detail::observe_flash<Low>(formats, sample_rows(q, k, v, p, rows, formats.of_site[int(site::input)]), plan,
                                    who);
}

/// \brief The same of Baseline Attention. O is its output, and l the sum of a whole row.
template <class Low, class Q, class K, class V>
headroom observe_baseline(const Low& low, const Q& q, const K& k, const V& v, const problem& p = {},
                          std::int64_t rows = 128, const workers& who = {}) {
  const recipe_formats formats = formats_of(low);
  return detail::observe_baseline<Low>(formats, sample_rows(q, k, v, p, rows, formats.of_site[int(site::input)]), who);
}

}  // namespace deviate
