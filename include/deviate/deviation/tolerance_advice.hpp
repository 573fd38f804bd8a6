// SPDX-License-Identifier: Apache-2.0
/// \file tolerance_advice.hpp
/// \brief Which tolerance to test a kernel with: no tighter than the inputs, the output format and the plain computation
/// allow, and why.
#pragma once

#include <deviate/contract.hpp>
#include <deviate/deviation/detail/number_text.hpp>
#include <deviate/deviation/detail/read_view.hpp>
#include <deviate/deviation/tolerance.hpp>
#include <deviate/deviation/ulp.hpp>
#include <deviate/number/format.hpp>
#include <deviate/number/rounding.hpp>
#include <deviate/tensor/tensor.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

namespace deviate {

/// \brief How tolerance advice is found.
struct tolerance_advice_options {
  double factor = 2;       ///< how many times the baseline's error is accepted
  int draws = 4;           ///< perturbed inputs, each costs one golden; 0 for a kernel that gets the very inputs
  std::uint64_t seed = 1;  ///< of the directions in which inputs are moved
  int workers = 0;         ///< threads, 0 for one per core; never changes a bit
};

/// \brief Which of the three lower bounds made an advised atol.
enum class tolerance_source : std::uint8_t {
  floor,         ///< half an output ulp at max|O|
  baseline,      ///< the error of the materialised baseline, times a factor
  perturbation,  ///< the change of the result by one ulp of every input
};

/// \brief A tolerance, what it is made of, and what passes it.
struct tolerance_advice {
  tolerance advised;                                   ///< what to test with, and why
  tolerance_source decided = tolerance_source::floor;  ///< the largest of the three below; of equal ones, the first
  double floor = 0;                                    ///< atol of \ref recommended_tolerance at max|golden|
  double baseline = 0;                                 ///< factor·baseline_max_abs − rtol·min|golden|, or 0
  double perturbation = 0;                             ///< max|perturbed − golden| over all draws
  double factor = 2;                                   ///< how many times the baseline's error is accepted
  int draws = 0;                                       ///< perturbed results that were looked at
  double baseline_max_abs = 0;  ///< max|baseline − golden|; NaN or infinite where the baseline is
  double largest_output = 0;    ///< max|golden|
  double smallest_output = 0;   ///< min|golden|
  /// Golden rounded once to the output format: nothing fails if atol and golden are finite.
  tolerance_check rounded_golden;
  tolerance_check baseline_within;     ///< the baseline
  std::int64_t golden_not_finite = 0;  ///< elements of golden that count for none of the figures above
};

namespace detail {

/// Calls use(b, h, r, c) for every element.
template <class Use>
void for_each_place(const extents& shape, Use use) {
  for (std::int64_t b = 0; b < shape.batch; ++b)
    for (std::int64_t h = 0; h < shape.heads; ++h)
      for (std::int64_t r = 0; r < shape.rows; ++r)
        for (std::int64_t c = 0; c < shape.columns; ++c) use(b, h, r, c);
}

/// max|x − golden| where golden is finite: NaN, or else infinite, if x is.
template <class View, class Reference>
double largest_difference(const View& x, const Reference& golden) {
  expects_same_shape("advise_tolerance", x.shape(), golden.shape());
  double largest = 0;
  for_each_place(golden.shape(), [&](auto... at) {
    const double reference = static_cast<double>(golden(at...));
    if (!std::isfinite(reference)) return;
    const double difference = std::fabs(static_cast<double>(x(at...)) - reference);
    // Written so that a NaN, once there, stays.
    if (std::isnan(difference) || difference > largest) largest = difference;
  });
  return largest;
}

/// The smallest number of three significant decimal digits that is not below x: a tolerance that can be typed.
inline double rounded_up_to_three_digits(double x) {
  if (!(x > 0) || !std::isfinite(x)) return x;
  const int exponent = static_cast<int>(std::floor(std::log10(x)));
  // From 99, because the logarithm of a number just below a power of ten may round to a whole one.
  for (int digits = 99; digits <= 1000; ++digits) {
    const std::string text = std::to_string(digits) + "e" + std::to_string(exponent - 2);
    double decimal = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), decimal).ec == std::errc() && decimal >= x)
      return decimal;
  }
  return x;  // a subnormal double, or the largest ones
}

/// What decided, then the other two, each with its figure, rounded up as atol is.
inline std::string reason_of(const tolerance_advice& a, double half_ulp) {
  const auto figure = [](double x) { return number_text(rounded_up_to_three_digits(x)); };
  std::string floor = "half an output ulp at max|O| = " + three_digit_text(a.largest_output);
  if (a.floor != half_ulp) floor = "the smallest normal output, below which results are flushed to zero,";
  floor += " is " + figure(a.floor);

  std::string baseline = three_digit_text(a.factor) + " times the baseline's largest error";
  if (!std::isfinite(a.baseline_max_abs))
    baseline = "the baseline is not finite and excuses nothing";
  else
    baseline += (figure(a.factor * a.baseline_max_abs) == figure(a.baseline) ? " is " : ", less what rtol gives, is ") +
                figure(a.baseline);

  std::string perturbation = "the change by one ulp of every input is " + figure(a.perturbation);
  if (a.draws == 0) perturbation = "inputs were not moved";
  if (!std::isfinite(a.perturbation)) perturbation = "the result of moved inputs is not finite and excuses nothing";
  switch (a.decided) {
    case tolerance_source::baseline: return baseline + ", while " + perturbation + " and " + floor;
    case tolerance_source::perturbation: return perturbation + ", while " + baseline + " and " + floor;
    case tolerance_source::floor: break;
  }
  return floor + ", while " + baseline + " and " + perturbation;
}

}  // namespace detail

/// \brief Advises on the tolerance of a test |got − golden| ≤ atol + rtol·|golden|.
///
/// rtol is the unit roundoff of the output format, 2^-p: it pays for rounding the result. atol is the largest of three
/// lower bounds, each of which a sound kernel may reach:
/// - *floor*: the atol of \ref recommended_tolerance, half an output ulp at max|golden|. Where the baseline is exact
///   (one key: P is 1) and inputs matter little, the other two allow nothing;
/// - *baseline*, the rule of two baselines: factor·max|baseline − golden|, less rtol·min|golden|, which rtol gives at
///   every element. A kernel whose largest error is at most `factor` times the baseline's passes, wherever its errors
///   lie. A baseline that is NaN or infinite where golden is finite excuses nothing;
/// - *perturbation*: max|perturbed − golden| over all draws. The inputs were rounded when they were stored, so results
///   that differ by less cannot be told apart by what is known of them. Nothing is taken off: perturbed results are not
///   rounded to the output format, and rtol is left for that.
///
/// The advised atol is the largest of these, rounded up to three decimal digits, so that what is printed is what was
/// checked; +infinity where max|golden| rounds beyond the largest output. Elements of golden that are not finite count
/// for none of the three. The rule does not know what was computed: outputs and gradients are treated alike.
/// \param golden results in double
/// \param baseline results of the materialised computation in the same format, in golden's shape
/// \param perturbed golden of inputs moved by one ulp, one tensor for each draw; see \ref moved_by_one_ulp. May be empty
/// \param output format in which a kernel stores its results; its rounding mode does not matter
/// \param factor how many times the baseline's error is accepted
/// \return the advice. `within(got, golden, advice.advised)` tells what share of a kernel's output fails it
/// \throws contract_violation if shapes differ, or `factor` is negative, infinite or NaN
template <readable_tensor Golden, readable_tensor Baseline>
tolerance_advice advise_tolerance(const Golden& golden, const Baseline& baseline,
                                  const std::vector<tensor<double>>& perturbed, const format& output,
                                  double factor = 2) {
  expects(factor >= 0 && std::isfinite(factor),
          "advise_tolerance: factor = " + detail::number_text(factor) + " must be a finite number, 0 or more");
  const auto reference = detail::read_view(golden);
  const auto plain = detail::read_view(baseline);
  tolerance_advice a;
  a.factor = factor;
  double smallest = std::numeric_limits<double>::infinity();
  tensor<double> rounded(reference.shape());
  const rounding_constants<double> constants(output.rounded(rounding_mode::nearest_even));
  detail::for_each_place(reference.shape(), [&](auto... at) {
    const double x = static_cast<double>(reference(at...));
    rounded(at...) = round_to(x, constants);
    if (!std::isfinite(x)) {
      ++a.golden_not_finite;
      return;
    }
    a.largest_output = std::max(a.largest_output, std::fabs(x));
    smallest = std::min(smallest, std::fabs(x));
  });
  if (std::isfinite(smallest)) a.smallest_output = smallest;

  const tolerance recommended = recommended_tolerance(output, a.largest_output);
  a.floor = recommended.atol;
  a.baseline_max_abs = detail::largest_difference(plain, reference);
  if (std::isfinite(a.baseline_max_abs))
    a.baseline = std::max(0.0, factor * a.baseline_max_abs - recommended.rtol * a.smallest_output);
  for (const tensor<double>& moved : perturbed) {
    const double change = detail::largest_difference(moved.view(), reference);
    if (std::isnan(change) || change > a.perturbation) a.perturbation = change;
    ++a.draws;
  }

  double atol = a.floor;
  const auto consider = [&](double bound, tolerance_source source) {
    if (!std::isfinite(bound) || bound <= atol) return;
    atol = bound;
    a.decided = source;
  };
  consider(a.baseline, tolerance_source::baseline);
  consider(a.perturbation, tolerance_source::perturbation);
  a.advised = {detail::rounded_up_to_three_digits(atol), recommended.rtol, recommended.because};
  if (std::isfinite(atol)) a.advised.because = detail::reason_of(a, ulp(a.largest_output, output) / 2);
  a.rounded_golden = within(rounded, golden, a.advised, true);
  a.baseline_within = within(baseline, golden, a.advised, true);
  return a;
}

/// \brief The advice in one line: "use atol=0.00391, rtol=0.00390625, because …".
inline std::string advice_text(const tolerance_advice& a) {
  return "use atol=" + detail::number_text(a.advised.atol) + ", rtol=" + detail::number_text(a.advised.rtol) +
         ", because " + a.advised.because;
}

/// \brief The advice in one line, with the share of a kernel's elements that fails it:
/// "use …, because …; 0.0732 % of the elements fail it (3 of 4096)".
/// \param a the advice
/// \param got what \ref within found of the kernel's output with `a.advised`
inline std::string advice_text(const tolerance_advice& a, const tolerance_check& got) {
  return advice_text(a) + "; " + detail::three_digit_text(100 * got.share()) + " % of the elements fail it (" +
         std::to_string(got.failing) + " of " + std::to_string(got.compared) + ")";
}

}  // namespace deviate
