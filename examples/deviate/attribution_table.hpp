// SPDX-License-Identifier: Apache-2.0
/// \file attribution_table.hpp
/// \brief What is compiled of attribution: the orders of the named recipes, each in a file of its own (attribution_*.cpp).
/// Their formats are chosen at run time.
#pragma once

#include <deviate/attention/named_recipes.hpp>
#include <deviate/deviation/attribution.hpp>
#include <deviate/deviation/headroom.hpp>
#include <deviate/math/exp2_polynomial.hpp>
#include <deviate/math/exp_fma.hpp>

namespace deviate::tool {

/// \brief 2^x by the function that was chosen by its index in `exponential_names`. Written before a run, read by it.
struct chosen_exp2 {
  static inline int index = 0;  ///< of the function
  /// \brief 2^x, in float lanes.
  template <class L>
  L operator()(const L& x) const {
    switch (index) {
      case 2: return math::exp2_polynomial<1>(x);
      case 3: return math::exp2_polynomial<2>(x);
      case 4: return math::exp2_polynomial<3>(x);
      case 5: return math::exp2_polynomial<4>(x);
      case 6: return math::exp2_polynomial<5>(x);
      case 7: return maximum(math::exp2_fma(x), broadcast<L>(0x1p-24f));
      default: return math::exp2_fma(x);
    }
  }
};

/// \brief flash2_all with the chosen function.
template <class S>
using with_chosen_exponential =
    with<flash2_all<S>, exponential<exponential_base2<chosen_exp2, exponent_form::shifted>>>;

using flash2_order = flash2_all<narrow_runtime>;                    ///< FlashAttention-2
using kernel_order = flash2_fp32_state<narrow_runtime>;             ///< the same, divided by a reciprocal
using flash1_order = flash1_all<narrow_runtime>;                    ///< FlashAttention (1)
using uniform_order = uniform<narrow_runtime>;                      ///< every sum one after the other
using baseline_order = baseline<narrow_runtime>;                    ///< Baseline Attention
using approximate_order = with_chosen_exponential<narrow_runtime>;  ///< flash2_order with another exp

}  // namespace deviate::tool

// clang-format off
extern template deviate::attribution deviate::detail::attribute<deviate::tool::flash2_order>(const deviate::recipe_formats&, const deviate::detail::flash_kernel&, const deviate::row_sample&, const deviate::attribution_options&);
extern template deviate::attribution deviate::detail::attribute<deviate::tool::kernel_order>(const deviate::recipe_formats&, const deviate::detail::flash_kernel&, const deviate::row_sample&, const deviate::attribution_options&);
extern template deviate::attribution deviate::detail::attribute<deviate::tool::flash1_order>(const deviate::recipe_formats&, const deviate::detail::flash_kernel&, const deviate::row_sample&, const deviate::attribution_options&);
extern template deviate::attribution deviate::detail::attribute<deviate::tool::uniform_order>(const deviate::recipe_formats&, const deviate::detail::flash_kernel&, const deviate::row_sample&, const deviate::attribution_options&);
extern template deviate::attribution deviate::detail::attribute<deviate::tool::baseline_order>(const deviate::recipe_formats&, const deviate::detail::baseline_kernel&, const deviate::row_sample&, const deviate::attribution_options&);
extern template deviate::attribution deviate::detail::attribute<deviate::tool::approximate_order>(const deviate::recipe_formats&, const deviate::detail::flash_kernel&, const deviate::row_sample&, const deviate::attribution_options&);
extern template deviate::headroom deviate::detail::observe_flash<deviate::tool::flash2_order>(const deviate::recipe_formats&, const deviate::row_sample&, deviate::schedule, const deviate::workers&);
extern template deviate::headroom deviate::detail::observe_flash<deviate::tool::kernel_order>(const deviate::recipe_formats&, const deviate::row_sample&, deviate::schedule, const deviate::workers&);
extern template deviate::headroom deviate::detail::observe_flash<deviate::tool::flash1_order>(const deviate::recipe_formats&, const deviate::row_sample&, deviate::schedule, const deviate::workers&);
extern template deviate::headroom deviate::detail::observe_flash<deviate::tool::uniform_order>(const deviate::recipe_formats&, const deviate::row_sample&, deviate::schedule, const deviate::workers&);
extern template deviate::headroom deviate::detail::observe_flash<deviate::tool::approximate_order>(const deviate::recipe_formats&, const deviate::row_sample&, deviate::schedule, const deviate::workers&);
extern template deviate::headroom deviate::detail::observe_baseline<deviate::tool::baseline_order>(const deviate::recipe_formats&, const deviate::row_sample&, const deviate::workers&);
// clang-format on
