// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/columns.hpp"

namespace deviate::tool {
namespace {

cell optional_cell(const std::optional<std::int64_t>& x) { return x ? cell(*x) : cell(); }

constexpr column columns[] = {
    {"inputs", [](const study_row& r) -> cell { return r.inputs; }},
    {"heads", [](const study_row& r) -> cell { return r.heads; }},
    {"n_query", [](const study_row& r) -> cell { return r.n_query; }},
    {"n_key", [](const study_row& r) -> cell { return r.n_key; }},
    {"d", [](const study_row& r) -> cell { return r.d; }},
    {"tile_query", [](const study_row& r) -> cell { return optional_cell(r.tile_query); }},
    {"tile_key", [](const study_row& r) -> cell { return optional_cell(r.tile_key); }},
    {"recipe", [](const study_row& r) -> cell { return r.recipe; }},
    {"format", [](const study_row& r) -> cell { return r.format; }},
    {"rounding", [](const study_row& r) -> cell { return r.rounding; }},
    {"golden", [](const study_row& r) -> cell { return r.golden; }},
    {"golden_scalar", [](const study_row& r) -> cell { return r.certificate.scalar(); }},
    {"golden_bound", [](const study_row& r) -> cell { return r.certificate.bound; }},
    {"golden_half_ulps", [](const study_row& r) -> cell { return r.certificate.half_ulps; }},
    {"golden_uncertified", [](const study_row& r) -> cell { return r.certificate.uncertified_rows; }},
    {"max_abs", [](const study_row& r) -> cell { return r.deviation.max_abs; }},
    {"mean_abs", [](const study_row& r) -> cell { return r.deviation.mean_abs; }},
    {"std_abs", [](const study_row& r) -> cell { return r.deviation.std_abs; }},
    {"rmse", [](const study_row& r) -> cell { return r.deviation.rmse; }},
    {"relative_l1", [](const study_row& r) -> cell { return r.deviation.relative_l1; }},
    {"relative_l2", [](const study_row& r) -> cell { return r.deviation.relative_l2; }},
    {"cosine", [](const study_row& r) -> cell { return r.deviation.cosine; }},
    {"bias", [](const study_row& r) -> cell { return r.deviation.bias; }},
    {"bias_ci95", [](const study_row& r) -> cell { return r.deviation.bias_ci95; }},
    {"max_ulp", [](const study_row& r) -> cell { return r.deviation.max_ulp; }},
    {"wasserstein_1", [](const study_row& r) -> cell { return r.deviation.wasserstein_1; }},
    {"identical_share", [](const study_row& r) -> cell { return r.deviation.identical_share(); }},
    {"nan",
     [](const study_row& r) -> cell {
       return r.deviation.nan_in_got + r.deviation.nan_in_golden + r.deviation.nan_in_both;
     }},
    {"inf", [](const study_row& r) -> cell { return r.deviation.infinity_mismatches + r.deviation.infinities_equal; }},
    {"rescales", [](const study_row& r) -> cell { return r.rescales; }},
    {"ratio_max_abs", [](const study_row& r) -> cell { return r.ratio_max_abs; }},
    {"ratio_relative_l2", [](const study_row& r) -> cell { return r.ratio_relative_l2; }},
};

}  // namespace

std::span<const column> main_columns() { return columns; }

}  // namespace deviate::tool
