// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "deviate/attribution_runs.hpp"
#include "deviate/command_text.hpp"
#include "deviate/commands.hpp"
#include "deviate/given_inputs.hpp"
#include "deviate/io/file_error.hpp"
#include "deviate/output.hpp"
#include "deviate/plain_text.hpp"
#include "deviate/progress.hpp"
#include "deviate/random_choice.hpp"
#include "deviate/report/attribution_report.hpp"
#include "deviate/report/attribution_text.hpp"
#include "deviate/report/report.hpp"
#include "deviate/reproducer.hpp"
#include "deviate/usage_error.hpp"

namespace deviate::tool {
namespace {

const std::array<std::string, 5> metrics{"mse", "bias", "mean_abs", "max_abs", "relative_l2"};
constexpr int most_workers = 1024;

constexpr const char* usage = "deviate attribute";
constexpr const char* brief =
    "Which step is to blame: runs every subset of groups of steps (sites) low and all others exact, over a\n"
    "sample of rows, and shares the error out. The first line names the culprit.";
constexpr const char* notes =
    "A group is NAME=SITE+SITE; sites: score_product score row_max shifted_score probability\n"
    "probability_operand row_sum_partial row_sum rescale_factor rescaled_sum rescaled_output\n"
    "value_product value_partial output_state normalizer output. Up to 10 groups are run in every\n"
    "combination, more by sampled orders. Inputs are rounded to the format first, golden's too.\n"
    "Examples:\n"
    "  deviate attribute --random normal --n 4096 --tile-key 16\n"
    "  deviate attribute --input examples/data/smollm2_layer23.safetensors --causal --out blame\n"
    "  deviate attribute --random normal --groups state=row_sum+output_state,rest=score+probability\n"
    "  deviate attribute --random normal --tolerance 0.003 --metric relative_l2";

void declare(option_set& options) {
  add_input_options(options);
  add_random_options(options);
  options.add("--format", "NAME", "Format under study (default bf16); `deviate formats` lists names");
  options.add("--mode", "MODE", "nearest_even (default), nearest_away, toward_zero, upward, downward, to_odd");
  options.add("--recipe", "NAME", "flash2_all (default), flash2_fp32_state, flash1_all, baseline, uniform");
  options.add("--low", "LIST", "Only these sites are in the format, all others FP32 (default: those of the recipe)");
  options.add("--exp", "NAME",
              "natural (default), exp2_fma, exp2_degree1 to exp2_degree5 (polynomials of hardware\n"
              "kernels), floor24 (never below 2^-24); with flash2_all");
  options.add("--tile-query", "N", "Rows of a query tile (default 64)");
  options.add("--tile-key", "N", "Keys of a key tile (default 64)");
  add_problem_options(options);
  options.add("--groups", "LIST", "Groups of sites (default: eight that hold all sites)");
  options.add("--rows", "N", "Rows looked at, over all heads, evenly spread (default 128)");
  options.add("--metric", "NAME", "mse (default), bias, mean_abs, max_abs or relative_l2: shared out besides the mse");
  options.add("--tolerance", "X", "Also find the fewest groups to raise so that --metric is at most X");
  options.add("--threshold", "X", "Also rescale only where the maximum grows by more than X");
  options.add("--orders", "N", "Pairs of sampled orders for more than 10 groups (default 64)");
  options.add_flag("--no-first-order", "Leave out the first-order pass and the a-priori bounds");
  options.add("--samples", "N", "Runs of stochastic rounding for each group (default 8; 0 or 1 for none)");
  options.add_flag("--no-counters", "Leave out counters, headroom and the birth of infinities");
  options.add("--dump-worst", "FILE",
              "Write the worst row, alone, as .safetensors, and print the command that shows it");
  options.add_flag("--allow-nan", "Go on with NaN or infinities in visible inputs");
  options.add("--workers", "W", "Threads, 0 for one per core (default); results do not depend on it");
  options.add("--out", "DIR", "Write attribution.html, attribution.json and pictures into this folder");
  options.add("--json", "FILE", "Write JSON; - is standard output, which then has nothing else");
  options.add_flag("--quiet", "No text and no progress bar");
}

site site_named(const std::string& word) {
  std::vector<std::string> names;
  for (int i = 0; i < site_count; ++i) {
    if (name(site(i)) == word && site(i) != site::input) return site(i);
    names.emplace_back(name(site(i)));
  }
  const std::string near = suggestion(word, names);
  throw usage_error("unknown site '" + word + "'" + (near.empty() ? "" : "; did you mean " + near + "?"));
}

site_set sites_of(const std::string& words) {
  site_set sites;
  std::size_t begin = 0;
  while (begin <= words.size()) {
    const std::size_t end = std::min(words.find('+', begin), words.size());
    sites = sites | site_set(site_named(words.substr(begin, end - begin)));
    begin = end + 1;
  }
  return sites;
}

std::vector<site_group> groups_of(const option_set& options) {
  const words given = options.list("--groups");
  if (given.empty()) return default_site_groups();
  std::vector<site_group> groups;
  for (const std::string& word : given) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (name.empty()) throw usage_error("--groups: '" + word + "' has no name");
    // A site's own name needs no list.
    groups.push_back({name, sites_of(equals == std::string::npos ? name : word.substr(equals + 1))});
  }
  return groups;
}

attribution_request request_of(const option_set& options) {
  attribution_request r;
  r.recipe = options.choice("--recipe", attributable_recipes());
  const rounding_mode mode = static_cast<rounding_mode>(
      std::find(mode_names().begin(), mode_names().end(), options.choice("--mode", mode_names())) -
      mode_names().begin());
  r.numbers = in_mode(format_named(options.one("--format").value_or("bf16")), mode);
  if (options.given("--low")) {
    r.low = site_set();
    for (const std::string& word : options.list("--low")) r.low = *r.low | sites_of(word);
  }
  r.exponential = options.choice("--exp", exponential_names());
  r.plan.tile_query = options.whole("--tile-query", 1, largest_tile, r.plan.tile_query);
  r.plan.tile_key = options.whole("--tile-key", 1, largest_tile, r.plan.tile_key);
  r.options.groups = groups_of(options);
  r.options.rows = options.whole("--rows", 1, largest_count, r.options.rows);
  r.options.rescale_threshold = options.finite("--threshold");
  if (r.options.rescale_threshold && (*r.options.rescale_threshold < 0 || r.recipe == "flash1_all"))
    throw usage_error("--threshold must be 0 or more, and flash1_all has none");
  r.options.pairs_of_orders = int(options.whole("--orders", 2, 1 << 20, r.options.pairs_of_orders));
  r.options.samples = int(options.whole("--samples", 0, 4096, r.options.samples));
  r.counters = !options.given("--no-counters");
  r.options.first_order = !options.given("--no-first-order");
  r.options.who.count = int(options.whole("--workers", 0, most_workers, 0));
  return r;
}

std::vector<attention_inputs> inputs_of(const option_set& options) {
  std::vector<attention_inputs> inputs;
  if (options.given("--random")) {
    for (const random_inputs& how : random_of(options)) inputs.push_back(draw(how));
    return inputs;
  }
  if (!names_files(options))
    throw usage_error("attribute needs inputs: --random normal, --input FILE, or --q, --k, --v");
  for (given_input& input : read_inputs(options)) inputs.push_back(std::move(input.tensors));
  return inputs;
}

std::string command_of(const words& given) {
  std::string text = usage;
  for (const std::string& word : given) text += " " + shell_word(word);
  return text;
}

}  // namespace

int attribute_command(const words& given, std::ostream& out, std::ostream& errors) {
  option_set options(usage, brief, notes);
  declare(options);
  if (!options.parse(given, out)) return 0;
  options.expect_no_arguments();
  expect_one_source(options);
  attribution_request request = request_of(options);
  const auto metric = static_cast<error_metric>(
      std::find(metrics.begin(), metrics.end(), options.choice("--metric", metrics)) - metrics.begin());
  const std::optional<double> tolerance = options.finite("--tolerance");
  if (tolerance && *tolerance < 0) throw usage_error("--tolerance must be 0 or more");
  const problem p{.scale = options.finite("--scale"), .mask = mask_of(options)};
  const std::optional<std::string> folder = options.one("--out"), json = options.one("--json"),
                                   dump = options.one("--dump-worst");
  if (folder) check_report_directory(*folder);
  if (json && !is_standard_output(json)) expect_writable_file(*json);
  if (dump) expect_writable_file(*dump);
  const std::vector<attention_inputs> inputs = inputs_of(options);
  if (dump && inputs.size() > 1) throw usage_error("--dump-worst takes one input");
  for (const attention_inputs& input : inputs) expect_sound(input, p, options.given("--allow-nan"));

  const bool quiet = options.given("--quiet");
  std::vector<attribution_result> results;
  {
    progress_bar bar(!quiet);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      request.options.who.progress = [&](std::int64_t done, std::int64_t all) {
        bar.show((double(i) + double(done) / double(all)) / double(inputs.size()));
      };
      results.push_back(run_attribution(request, inputs[i], p));
      results.back().command = command_of(given);
    }
  }
  if (folder) {
    const held_signals while_writing;
    const std::string warning = write_attribution(results, metric, *folder);
    if (!warning.empty()) errors << "deviate: " << one_line(warning) << std::endl;
  }
  if (json) write_text(*json, attribution_json(results), out);
  const std::string reproduce = dump ? write_reproducer(results.front(), options, *dump) : "";
  if (quiet || is_standard_output(json)) return 0;
  for (const attribution_result& r : results) {
    out << (&r == results.data() ? "" : "\n") << attribution_text(r, metric);
    if (tolerance) out << search_text(r, metric, *tolerance) << "\n";
  }
  if (!reproduce.empty()) out << "The worst row alone: " << reproduce << "\n";
  return 0;
}

}  // namespace deviate::tool
