// SPDX-License-Identifier: Apache-2.0
#include "deviate/attention_runs.hpp"
#include "deviate/command_text.hpp"
#include "deviate/commands.hpp"
#include "deviate/given_inputs.hpp"
#include "deviate/io/file_error.hpp"
#include "deviate/output.hpp"
#include "deviate/progress.hpp"
#include "deviate/random_choice.hpp"
#include "deviate/report/json.hpp"
#include "deviate/report/report.hpp"
#include "deviate/report/table.hpp"
#include "deviate/report/text.hpp"
#include "deviate/study.hpp"
#include "deviate/usage_error.hpp"

#include <array>

namespace deviate::tool {
namespace {

const std::array<std::string, 3> mask_options{"--causal", "--window", "--alignment"};
const std::array<std::string, 2> goldens{"rounded", "unrounded"};
constexpr int most_workers = 1024;

constexpr const char* usage = "deviate study";
constexpr const char* brief =
    "Measures how far attention lies from golden, the same computed in FP64: every recipe in every\n"
    "format with every tile size, on every input. Without an input it is the default study: three real\n"
    "layers, causal, over key tiles, and random inputs over fraction bits and over length (some minutes).";
constexpr const char* notes =
    "Lists are separated by commas. JSON: an object with `rows`, one for each measurement.\n"
    "Differences are in the unit of V, max_ulp in units of the last place of the format.\n"
    "Golden comes with a proved bound of its own error; rows in which that of FP64 is not below a\n"
    "thousandth of half an ulp of the format are computed again in double_double.\n"
    "Examples:\n"
    "  deviate study --random uniform --n 256,1024 --formats bf16,e8m10 --tile-key 32,64\n"
    "  deviate study --input examples/data/smollm2_layer00.safetensors --causal --out report\n"
    "  deviate study --random uniform --formats bf16 --mode stochastic --rounding-seed 7\n"
    "  deviate study --q q.npy --k k.npy --v v.npy --dtype bf16 --json -";

void declare(option_set& options) {
  add_input_options(options);
  add_random_options(options);
  options.add("--formats", "LIST", "Formats (default bf16,fp16); `deviate formats` lists names, e<X>m<Y> is any other");
  add_rounding_options(options, "--rounding-seed");
  options.add("--recipes", "LIST", "baseline, flash1_all, flash2_all, flash2_fp32_state (default all)");
  options.add("--tile-query", "LIST", "Rows of a query tile (default 64); baseline has no tiles");
  options.add("--tile-key", "LIST", "Keys of a key tile (default 64; default study: 16 to 512)");
  add_problem_options(options);
  options.add("--golden", "NAME", "rounded (default): golden sees the inputs rounded to the format; unrounded");
  options.add_flag("--allow-nan", "Go on with NaN or infinities in visible inputs");
  options.add("--workers", "W", "Threads, 0 for one per core (default); results do not depend on it");
  options.add("--out", "DIR", "Write report.html, study.csv, study.json and plots into this folder");
  options.add("--json", "FILE", "Write JSON; - is standard output, which then has nothing else");
  options.add_flag("--quiet", "No table and no progress bar");
}

std::vector<named_format> formats_of(const option_set& options, rounding_mode mode) {
  const words names = options.list("--formats");
  std::vector<named_format> formats;
  for (const std::string& name : names.empty() ? words{"bf16", "fp16"} : names)
    formats.push_back(in_mode(format_named(name), mode));
  return formats;
}

template <class T>
std::vector<T> or_default(std::vector<T> given, std::vector<T> otherwise) {
  return given.empty() ? otherwise : given;
}

// Options that say something of inputs that are not there.
void expect_no_conflict(const option_set& options) {
  expect_one_source(options);
  const bool random = options.given("--random");
  const std::string mask = options.first_given(mask_options);
  if (!random && !names_files(options) && !mask.empty())
    throw usage_error(mask + " needs inputs: add --random or --input; the default study has its own masks");
}

study_options study_of(const option_set& options) {
  expect_no_conflict(options);
  study_options study;
  study.rounding = rounding_of(options, "--rounding-seed");
  study.formats = formats_of(options, study.rounding.mode);
  study.recipes =
      or_default(options.choices("--recipes", recipe_names()), {recipe_names().begin(), recipe_names().end()});
  study.default_study = !options.given("--random") && !names_files(options);
  study.tile_query = or_default(options.counts("--tile-query", largest_tile), {64});
  study.tile_key = or_default(
      options.counts("--tile-key", largest_tile),
      study.default_study ? std::vector<std::int64_t>{16, 32, 64, 128, 256, 512} : std::vector<std::int64_t>{64});
  study.mask = mask_of(options);
  study.scale = options.finite("--scale");
  study.golden_on_rounded_inputs = options.choice("--golden", goldens) == "rounded";
  study.allow_nan = options.given("--allow-nan");
  study.workers = static_cast<int>(options.whole("--workers", 0, most_workers, 0));
  return study;
}

// What a reader of the results must know and no row says.
words notes_of(const option_set& options, const study_options& study) {
  words lines;
  const std::string align = study.mask.align == alignment::bottom_right ? "bottom right" : "top left";
  if (study.default_study) lines.push_back("real layers: causal; random inputs: every query sees every key");
  if (options.given("--causal")) lines.push_back("causal, aligned at the " + align);
  if (options.given("--window"))
    lines.push_back("window of " + std::to_string(study.mask.left) + " keys before and " +
                    std::to_string(study.mask.right) + " after (-1: all), aligned at the " + align);
  if (study.rounding.mode != rounding_mode::nearest_even) {
    std::string rounding = "rounded " + mode_names()[static_cast<std::size_t>(study.rounding.mode)];
    if (study.rounding.mode == rounding_mode::stochastic)
      rounding += " by " + std::to_string(study.rounding.random_bits) + " random bits of seed " +
                  std::to_string(study.rounding.seed);
    lines.push_back(rounding + ": every value in the format; what is FP32 or FP64 is to nearest even");
  }
  lines.push_back("scale " + (study.scale ? shortest(*study.scale) : "1/sqrt(d)"));
  return lines;
}

// Reading comes last: a misspelt option is told before a long file is read.
void read_tensors(const option_set& options, study_options& study) {
  std::vector<given_input> inputs;
  if (study.default_study) {
    const std::filesystem::path data(DEVIATE_DATA_DIRECTORY);
    for (const char* layer : {"smollm2_layer00", "smollm2_layer23", "smollm2_layer29"})
      inputs.push_back(read_safetensors_input((data / layer).string() + ".safetensors"));
  } else if (options.given("--random")) {
    study.random = random_of(options);
  } else {
    inputs = read_inputs(options);
  }
  const problem p{.scale = study.scale, .mask = study.mask};
  for (given_input& input : inputs) {
    expect_sound(input.tensors, p, study.allow_nan);
    study.inputs.push_back(std::move(input.tensors));
  }
}

}  // namespace

int study_command(const words& given, std::ostream& out, std::ostream& errors) {
  option_set options(usage, brief, notes);
  declare(options);
  if (!options.parse(given, out)) return 0;
  options.expect_no_arguments();
  study_options study = study_of(options);
  const std::optional<std::string> folder = options.one("--out"), json = options.one("--json");
  if (folder) check_report_directory(*folder);
  if (json && !is_standard_output(json)) expect_writable_file(*json);
  read_tensors(options, study);

  const bool quiet = options.given("--quiet");
  study_result result;
  {
    progress_bar bar(!quiet);
    result = run_study(study, [&bar](double share_done) { bar.show(share_done); });
  }
  result.command = study_command_text(options, study);
  if (result.notes.empty()) result.notes = notes_of(options, study);
  if (folder) {
    const held_signals while_writing;
    const std::string warning = write_report(result, *folder);
    if (!warning.empty()) errors << "deviate: " << one_line(warning) << std::endl;
  }
  if (json) write_text(*json, study_json(result), out);
  if (!quiet && !is_standard_output(json)) out << study_table(result);
  return 0;
}

}  // namespace deviate::tool
