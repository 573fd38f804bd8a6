// SPDX-License-Identifier: Apache-2.0
#include "deviate/random_choice.hpp"

#include <unistd.h>

#include <array>

#include "deviate/given_inputs.hpp"
#include "deviate/usage_error.hpp"

namespace deviate::tool {
namespace {

const std::array<std::string, 3> distributions{"uniform", "normal", "outliers"};
const std::array<std::string, 4> random_options{"--n", "--d", "--heads", "--seed"};

// The machine's memory, the only bound on random inputs: beyond it a process is killed rather than refused.
void expect_memory_for(const random_inputs& how) {
  const double needed =
      3.0 * sizeof(double) * static_cast<double>(how.n) * static_cast<double>(how.d) * static_cast<double>(how.heads);
  const double there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (needed > there)
    throw usage_error("--n " + std::to_string(how.n) + " --d " + std::to_string(how.d) + " --heads " +
                      std::to_string(how.heads) + ": Q, K and V exceed this machine's memory");
}

}  // namespace

void add_random_options(option_set& options) {
  options.add("--random", "NAME",
              "Random inputs instead: uniform in (0, 1), normal with mean 0 and deviation 1,\n"
              "or outliers: normal, and 0.1 % more of deviation 10 added");
  options.add("--n", "LIST", "Rows of random Q, K and V (default 1024)");
  options.add("--d", "D", "Columns of random Q, K and V (default 64)");
  options.add("--heads", "H", "Heads of random Q, K and V (default 1)");
  options.add("--seed", "S", "Seed of random inputs (default 1); the same bits on every machine");
}

void expect_one_source(const option_set& options) {
  const bool random = options.given("--random");
  if (random && names_files(options)) throw usage_error("--random and inputs from files exclude each other");
  if (random && options.given("--dtype")) throw usage_error("--dtype belongs to .npy files (--q, --k, --v)");
  const std::string shape = options.first_given(random_options);
  if (!random && !shape.empty())
    throw usage_error(
        shape + " belongs to --random" +
        (names_files(options) ? "; files have their own sizes" : ": add --random uniform, normal or outliers"));
}

std::vector<random_inputs> random_of(const option_set& options) {
  random_inputs how;
  how.distribution = options.choice("--random", distributions);
  how.d = options.whole("--d", 1, largest_count, how.d);
  how.heads = options.whole("--heads", 1, largest_count, how.heads);
  how.seed = options.seed("--seed", how.seed);
  std::vector<std::int64_t> lengths = options.counts("--n", largest_count);
  if (lengths.empty()) lengths = {1024};
  std::vector<random_inputs> all;
  for (const std::int64_t n : lengths) {
    how.n = n;
    expect_memory_for(how);
    all.push_back(how);
  }
  return all;
}

}  // namespace deviate::tool
