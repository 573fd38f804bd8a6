// SPDX-License-Identifier: Apache-2.0
/// \file csv.hpp
/// \brief A study as comma-separated values.
#pragma once

#include "deviate/study_row.hpp"

#include <string>

namespace deviate::tool {

/// \brief A heading with the names of `main_columns()`, then one record for each row.
///
/// RFC 4180: fields with a comma, a quote or a line break are quoted, records end in CR LF. Fields that do not apply
/// are empty. Numbers read back as the same double; "inf", "-inf" and "nan" stand for themselves.
std::string study_csv(const study_result& study);

}  // namespace deviate::tool
