// SPDX-License-Identifier: Apache-2.0
// Rounding of arrays that lie in the cache; rates are elements a second.
#include <benchmark/benchmark.h>

#include <cmath>
#include <deviate/number/named.hpp>
#include <deviate/number/stochastic_arrays.hpp>
#include <vector>

#include "performance/inputs.hpp"

namespace dv = deviate;

namespace {

/// Normal numbers of the format; or a third of them each subnormal, overflowing and normal, mixed at random.
std::vector<float> values_for(const dv::format& f, std::size_t count, bool mixed) {
  std::vector<float> x(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t word = dv::random_word(5, i);
    const double significand = 1 + double(word >> 40) / double(1 << 24), sign = word & 1 ? -1.0 : 1.0;
    const int choice = mixed ? int(word >> 8 & 0xff) % 3 : 0;
    const int exponent = choice == 0   ? int(word >> 16 & 0xff) % 4 - 2
                         : choice == 1 ? f.min_exponent() - 1 - int(word >> 16 & 0xff) % f.fraction_bits
                                       : f.max_exponent() + (f.exponent_bits == 8 ? 0 : 1);
    x[i] = float(std::ldexp(sign * (choice == 2 ? 1.9999 : significand), exponent));
  }
  return x;
}

template <class Round>
void measure(benchmark::State& state, const std::vector<float>& from, Round round) {
  std::vector<float> to(from.size());
  for (auto _ : state) {
    round(from, to);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * std::int64_t(from.size()));
}

template <dv::format F>
void round_normal(benchmark::State& state) {
  measure(state, values_for(F, std::size_t(state.range(0)), false),
          [](const auto& from, auto& to) { dv::round_array<F>(from, to); });
}
template <dv::format F>
void round_mixed(benchmark::State& state) {
  measure(state, values_for(F, std::size_t(state.range(0)), true),
          [](const auto& from, auto& to) { dv::round_array<F>(from, to); });
}
template <dv::format F>
void round_runtime(benchmark::State& state) {
  dv::rounding_constants<float> c(F);
  benchmark::DoNotOptimize(c);
  measure(state, values_for(F, std::size_t(state.range(0)), false),
          [&](const auto& from, auto& to) { dv::round_array(from, to, c); });
}
template <dv::format F, int N>
void round_at_random(benchmark::State& state) {
  const dv::stochastic_rounder rounder(7);
  measure(state, values_for(F, std::size_t(state.range(0)), false),
          [&](const auto& from, auto& to) { dv::round_array<F, N>(from, to, rounder); });
}

std::vector<dv::bf16> bf16_values(std::uint64_t seed) {
  std::vector<dv::bf16> x(4096);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = dv::bf16(performance::nearly_normal(seed, i));
  return x;
}
void fma_bf16(benchmark::State& state) {
  const auto a = bf16_values(1), b = bf16_values(2), c = bf16_values(3);
  std::vector<dv::bf16> to(a.size());
  for (auto _ : state) {
    dv::fma_array<dv::bf16_format>(a, b, c, to);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * std::int64_t(to.size()));
}

/// fmaf, then a rounding to bf16: two roundings, so wrong now and then. Carriers as the library's own arrays hold them.
[[gnu::noinline]] void fmaf_and_round(const float* a, const float* b, const float* c, float* to, std::size_t count) {
  constexpr int W = DEVIATE_NATIVE_VECTOR_BYTES / int(sizeof(float));
  for (std::size_t i = 0; i < count; i += W) {
    dv::pack<float, W> r;
    DEVIATE_UNROLL
    for (int lane = 0; lane < W; ++lane)
      r.part[0][lane] = std::fma(a[i + std::size_t(lane)], b[i + std::size_t(lane)], c[i + std::size_t(lane)]);
    dv::detail::store_lanes(to + i, dv::round_to<dv::bf16_format>(r));
  }
}
void fmaf_bf16(benchmark::State& state) {
  std::vector<float> x[4];
  for (std::uint64_t i = 0; i < 4; ++i)
    for (const dv::bf16 y : bf16_values(i)) x[i].push_back(y.carrier());
  for (auto _ : state) {
    fmaf_and_round(x[0].data(), x[1].data(), x[2].data(), x[3].data(), x[3].size());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * std::int64_t(x[3].size()));
}

}  // namespace

// clang-format off
BENCHMARK(round_normal<dv::bf16_format>)->Name("round_bf16")->Arg(4096)->Arg(65536);
BENCHMARK(round_normal<dv::fp16_format>)->Name("round_fp16")->Arg(4096)->Arg(65536);
BENCHMARK(round_normal<dv::fp8_e4m3_format>)->Name("round_e4m3")->Arg(4096)->Arg(65536);
BENCHMARK(round_mixed<dv::fp16_format>)->Name("round_fp16_mixed")->Arg(4096)->Arg(65536);
BENCHMARK(round_mixed<dv::fp8_e4m3_format>)->Name("round_e4m3_mixed")->Arg(4096)->Arg(65536);
BENCHMARK(round_runtime<dv::fp16_format>)->Name("round_runtime_e5m10")->Arg(4096)->Arg(65536);
BENCHMARK(round_at_random<dv::bf16_format, 16>)->Name("stochastic_bf16")->Arg(4096)->Arg(65536);
BENCHMARK(round_at_random<dv::fp16_format, 13>)->Name("stochastic_fp16")->Arg(4096)->Arg(65536);
BENCHMARK(round_at_random<dv::fp8_e4m3_format, 16>)->Name("stochastic_e4m3")->Arg(4096)->Arg(65536);
BENCHMARK(fma_bf16);
BENCHMARK(fmaf_bf16);
// clang-format on
