// SPDX-License-Identifier: Apache-2.0
/// \file headroom_watch.hpp
/// \brief The observer that counts for `observe`.
// host only
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deviate/attention/observed.hpp>
#include <deviate/attention/problem.hpp>
#include <deviate/attention/switchable.hpp>
#include <deviate/deviation/head_headroom.hpp>
#include <deviate/deviation/row_sample.hpp>
#include <deviate/number/rounding.hpp>
#include <limits>
#include <optional>
#include <vector>

namespace deviate::detail {

/// The end of a format, and rounding as if there were none.
struct format_end {
  double limit = binary64.max_finite();
  rounding_constants<double> endless{binary64};

  format_end() = default;
  explicit format_end(const format& f)
      : limit(f.max_finite()), endless(format{binary64.exponent_bits, f.fraction_bits}.rounded(f.rounding)) {}
  bool is_passed_by(double exact) const { return std::fabs(round_to(exact, endless)) > limit; }
};

/// The unrounded result, in double.
inline double exact_result(const observation& o) {
  const double a = o.operands[0], b = o.operands[1];
  switch (o.what) {
    case operation::add: return a + b;
    case operation::subtract: return a - b;
    case operation::multiply: return a * b;
    case operation::divide: return a / b;
    case operation::fma: return std::fma(a, b, o.operands[2]);
    case operation::sqrt: return std::sqrt(a);
    case operation::exp: return std::exp(a);
    case operation::exp2: return std::exp2(a);
    case operation::log: return std::log(a);
    default: return a;
  }
}

/// The key of an operation, or one of its key tile; −1 where it belongs to none.
inline std::int64_t key_of(const observation& o) {
  switch (o.where) {
    case site::score_product:
    case site::score:
    case site::probability:
    case site::probability_operand: return o.at.column;
    // Rescale factors stand one step further on than the first key of their tile.
    case site::shifted_score: return o.at.step > 0 ? o.at.step - 1 : o.at.column;
    case site::rescale_factor: return o.at.step - 1;
    case site::row_sum_partial: return std::max(o.at.column, o.at.step);
    case site::normalizer: return o.at.step > 0 ? o.at.step : -1;
    case site::input:
    case site::output:
    case site::log_sum_exp: return -1;
    default: return o.at.step;
  }
}

/// Counts, head by head. One thread at a time may compute the rows of a head.
class headroom_watch : public observer {
 public:
  /// \param looks_first a pass over all scores comes first; it is not counted
  headroom_watch(const recipe_formats& formats, const row_sample& sample, const problem& p, bool looks_first,
                 std::int64_t tile_key)
      : sample_(sample), bound_(bind(sample.q.shape(), sample.k.shape(), sample.v.shape(), p)), tile_key_(tile_key) {
    for (std::size_t i = 0; i < ends_.size(); ++i) ends_[i] = format_end(formats.of_site[i]);
    inside_row_sum_ = format_end(formats.row_sum_inside);
    const extents& q = sample.q.shape();
    heads_.resize(std::size_t(q.batch * q.heads));
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      head_state& h = heads_[i];
      h.batch = std::int64_t(i) / q.heads;
      for (std::int64_t row = 0; row < q.rows; ++row) h.seen.push_back(bound_.keys(h.batch, row));
      h.best.assign(std::size_t(q.rows), -std::numeric_limits<double>::infinity());
      h.ties.assign(std::size_t(q.rows), 0);
      h.weightless.assign(std::size_t(q.rows * bound_.n_key), false);
      h.counts = !looks_first;
    }
  }

  void see(const observation& o) override {
    if (o.where == site::input) return;
    head_state& h = heads_[std::size_t(o.head)];
    if (!h.counts && !begins_again(h, o)) return;
    if (is_of_one_key(o)) {
      if (!visible(h, o)) return;
      count_key(h, o);
    }
    measure(h, o);
    if (!std::isfinite(o.result)) note_birth(h, o);
  }

  /// The counts of every head; rescales are not observed.
  std::vector<head_headroom> heads() const {
    std::vector<head_headroom> all;
    for (const head_state& h : heads_) {
      all.push_back(h.counted);
      for (const std::int64_t n : h.ties) all.back().ties += n;
      for (std::size_t i = 1; i < all.back().sites.size(); ++i) {
        site_headroom& s = all.back().sites[i];
        s.limit = ends_[i].limit;
        s.share = std::max(s.largest / s.limit, h.inside[i] / end_of(site(i), true).limit);
        s.largest = std::max(s.largest, h.inside[i]);
      }
    }
    return all;
  }

 private:
  struct head_state {
    head_headroom counted;
    std::int64_t batch = 0;
    std::vector<key_range> seen;                 ///< by row
    std::array<double, site_count> inside = {};  ///< largest finite |result| inside the sum of a site's terms
    std::vector<double> best;                    ///< largest score of each row
    std::vector<std::int64_t> ties;              ///< keys that have it, beyond the first
    std::vector<bool> weightless;                ///< [rows × keys]: the score is −∞
    std::optional<observation> first;            ///< of the pass over all scores
    bool counts = true;
  };

  static bool is_of_one_key(const observation& o) {
    switch (o.where) {
      case site::score_product:
      case site::score:
      case site::probability:
      case site::probability_operand: return true;
      case site::shifted_score: return o.at.step == 0;
      default: return false;
    }
  }
  /// The second pass begins where the first did.
  static bool begins_again(head_state& h, const observation& o) {
    if (!h.first) {
      h.first = o;
      return false;
    }
    const observation& f = *h.first;
    h.counts = f.where == o.where && f.in_sum == o.in_sum && f.what == o.what && f.at.row == o.at.row &&
               f.at.column == o.at.column && f.at.step == o.at.step;
    return h.counts;
  }
  bool visible(const head_state& h, const observation& o) const {
    return h.seen[std::size_t(o.at.row)].contains(o.at.column) && bound_.visible(h.batch, o.at.column);
  }
  const format_end& end_of(site s, bool in_sum) const {
    return in_sum && s == site::row_sum_partial ? inside_row_sum_ : ends_[std::size_t(s)];
  }

  void count_key(head_state& h, const observation& o) const {
    const auto row = std::size_t(o.at.row), key = row * std::size_t(bound_.n_key) + std::size_t(o.at.column);
    if (o.where == site::score) {
      h.weightless[key] = o.result == -std::numeric_limits<double>::infinity();
      if (o.result > h.best[row]) {
        h.best[row] = o.result;
        h.ties[row] = 0;
      } else if (o.result == h.best[row] && !h.weightless[key]) {
        ++h.ties[row];
      }
    } else if (o.where == site::probability && (o.what == operation::exp || o.what == operation::exp2)) {
      ++h.counted.probabilities;
      h.counted.ones += o.result == 1;
      h.counted.flushed += o.result == 0 && !h.weightless[key];
    } else if (o.where == site::probability_operand) {
      h.counted.operand_flushed += o.result == 0 && o.operands[0] != 0;
    }
  }

  void measure(head_state& h, const observation& o) const {
    const format_end& end = end_of(o.where, o.in_sum);
    site_headroom& s = h.counted.sites[std::size_t(o.where)];
    double& largest = o.in_sum ? h.inside[std::size_t(o.where)] : s.largest;
    const double size = std::fabs(o.result);
    if (size < end.limit) {
      if (size > largest) largest = size;
      return;
    }
    if (size == end.limit) largest = size;
    if (!operands(o, [](double x) { return std::isfinite(x); }) || !end.is_passed_by(exact_result(o))) return;
    ++(std::isfinite(o.result) ? s.saturated : s.overflowed);
  }

  void note_birth(head_state& h, const observation& o) const {
    const std::int64_t heads = sample_.q.shape().heads, key = key_of(o);
    const birth b{h.batch, o.head % heads, sample_.rows[std::size_t(o.at.row)],
                  key < 0 ? -1 : key / tile_key_ * tile_key_, o};
    if (!h.counted.first_not_finite && operands(o, [](double x) { return std::isfinite(x); }))
      h.counted.first_not_finite = b;
    if (!h.counted.first_nan && std::isnan(o.result) && operands(o, [](double x) { return !std::isnan(x); }))
      h.counted.first_nan = b;
  }

  /// True if every operand is so.
  template <class Is>
  static bool operands(const observation& o, Is is) {
    for (int i = 0; i < o.operand_count; ++i)
      if (!is(o.operands[std::size_t(i)])) return false;
    return true;
  }

  const row_sample& sample_;
  bound_problem bound_;
  std::int64_t tile_key_;
  std::array<format_end, site_count> ends_;
  format_end inside_row_sum_;
  std::vector<head_state> heads_;
};

}  // namespace deviate::detail
