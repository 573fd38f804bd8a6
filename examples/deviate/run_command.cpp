// SPDX-License-Identifier: Apache-2.0
#include "deviate/attention_runs.hpp"
#include "deviate/commands.hpp"
#include "deviate/given_inputs.hpp"
#include "deviate/io/file_error.hpp"
#include "deviate/io/npy.hpp"
#include "deviate/output.hpp"
#include "deviate/progress.hpp"
#include "deviate/usage_error.hpp"

#include <filesystem>

namespace deviate::tool {
namespace {

constexpr const char* usage = "deviate run";
constexpr const char* brief =
    "Computes attention under one recipe, format and schedule, and writes O (and LSE) as .npy.";
constexpr const char* notes =
    "O has the shape of Q with the columns of V, [heads, n, d_v] or [batch, heads, n, d_v]; LSE lacks the\n"
    "last. Both are float32, or float64 for formats that float32 does not hold.\n"
    "Example: deviate run --recipe flash2_all --format bf16 --input qkv.safetensors --causal --out o.npy";

void declare(option_set& options) {
  add_input_options(options);
  options.add("--recipe", "NAME", "baseline, flash1_all, flash2_all or flash2_fp32_state (default)");
  options.add("--format", "FORMAT", "Format under study (default fp32); `deviate formats` lists names");
  add_rounding_options(options, "--rounding-seed");
  options.add("--tile-query", "N", "Rows of a query tile (default 64); baseline has no tiles");
  options.add("--tile-key", "N", "Keys of a key tile (default 64)");
  add_problem_options(options);
  options.add_flag("--allow-nan", "Go on with NaN or infinities in visible inputs");
  options.add("--workers", "W", "Threads, 0 for one per core (default); results do not depend on it");
  options.add("--out", "FILE", "Required: where O goes");
  options.add("--lse", "FILE",
              "Where the log-sum-exp goes: ln of the sum of exp(scaled score), a row's natural logarithm");
  options.add_flag("--quiet", "No progress bar");
}

std::vector<std::int64_t> shape_of(const extents& e, bool has_batch, bool has_columns) {
  std::vector<std::int64_t> shape{e.batch, e.heads, e.rows, e.columns};
  if (!has_columns) shape.pop_back();
  if (!has_batch) shape.erase(shape.begin());
  return shape;
}

bool same_place(const std::filesystem::path& a, const std::filesystem::path& b) {
  return std::filesystem::weakly_canonical(std::filesystem::absolute(a)) ==
         std::filesystem::weakly_canonical(std::filesystem::absolute(b));
}

void write(const std::string& path, const tensor<double>& values, std::span<const std::int64_t> shape, bool in_double) {
  if (in_double) {
    write_npy(path, shape, std::span<const double>(values.values()));
  } else {
    std::vector<float> narrow(values.values().size());
    for (std::size_t i = 0; i < narrow.size(); ++i) narrow[i] = static_cast<float>(values.values()[i]);
    write_npy(path, shape, std::span<const float>(narrow));
  }
}

}  // namespace

int run_command(const words& given, std::ostream& out, std::ostream&) {
  option_set options(usage, brief, notes);
  declare(options);
  if (!options.parse(given, out)) return 0;
  options.expect_no_arguments();
  const std::string recipe =
      options.given("--recipe") ? options.choice("--recipe", recipe_names()) : "flash2_fp32_state";
  const rounding_choice rounding = rounding_of(options, "--rounding-seed");
  const named_format chosen = in_mode(format_named(options.one("--format").value_or("fp32")), rounding.mode);
  schedule plan;
  plan.tile_query = options.whole("--tile-query", 1, largest_tile, plan.tile_query);
  plan.tile_key = options.whole("--tile-key", 1, largest_tile, plan.tile_key);
  const problem p{.scale = options.finite("--scale"), .mask = mask_of(options)};
  workers who;
  who.count = static_cast<int>(options.whole("--workers", 0, 1024, 0));

  const std::optional<std::string> output = options.one("--out"), log_sum_exp = options.one("--lse");
  if (!output) throw usage_error("run needs --out, the file that O goes to, such as --out o.npy");
  for (const std::optional<std::string>& path : {output, log_sum_exp}) {
    if (path) expect_writable_file(*path);
    if (is_standard_output(path)) throw usage_error("--out and --lse need file names; - is not one");
  }
  if (log_sum_exp && same_place(*log_sum_exp, *output)) throw usage_error("--out and --lse name the same file");
  if (options.all("--input").size() > 1) throw usage_error("run takes one --input");
  if (!names_files(options)) throw usage_error("run needs inputs: --input FILE, or --q, --k and --v");
  const std::vector<given_input> inputs = read_inputs(options);
  const given_input& input = inputs.front();
  expect_sound(input.tensors, p, options.given("--allow-nan"));

  forward_output result;
  {
    progress_bar bar(!options.given("--quiet"));
    who.progress = [&bar](std::int64_t done, std::int64_t all) {
      bar.show(static_cast<double>(done) / static_cast<double>(all));
    };
    result = run_attention(recipe, chosen, rounding, input.tensors, p, plan, who);
  }
  const bool in_double = held_in_double(chosen.numbers);
  const held_signals while_writing;
  write(*output, result.output, shape_of(result.output.shape(), input.has_batch, true), in_double);
  if (log_sum_exp)
    write(*log_sum_exp, result.log_sum_exp, shape_of(result.log_sum_exp.shape(), input.has_batch, false), in_double);
  return 0;
}

}  // namespace deviate::tool
