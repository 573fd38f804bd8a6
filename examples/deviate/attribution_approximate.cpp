// SPDX-License-Identifier: Apache-2.0
#include "deviate/attribution_table.hpp"

template deviate::attribution deviate::detail::attribute<deviate::tool::approximate_order>(
    const deviate::recipe_formats&, const deviate::detail::flash_kernel&, const deviate::row_sample&,
    const deviate::attribution_options&);
template deviate::headroom deviate::detail::observe_flash<deviate::tool::approximate_order>(
    const deviate::recipe_formats&, const deviate::row_sample&, deviate::schedule, const deviate::workers&);
