// SPDX-License-Identifier: Apache-2.0
#include "deviate/given_inputs.hpp"

#include <deviate/contract.hpp>

#include "deviate/io/file_error.hpp"
#include "deviate/io/npy.hpp"
#include "deviate/io/safetensors.hpp"
#include "deviate/usage_error.hpp"

#include <algorithm>
#include <cmath>

namespace deviate::tool {
namespace {

const std::array<std::string, 3> npy_options{"--q", "--k", "--v"};

struct loaded_attention {
  loaded_tensor q, k, v;
};

tensor<double> rank_four(const loaded_tensor& loaded, const std::string& name) {
  if (loaded.shape.size() != 3 && loaded.shape.size() != 4)
    throw file_error(name,
                     "has shape " + shape_text(loaded.shape) + "; [heads, n, d] or [batch, heads, n, d] is needed");
  if (std::find(loaded.shape.begin(), loaded.shape.end(), 0) != loaded.shape.end())
    throw file_error(name, "has shape " + shape_text(loaded.shape) + "; every size must be 1 or more");
  return {right_aligned_extents(loaded.shape, name), loaded.as_double()};
}

given_input input_of(const std::string& name, const loaded_attention& loaded,
                     const std::array<std::string, 3>& sources) {
  return {{name, rank_four(loaded.q, sources[0]), rank_four(loaded.k, sources[1]), rank_four(loaded.v, sources[2])},
          loaded.q.shape.size() == 4};
}

given_input read_npy_input(const option_set& options) {
  std::array<std::string, 3> paths;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::optional<std::string> path = options.one(npy_options[i]);
    if (!path) throw usage_error("--q, --k and --v belong together; " + npy_options[i] + " is missing");
    paths[i] = *path;
  }
  const std::optional<element_type> type = raw_type_of(options);
  return input_of(std::filesystem::path(paths[0]).stem().string(),
                  {read_npy(paths[0], type), read_npy(paths[1], type), read_npy(paths[2], type)}, paths);
}

// Files of the same stem are told apart by their paths.
void make_names_unique(std::vector<given_input>& inputs, const words& paths) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t j = 0; j < inputs.size(); ++j)
      if (i != j && std::filesystem::path(paths[i]).stem() == std::filesystem::path(paths[j]).stem())
        inputs[i].tensors.name = paths[i];
}

// Which of n keys lie in the range of some query, by counting where ranges begin and end.
std::vector<std::uint8_t> keys_seen(const detail::bound_problem& bound) {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(bound.n_key) + 1);
  for (std::int64_t query = 0; query < bound.n_query; ++query) {
    const key_range range = bound.keys(0, query);
    if (range.begin >= range.end) continue;
    ++steps[static_cast<std::size_t>(range.begin)];
    --steps[static_cast<std::size_t>(range.end)];
  }
  std::vector<std::uint8_t> seen(static_cast<std::size_t>(bound.n_key));
  std::int64_t open = 0;
  for (std::size_t key = 0; key < seen.size(); ++key) seen[key] = (open += steps[key]) > 0;
  return seen;
}

std::vector<std::uint8_t> queries_that_see(const detail::bound_problem& bound) {
  std::vector<std::uint8_t> sees;
  for (std::int64_t query = 0; query < bound.n_query; ++query) {
    const key_range range = bound.keys(0, query);
    sees.push_back(range.begin < range.end);
  }
  return sees;
}

void expect_finite(const std::string& name, char letter, const tensor<double>& values,
                   const std::vector<std::uint8_t>& row_counts) {
  const extents& shape = values.shape();
  std::int64_t number = 0;
  std::string first;
  for (std::int64_t b = 0; b < shape.batch; ++b)
    for (std::int64_t h = 0; h < shape.heads; ++h)
      for (std::int64_t r = 0; r < shape.rows; ++r)
        for (std::int64_t c = 0; row_counts[static_cast<std::size_t>(r)] != 0 && c < shape.columns; ++c) {
          const double x = values(b, h, r, c);
          if (std::isfinite(x)) continue;
          if (number++ == 0)
            first = (std::isnan(x) ? "NaN"
                     : x > 0       ? "infinity"
                                   : "-infinity") +
                    std::string(" at [batch ") + std::to_string(b) + ", head " + std::to_string(h) + ", row " +
                    std::to_string(r) + ", column " + std::to_string(c) + "]";
        }
  if (number == 0) return;
  throw usage_error(name + ": " + letter + " holds " + first +
                    (number > 1 ? ", the first of " + std::to_string(number) + " values that are not finite" : "") +
                    "; --allow-nan goes on with NaN and infinities");
}

}  // namespace

void add_input_options(option_set& options) {
  options.add("--input", "FILE",
              "A .safetensors file with tensors q, k and v shaped [heads, n, d] or\n"
              "[batch, heads, n, d]; k and v may have fewer heads that divide q's");
  options.add("--q", "FILE", "Q as .npy of such a shape, together with --k and --v");
  options.add("--k", "FILE", "K as .npy");
  options.add("--v", "FILE", "V as .npy; its d may differ");
  options.add("--dtype", "TYPE",
              "What elements of .npy are that do not say it (|V2, |V1):\n"
              "bf16, fp16, fp8_e4m3 or fp8_e5m2");
}

void add_problem_options(option_set& options) {
  options.add_flag("--causal", "A query sees the keys up to its own position");
  options.add("--window", "L,R", "A query sees L keys before and R keys after its own position,\n-1 for all of them");
  options.add("--alignment", "NAME",
              "Where that position is if there are more keys than queries:\n"
              "bottom_right (default; the last query sees the last key) or top_left");
  options.add("--scale", "X", "Factor of the scores; any finite number (default 1/sqrt(d))");
}

bool names_files(const option_set& options) {
  return options.given("--input") || !options.first_given(npy_options).empty();
}

given_input read_safetensors_input(const std::string& path) {
  safetensors_file file{std::filesystem::path(path)};
  const loaded_attention loaded{file.load("q"), file.load("k"), file.load("v")};
  return input_of(std::filesystem::path(path).stem().string(), loaded, {path + ": q", path + ": k", path + ": v"});
}

std::vector<given_input> read_inputs(const option_set& options) {
  const std::string npy = options.first_given(npy_options);
  if (options.given("--input") && !npy.empty()) throw usage_error("--input and " + npy + " exclude each other");
  if (options.given("--dtype") && npy.empty())
    throw usage_error("--dtype belongs to .npy files (--q, --k, --v); a .safetensors file names its types");
  std::vector<given_input> inputs;
  if (!npy.empty()) {
    inputs.push_back(read_npy_input(options));
  } else {
    const words paths = options.all("--input");
    for (const std::string& path : paths) inputs.push_back(read_safetensors_input(path));
    make_names_unique(inputs, paths);
  }
  return inputs;
}

std::optional<element_type> raw_type_of(const option_set& options) {
  if (!options.given("--dtype")) return std::nullopt;
  words names;
  for (const element_description& d : element_descriptions) names.emplace_back(d.name);
  return element_type_named(options.choice("--dtype", names));
}

deviate::mask mask_of(const option_set& options) {
  static const std::array<std::string, 2> alignments{"bottom_right", "top_left"};
  const std::optional<std::string> window = options.one("--window");
  const bool is_causal = options.given("--causal");
  if (is_causal && window)
    throw usage_error("--causal and --window exclude each other; --window L,0 is causal with L earlier keys");
  if (options.given("--alignment") && !is_causal && !window)
    throw usage_error("--alignment belongs to --causal or --window");

  deviate::mask mask;
  if (is_causal) mask = causal{};
  if (window) {
    const std::size_t comma = window->find(',');
    if (comma == std::string::npos || window->find(',', comma + 1) != std::string::npos)
      throw usage_error("--window is " + in_quotes(*window) + "; it must be two whole numbers L,R");
    mask.left = whole_number("--window", window->substr(0, comma), -1, largest_count);
    mask.right = whole_number("--window", window->substr(comma + 1), -1, largest_count);
  }
  if (options.choice("--alignment", alignments) == "top_left") mask.align = alignment::top_left;
  return mask;
}

void expect_sound(const attention_inputs& inputs, const problem& p, bool allow_nan) {
  detail::bound_problem bound;
  try {
    bound = detail::bind(inputs.q.shape(), inputs.k.shape(), inputs.v.shape(), p);
  } catch (const contract_violation& problem) {
    throw usage_error(inputs.name + ": " + problem.what());
  }
  if (allow_nan) return;
  const std::vector<std::uint8_t> seen = keys_seen(bound);
  expect_finite(inputs.name, 'q', inputs.q, queries_that_see(bound));
  expect_finite(inputs.name, 'k', inputs.k, seen);
  expect_finite(inputs.name, 'v', inputs.v, seen);
}

}  // namespace deviate::tool
