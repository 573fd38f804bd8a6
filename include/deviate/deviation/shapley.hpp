// SPDX-License-Identifier: Apache-2.0
/// \file shapley.hpp
/// \brief How a total that parties make together is shared among them: exact Shapley values, pair interactions, sampling.
///
/// A game gives every subset of n parties a worth: here the error of an attention in which just these groups of sites are
/// low. A subset is a bit mask, party i being bit i.
#pragma once

#include <deviate/contract.hpp>
#include <deviate/deviation/detail/compensated_sum.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <unordered_map>
#include <vector>

namespace deviate {

/// \brief Most parties of a game whose worths are all given.
inline constexpr int most_exact_parties = 20;

namespace detail {

inline int parties_of(std::span<const double> worth) {
  const bool fits = std::has_single_bit(worth.size()) && worth.size() <= std::size_t(1) << most_exact_parties;
  expects(fits, "shapley: worths must be given for all subsets of at most 20 parties");
  return std::countr_zero(worth.size());
}

/// s! (n − s − 1)! / n! : the share of the orders in which just `s` given parties of n come before a given one.
inline double share_of_orders(int s, int n) {
  double r = 1.0 / n;
  for (int i = 1; i <= s; ++i) r *= double(i) / double(n - i);
  return r;
}

}  // namespace detail

/// \brief The Shapley value of every party: its mean marginal worth over all orders in which the parties may join.
///
/// The values sum to worth(all) − worth(none); parties that always add the same have the same value; one that never
/// changes the worth has exactly 0. L. Shapley, "A Value for n-Person Games", 1953. Cost n · 2^n.
/// \param worth worth[mask] of each of the 2^n subsets, finite
/// \return n values, in the unit of the worth
/// \throws contract_violation if the number of worths is not a power of two, or n > 20
inline std::vector<double> shapley_values(std::span<const double> worth) {
  const int n = detail::parties_of(worth);
  std::vector<double> value;
  for (int i = 0; i < n; ++i) {
    detail::compensated_sum sum;
    const std::size_t bit = std::size_t(1) << i;
    for (std::size_t mask = 0; mask < worth.size(); ++mask)
      if ((mask & bit) == 0)
        sum.add(detail::share_of_orders(std::popcount(mask), n) * (worth[mask | bit] - worth[mask]));
    value.push_back(sum.value());
  }
  return value;
}

/// \brief The Shapley interaction index of every pair: the mean, over orders, of how much more two parties add together
/// than each alone.
///
/// 0 where they never influence each other, positive where their errors reinforce, negative where they cancel or where
/// either suffices. M. Grabisch and M. Roubens, "An axiomatic approach to the concept of interaction", 1999.
/// \param worth as for `shapley_values`
/// \return n × n, symmetric, row by row; the diagonal is 0
/// \throws contract_violation as `shapley_values`
inline std::vector<double> shapley_interactions(std::span<const double> worth) {
  const int n = detail::parties_of(worth);
  std::vector<double> index(std::size_t(n) * std::size_t(n), 0.0);
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) {
      detail::compensated_sum sum;
      const std::size_t a = std::size_t(1) << i, b = std::size_t(1) << j;
      for (std::size_t mask = 0; mask < worth.size(); ++mask)
        if ((mask & (a | b)) == 0)
          sum.add(detail::share_of_orders(std::popcount(mask), n - 1) *
                  ((worth[mask | a | b] - worth[mask | a]) - (worth[mask | b] - worth[mask])));
      index[std::size_t(i * n + j)] = index[std::size_t(j * n + i)] = sum.value();
    }
  return index;
}

/// \brief A Shapley value estimated from sampled orders.
struct sampled_value {
  double value = 0;       ///< mean marginal worth
  double half_width = 0;  ///< of its 95 % confidence interval, by the normal approximation
};

/// \brief Shapley values of many parties, from random orders; every other order is the reverse of the one before it.
///
/// The values still sum to worth(all) − worth(none). Reversed pairs cancel what is symmetric in the order (R. Mitchell et
/// al., "Sampling Permutations for Shapley Value Estimation", 2022); the interval is that of the means of pairs.
/// \param n number of parties, 1 to 64
/// \param worth worth(std::uint64_t mask); asked once for each subset met
/// \param pairs number of pairs of orders, at least 2
/// \param seed equal seeds give equal orders
/// \throws contract_violation if n or pairs is out of range
template <class Worth>
std::vector<sampled_value> sampled_shapley_values(int n, Worth worth, int pairs, std::uint64_t seed = 1) {
  expects(n >= 1 && n <= 64 && pairs >= 2, "sampled_shapley_values: 1 to 64 parties and at least 2 pairs of orders");
  std::unordered_map<std::uint64_t, double> known;
  const auto ask = [&](std::uint64_t mask) {
    const auto found = known.find(mask);
    return found != known.end() ? found->second : known.emplace(mask, worth(mask)).first->second;
  };
  // SplitMix64 (G. Steele et al., 2014): standard distributions differ between libraries.
  auto next = [state = seed]() mutable {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  };
  std::vector<double> sum(std::size_t(n), 0.0), squares(std::size_t(n), 0.0), of_pair(std::size_t(n), 0.0);
  std::vector<int> order(static_cast<std::size_t>(n));
  const auto join = [&] {
    std::uint64_t mask = 0;
    double before = ask(0);
    for (const int i : order) {
      mask |= std::uint64_t(1) << i;
      const double after = ask(mask);
      of_pair[std::size_t(i)] += (after - before) / 2;
      before = after;
    }
  };
  for (int p = 0; p < pairs; ++p) {
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[std::size_t(next() % i)]);
    std::fill(of_pair.begin(), of_pair.end(), 0.0);
    join();
    std::reverse(order.begin(), order.end());
    join();
    for (std::size_t i = 0; i < order.size(); ++i) {
      sum[i] += of_pair[i];
      squares[i] += of_pair[i] * of_pair[i];
    }
  }
  std::vector<sampled_value> result;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double mean = sum[i] / pairs,
                 variance = std::max(0.0, squares[i] / pairs - mean * mean) * pairs / (pairs - 1);
    result.push_back({mean, 1.96 * std::sqrt(variance / pairs)});
  }
  return result;
}

}  // namespace deviate
