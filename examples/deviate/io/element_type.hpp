// SPDX-License-Identifier: Apache-2.0
/// \file element_type.hpp
/// \brief The number types a tensor file may hold, under the names the tool's options use.
#pragma once

#include <deviate/number/format.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace deviate::tool {

/// \brief How the elements of a file are encoded.
enum class element_type {
  float64,      ///< IEEE binary64
  float32,      ///< IEEE binary32
  float16,      ///< IEEE binary16
  bfloat16,     ///< the upper half of a binary32
  float8_e4m3,  ///< OCP FP8 E4M3: no infinity, one NaN of each sign, maximum 448 ("e4m3fn")
  float8_e5m2,  ///< OCP FP8 E5M2: infinities and NaNs as in IEEE 754
};

/// \brief What is known of an element type.
struct element_description {
  element_type type;
  std::string_view name;         ///< as in `--dtype`
  std::string_view safetensors;  ///< the dtype word of `.safetensors`
  format numbers;

  constexpr std::size_t bytes() const { return static_cast<std::size_t>(numbers.width()) / 8; }
};

/// \brief All element types, in the order of the enumeration.
inline constexpr std::array<element_description, 6> element_descriptions{{
    {element_type::float64, "fp64", "F64", binary64},
    {element_type::float32, "fp32", "F32", binary32},
    {element_type::float16, "fp16", "F16", format{5, 10}},
    {element_type::bfloat16, "bf16", "BF16", format{8, 7}},
    {element_type::float8_e4m3, "fp8_e4m3", "F8_E4M3", format{4, 3, special_values::nan_only, overflow_rule::nan}},
    {element_type::float8_e5m2, "fp8_e5m2", "F8_E5M2", format{5, 2}},
}};

constexpr const element_description& describe(element_type type) {
  return element_descriptions[static_cast<std::size_t>(type)];
}

/// \brief The element type that an option's value names: fp64, fp32, fp16, bf16, fp8_e4m3 or fp8_e5m2.
constexpr std::optional<element_type> element_type_named(std::string_view name) {
  for (const element_description& d : element_descriptions) {
    if (d.name == name) return d.type;
  }
  return std::nullopt;
}

/// \brief Names of the element types of a given width, for a message: "bf16 or fp16" for 2 bytes.
inline std::string names_of_width(std::size_t bytes) {
  std::string names;
  for (auto d = element_descriptions.rbegin(); d != element_descriptions.rend(); ++d) {
    if (d->bytes() == bytes) names += (names.empty() ? "" : " or ") + std::string(d->name);
  }
  return names;
}

}  // namespace deviate::tool
