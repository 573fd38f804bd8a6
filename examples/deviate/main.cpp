// SPDX-License-Identifier: Apache-2.0
#include "deviate/command_line.hpp"

#include <iostream>

int main(int count, char** arguments) {
  return deviate::tool::run_command_line({arguments + (count > 0 ? 1 : 0), arguments + count}, std::cout, std::cerr);
}
