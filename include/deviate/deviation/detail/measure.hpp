// SPDX-License-Identifier: Apache-2.0
/// \file measure.hpp
/// \brief The metrics, each as its definition, over the elements of one region of two tensors.
#pragma once

#include <deviate/deviation/detail/compensated_sum.hpp>
#include <deviate/deviation/order_statistics.hpp>
#include <deviate/deviation/summary.hpp>
#include <deviate/deviation/ulp.hpp>
#include <deviate/deviation/wasserstein.hpp>
#include <deviate/tensor/view.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace deviate::detail {

/// \brief Numbers that double cannot hold: double_double, Boost's, long double. A golden of such numbers is not rounded
/// before it is subtracted.
template <class T>
concept wider_than_double = std::numeric_limits<T>::is_specialized &&
                            (std::numeric_limits<T>::digits > std::numeric_limits<double>::digits) &&
                            !std::numeric_limits<T>::is_integer && std::constructible_from<T, double>;

/// \brief What a golden element is held in.
template <class Golden>
using held_golden = std::conditional_t<wider_than_double<Golden>, Golden, double>;

/// \brief The values that means and sums are over, in order.
template <class Wide>
struct finite_pairs {
  std::vector<double> got;
  std::vector<Wide> golden;
};

/// \brief got − golden, formed in the wider of the two and then rounded once to double.
template <class Wide>
double difference(double got, const Wide& golden) {
  if constexpr (std::same_as<Wide, double>)
    return got - golden;
  else
    return static_cast<double>(static_cast<Wide>(static_cast<Wide>(got) - golden));
}

/// \brief As `ulp_distance`, with that difference.
template <class Wide>
double ulps_between(double got, const Wide& golden, const format& f) {
  const double reference = static_cast<double>(golden);
  if (std::same_as<Wide, double> || !std::isfinite(got) || !std::isfinite(reference))
    return ulp_distance(got, reference, f);
  return std::fabs(difference(got, golden)) / ulp(reference, f);
}

/// \brief Greater, with NaN above everything: a maximum built with it keeps a NaN, whichever side it comes from.
inline bool exceeds(double x, double y) { return std::isnan(x) ? !std::isnan(y) : x > y; }

/// \brief x / y with 0/0 = 0.
inline double ratio(double x, double y) { return x == 0 && y == 0 ? 0.0 : x / y; }

/// \brief A power of two that brings `largest` to [1, 2), so that squares neither over- nor underflow.
inline double unit_scale(double largest) {
  if (largest == 0 || !std::isfinite(largest)) return 1;
  return power_of_two(std::min(-std::ilogb(largest), 1023));
}

/// \brief Σ term(i), compensated, for i = 0 … n − 1.
template <class Term>
double sum(std::size_t n, Term term) {
  compensated_sum total;
  for (std::size_t i = 0; i < n; ++i) total.add(term(i));
  return total.value();
}

/// \brief The end of a format's range, and what rounds to it.
class range_end {
 public:
  // A tie goes to the even neighbour; the largest number has an odd fraction but where the all-ones code is NaN.
  explicit range_end(const format& f)
      : largest_(f.max_finite()),
        half_ulp_(ulp(largest_, f) / 2),
        keeps_ties_(f.specials == special_values::nan_only) {}
  /// \brief True if got sits at the end and rounding golden does not explain it.
  bool is_saturated(double got, double golden) const {
    if (std::fabs(got) != largest_ || std::isnan(golden)) return false;
    const double distance = std::fabs(got - golden);
    return distance > half_ulp_ || (distance == half_ulp_ && !keeps_ties_);
  }

 private:
  double largest_;
  double half_ulp_;
  bool keeps_ties_;
};

/// \brief Counts one element, raises the maxima, and keeps the pair if it is finite.
template <class Wide>
void classify(const element_location& here, const Wide& exact, const deviation_options& options, const range_end& end,
              deviation_summary& s, finite_pairs<Wide>& pairs) {
  const double got = here.got, golden = here.golden;
  const bool got_nan = std::isnan(got), golden_nan = std::isnan(golden);
  double distance = std::fabs(got - golden);
  double ulps = ulps_between(got, exact, options.ulp_format);
  if (got_nan && golden_nan) {
    ++s.nan_in_both;
    if (options.both_nan_equal) {
      distance = ulps = 0;
      ++s.identical;
    }
  } else if (got_nan) {
    ++s.nan_in_got;
  } else if (golden_nan) {
    ++s.nan_in_golden;
  } else if (std::isinf(got) || std::isinf(golden)) {
    const bool equal = got == golden;
    ++(equal ? s.infinities_equal : s.infinity_mismatches);
    distance = equal ? 0 : std::numeric_limits<double>::infinity();
    s.identical += equal;
  } else {
    ++s.finite_pairs;
    s.identical += std::bit_cast<std::uint64_t>(got) == std::bit_cast<std::uint64_t>(golden);
    distance = std::fabs(difference(got, exact));
    s.ulps.add(ulps);
    pairs.got.push_back(got);
    pairs.golden.push_back(exact);
  }
  s.saturated += end.is_saturated(got, golden);
  s.flushed_to_zero += got == 0 && golden != 0 && !golden_nan;
  if (s.compared == 0 || exceeds(distance, s.max_abs)) {
    s.max_abs = distance;
    s.worst = here;
  }
  if (s.compared == 0 || exceeds(ulps, s.max_ulp)) s.max_ulp = ulps;
  ++s.compared;
}

/// \brief W_1 and W_2 of the values on both sides.
template <class Wide>
void measure_distributions(const finite_pairs<Wide>& pairs, deviation_summary& s) {
  if constexpr (std::same_as<Wide, double>) {
    const monotone_coupling coupling(pairs.got, pairs.golden);
    s.wasserstein_1 = coupling.distance(1);
    s.wasserstein_2 = coupling.distance(2);
  } else {
    // As many values on both sides: what `monotone_coupling` does to them is to pair them in order.
    finite_pairs<Wide> sorted = pairs;
    sort_values(sorted.got);
    std::sort(sorted.golden.begin(), sorted.golden.end());
    const std::size_t size = sorted.got.size();
    std::vector<double> moved(size);
    for (std::size_t i = 0; i < size; ++i) moved[i] = std::fabs(difference(sorted.got[i], sorted.golden[i]));
    const double scale = unit_scale(*std::max_element(moved.begin(), moved.end()));
    s.wasserstein_1 = sum(size, [&](std::size_t i) { return moved[i] * scale; }) / double(size) / scale;
    s.wasserstein_2 =
        std::sqrt(sum(size, [&](std::size_t i) { return (moved[i] * scale) * (moved[i] * scale); }) / double(size)) /
        scale;
  }
}

/// \brief The metrics over finite pairs.
template <class Wide>
void measure_pairs(const finite_pairs<Wide>& pairs, const deviation_options& options, deviation_summary& s) {
  const std::size_t size = pairs.got.size();
  if (size == 0) return;
  const double n = double(size);
  const auto got = [&](std::size_t i) { return pairs.got[i]; };
  const auto golden = [&](std::size_t i) { return static_cast<double>(pairs.golden[i]); };
  const auto off = [&](std::size_t i) { return difference(pairs.got[i], pairs.golden[i]); };
  double largest_d = 0, largest_a = 0, largest_b = 0;
  for (std::size_t i = 0; i < size; ++i) {
    largest_d = std::max(largest_d, std::fabs(off(i)));
    largest_a = std::max(largest_a, std::fabs(got(i)));
    largest_b = std::max(largest_b, std::fabs(golden(i)));
  }
  // All sums are over scaled values; the scales are powers of two and leave every significand as it is.
  const double scale_d = unit_scale(largest_d), scale_a = unit_scale(largest_a), scale_b = unit_scale(largest_b);
  const auto d = [&](std::size_t i) { return off(i) * scale_d; };
  const auto a = [&](std::size_t i) { return got(i) * scale_a; };
  const auto b = [&](std::size_t i) { return golden(i) * scale_b; };
  const auto square = [](double x) { return x * x; };

  const double abs_d = sum(size, [&](std::size_t i) { return std::fabs(d(i)); });
  const double abs_b = sum(size, [&](std::size_t i) { return std::fabs(b(i)); });
  const double mean = abs_d / n;
  const double bias = sum(size, d) / n;
  s.mean_abs = mean / scale_d;
  s.bias = bias / scale_d;
  s.std_abs = std::sqrt(sum(size, [&](std::size_t i) { return square(std::fabs(d(i)) - mean); }) / n) / scale_d;
  s.bias_ci95 = std::numeric_limits<double>::infinity();
  if (size > 1) {
    const double variance = sum(size, [&](std::size_t i) { return square(d(i) - bias); }) / (n - 1);
    s.bias_ci95 = 1.96 * std::sqrt(variance / n) / scale_d;
  }

  const double squares_d = sum(size, [&](std::size_t i) { return square(d(i)); });
  const double squares_a = sum(size, [&](std::size_t i) { return square(a(i)); });
  const double squares_b = sum(size, [&](std::size_t i) { return square(b(i)); });
  s.rmse = std::sqrt(squares_d / n) / scale_d;
  s.relative_l1 = ratio(abs_d, abs_b) * (scale_b / scale_d);
  s.relative_l2 = ratio(std::sqrt(squares_d), std::sqrt(squares_b)) * (scale_b / scale_d);
  if (largest_a == 0 || largest_b == 0) {
    const bool both = largest_a == largest_b;
    s.norm_ratio = both ? 1 : ratio(largest_a, largest_b);
    s.cosine = both ? 1 : 0;
  } else {
    s.norm_ratio = std::sqrt(squares_a) / std::sqrt(squares_b) * (scale_b / scale_a);
    const double products = sum(size, [&](std::size_t i) { return a(i) * b(i); });
    s.cosine = std::clamp(products / std::sqrt(squares_a * squares_b), -1.0, 1.0);
  }

  s.mean_ulp =
      sum(size, [&](std::size_t i) { return ulps_between(pairs.got[i], pairs.golden[i], options.ulp_format); }) / n;
  if (options.wasserstein) measure_distributions(pairs, s);
}

/// \brief Half-open index ranges of the elements to measure.
struct region {
  std::int64_t batch_begin, batch_end, head_begin, head_end, row_begin, row_end;
};

/// \brief True if the mask, in either of its shapes, keeps the row.
inline bool row_is_valid(const deviation_options& options, const extents& shape, std::int64_t b, std::int64_t h,
                         std::int64_t r) {
  if (options.valid_rows.empty()) return true;
  const bool for_all_heads = std::int64_t(options.valid_rows.size()) == shape.batch * shape.rows;
  const std::int64_t row = (for_all_heads ? b : b * shape.heads + h) * shape.rows + r;
  return options.valid_rows[std::size_t(row)] != 0;
}

/// \brief The summary of one region, elements in the order batch, head, row, column.
template <class Got, class Golden>
deviation_summary measure(const tensor_view<const Got>& got, const tensor_view<const Golden>& golden,
                          const region& where, const deviation_options& options) {
  using wide = held_golden<Golden>;
  deviation_summary s;
  finite_pairs<wide> pairs;
  const range_end end(options.ulp_format);
  for (std::int64_t b = where.batch_begin; b < where.batch_end; ++b)
    for (std::int64_t h = where.head_begin; h < where.head_end; ++h)
      for (std::int64_t r = where.row_begin; r < where.row_end; ++r) {
        if (!row_is_valid(options, got.shape(), b, h, r)) continue;
        for (std::int64_t c = 0; c < got.columns(); ++c) {
          const wide exact = static_cast<wide>(golden(b, h, r, c));
          classify({b, h, r, c, static_cast<double>(got(b, h, r, c)), static_cast<double>(exact)}, exact, options, end,
                   s, pairs);
        }
      }
  measure_pairs(pairs, options, s);
  return s;
}

}  // namespace deviate::detail
