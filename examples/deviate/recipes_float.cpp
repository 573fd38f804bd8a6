// SPDX-License-Identifier: Apache-2.0
#include "deviate/recipe_table.hpp"

namespace deviate::tool {

template forward_output run_recipe<float>(const std::string&, const format&, const rounding_choice&,
                                          const attention_inputs&, const problem&, const schedule&, const workers&);

}  // namespace deviate::tool
