// SPDX-License-Identifier: Apache-2.0
// What the processor does at most: fused multiply-adds of float in registers, and copying memory in its caches.
#include <benchmark/benchmark.h>

#include <cstring>
#include <deviate/config.hpp>
#include <vector>

#include "performance/inputs.hpp"

namespace {

typedef float vector __attribute__((vector_size(DEVIATE_NATIVE_VECTOR_BYTES)));
constexpr int lanes = DEVIATE_NATIVE_VECTOR_BYTES / int(sizeof(float)), chains = 12, steps = 200000;

/// Enough independent chains to hide the latency of two units, few enough for 16 registers.
[[gnu::noinline]] void multiply_add_chains(float factor, float term) {
  vector chain[chains];
  const vector a = vector{} + factor, b = vector{} + term;
  for (int i = 0; i < chains; ++i) chain[i] = vector{} + float(i);
  for (int step = 0; step < steps; ++step) {
    DEVIATE_UNROLL
    for (int i = 0; i < chains; ++i) chain[i] = chain[i] * a + b;
  }
  for (int i = 0; i < chains; ++i) benchmark::DoNotOptimize(chain[i]);
}

void fma_peak(benchmark::State& state) {
  const int threads = int(state.range(0));
  for (auto _ : state) performance::at_the_same_time(threads, [](int) { multiply_add_chains(0.5f, 1.0f); });
  state.SetItemsProcessed(state.iterations() * threads * std::int64_t(2) * lanes * chains * steps);
}
BENCHMARK(fma_peak)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void copy(benchmark::State& state) {
  std::vector<float> from(std::size_t(state.range(0)), 1.0f), to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(copy)->Arg(4096)->Arg(65536);

}  // namespace
