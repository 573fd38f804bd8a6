// SPDX-License-Identifier: Apache-2.0
// Forward passes over B = 1, H = 8, d = 64, in the library and in Eigen. Rates are floating-point operations a second.
#include <benchmark/benchmark.h>

#include <deviate/deviate.hpp>

#include "performance/eigen_flash.hpp"
#include "performance/inputs.hpp"

namespace dv = deviate;

namespace {

const dv::problem scaled{.scale = 0.125};

struct exp_by_fma {
  template <class L>
  L operator()(const L& x) const {
    return dv::math::exp_fma(x);
  }
};
/// FlashAttention-2 in FP32 but for what S names, with an exp of at most 0.98 ulp.
template <class S>
using kernel = dv::with<dv::flash2_fp32_state<S>, dv::exponential<dv::exponential_in_float<exp_by_fma>>>;

template <class Recipe>
void measure(benchmark::State& state, const Recipe& recipe) {
  const std::int64_t n = state.range(0);
  const performance::attention_inputs in(n);
  const dv::workers who{.count = int(state.range(1))};
  for (auto _ : state) {
    auto result = dv::flash_forward(recipe, in.q, in.k, in.v, scaled, dv::schedule{}, who);
    benchmark::DoNotOptimize(result.output.data());
  }
  state.counters["rate"] =
      benchmark::Counter(performance::forward_operations(n) * double(state.iterations()), benchmark::Counter::kIsRate);
}

template <class Recipe>
void flash(benchmark::State& state) {
  measure(state, Recipe{});
}
template <class Recipe>
void flash_in_e5m10(benchmark::State& state) {
  measure(state, Recipe{dv::format{5, 10}});
}

void eigen_flash(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const int threads = int(state.range(1));
  const performance::attention_inputs in(n);
  dv::tensor<float> out({1, performance::heads, n, performance::d});
  for (auto _ : state) {
    performance::at_the_same_time(threads, [&](int thread) {
      performance::eigen_flash flash(state.range(2), state.range(3), performance::d);
      for (std::int64_t h = thread; h < performance::heads; h += threads)
        flash.forward(&in.q(0, h, 0, 0), &in.k(0, h, 0, 0), &in.v(0, h, 0, 0), &out(0, h, 0, 0), n, performance::d,
                      0.125f);
    });
    benchmark::DoNotOptimize(out.data());
  }
  // A peer that computes something else would be no peer.
  const auto ours = dv::flash_forward(kernel<float>{}, in.q, in.k, in.v, scaled);
  if (!(dv::deviation(out, ours.output).max_abs < 1e-5)) state.SkipWithError("the peer's output is wrong");
  state.counters["rate"] =
      benchmark::Counter(performance::forward_operations(n) * double(state.iterations()), benchmark::Counter::kIsRate);
}

void golden(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const performance::attention_inputs in(n);
  const dv::workers who{.count = int(state.range(1))};
  for (auto _ : state) {
    auto result = dv::golden(in.q, in.k, in.v, scaled, who);
    benchmark::DoNotOptimize(result.output.data());
  }
  state.counters["rate"] =
      benchmark::Counter(performance::forward_operations(n) * double(state.iterations()), benchmark::Counter::kIsRate);
}

void both_lengths(benchmark::internal::Benchmark* b) { b->Args({1024, 1})->Args({4096, 1})->Args({4096, 2}); }
void one_length(benchmark::internal::Benchmark* b) { b->Args({1024, 1}); }
void eigen_tiles(benchmark::internal::Benchmark* b) {
  for (const std::int64_t n : {1024, 4096}) b->Args({n, 1, 64, 256})->Args({n, 1, 128, 128})->Args({n, 1, 128, 256});
  b->Args({4096, 2, 128, 128})->Args({4096, 2, 128, 256});
}

}  // namespace

// clang-format off
BENCHMARK(flash<kernel<float>>)->Name("flash_fp32")->Apply(both_lengths)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(flash<kernel<dv::bf16>>)->Name("fp32_state_bf16")->Apply(both_lengths)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(flash<kernel<dv::fp16>>)->Name("fp32_state_fp16")->Apply(both_lengths)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(flash<dv::flash2_fp32_state<float>>)->Name("flash_fp32_correct_exp")->Apply(both_lengths)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(flash<dv::flash2_fp32_state<dv::bf16>>)->Name("fp32_state_bf16_correct_exp")->Apply(both_lengths)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(eigen_flash)->Apply(eigen_tiles)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(golden)->Apply(one_length)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(flash<dv::uniform<dv::bf16>>)->Name("uniform_bf16")->Apply(one_length)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(flash<dv::uniform<dv::fp16>>)->Name("uniform_fp16")->Apply(one_length)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(flash<dv::uniform<dv::fp8_e4m3>>)->Name("uniform_e4m3")->Apply(one_length)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(flash_in_e5m10<dv::uniform<dv::narrow_runtime>>)->Name("uniform_runtime_e5m10")->Apply(one_length)->UseRealTime()->Unit(benchmark::kMillisecond);
// clang-format on
