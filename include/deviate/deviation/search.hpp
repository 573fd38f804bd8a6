// SPDX-License-Identifier: Apache-2.0
/// \file search.hpp
/// \brief Which groups must be computed exactly so that the error meets a tolerance, and which heads.
#pragma once

#include <deviate/contract.hpp>
#include <deviate/deviation/error_size.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace deviate {

/// \brief A choice of groups to raise, and the error that is left.
struct raised_groups {
  std::uint64_t raised = 0;  ///< bit mask of the groups to be computed exactly; all others may be low
  double cost = 0;           ///< sum of their costs
  error_size left;           ///< with just these raised
};

/// \brief The cheapest set of groups whose raising meets a tolerance: exact, by looking at every subset.
///
/// Cost model: each raised group costs what `cost` says, independently of the others. With equal costs it is the smallest
/// set that must be raised, and its complement the largest that may be lowered. Of equally cheap sets the one with the
/// smaller error is taken, then the one with the smaller mask. A run with elements that are not finite meets no tolerance.
/// \param subsets error by bit mask of the *low* groups, as in `attribution::subsets`
/// \param metric which number must not exceed the tolerance, by magnitude
/// \param tolerance 0 or more
/// \param cost one for each group, 0 or more; empty: 1 each
/// \return nothing if even the error of no low group is larger
/// \throws contract_violation if the sizes do not fit
inline std::optional<raised_groups> cheapest_raised(std::span<const error_size> subsets, error_metric metric,
                                                    double tolerance, std::span<const double> cost = {}) {
  expects(std::has_single_bit(subsets.size()), "cheapest_raised: errors must be given for every subset");
  const int n = std::countr_zero(subsets.size());
  expects(cost.empty() || cost.size() == std::size_t(n), "cheapest_raised: one cost for each group");
  std::optional<raised_groups> best;
  for (std::uint64_t raised = 0; raised < subsets.size(); ++raised) {
    const error_size& left = subsets[subsets.size() - 1 - raised];
    const double size = std::fabs(value_of(left, metric));
    if (left.not_finite > 0 || !(size <= tolerance)) continue;
    double sum = 0;
    for (int g = 0; g < n; ++g)
      if ((raised >> g & 1) != 0) sum += cost.empty() ? 1 : cost[std::size_t(g)];
    if (!best || sum < best->cost || (sum == best->cost && size < std::fabs(value_of(best->left, metric))))
      best = {raised, sum, left};
  }
  return best;
}

/// \brief The fewest parts of a whole whose errors must be removed to bring the mean square error to a target: the
/// largest ones. Errors of heads, rows or batches do not meet, so this is exact.
/// \param mse mean square error of each part, all of the same size
/// \param target mean square error of the whole that is allowed
/// \return indices of the parts, largest error first
inline std::vector<std::size_t> fewest_raised_parts(std::span<const double> mse, double target) {
  std::vector<std::size_t> order(mse.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return mse[a] > mse[b]; });
  // Summed from the smallest: what is left must not be the difference of two large sums.
  double left = 0;
  std::size_t keep = 0;
  while (keep < order.size()) {
    const double more = mse[order[order.size() - 1 - keep]];
    if (!(left + more <= target * double(mse.size()))) break;
    left += more;
    ++keep;
  }
  order.resize(order.size() - keep);
  return order;
}

/// \brief A set of items without which a condition no longer holds, found by delta debugging: taking away any single item
/// breaks it. For more items than `cheapest_raised` can enumerate.
///
/// A. Zeller and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002. About n² runs at most.
/// \param items to choose from
/// \param holds holds(std::vector<Item>): true for `items`
/// \return a subset, in the order given
template <class Item, class Holds>
std::vector<Item> minimal_subset(std::vector<Item> items, Holds holds) {
  std::size_t parts = 2;
  while (items.size() >= 2) {
    const std::size_t n = items.size(), chunk = (n + parts - 1) / parts;
    bool reduced = false;
    for (std::size_t first = 0; first < n && !reduced; first += chunk) {
      std::vector<Item> rest;
      for (std::size_t i = 0; i < n; ++i)
        if (i < first || i >= first + chunk) rest.push_back(items[i]);
      if (holds(rest)) {
        items = rest;
        parts = std::max<std::size_t>(parts - 1, 2);
        reduced = true;
      }
    }
    if (reduced) continue;
    if (chunk == 1) break;
    parts = std::min(parts * 2, n);
  }
  if (items.size() == 1 && holds(std::vector<Item>{})) items.clear();
  return items;
}

}  // namespace deviate
