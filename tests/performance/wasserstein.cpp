// SPDX-License-Identifier: Apache-2.0
// The exact Wasserstein-1 distance of two samples of float against sorting copies of both. Rates are values a second.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <deviate/deviation/wasserstein.hpp>
#include <string>
#include <vector>

#include "performance/inputs.hpp"

namespace dv = deviate;

namespace {

/// Values of each sample: 10^7, or what the environment says.
std::size_t sample_size() {
  const char* given = std::getenv("DEVIATE_PERFORMANCE_VALUES");
  return given != nullptr ? std::stoul(given) : 10000000;
}
std::vector<float> sample(std::uint64_t seed) {
  std::vector<float> x(sample_size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = performance::nearly_normal(seed, i);
  return x;
}

void wasserstein(benchmark::State& state) {
  const auto a = sample(1), b = sample(2);
  for (auto _ : state) benchmark::DoNotOptimize(dv::wasserstein(a, b));
  state.SetItemsProcessed(state.iterations() * std::int64_t(2 * a.size()));
}
BENCHMARK(wasserstein)->UseRealTime()->Unit(benchmark::kMillisecond);

void sort_both(benchmark::State& state) {
  const auto a = sample(1), b = sample(2);
  for (auto _ : state)
    for (const auto* given : {&a, &b}) {
      auto copy = *given;
      std::sort(copy.begin(), copy.end());
      benchmark::DoNotOptimize(copy.data());
    }
  state.SetItemsProcessed(state.iterations() * std::int64_t(2 * a.size()));
}
BENCHMARK(sort_both)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
