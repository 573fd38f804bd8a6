// SPDX-License-Identifier: Apache-2.0
/// \file json.hpp
/// \brief A study as JSON.
#pragma once

#include "deviate/study_row.hpp"

#include <string>

namespace deviate::tool {

/// \brief An object with `command`, `notes` and `rows`; each row begins with `main_columns()` and goes on with further
/// counts, the first row of which golden is not certified, the worst element, the histogram of ulps and a summary for each head.
///
/// Tiles of baseline are null. Numbers that JSON cannot write are the strings "inf", "-inf" and "nan"; all others read
/// back as the same double. The same study gives the same bytes.
std::string study_json(const study_result& study);

}  // namespace deviate::tool
