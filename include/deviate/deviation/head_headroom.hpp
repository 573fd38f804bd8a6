// SPDX-License-Identifier: Apache-2.0
/// \file head_headroom.hpp
/// \brief What is counted where a head is observed.
// host only
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deviate/attention/observed.hpp>
#include <deviate/attention/site.hpp>
#include <optional>

namespace deviate {

/// \brief How near the results of a site come to the end of its format. Decided in double.
struct site_headroom {
  double limit = 0;            ///< largest finite number of the site's format
  double largest = 0;          ///< largest finite |result|, those inside the sum of the site's terms included
  double share = 0;            ///< the largest of |result| ÷ the limit of its own rounding: 1 at the end of the format
  std::int64_t saturated = 0;  ///< results of finite operands that lie beyond the limit and were clamped to it
  std::int64_t overflowed = 0;  ///< results of finite operands that lie beyond the limit and became infinite or NaN

  /// \brief Adds what another head has.
  void take_in(const site_headroom& other) {
    limit = std::max(limit, other.limit);
    largest = std::max(largest, other.largest);
    share = std::max(share, other.share);
    saturated += other.saturated;
    overflowed += other.overflowed;
  }
};

/// \brief The first operation of its kind in a head, in the order in which the rows looked at are computed together: key
/// tile after key tile, in each of them step after step.
struct birth {
  std::int64_t batch = 0;       ///< of the head
  std::int64_t head = 0;        ///< query head
  std::int64_t row = 0;         ///< in the whole problem
  std::int64_t first_key = -1;  ///< first key of the key tile; −1 where the operation belongs to none
  observation what;             ///< site, operation, operands, result; `at` has the key or the feature as its column
};

/// \brief What was counted in a head. Keys that a row does not see count nowhere.
struct head_headroom {
  std::int64_t rows = 0;             ///< rows looked at
  std::int64_t rescales = 0;         ///< how often their running maxima rose after their first tile
  std::int32_t most_rescales = 0;    ///< the most of one row
  std::int64_t ties = 0;             ///< keys whose score equals the largest of their row, beyond the first
  std::int64_t probabilities = 0;    ///< P = exp(S − m) computed, of keys that are seen
  std::int64_t ones = 0;             ///< P that are exactly 1
  std::int64_t flushed = 0;          ///< P that are 0 although the score is not −∞
  std::int64_t operand_flushed = 0;  ///< P that are not 0 themselves, but are as they enter P·V
  std::array<site_headroom, site_count> sites = {};  ///< by site; `input` stays empty
  std::optional<birth> first_not_finite;             ///< the first infinity or NaN that finite operands give
  std::optional<birth> first_nan;                    ///< the first NaN that operands other than NaN give

  /// \brief Of a site.
  const site_headroom& at(site s) const { return sites[std::size_t(s)]; }
  /// \brief Mean rescales of a row.
  double mean_rescales() const { return rows > 0 ? double(rescales) / double(rows) : 0; }
  /// \brief Adds what another head has; its births only where there is none yet.
  void take_in(const head_headroom& other) {
    rows += other.rows;
    rescales += other.rescales;
    most_rescales = std::max(most_rescales, other.most_rescales);
    ties += other.ties;
    probabilities += other.probabilities;
    ones += other.ones;
    flushed += other.flushed;
    operand_flushed += other.operand_flushed;
    for (std::size_t i = 0; i < sites.size(); ++i) sites[i].take_in(other.sites[i]);
    if (!first_not_finite) first_not_finite = other.first_not_finite;
    if (!first_nan) first_nan = other.first_nan;
  }
};

}  // namespace deviate
