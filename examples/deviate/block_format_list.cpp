// SPDX-License-Identifier: Apache-2.0
#include "deviate/block_format_list.hpp"

#include <deviate/number/named_blocks.hpp>

#include "deviate/plain_text.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace deviate::tool {
namespace {

struct named_block_format {
  const char* name;
  block_format numbers;
};

constexpr std::array<named_block_format, 13> all{{
    {"mxfp8_e4m3", mxfp8_e4m3},
    {"mxfp8_e5m2", mxfp8_e5m2},
    {"mxfp6_e3m2", mxfp6_e3m2},
    {"mxfp6_e2m3", mxfp6_e2m3},
    {"mxfp4", mxfp4},
    {"mxint8", mxint8},
    {"nvfp4", nvfp4},
    {"int8_scaled", int8_scaled},
    {"int8_scaled_even", int8_scaled_even},
    {"int4_scaled", int4_scaled},
    {"int4_scaled_even", int4_scaled_even},
    {"fp8_e4m3_scaled", fp8_e4m3_scaled},
    {"fp8_e5m2_scaled", fp8_e5m2_scaled},
}};

std::string element_text(const element_format& e) {
  if (e.is_integer()) return "int" + std::to_string(e.integer_bits);
  return "e" + std::to_string(e.numbers.exponent_bits) + "m" + std::to_string(e.numbers.fraction_bits);
}
std::string scale_text(const scale_format& s) {
  if (s.is_e8m0) return "e8m0";
  return s == fp32_scale ? "fp32" : element_text(element_format::floating(s.numbers));
}
const char* ties_text(const block_format& f) {
  return f.element.numbers.rounding == rounding_mode::nearest_away ? "away" : "even";
}
const char* rule_text(const block_format& f) {
  switch (f.rule) {
    case scaling_rule::floor_exponent: return "2^(floor(log2 amax) - emax)";
    case scaling_rule::ceiling_exponent: return "2^(ceiling(log2 amax) - emax)";
    case scaling_rule::ratio: break;
  }
  return "amax / max element";
}

}  // namespace

bool is_block_format(std::string_view name) {
  return std::any_of(all.begin(), all.end(), [&](const named_block_format& f) { return f.name == name; });
}

nlohmann::ordered_json block_formats_as_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [name, f] : all) {
    nlohmann::ordered_json object;
    object["name"] = name;
    object["block_scaled"] = true;
    object["element"] = element_text(f.element);
    object["element_width"] = f.element.width();
    object["element_max"] = f.element.largest();
    object["ties"] = ties_text(f);
    object["block"] = f.block > 0 ? nlohmann::ordered_json(f.block) : nlohmann::ordered_json();
    object["scale"] = scale_text(f.scale);
    object["scale_width"] = f.scale.width();
    object["tensor_scale"] = f.has_tensor_scale ? nlohmann::ordered_json("fp32") : nlohmann::ordered_json();
    object["bits_per_element"] =
        f.block > 0 ? nlohmann::ordered_json(f.bits_per_element(f.block)) : nlohmann::ordered_json();
    object["max"] = f.largest();
    object["min_positive"] = f.smallest();
    object["rule"] = rule_text(f);
    list.push_back(std::move(object));
  }
  return list;
}

std::string block_formats_as_table() {
  std::vector<std::vector<std::string>> lines{{"block-scaled", "element", "ties", "block", "scale", "tensor scale",
                                               "bits/element", "maximum", "min positive", "scale from"}};
  for (const auto& [name, f] : all) {
    const std::string bits = f.block > 0
                                 ? short_text(f.bits_per_element(f.block))
                                 : std::to_string(f.element.width()) + " + " + std::to_string(f.scale.width()) + "/n";
    lines.push_back({name, element_text(f.element), ties_text(f), f.block > 0 ? std::to_string(f.block) : "any n",
                     scale_text(f.scale), f.has_tensor_scale ? "fp32" : "none", bits, short_text(f.largest()),
                     short_text(f.smallest()), rule_text(f)});
  }
  return in_columns(lines) +
         "\nEach number is element x scale (x tensor scale: maximum and minimum are those where it is 1). amax: "
         "largest\n"
         "magnitude of the block; emax: exponent of the maximal element; any n: a tensor, row, token, channel or "
         "block.\n"
         "A block with an infinity or NaN is NaN. They are parts of the library: no command computes in them.\n";
}

}  // namespace deviate::tool
