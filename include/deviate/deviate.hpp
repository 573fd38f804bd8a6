// SPDX-License-Identifier: Apache-2.0
/// \file deviate.hpp
/// \brief Everything of the library that needs neither Eigen nor Boost. A folder may include only folders above it.
///
///     config.hpp    every macro; compiler flags that are refused
///     contract.hpp  preconditions
///     number/       what a number is: format, rounding, emulated numbers, fragments, one correctly rounded operation
///     math/         exp, exp2, log: one body for host and device
///     tensor/       views and tensors of shape [batch, heads, rows, columns]
///     accumulate/   sums: sequential, pairwise, k lanes, compensated, two-level, matrix units, exact
///     team/         where it runs: serial, threads, workers
///     attention/    problem, masks, sites, recipe, schedule; Flash, Baseline, golden
///     deviation/    metrics, ulp, Wasserstein, order statistics, tolerance; attribution of the error (attribution.hpp, not
///                   included here, nor headroom.hpp: both cost seconds of compile time where they are used)
///
/// Not included here, because they cost seconds of compile time and a dependency each:
/// number/boost.hpp (Boost.Multiprecision), tensor/eigen.hpp and tensor/eigen_scalars.hpp (Eigen).
#pragma once

#include <deviate/accumulate/accumulation.hpp>
#include <deviate/accumulate/compensated.hpp>
#include <deviate/accumulate/exact.hpp>
#include <deviate/accumulate/exact_product.hpp>
#include <deviate/accumulate/named_units.hpp>
#include <deviate/accumulate/tracked.hpp>
#include <deviate/accumulate/two_level.hpp>
#include <deviate/attention/forward.hpp>
#include <deviate/attention/golden.hpp>
#include <deviate/attention/named_recipes.hpp>
#include <deviate/config.hpp>
#include <deviate/contract.hpp>
#include <deviate/deviation/counted_values.hpp>
#include <deviate/deviation/metrics.hpp>
#include <deviate/deviation/order_statistics.hpp>
#include <deviate/deviation/tolerance.hpp>
#include <deviate/deviation/tolerance_advice.hpp>
#include <deviate/deviation/wasserstein.hpp>
#include <deviate/math/double_double.hpp>
#include <deviate/math/exp2_polynomial.hpp>
#include <deviate/math/exp2_table.hpp>
#include <deviate/math/exp_fma.hpp>
#include <deviate/math/site_operations.hpp>
#include <deviate/math/tracked.hpp>
#include <deviate/number/arrays.hpp>
#include <deviate/number/block_scaled.hpp>
#include <deviate/number/code.hpp>
#include <deviate/number/double_double.hpp>
#include <deviate/number/e8m0.hpp>
#include <deviate/number/functions.hpp>
#include <deviate/number/hash.hpp>
#include <deviate/number/limits.hpp>
#include <deviate/number/literals.hpp>
#include <deviate/number/named.hpp>
#include <deviate/number/named_blocks.hpp>
#include <deviate/number/runtime_format.hpp>
#include <deviate/number/stochastic.hpp>
#include <deviate/number/stochastic_arrays.hpp>
#include <deviate/number/stochastic_scalar.hpp>
#include <deviate/number/stream.hpp>
#include <deviate/number/tracked.hpp>
#include <deviate/team/execution.hpp>
#include <deviate/tensor/quantize.hpp>
#include <deviate/tensor/tensor.hpp>
