// SPDX-License-Identifier: Apache-2.0
#include "deviate/reproducer.hpp"

#include <array>
#include <cmath>

#include "deviate/command_text.hpp"
#include "deviate/io/safetensors.hpp"
#include "deviate/output.hpp"
#include "deviate/report/text.hpp"

namespace deviate::tool {
namespace {

std::vector<double> rows_of(const tensor<double>& x, std::int64_t b, std::int64_t h, std::int64_t first,
                            std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = first; i < first + count; ++i)
    for (std::int64_t c = 0; c < x.shape().columns; ++c) values.push_back(x(b, h, i, c));
  return values;
}

}  // namespace

std::string write_reproducer(const attribution_result& r, const option_set& options, const std::string& path) {
  const worst_row& w = r.shares.worst;
  const attention_inputs& in = r.inputs;
  const key_range seen = detail::bind(in.q.shape(), in.k.shape(), in.v.shape(), r.masks).keys(w.batch, w.row);
  const bool tiled = r.request.recipe != "baseline";
  const std::int64_t tile = tiled ? r.request.plan.tile_key : 1, first = seen.begin / tile * tile;
  const std::int64_t keys = std::max<std::int64_t>(seen.end - first, 1),
                     group = in.q.shape().heads / in.k.shape().heads;
  const std::vector<double> q = rows_of(in.q, w.batch, w.head, w.row, 1);
  const std::vector<double> k = rows_of(in.k, w.batch, w.head / group, first, keys);
  const std::vector<double> v = rows_of(in.v, w.batch, w.head / group, first, keys);
  const std::int64_t d = in.q.shape().columns, d_v = in.v.shape().columns;
  const std::array<named_tensor, 3> tensors{{{"q", {1, 1, 1, d}, std::span<const double>(q)},
                                             {"k", {1, 1, keys, d}, std::span<const double>(k)},
                                             {"v", {1, 1, keys, d_v}, std::span<const double>(v)}}};
  const held_signals while_writing;
  write_safetensors(path, tensors, {{"what", "row " + std::to_string(w.row) + " of head " + std::to_string(w.head)}});
  std::string command = "deviate attribute --input " + shell_word(path) + " --scale " +
                        shortest(r.masks.scale ? *r.masks.scale : 1 / std::sqrt(double(d)));
  if (seen.begin > first) command += " --window " + std::to_string(seen.end - 1 - seen.begin) + ",0";
  for (const char* name : {"--format", "--mode", "--recipe", "--exp", "--tile-query", "--tile-key"})
    if (options.given(name)) command += std::string(" ") + name + " " + shell_word(*options.one(name));
  for (const char* name : {"--low", "--groups"})
    for (const std::string& value : options.all(name)) command += std::string(" ") + name + " " + shell_word(value);
  return command;
}

}  // namespace deviate::tool
