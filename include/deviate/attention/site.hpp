// SPDX-License-Identifier: Apache-2.0
/// \file site.hpp
/// \brief The places of the forward algorithm where a value is produced and may be rounded.
#pragma once

#include <array>
#include <cstdint>
#include <deviate/config.hpp>
#include <string_view>

namespace deviate {

/// \brief One named place where a value is produced. The order is that of the data flow.
enum class site : std::uint8_t {
  input,                ///< Q, K, V as they enter
  score_product,        ///< a product q·k inside Q·Kᵀ
  score,                ///< the stored score S = scale · Q·Kᵀ
  row_max,              ///< running row maximum m
  shifted_score,        ///< S − m, and m_old − m_new
  probability,          ///< P = exp(S − m)
  probability_operand,  ///< P as it enters P·V
  row_sum_partial,      ///< sum of one tile's P
  row_sum,              ///< running row sum l
  rescale_factor,       ///< α = exp(m_old − m_new)
  rescaled_sum,         ///< α · l
  rescaled_output,      ///< α · O
  value_product,        ///< a product p·v inside P·V
  value_partial,        ///< P·V of one tile
  output_state,         ///< O between tiles
  normalizer,           ///< 1 / l
  output,               ///< the output O
  log_sum_exp,          ///< m + ln l: ln l is rounded here, then the sum
};

/// \brief Number of sites.
inline constexpr int site_count = int(site::log_sum_exp) + 1;

/// \brief A site's name, as in the documentation.
constexpr std::string_view name(site s) {
  constexpr std::array<std::string_view, site_count> names{"input",
                                                           "score_product",
                                                           "score",
                                                           "row_max",
                                                           "shifted_score",
                                                           "probability",
                                                           "probability_operand",
                                                           "row_sum_partial",
                                                           "row_sum",
                                                           "rescale_factor",
                                                           "rescaled_sum",
                                                           "rescaled_output",
                                                           "value_product",
                                                           "value_partial",
                                                           "output_state",
                                                           "normalizer",
                                                           "output",
                                                           "log_sum_exp"};
  return names[std::size_t(s)];
}

}  // namespace deviate
