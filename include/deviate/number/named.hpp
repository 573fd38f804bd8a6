// SPDX-License-Identifier: Apache-2.0
/// \file named.hpp
/// \brief The formats that have names.
#pragma once

#include <deviate/number/arithmetic.hpp>
#include <deviate/number/emulated.hpp>

namespace deviate {

/// \name Formats
/// IEEE 754-2019 binary16; bfloat16 and TF32 as NVIDIA and Google document them; FP8 as in "OCP 8-bit Floating Point
/// Specification (OFP8)", revision 1.0; FP6 and FP4 as in "OCP Microscaling Formats (MX) Specification", version 1.0;
/// the fnuz variants of FP8 as in B. Noune, P. Jones, D. Justus, D. Masters and C. Luschi, "8-bit Numerical Formats for
/// Deep Neural Networks", 2022, and as AMD's MI300 has them. Each is named here to nearest even; `rounded` changes that.
/// @{
inline constexpr format bf16_format{8, 7};
inline constexpr format fp16_format{5, 10};
inline constexpr format tf32_format{8, 10};
inline constexpr format fp8_e5m2_format{5, 2};
/// Maximum 448, no infinity; overflow (beyond the tie at 464) gives NaN.
inline constexpr format fp8_e4m3_format{4, 3, special_values::nan_only, overflow_rule::nan};
/// The same numbers; overflow, infinities included, gives ±448.
inline constexpr format fp8_e4m3_saturating_format{4, 3, special_values::nan_only, overflow_rule::saturate};
/// Bias 8, maximum 240, one NaN (0x80), no −0; overflow gives NaN.
inline constexpr format fp8_e4m3_fnuz_format{
    4, 3, special_values::negative_zero_nan, overflow_rule::nan, subnormal_rule::gradual, rounding_mode::nearest_even,
    1};
/// Bias 16, maximum 57344, one NaN (0x80), no −0; overflow gives NaN.
inline constexpr format fp8_e5m2_fnuz_format{
    5, 2, special_values::negative_zero_nan, overflow_rule::nan, subnormal_rule::gradual, rounding_mode::nearest_even,
    1};
/// Maximum 28; saturates, infinities included; NaN has no code.
inline constexpr format fp6_e3m2_format{3, 2, special_values::finite_only, overflow_rule::saturate};
/// Maximum 7.5; saturates, infinities included; NaN has no code.
inline constexpr format fp6_e2m3_format{2, 3, special_values::finite_only, overflow_rule::saturate};
/// 0, 0.5, 1, 1.5, 2, 3, 4, 6; saturates, infinities included; NaN has no code.
inline constexpr format fp4_e2m1_format{2, 1, special_values::finite_only, overflow_rule::saturate};
/// FP24 with the range of binary32.
inline constexpr format fp24_e8m15_format{8, 15};
/// FP24 with one exponent bit less and one fraction bit more.
inline constexpr format fp24_e7m16_format{7, 16};
/// 1-8-13: the sums of FP8 products in matrix units.
inline constexpr format e8m13_format{8, 13};
/// @}

using bf16 = emulated<bf16_format>;                                ///< bfloat16
using fp16 = emulated<fp16_format>;                                ///< IEEE binary16
using tf32 = emulated<tf32_format>;                                ///< TF32: bf16's range, fp16's precision
using fp8_e5m2 = emulated<fp8_e5m2_format>;                        ///< OCP E5M2
using fp8_e4m3 = emulated<fp8_e4m3_format>;                        ///< OCP E4M3, overflow to NaN
using fp8_e4m3_saturating = emulated<fp8_e4m3_saturating_format>;  ///< OCP E4M3, saturating
using fp8_e4m3_fnuz = emulated<fp8_e4m3_fnuz_format>;              ///< E4M3 of bias 8, one zero, one NaN
using fp8_e5m2_fnuz = emulated<fp8_e5m2_fnuz_format>;              ///< E5M2 of bias 16, one zero, one NaN
using fp6_e3m2 = emulated<fp6_e3m2_format>;                        ///< OCP FP6 E3M2, saturating
using fp6_e2m3 = emulated<fp6_e2m3_format>;                        ///< OCP FP6 E2M3, saturating
using fp4_e2m1 = emulated<fp4_e2m1_format>;                        ///< OCP FP4 E2M1, saturating
using fp24_e8m15 = emulated<fp24_e8m15_format>;                    ///< FP24 with 8 exponent bits
using fp24_e7m16 = emulated<fp24_e7m16_format>;                    ///< FP24 with 7 exponent bits
using e8m13 = emulated<e8m13_format>;                              ///< 1-8-13

/// \brief Any IEEE-style format: E exponent bits, M fraction bits.
template <int E, int M>
using binary_number = emulated<format{E, M}>;

}  // namespace deviate
