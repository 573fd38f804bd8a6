// SPDX-License-Identifier: Apache-2.0
#include "deviate/compare_advice.hpp"

#include <deviate/deviation/forward_tolerance.hpp>

#include "deviate/attention_runs.hpp"
#include "deviate/given_inputs.hpp"
#include "deviate/plain_text.hpp"
#include "deviate/report/text.hpp"
#include "deviate/usage_error.hpp"

#include <array>

namespace deviate::tool {
namespace {

constexpr int most_workers = 1024, most_draws = 1000;
const std::array<std::string, 9> need_inputs{"--causal",       "--window", "--alignment", "--scale",
                                             "--input-format", "--factor", "--draws",     "--perturbation-seed",
                                             "--workers"};

double factor_of(const option_set& options) {
  const double factor = options.finite("--factor").value_or(2);
  if (factor < 0) throw usage_error("--factor is '" + shortest(factor) + "'; it must be 0 or more");
  return factor;
}

given_input read_one_input(const option_set& options) {
  // --dtype may speak of A and B alone.
  const std::array<std::string, 3> npy{"--q", "--k", "--v"};
  if (!options.first_given(npy).empty()) return read_inputs(options).front();
  return read_safetensors_input(*options.one("--input"));
}

}  // namespace

void add_advice_options(option_set& options) {
  add_input_options(options);
  add_problem_options(options);
  options.add("--input-format", "FORMAT", "Format in which A's kernel got Q, K and V (default: --format)");
  options.add("--factor", "X", "How many times the baseline's largest error A may err (default 2)");
  options.add(
      "--draws", "N",
      "Inputs moved by one ulp at random (default 4), each costs one golden;\n0 for a kernel that got the very inputs");
  options.add("--perturbation-seed", "S", "Seed of these moves (default 1)");
  options.add("--workers", "W", "Threads, 0 for one per core (default); results do not depend on it");
}

void expect_advice_options(const option_set& options) {
  const std::string lonely = options.first_given(need_inputs);
  if (!names_files(options) && !lonely.empty())
    throw usage_error(lonely + " belongs to the inputs of A; name them with --input, or --q, --k and --v");
  factor_of(options);
  options.whole("--draws", 0, most_draws, 4);
  options.whole("--workers", 0, most_workers, 0);
  options.seed("--perturbation-seed", 1);
  options.finite("--scale");
  mask_of(options);
}

std::optional<comparison_advice> advice_of(const option_set& options, const comparison& c) {
  if (!names_files(options)) return std::nullopt;
  comparison_advice advice;
  const std::optional<std::string> input_format = options.one("--input-format");
  advice.inputs_in = input_format ? format_named(*input_format) : c.ulps_of;
  if (!advice.inputs_in.numbers.subset_of(c.ulps_of.numbers))
    throw usage_error("--input-format " + advice.inputs_in.name + " has numbers that " + c.ulps_of.name +
                      ", the format of A, has not; the baseline would round them");

  const attention_inputs inputs = read_one_input(options).tensors;
  const problem p{.scale = options.finite("--scale"), .mask = mask_of(options)};
  expect_sound(inputs, p, false);
  const extents q = inputs.q.shape(), a = c.got.values.shape();
  const extents output{q.batch, q.heads, q.rows, inputs.v.shape().columns};
  if (!(a == output))
    throw usage_error("A has shape " + shape_text(c.got.shape) + ", but the output of these inputs is " +
                      shape_text(std::array{output.batch, output.heads, output.rows, output.columns}));

  advice.options.factor = factor_of(options);
  advice.options.draws = static_cast<int>(options.whole("--draws", 0, most_draws, 4));
  advice.options.seed = options.seed("--perturbation-seed", 1);
  advice.options.workers = static_cast<int>(options.whole("--workers", 0, most_workers, 0));
  const workers who{.count = advice.options.workers};
  forward_tolerance found = advise_forward_tolerance(
      inputs.q, inputs.k, inputs.v, p, advice.inputs_in.numbers, c.ulps_of.numbers,
      [&](const tensor<double>& rounded_q, const tensor<double>& rounded_k, const tensor<double>& rounded_v) {
        return run_attention("baseline", c.ulps_of, {}, {inputs.name, rounded_q, rounded_k, rounded_v}, p, {}, who)
            .output;
      },
      advice.options);
  advice.found = std::move(found.advice);

  const auto judged = [&](const tensor<double>& values, const tensor<double>& reference) {
    deviation_options how;
    how.ulp_format = c.ulps_of.numbers;
    how.both_nan_equal = c.equal_nan;
    return judged_tensor{deviation(values, reference, how).max_abs,
                         within(values, reference, advice.found.advised, c.equal_nan)};
  };
  advice.got = judged(c.got.values, found.golden);
  advice.reference = judged(c.reference.values, found.golden);
  advice.got_against_reference = judged(c.got.values, c.reference.values);
  advice.verdict = compare_with_baseline(advice.got.max_abs, advice.found.baseline_max_abs, c.ulps_of.numbers,
                                         advice.found.largest_output, advice.options.factor);
  return advice;
}

}  // namespace deviate::tool
