// SPDX-License-Identifier: Apache-2.0
/// \file named_blocks.hpp
/// \brief The block-scaled formats that have names.
#pragma once

#include <deviate/number/block_format.hpp>
#include <deviate/number/named.hpp>

namespace deviate {

/// \name Scales
/// @{
inline constexpr scale_format fp32_scale{};                                   ///< any float; saturates
inline constexpr scale_format e4m3_scale{fp8_e4m3_saturating_format, false};  ///< 0, 2^−9 to 448
inline constexpr scale_format e8m0_scale{{8, 23, special_values::ieee, overflow_rule::saturate},
                                         true};  ///< powers of 2
/// @}

/// \name Formats of the OCP Microscaling Formats (MX) Specification, version 1.0
/// 32 elements in a block, an E8M0 scale from the floor of amax's logarithm. An element too large for the scale becomes
/// the largest. Where infinities and NaN are to stay elements (`nonfinite_rule::element`), E5M2 keeps both, and E4M3
/// makes NaN of both.
/// @{
inline constexpr block_format mxfp8_e4m3{
    element_format::floating({4, 3, special_values::nan_only, overflow_rule::saturate_finite}), e8m0_scale,
    scaling_rule::floor_exponent, 32};  ///< E4M3 elements
inline constexpr block_format mxfp8_e5m2{
    element_format::floating({5, 2, special_values::ieee, overflow_rule::saturate_finite}), e8m0_scale,
    scaling_rule::floor_exponent, 32};  ///< E5M2 elements
inline constexpr block_format mxfp6_e3m2{element_format::floating(fp6_e3m2_format), e8m0_scale,
                                         scaling_rule::floor_exponent, 32};  ///< E3M2 elements
inline constexpr block_format mxfp6_e2m3{element_format::floating(fp6_e2m3_format), e8m0_scale,
                                         scaling_rule::floor_exponent, 32};  ///< E2M3 elements
inline constexpr block_format mxfp4{element_format::floating(fp4_e2m1_format), e8m0_scale, scaling_rule::floor_exponent,
                                    32};  ///< E2M1 elements
inline constexpr block_format mxint8{element_format::integer(8, rounding_mode::nearest_even, -6), e8m0_scale,
                                     scaling_rule::floor_exponent, 32};  ///< integers −127 to 127 in units of 1/64
/// @}

/// \brief NVFP4: 16 E2M1 elements in a block, an E4M3 scale of amax ÷ 6, and an FP32 scale of the tensor that brings
/// the largest of them to 448, as NVIDIA documents it for Blackwell.
inline constexpr block_format nvfp4{element_format::floating(fp4_e2m1_format), e4m3_scale, scaling_rule::ratio, 16,
                                    true};

/// \name Integers with an FP32 scale of amax ÷ the largest
/// For a block of any shape: a tensor, row, token, channel or block. The first two round ties away from zero, as
/// attention kernels with INT8 do, the others to even.
/// @{
inline constexpr block_format int8_scaled{element_format::integer(8, rounding_mode::nearest_away),
                                          fp32_scale};  ///< ±127
inline constexpr block_format int4_scaled{element_format::integer(4, rounding_mode::nearest_away), fp32_scale};  ///< ±7
inline constexpr block_format int8_scaled_even = int8_scaled.elements_rounded(rounding_mode::nearest_even);  ///< ±127
inline constexpr block_format int4_scaled_even = int4_scaled.elements_rounded(rounding_mode::nearest_even);  ///< ±7
/// @}

/// \name FP8 with an FP32 scale of amax ÷ the largest
/// For a block of any shape.
/// @{
inline constexpr block_format fp8_e4m3_scaled{mxfp8_e4m3.element, fp32_scale};  ///< ±448
inline constexpr block_format fp8_e5m2_scaled{mxfp8_e5m2.element, fp32_scale};  ///< ±57344
/// @}

}  // namespace deviate
