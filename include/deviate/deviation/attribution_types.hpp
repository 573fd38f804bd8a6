// SPDX-License-Identifier: Apache-2.0
/// \file attribution_types.hpp
/// \brief What an attribution is asked and what it answers.
// host only
#pragma once

#include <cstdint>
#include <deviate/attention/switchable.hpp>
#include <deviate/deviation/error_size.hpp>
#include <deviate/deviation/first_order.hpp>
#include <deviate/deviation/random_samples.hpp>
#include <deviate/deviation/row_sample.hpp>
#include <deviate/deviation/shapley.hpp>
#include <deviate/team/workers.hpp>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace deviate {

/// \brief Sites that are switched together.
struct site_group {
  std::string name;  ///< for people
  site_set sites;    ///< its sites; groups must not overlap
};

/// \brief The default groups: the sums inside the matrix products, and the seven kinds of stored values.
inline std::vector<site_group> default_site_groups() {
  return {{"matrix_sums", site_set(site::score_product, site::value_product)},
          {"score", site_set(site::score)},
          {"shifted_score", site_set(site::row_max, site::shifted_score)},
          {"probability", site_set(site::probability, site::probability_operand)},
          {"row_sum", site_set(site::row_sum_partial, site::row_sum)},
          {"rescaling", site_set(site::rescale_factor, site::rescaled_sum, site::rescaled_output)},
          {"output_state", site_set(site::value_partial, site::output_state)},
          {"output", site_set(site::normalizer, site::output)}};
}

/// \brief How an attribution is made.
struct attribution_options {
  std::vector<site_group> groups = default_site_groups();  ///< up to 64; a site in none of them is always low
  std::int64_t rows = 128;                                 ///< how many rows are looked at; see row_sample
  std::optional<double> rescale_threshold = std::nullopt;  ///< also tell what lazy rescaling would change
  int pairs_of_orders = 64;                                ///< sampled where there are more than 10 groups
  std::uint64_t seed = 1;                                  ///< of these
  bool first_order = true;                                 ///< also the pass of tracked numbers, the slowest of all
  int samples = 8;                                         ///< of stochastic rounding, for each group; 0 or 1 for none
  workers who = {};                                        ///< threads, and a callback for progress in runs
};

/// \brief Most groups for which every subset is run.
inline constexpr int most_factorial_groups = 10;

/// \brief What one group has to do with the error.
struct group_attribution {
  std::string name;            ///< of the group
  site_set sites;              ///< its sites
  double shapley_mse = 0;      ///< Shapley value of the mean square error, as a share of the whole
  double shapley_bias = 0;     ///< Shapley value of the bias, in the unit of V
  double half_width = 0;       ///< of the 95 % interval of shapley_mse, where orders were sampled
  error_size demoted;          ///< this group low, all others exact
  error_size promoted;         ///< this group exact, all others low
  double first_order_mse = 0;  ///< mean of (its error × the whole error), both to first order, as a share of the mse
  std::optional<sampled_error> sampled;  ///< this group low and rounded stochastically, all others exact
  /// Largest |its error to first order| ÷ `bound_a_priori` of its sites, over all elements; NaN where there is no bound.
  double bound_ratio = std::numeric_limits<double>::quiet_NaN();
};

/// \brief The row whose error is largest, and where on its way through the keys the error comes about.
struct worst_row {
  std::int64_t batch = 0;  ///< of the row
  std::int64_t head = 0;   ///< query head
  std::int64_t row = 0;    ///< in the whole problem
  double mse = 0;          ///< over its elements
  /// Root mean square error of the row if it ended after each key tile it sees, times the share of the row's weight that
  /// lies so far: what has come about of the final error.
  std::vector<double> error_after;
  std::vector<std::int64_t> tiles;  ///< first keys of these tiles
  std::int64_t worst_tile = -1;     ///< first key of the tile after which the error grows most; −1: no tiles
};

/// \brief An error, shared out.
struct attribution {
  error_size total;                       ///< every group low
  error_size exact;                       ///< every group exact: the residual, with the groups' names taken away
  std::vector<group_attribution> groups;  ///< in the order asked for
  std::vector<error_size> subsets;        ///< by bit mask of the low groups; empty where orders were sampled
  std::vector<double> interactions;       ///< groups × groups: Shapley interactions of the mse, as shares of the whole
  double residual = 0;                    ///< mse of `exact`, as a share of the whole
  error_size without_rescaling;           ///< every group low, the rows' maxima known from the start
  error_size without_tiling;              ///< every group low, one key tile
  std::optional<error_size> with_lazy_rescaling;   ///< every group low, `rescale_threshold`
  std::int64_t rescales = 0;                       ///< over all rows looked at, every group low
  std::optional<first_order_moments> first_order;  ///< of every group low
  /// Largest |O − golden| ÷ the sum of all bounds, every group low; NaN where there is no bound.
  double bound_ratio = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::int64_t> rows;  ///< the rows looked at, in every head
  std::vector<double> row_mse;     ///< [batch × query heads × rows looked at]: every group low
  worst_row worst;                 ///< of the rows looked at
  tensor<double> low_output;       ///< O of the rows looked at, every group low
};

}  // namespace deviate
