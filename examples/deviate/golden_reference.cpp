// SPDX-License-Identifier: Apache-2.0
#include "deviate/golden_reference.hpp"

#include <deviate/deviation/ulp.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace deviate::tool {
namespace {

/// What is known of one row of the output.
struct row_proof {
  double bound;
  double half_ulps;  ///< bound, in halves of an ulp
  bool finite;       ///< every element is

  bool suffices() const { return half_ulps < golden_certificate::enough; }
};

template <class Real>
row_proof proof_of(const golden_result<Real>& golden, std::int64_t b, std::int64_t h, std::int64_t row,
                   const format& f) {
  double largest = 0;
  bool finite = true;
  for (std::int64_t c = 0; c < golden.output.shape().columns; ++c) {
    const double x = static_cast<double>(golden.output(b, h, row, c));
    finite = finite && std::isfinite(x);
    largest = std::max(largest, std::fabs(x));
  }
  const double bound = golden.output_bound(b, h, row, 0);
  return {bound, finite ? 2 * (bound / ulp(largest, f)) : std::numeric_limits<double>::infinity(), finite};
}

std::string reason_of(const row_proof& proof) {
  if (!proof.finite) return "golden is NaN or infinite there";
  if (!std::isfinite(proof.bound)) return "its scores might overflow on the way";
  return "scores too large or numbers too small for double_double";
}

template <class Real>
void copy_row(const golden_result<Real>& from, std::int64_t row, golden_result<Real>& to) {
  const extents& e = from.output.shape();
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t h = 0; h < e.heads; ++h) {
      for (std::int64_t c = 0; c < e.columns; ++c) to.output(b, h, row, c) = from.output(b, h, row, c);
      to.output_bound(b, h, row, 0) = from.output_bound(b, h, row, 0);
    }
}

}  // namespace

certified_golden::certified_golden(const attention_inputs& inputs, const problem& p, const workers& who)
    : inputs_(inputs),
      problem_(p),
      who_(who),
      plain_(golden(inputs.q, inputs.k, inputs.v, p, who)),
      is_precise_(static_cast<std::size_t>(inputs.q.shape().rows)) {}

void certified_golden::compute_in_double_double(const std::vector<std::int64_t>& rows) {
  if (rows.empty()) return;
  auto more = golden<double_double>(inputs_.q, inputs_.k, inputs_.v, problem_, who_, rows);
  if (!precise_)
    precise_ = std::move(more);
  else
    for (const std::int64_t row : rows) copy_row(more, row, *precise_);
  for (const std::int64_t row : rows) is_precise_[static_cast<std::size_t>(row)] = 1;
}

double certified_golden::share_in_double_double() const {
  return double(std::count(is_precise_.begin(), is_precise_.end(), 1)) / double(is_precise_.size());
}

golden_reference certified_golden::for_format(const format& f) {
  const extents& e = plain_.output.shape();
  // Where FP64 has no bound at all, double_double, which has no larger range, has none either.
  std::vector<std::uint8_t> wanted(is_precise_.size());
  std::vector<std::int64_t> missing;
  for (std::int64_t row = 0; row < e.rows; ++row) {
    std::uint8_t& mine = wanted[static_cast<std::size_t>(row)];
    for (std::int64_t b = 0; b < e.batch; ++b)
      for (std::int64_t h = 0; h < e.heads; ++h) {
        const row_proof proof = proof_of(plain_, b, h, row, f);
        if (!proof.suffices() && std::isfinite(proof.bound)) mine = 1;
      }
    if (mine != 0 && is_precise_[static_cast<std::size_t>(row)] == 0) missing.push_back(row);
  }
  compute_in_double_double(missing);

  golden_reference reference;
  golden_certificate& all = reference.certificate;
  const bool any = std::find(wanted.begin(), wanted.end(), 1) != wanted.end();
  if (any) {
    tensor<double_double> output(e, double_double(0));
    for (std::int64_t b = 0; b < e.batch; ++b)
      for (std::int64_t h = 0; h < e.heads; ++h)
        for (std::int64_t row = 0; row < e.rows; ++row)
          for (std::int64_t c = 0; c < e.columns; ++c)
            output(b, h, row, c) = wanted[static_cast<std::size_t>(row)] != 0
                                       ? precise_->output(b, h, row, c)
                                       : double_double(plain_.output(b, h, row, c));
    reference.output = std::move(output);
  } else {
    reference.output = plain_.output;
  }

  all.rows = e.batch * e.heads * e.rows;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t h = 0; h < e.heads; ++h)
      for (std::int64_t row = 0; row < e.rows; ++row) {
        const bool in_pairs = wanted[static_cast<std::size_t>(row)] != 0;
        const row_proof proof = in_pairs ? proof_of(*precise_, b, h, row, f) : proof_of(plain_, b, h, row, f);
        all.double_double_rows += in_pairs;
        if (proof.suffices()) {
          all.bound = std::max(all.bound, proof.bound);
          all.half_ulps = std::max(all.half_ulps, proof.half_ulps);
        } else if (++all.uncertified_rows == 1) {
          all.first = {b, h, row, reason_of(proof)};
        }
      }
  if (all.uncertified_rows == all.rows) all.bound = all.half_ulps = std::numeric_limits<double>::infinity();
  return reference;
}

}  // namespace deviate::tool
