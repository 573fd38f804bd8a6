// SPDX-License-Identifier: Apache-2.0
/// \file named_recipes.hpp
/// \brief Recipes that have names, for any scalar S of the format under study.
#pragma once

#include <deviate/attention/recipe.hpp>

namespace deviate {

namespace detail {
/// Scalar inside sums that are "FP32 inside the tile, rounded once": float, or double for formats that float cannot
/// hold.
template <class S>
using inside_tile = wide_scalar<S>;
}  // namespace detail

/// \brief Every site in S, every operation rounded, sums one after the other.
template <class S>
using uniform = recipe<S>;

/// \brief Every *stored* value in S; inside a tile products and sums are FP32 and are rounded once.
///
/// The row sum inside a tile runs in 16 lanes, as vector units do.
template <class S>
using stored_in =
    recipe<S, at<site::score_product, detail::inside_tile<S>>, at<site::value_product, detail::inside_tile<S>>,
           summed<site::score, accumulate::fused<>>, summed<site::value_partial, accumulate::fused<>>,
           summed<site::row_sum_partial, accumulate::lane_sums<16, detail::inside_tile<S>>>>;

/// \brief FlashAttention-2 with all state stored in S.
template <class S>
using flash2_all = stored_in<S>;

/// \brief FlashAttention (1) with all state stored in S: O is normalised and stored after every key tile.
template <class S>
using flash1_all = with<stored_in<S>, normalized<normalization::every_tile>>;

/// \brief FlashAttention-2 as kernels compute it: inputs, P as it enters P·V, and O in S; everything else FP32.
template <class S>
using flash2_fp32_state =
    recipe<detail::inside_tile<S>, at<site::input, S>, at<site::probability_operand, S>, at<site::output, S>,
           summed<site::score, accumulate::fused<>>, summed<site::value_partial, accumulate::fused<>>,
           summed<site::row_sum_partial, accumulate::lane_sums<16>>, divided<division::reciprocal>>;

/// \brief Baseline Attention as frameworks materialise it: S, the probabilities P ÷ l and O are stored in S; matrix
/// products and the inside of the softmax are FP32, each rounded once. Use with `baseline_forward`.
template <class S>
using baseline =
    recipe<detail::inside_tile<S>, at<site::input, S>, at<site::score, S>, at<site::probability_operand, S>,
           at<site::output, S>, summed<site::score, accumulate::fused<>>,
           summed<site::value_partial, accumulate::fused<>>, summed<site::row_sum_partial, accumulate::lane_sums<16>>>;

}  // namespace deviate
