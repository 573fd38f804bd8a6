// SPDX-License-Identifier: Apache-2.0
/// \file named.hpp
/// \brief The formats that have names.
#pragma once

#include <deviate/number/arithmetic.hpp>
#include <deviate/number/emulated.hpp>

namespace deviate {

/// \name Formats
/// IEEE 754-2019 binary16; bfloat16 and TF32 as NVIDIA and Google document them; FP8 as in "OCP 8-bit Floating Point
/// Specification (OFP8)", revision 1.0.
/// @{
inline constexpr format bf16_format{8, 7};
inline constexpr format fp16_format{5, 10};
inline constexpr format tf32_format{8, 10};
inline constexpr format fp8_e5m2_format{5, 2};
/// Maximum 448, no infinity; overflow (beyond the tie at 464) gives NaN.
inline constexpr format fp8_e4m3_format{4, 3, special_values::nan_only, overflow_rule::nan};
/// The same numbers; overflow, infinities included, gives ±448.
inline constexpr format fp8_e4m3_saturating_format{4, 3, special_values::nan_only, overflow_rule::saturate};
/// @}

using bf16 = emulated<bf16_format>;                                ///< bfloat16
using fp16 = emulated<fp16_format>;                                ///< IEEE binary16
using tf32 = emulated<tf32_format>;                                ///< TF32: bf16's range, fp16's precision
using fp8_e5m2 = emulated<fp8_e5m2_format>;                        ///< OCP E5M2
using fp8_e4m3 = emulated<fp8_e4m3_format>;                        ///< OCP E4M3, overflow to NaN
using fp8_e4m3_saturating = emulated<fp8_e4m3_saturating_format>;  ///< OCP E4M3, saturating

/// \brief Any IEEE-style format: E exponent bits, M fraction bits.
template <int E, int M>
using binary_number = emulated<format{E, M}>;

}  // namespace deviate
