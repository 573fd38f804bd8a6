// SPDX-License-Identifier: Apache-2.0
#include "deviate/attribution_table.hpp"

template deviate::attribution deviate::detail::attribute<deviate::tool::baseline_order>(
    const deviate::recipe_formats&, const deviate::detail::baseline_kernel&, const deviate::row_sample&,
    const deviate::attribution_options&);
template deviate::headroom deviate::detail::observe_baseline<deviate::tool::baseline_order>(
    const deviate::recipe_formats&, const deviate::row_sample&, const deviate::workers&);
