// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/glossary.hpp"

namespace deviate::tool {
namespace {

constexpr glossary_entry metrics[] = {
    {"golden",
     "The reference output: attention in FP64 or wider, three passes, no tiles. “rounded”: on the inputs after "
     "rounding "
     "to the format, so that only the computation deviates. “unrounded”: on the inputs as given, so that rounding them "
     "counts too."},
    {"golden_scalar",
     "What golden is computed in. Every row of O comes with a proved bound of golden's own error. Where the bound of "
     "FP64 is not below a thousandth of half an ulp of the format, the row is computed again in double_double, which "
     "has about 106 bits, and d is formed there."},
    {"golden_bound",
     "The largest proved bound of |golden − exact| of any element, where exact is the softmax in real numbers of the "
     "same inputs. Rows that are not certified are left out."},
    {"golden_half_ulps",
     "The largest bound of a row as a share of half an ulp of the format at the largest element of that row: below "
     "0.001 "
     "for certified rows. At an element of a tenth of that size the share is about ten times as large, so max_ulp of "
     "elements near 0 is known less well than max_abs."},
    {"golden_uncertified",
     "Number of rows of O, over all heads, of which less is proved even in double_double, as of those that hold NaN or "
     "infinity."},
    {"max_abs", "The largest |d| of any element. NaN if any element is NaN on one side."},
    {"mean_abs, std_abs", "Mean and standard deviation of |d|."},
    {"rmse", "Root of the mean of d²: the typical size of the deviation."},
    {"relative_l1, relative_l2", "Σ|d| ÷ Σ|golden|, and √Σd² ÷ √Σgolden²: size relative to the output."},
    {"cosine", "Cosine of the angle between O and golden as vectors: 1 is the same direction."},
    {"bias, bias_ci95",
     "Mean of d with its sign, and the half width of its 95 % confidence interval. Rounding errors that cancel leave a "
     "bias "
     "within the interval. It takes errors as independent, which errors of one row are not quite."},
    {"max_ulp",
     "The largest |d| in units of the spacing of the format at the golden value. Golden values near 0 have a tiny "
     "spacing, "
     "so a sum that cancels gives a large number of ulps though d is small."},
    {"wasserstein_1", "How far the values of O as a set would have to be moved to become those of golden."},
    {"identical_share", "Share of elements with the same bits as golden has in FP64: an exact result."},
    {"nan, inf", "Numbers of elements that are NaN, or infinite, on either side."},
    {"rescales", "How often a running row maximum rose after its first key tile, over all rows and heads."},
    {"ratio_max_abs, ratio_relative_l2",
     "The metric divided by that of baseline in the same format and with the same golden."},
    {"fraction bits",
     "Bits of the significand that are stored, as 7 of bf16 and 10 of fp16; e8m7 has 8 exponent bits and 7."},
    {"tile_query (Br), tile_key (Bc)", "Queries and keys that are computed together. Baseline has no tiles."},
};

constexpr glossary_entry recipes[] = {
    {"baseline",
     "Attention as frameworks materialise it: scores, probabilities and output are stored in the format; matrix "
     "products and "
     "the inside of the softmax are FP32, each rounded once."},
    {"flash1_all",
     "FlashAttention (1) with all running state stored in the format: the output is normalised and stored after every "
     "key "
     "tile. Sums inside a tile are FP32, rounded once."},
    {"flash2_all",
     "FlashAttention-2 with all running state stored in the format: the output is normalised once, at the end. Sums "
     "inside "
     "a tile are FP32, rounded once."},
    {"flash2_fp32_state",
     "FlashAttention-2 as kernels compute it: inputs, the probabilities that enter P·V, and the output are in the "
     "format; "
     "everything else is FP32."},
};

}  // namespace

std::span<const glossary_entry> metric_glossary() { return metrics; }
std::span<const glossary_entry> recipe_glossary() { return recipes; }

}  // namespace deviate::tool
