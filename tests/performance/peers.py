#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peers.py THREADS VALUES: what other libraries do with the same work. Prints JSON {name: rate}, rates as in the
benchmarks: floating-point operations, elements or values a second. Whatever cannot be imported is left out and said."""
import json
import os
import sys
import time

threads, values = int(sys.argv[1]), int(sys.argv[2])
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(threads)

HEADS, D = 8, 64
rates = {}


def best(work, seconds=1.0, least=3):
    work()
    shortest, start, count = float("inf"), time.perf_counter(), 0
    while count < least or time.perf_counter() - start < seconds:
        before = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - before)
        count += 1
    return shortest


def imported(name):
    try:
        return __import__(name)
    except ImportError as error:
        print(f"peers: {name} is left out: {error}", file=sys.stderr)
        return None


numpy = imported("numpy")
torch = imported("torch")

if torch:
    torch.set_num_threads(threads)
    attention = torch.nn.functional.scaled_dot_product_attention
    for label, kind in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        for n in (1024, 4096):
            q, k, v = (torch.randn(1, HEADS, n, D).to(kind) for _ in range(3))
            with torch.no_grad():
                rates[f"torch_sdpa_{label}/{n}/{threads}"] = 4 * n * n * D * HEADS / best(lambda: attention(q, k, v))
    if threads == 1:
        for label, kind in (("bf16", torch.bfloat16), ("fp16", torch.float16), ("e4m3", torch.float8_e4m3fn)):
            x, y, z = torch.randn(65536), torch.empty(65536, dtype=kind), torch.empty(65536)
            rates[f"torch_round_{label}/65536"] = 65536 / best(lambda: (y.copy_(x), z.copy_(y)), 0.2)

if numpy and threads == 1:
    n = 1024
    q, k, v = (numpy.random.default_rng(i).standard_normal((HEADS, n, D)).astype(numpy.float32) for i in range(3))

    def materialised():
        s = (q * numpy.float32(0.125)) @ k.transpose(0, 2, 1)
        s -= s.max(axis=-1, keepdims=True)
        numpy.exp(s, out=s)
        return (s @ v) / s.sum(axis=-1, keepdims=True)

    rates[f"numpy_attention/{n}/1"] = 4 * n * n * D * HEADS / best(materialised)
    x = numpy.random.default_rng(1).standard_normal(65536).astype(numpy.float32)
    rates["numpy_round_fp16/65536"] = 65536 / best(lambda: x.astype(numpy.float16).astype(numpy.float32), 0.2)
    ml_dtypes = imported("ml_dtypes")
    if ml_dtypes:
        for label, kind in (("bf16", ml_dtypes.bfloat16), ("e4m3", ml_dtypes.float8_e4m3fn)):
            rates[f"ml_dtypes_round_{label}/65536"] = 65536 / best(lambda: x.astype(kind).astype(numpy.float32), 0.2)
    a, b = (numpy.random.default_rng(i).standard_normal(values).astype(numpy.float32) for i in (1, 2))
    rates["numpy_sort_both"] = 2 * values / best(lambda: (numpy.sort(a), numpy.sort(b)), 0, 2)
    if imported("scipy"):
        from scipy.stats import wasserstein_distance

        rates["scipy_wasserstein"] = 2 * values / best(lambda: wasserstein_distance(a, b), 0, 1)
    ot = imported("ot")
    if ot:
        rates["pot_wasserstein"] = 2 * values / best(lambda: ot.wasserstein_1d(a, b), 0, 1)

json.dump(rates, sys.stdout, indent=1)
