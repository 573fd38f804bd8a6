// SPDX-License-Identifier: Apache-2.0
/// \file named_units.hpp
/// \brief The matrix units that have names, by architecture and format of the factors.
#pragma once

#include <deviate/accumulate/matrix_unit.hpp>
#include <deviate/number/named.hpp>

namespace deviate::accumulate {

/// \name Matrix units
/// Terms, fraction bits and rounding as measured in arXiv 2511.10909 and 2512.07004, whose models agree. The running
/// sum is FP32 and truncated, unless said otherwise.
/// @{
using v100_fp16 = matrix_unit<4, 23>;     ///< V100, FP16
using ampere_fp16 = matrix_unit<8, 24>;   ///< A100 and Ada, FP16 and BF16
using ampere_tf32 = matrix_unit<4, 24>;   ///< A100 and Ada, TF32
using hopper_fp16 = matrix_unit<16, 25>;  ///< H100 and B200, FP16 and BF16
using hopper_tf32 = matrix_unit<8, 25>;   ///< H100 and B200, TF32
/// \brief Ada, FP8: the running sum keeps 13 fraction bits.
using ada_fp8 = matrix_unit<16, 13, binary_number<8, 13>>;
/// \brief H100, FP8: the running sum keeps 13 fraction bits.
using hopper_fp8 = matrix_unit<32, 13, binary_number<8, 13>>;
using blackwell_fp8 = matrix_unit<32, 25>;  ///< B200, FP8

/// \brief A unit whose running sum is FP16, rounded to nearest even in every fused addition.
/// \tparam Unit one of the units above
template <class Unit>
using to_fp16 = matrix_unit<Unit::terms, Unit::fraction_bits, fp16, unit_rounding::nearest_even>;
/// @}

}  // namespace deviate::accumulate
