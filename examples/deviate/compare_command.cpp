// SPDX-License-Identifier: Apache-2.0
#include <deviate/deviation/metrics.hpp>
#include <deviate/deviation/tolerance.hpp>

#include "deviate/commands.hpp"
#include "deviate/compare_advice.hpp"
#include "deviate/comparison.hpp"
#include "deviate/format_names.hpp"
#include "deviate/given_inputs.hpp"
#include "deviate/io/file_error.hpp"
#include "deviate/io/npy.hpp"
#include "deviate/io/safetensors.hpp"
#include "deviate/output.hpp"
#include "deviate/report/text.hpp"
#include "deviate/usage_error.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace deviate::tool {
namespace {

constexpr int exceeded = 1;

bool is_npy(const std::string& path) {
  constexpr std::string_view magic = "\x93NUMPY";
  input_file file{std::filesystem::path(path)};
  std::array<char, magic.size()> first{};
  if (file.size() < first.size()) return path.ends_with(".npy");
  file.read(0, first);
  return std::string_view(first.data(), first.size()) == magic || path.ends_with(".npy");
}

compared_tensor read_tensor(const std::string& path, const option_set& options) {
  const std::optional<std::string> wanted = options.one("--tensor");
  compared_tensor read;
  read.source = path;
  loaded_tensor loaded;
  if (is_npy(path)) {
    loaded = read_npy(path, raw_type_of(options));
  } else {
    safetensors_file file{std::filesystem::path(path)};
    if (!wanted && file.tensors().size() != 1) {
      std::string names;
      for (const auto& [name, entry] : file.tensors()) names += (names.empty() ? "" : ", ") + name;
      throw file_error(path, "holds " + std::to_string(file.tensors().size()) +
                                 " tensors; name one with --tensor: " + shortened(names, 200));
    }
    const std::string name = wanted ? *wanted : file.tensors().begin()->first;
    loaded = file.load(name);
    read.source += ": " + name;
  }
  if (loaded.count() == 0)
    throw file_error(read.source, "has shape " + shape_text(loaded.shape) + ": nothing to compare");
  read.type = loaded.type;
  read.shape = loaded.shape;
  read.values = {right_aligned_extents(loaded.shape, read.source), loaded.as_double()};
  return read;
}

double largest_finite(const tensor<double>& values) {
  double largest = 0;
  for (const double x : values.values())
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  return largest;
}

// The element furthest beyond the tolerance: NaN mismatches first, then infinite ones, then by how much.
element_location furthest_beyond(const comparison& c) {
  const tolerance& allowed = *c.allowed;
  const extents& shape = c.got.values.shape();
  element_location furthest;
  double worst = -std::numeric_limits<double>::infinity();
  for (std::int64_t b = 0; b < shape.batch; ++b)
    for (std::int64_t h = 0; h < shape.heads; ++h)
      for (std::int64_t row = 0; row < shape.rows; ++row)
        for (std::int64_t column = 0; column < shape.columns; ++column) {
          const double x = c.got.values(b, h, row, column), y = c.reference.values(b, h, row, column);
          if (x == y || (c.equal_nan && std::isnan(x) && std::isnan(y))) continue;
          const double excess = std::fabs(x - y) - (allowed.atol + allowed.rtol * std::fabs(y));
          if (!(excess <= worst) && !std::isnan(worst)) {
            worst = std::isinf(x) && !std::isnan(y) ? std::numeric_limits<double>::infinity() : excess;
            furthest = {b, h, row, column, x, y};
          }
        }
  return furthest;
}

constexpr const char* usage = "deviate compare A B";
constexpr const char* brief =
    "Every metric of the difference between two tensor files, .npy or .safetensors, whole and per head.\n"
    "Shapes are read from the right as [batch, heads, rows, columns]: of an LSE [heads, n], the rows are its heads.\n"
    "B is the reference. With --atol or --rtol the exit status is 1 if any |A - B| > atol + rtol |B|.\n"
    "With the inputs of A, an attention output, the first line advises which tolerance to test A with, and\n"
    "tells what share of A fails it against golden.";
constexpr const char* notes =
    "Maxima are NaN or infinite if any element is; means are over elements finite on both sides.\n"
    "Advice: rtol is the unit roundoff of --format. atol is the largest of --factor times the error of the\n"
    "materialised baseline, the change of golden by one ulp of every input, and half an ulp of the output.\n"
    "Examples:\n"
    "  deviate compare o.npy golden.npy --format bf16 --atol 1e-3 --rtol 4e-3\n"
    "  deviate compare o.npy golden.npy --format bf16 --input qkv.safetensors --causal";

void declare(option_set& options) {
  options.add("--format", "FORMAT",
              "Format whose ulps count and whose tolerance is recommended\n(default: that of A's elements)");
  options.add("--atol", "X", "Absolute tolerance, in the unit of the values (0 if only --rtol is given)");
  options.add("--rtol", "X", "Tolerance relative to |B| (0 if only --atol is given)");
  options.add_flag("--equal-nan", "NaN on both sides is an agreement");
  options.add("--tensor", "NAME", "Which tensor of .safetensors files that hold several");
  add_advice_options(options);
  options.add("--json", "FILE", "Write JSON; - is standard output, which then has nothing else");
}

std::optional<tolerance> tolerance_of(const option_set& options) {
  if (!options.given("--atol") && !options.given("--rtol")) return std::nullopt;
  tolerance allowed{options.finite("--atol").value_or(0), options.finite("--rtol").value_or(0), "given"};
  for (const auto& [name, value] : {std::pair{"--atol", allowed.atol}, std::pair{"--rtol", allowed.rtol}})
    if (value < 0) throw usage_error(std::string(name) + " is '" + shortest(value) + "'; it must be 0 or more");
  return allowed;
}

}  // namespace

int compare_command(const words& given, std::ostream& out, std::ostream& errors) {
  option_set options(usage, brief, notes);
  declare(options);
  if (!options.parse(given, out)) return 0;
  const words& files = options.arguments();
  if (files.size() != 2)
    throw usage_error("compare takes two files, A and the reference B; got " + std::to_string(files.size()));
  const std::optional<std::string> format_name = options.one("--format"), json = options.one("--json");
  comparison c;
  if (format_name) c.ulps_of = format_named(*format_name);
  c.allowed = tolerance_of(options);
  c.equal_nan = options.given("--equal-nan");
  expect_advice_options(options);
  if (json && !is_standard_output(json)) expect_writable_file(*json);

  c.got = read_tensor(files[0], options);
  c.reference = read_tensor(files[1], options);
  if (c.got.values.shape() != c.reference.values.shape())
    throw usage_error("shapes differ: " + files[0] + " " + shape_text(c.got.shape) + ", " + files[1] + " " +
                      shape_text(c.reference.shape));
  if (!format_name) c.ulps_of = {std::string(describe(c.got.type).name), describe(c.got.type).numbers};

  deviation_options how;
  how.ulp_format = c.ulps_of.numbers;
  how.both_nan_equal = c.equal_nan;
  c.deviation = deviation(c.got.values, c.reference.values, how);
  c.recommended = recommended_tolerance(c.ulps_of.numbers, largest_finite(c.reference.values));
  if (c.allowed) {
    c.check = within(c.got.values, c.reference.values, *c.allowed, c.equal_nan);
    c.furthest = furthest_beyond(c);
  }
  c.advice = advice_of(options, c);

  if (json) write_text(*json, comparison_json(c), out);
  if (!is_standard_output(json)) out << comparison_text(c);
  if (!c.allowed || c.check.passed()) return 0;
  out.flush();
  errors << "deviate: " << one_line(verdict(c)) << std::endl;
  return exceeded;
}

}  // namespace deviate::tool
