// SPDX-License-Identifier: Apache-2.0
/// \file random_samples.hpp
/// \brief What stochastic rounding makes of a group of sites: samples of the output, their bias and their spread.
// host only
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deviate/attention/switchable.hpp>
#include <deviate/contract.hpp>
#include <deviate/deviation/detail/compensated_sum.hpp>
#include <deviate/number/stochastic_scalar.hpp>
#include <limits>
#include <span>
#include <vector>

namespace deviate {

/// \brief The error of samples, split: error² = bias² + variance, in the mean over all elements.
struct sampled_error {
  double mse = 0;       ///< mean over samples and elements of (sample − golden)²
  double bias_mse = 0;  ///< mean over elements of (mean of samples − golden)², less what the spread of that mean adds
  double variance = 0;  ///< mean over elements of the samples' variance
  /// −log10(spread ÷ size of golden), both root mean square: digits that all samples share. Infinite without any spread.
  double significant_digits = std::numeric_limits<double>::infinity();
  int samples = 0;  ///< how many
};

namespace detail {
/// The scalars of a switchable recipe that rounds stored values stochastically. Sums inside stay to nearest.
struct random_sites {
  template <site>
  using stored = stochastic_runtime<double>;
  template <site>
  using inside = switched;
};
}  // namespace detail

/// \brief `switchable<Low>` whose stored values are rounded stochastically where they are low; a recipe object carries the
/// seed.
template <class Low, class Exponential = typename Low::exponential_type>
using random_switchable = typename detail::switchable_of<Low, detail::random_sites, Exponential>::type;

/// \brief Splits the error of samples of the same output.
/// \param samples at least 2, each as long as golden
/// \param golden the right values; elements that are not finite anywhere are left out
/// \throws contract_violation if there are too few samples or lengths differ
inline sampled_error split_error(std::span<const std::vector<double>> samples, std::span<const double> golden) {
  expects(samples.size() >= 2, "split_error: at least two samples");
  for (const auto& s : samples)
    expects(s.size() == golden.size(), "split_error: every sample must be as long as golden");
  const double n = double(samples.size());
  detail::compensated_sum squares, biases, variances, reference;
  double count = 0;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    double mean = 0, square = 0;
    for (const auto& s : samples) {
      mean += (s[i] - golden[i]) / n;
      square += (s[i] - golden[i]) * (s[i] - golden[i]) / n;
    }
    if (!std::isfinite(square)) continue;
    double variance = 0;
    for (const auto& s : samples) {
      const double off = s[i] - golden[i] - mean;
      variance += off * off / (n - 1);
    }
    ++count;
    squares.add(square);
    biases.add(mean * mean - variance / n);
    variances.add(variance);
    reference.add(golden[i] * golden[i]);
  }
  sampled_error r;
  r.samples = int(samples.size());
  if (count == 0) return r;
  r.mse = squares.value() / count;
  r.bias_mse = biases.value() / count;
  r.variance = variances.value() / count;
  if (r.variance > 0) r.significant_digits = -std::log10(std::sqrt(variances.value() / reference.value()));
  return r;
}

/// \brief A recipe object of `random_switchable` in which the sites of `low` round stochastically to their formats.
/// \param formats of the recipe under study
/// \param low which sites round
/// \param seed equal seeds give equal bits
template <class Switchable>
Switchable randomly_switched_to(const recipe_formats& formats, site_set low, std::uint64_t seed) {
  Switchable r = switched_to<Switchable>(formats, low);
  r.seed = seed;
  r.random_bits = 20;
  for (int i = 0; i < site_count; ++i)
    if (low.contains(site(i)) && formats.of_site[i].fraction_bits < binary64.fraction_bits)
      r.random_bits = std::min(r.random_bits, most_random_bits_for<double>(formats.of_site[i]));
  return r;
}

}  // namespace deviate
