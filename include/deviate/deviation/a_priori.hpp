// SPDX-License-Identifier: Apache-2.0
/// \file a_priori.hpp
/// \brief The first-order error bound of every site of Flash Attention, before anything is rounded: unit roundoffs times
/// what they multiply, summed over tiles and rescales.
// host only
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deviate/attention/forward.hpp>
#include <deviate/attention/switchable.hpp>
#include <deviate/deviation/row_sample.hpp>
#include <deviate/tensor/tensor.hpp>
#include <limits>
#include <vector>

namespace deviate {

/// \brief Bounds of |error of O| that the roundings of each site can cause, to first order, for every element.
struct a_priori_bounds {
  tensor<double> of_site;  ///< [batch, query heads, rows, d_v · site_count]: site s of column c at c · site_count + s
  /// \brief The bound of one site at one element.
  double at(std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t column, site s) const {
    return of_site(b, h, row, column * site_count + int(s));
  }
  /// \brief The sum over all sites at one element.
  double total(std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t column) const {
    double sum = 0;
    for (int s = 0; s < site_count; ++s) sum += of_site(b, h, row, column * site_count + s);
    return sum;
  }
};

namespace detail {

/// |rounded x − x| ≤ relative · |x| + absolute.
struct rounding_bound {
  double relative = 0, absolute = 0;
  explicit rounding_bound(const format& f) {
    if (f == binary64) return;
    const bool nearest = f.rounding == rounding_mode::nearest_even || f.rounding == rounding_mode::nearest_away;
    relative = std::ldexp(1.0, nearest ? -f.precision() : 1 - f.precision());
    absolute =
        f.subnormals == subnormal_rule::flush ? f.min_normal() : std::ldexp(nearest ? 0.5 : 1.0, f.quantum_exponent());
  }
};

/// The bounds of one row, over its keys in tiles.
class row_bounds {
 public:
  row_bounds(const recipe_formats& f, std::int64_t d, std::int64_t d_v, int row_sum_lanes, bool fused, double scale)
      : d_(d),
        d_v_(d_v),
        lanes_(row_sum_lanes),
        fused_(fused),
        scale_(std::fabs(scale)),
        scale_error_(f.scale == binary32 && scale != 0 ? std::fabs(double(float(scale)) / scale - 1) : 0),
        inside_(f.row_sum_inside) {
    for (int s = 0; s < site_count; ++s) site_.emplace_back(f.of_site[s]);
  }

  /// \param product Σ |q_c k_jc| of each key \param score the exact scores \param v values of each key
  /// \param tile_of number of the key tile of each key \param out [d_v × site_count]
  template <class Value>
  void operator()(const std::vector<double>& product, const std::vector<double>& score, Value v,
                  const std::vector<std::int64_t>& tile_of, double* out) const {
    // What is rounded is not the exact O but one that errs already: by the bound that the exact one gives.
    std::vector<double> error(std::size_t(d_v_), 0.0);
    fill(product, score, v, tile_of, error, out);
    for (std::int64_t c = 0; c < d_v_; ++c)
      for (int s = 0; s < site_count; ++s) error[std::size_t(c)] += out[c * site_count + s];
    fill(product, score, v, tile_of, error, out);
  }

 private:
  template <class Value>
  void fill(const std::vector<double>& product, const std::vector<double>& score, Value v,
            const std::vector<std::int64_t>& tile_of, const std::vector<double>& error, double* out) const {
    std::fill_n(out, d_v_ * site_count, 0.0);
    const std::size_t n = score.size();
    if (n == 0) return;
    const double most = *std::max_element(score.begin(), score.end());
    double sum = 0;
    for (const double s : score) sum += std::exp(s - most);
    std::vector<double> output(std::size_t(d_v_), 0.0), earlier(std::size_t(d_v_), 0.0),
        of_tile(static_cast<std::size_t>(d_v_)), sizes(static_cast<std::size_t>(d_v_));
    for (std::size_t j = 0; j < n; ++j)
      for (std::int64_t c = 0; c < d_v_; ++c) output[std::size_t(c)] += std::exp(score[j] - most) / sum * v(j, c);
    double so_far = 0, running = -std::numeric_limits<double>::infinity();
    const auto add = [&](site s, std::int64_t c, double x) { out[c * site_count + int(s)] += x; };
    for (std::size_t first = 0; first < n;) {
      std::size_t end = first;
      double maximum = running;
      for (; end < n && tile_of[end] == tile_of[first]; ++end) maximum = std::max(maximum, score[end]);
      const double frame = std::exp(maximum - most) / sum;  // what 1 in the units of this tile is in the end
      if (first > 0 && maximum > running) {
        // α errs relatively by the rounding of its exponent and its own; l and O are multiplied and rounded.
        const double shift = maximum - running, alpha = std::exp(-shift);
        const rounding_bound &e = of(site::shifted_score), &a = of(site::rescale_factor);
        const double from_shift = e.relative * shift + e.absolute, from_alpha = a.relative + a.absolute / alpha;
        for (std::int64_t c = 0; c < d_v_; ++c) {
          const double o = output[std::size_t(c)], e_o = error[std::size_t(c)],
                       moved = std::fabs(earlier[std::size_t(c)] - o * so_far) + 2 * e_o * so_far;
          add(site::shifted_score, c, from_shift * moved);
          add(site::rescale_factor, c, from_alpha * moved);
          add(site::rescaled_sum, c,
              (of(site::rescaled_sum).relative * so_far + of(site::rescaled_sum).absolute * frame) *
                  (std::fabs(o) + e_o));
          add(site::rescaled_output, c,
              of(site::rescaled_output).relative * (std::fabs(earlier[std::size_t(c)]) + e_o * so_far) +
                  of(site::rescaled_output).absolute * frame);
        }
      }
      double weight = 0;
      std::fill(of_tile.begin(), of_tile.end(), 0.0);
      std::fill(sizes.begin(), sizes.end(), 0.0);
      for (std::size_t j = first; j < end; ++j) {
        const double p = std::exp(score[j] - most) / sum;
        weight += p;
        const double in_sum =
            (fused_ ? 1 : 2) * double(d_) *
            (of(site::score_product).relative * product[j] * scale_ + of(site::score_product).absolute * scale_);
        const double stored =
            (of(site::score).relative + scale_error_) * std::fabs(score[j]) + of(site::score).absolute;
        const double shifted =
            of(site::shifted_score).relative * (maximum - score[j]) + of(site::shifted_score).absolute;
        const double in_exp = of(site::probability).relative * p + of(site::probability).absolute * frame;
        const double cast = of(site::probability_operand).relative * p + of(site::probability_operand).absolute * frame;
        for (std::int64_t c = 0; c < d_v_; ++c) {
          const double x = v(j, c), lever = std::fabs(x - output[std::size_t(c)]) + error[std::size_t(c)];
          of_tile[std::size_t(c)] += p * x;
          sizes[std::size_t(c)] += p * std::fabs(x);
          add(site::score_product, c, p * lever * in_sum);
          add(site::score, c, p * lever * stored);
          add(site::shifted_score, c, p * lever * shifted);
          add(site::probability, c, in_exp * lever);
          add(site::probability_operand, c, cast * std::fabs(x));
        }
      }
      so_far += weight;
      const double keys = double(end - first);
      const double depth = lanes_ > 1 ? std::ceil(keys / lanes_) + std::log2(double(lanes_)) : keys;
      for (std::int64_t c = 0; c < d_v_; ++c) {
        const double o = std::fabs(output[std::size_t(c)]) + error[std::size_t(c)];
        earlier[std::size_t(c)] += of_tile[std::size_t(c)];
        add(site::row_sum_partial, c,
            ((depth * inside_.relative + of(site::row_sum_partial).relative) * weight +
             (depth * inside_.absolute + of(site::row_sum_partial).absolute) * frame) *
                o);
        add(site::row_sum, c, (of(site::row_sum).relative * so_far + of(site::row_sum).absolute * frame) * o);
        add(site::value_product, c,
            (fused_ ? 1 : 2) * keys *
                (of(site::value_product).relative * sizes[std::size_t(c)] + of(site::value_product).absolute * frame));
        add(site::value_partial, c,
            of(site::value_partial).relative * (std::fabs(of_tile[std::size_t(c)]) + error[std::size_t(c)]) +
                of(site::value_partial).absolute * frame);
        add(site::output_state, c,
            of(site::output_state).relative * (std::fabs(earlier[std::size_t(c)]) + error[std::size_t(c)] * so_far) +
                of(site::output_state).absolute * frame);
      }
      running = maximum;
      first = end;
    }
    for (std::int64_t c = 0; c < d_v_; ++c)
      for (const site s : {site::normalizer, site::output})
        add(s, c, of(s).relative * (std::fabs(output[std::size_t(c)]) + error[std::size_t(c)]) + of(s).absolute);
  }

  const rounding_bound& of(site s) const { return site_[std::size_t(s)]; }
  std::int64_t d_, d_v_;
  int lanes_;
  bool fused_;
  double scale_, scale_error_;
  rounding_bound inside_;
  std::vector<rounding_bound> site_;
};

}  // namespace detail

/// \brief First-order bounds of the error of FlashAttention-2 (one division at the end), for the rows of a sample.
///
/// Every rounding errs by at most u·|x| + η, u being the unit roundoff of its site's format and η half its smallest
/// spacing; its effect on O is multiplied by |∂O/∂x|, and all effects are added by magnitude. So for each row: a stored
/// score counts u·|S|·P·|V − O|, and the same with |S − m| for `shifted_score`; α counts once for each rescale, times what
/// had been summed by then; `row_sum` counts u·|O| times the share of the weight so far, for every tile, and
/// `output_state` u·|O so far|. `row_max` counts nothing: P, l and α are taken against the same m. Products of errors count
/// only in that every |O| is enlarged by its own bound; overflow is not foreseen. Derivation in the README of this folder.
/// \tparam Low the recipe: its order of sums
/// \param formats of the recipe
/// \param sample rows, keys and values
/// \param plan key tile; ascending order
template <class Low>
a_priori_bounds bound_a_priori(const recipe_formats& formats, const row_sample& sample, const schedule& plan) {
  static_assert(Low::when_normalized == normalization::once, "bound_a_priori: for O divided once, at the end");
  using row_sums = typename Low::template accumulation<site::row_sum_partial>;
  constexpr bool fused = std::is_base_of_v<accumulate::fused<>, typename Low::template accumulation<site::score>>;
  int lanes = 1;
  if constexpr (requires { row_sums::count; }) lanes = row_sums::count;
  const problem masks = sample.with_masks();
  const extents &q = sample.q.shape(), &k = sample.k.shape();
  const std::int64_t d_v = sample.v.shape().columns, group = q.heads / k.heads;
  const auto bound = detail::bind(q, k, sample.v.shape(), masks);
  const detail::row_bounds of_row(formats, q.columns, d_v, lanes, fused, bound.scale);
  a_priori_bounds result{tensor<double>({q.batch, q.heads, q.rows, d_v * site_count}, 0.0)};
  for (std::int64_t b = 0; b < q.batch; ++b)
    for (std::int64_t h = 0; h < q.heads; ++h)
      for (std::int64_t i = 0; i < q.rows; ++i) {
        std::vector<double> product, score;
        std::vector<std::int64_t> key, tile;
        const key_range seen = bound.keys(b, i);
        for (std::int64_t j = seen.begin; j < seen.end; ++j) {
          if (!bound.visible(b, j)) continue;
          double sum = 0, size = 0;
          for (std::int64_t c = 0; c < q.columns; ++c) {
            const double x = sample.q(b, h, i, c) * sample.k(b, h / group, j, c);
            sum += x;
            size += std::fabs(x);
          }
          product.push_back(size);
          score.push_back(sum * bound.scale);
          key.push_back(j);
          tile.push_back(j / plan.tile_key);
        }
        of_row(
            product, score, [&](std::size_t j, std::int64_t c) { return sample.v(b, h / group, key[j], c); }, tile,
            &result.of_site(b, h, i, 0));
      }
  return result;
}

}  // namespace deviate
