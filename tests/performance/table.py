#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table.py FOLDER: the tables of README.md, from what run.sh left in FOLDER; also writes FOLDER/performance.json.

A rate is the best of all rounds and repetitions; a ratio divides two of them."""
import fnmatch
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
rates, context = {}, {}


def keep(name, rate):
    rates[name] = max(rate, rates.get(name, 0))


for path in sorted(folder.glob("benchmarks.*.json")):
    measured = json.loads(path.read_text())
    context = measured["context"]
    for run in measured["benchmarks"]:
        if run["run_type"] == "iteration" and not run.get("error_occurred"):
            keep(run["name"].removesuffix("/real_time").split("/repeats:")[0], run.get("rate") or run["items_per_second"])
for path in sorted(folder.glob("peers.*.json")):
    for name, rate in json.loads(path.read_text()).items():
        keep(name, rate)


def rate(pattern):
    """The best of the rates whose names match, or None."""
    return max((r for name, r in rates.items() if fnmatch.fnmatchcase(name, pattern)), default=None)


def shown(value, unit):
    return "–" if value is None else f"{value / 1e9:.3g} {unit}"


def peer(label, pattern, unit):
    found = rate(pattern)
    return None if found is None else f"{label} {found / 1e9:.3g} {unit}"


flops, elements, number = "GFLOP/s", "G/s", "G/s"
rows = []  # what, ratio asked, ours, reference, unit, peers


def row(what, bound, ours, reference, unit, *peers):
    top, bottom = rate(ours), rate(reference)
    ratio = top / bottom if top and bottom else None
    rows.append({"what": what, "bound": bound, "ratio": ratio, "ours": top, "reference": bottom, "unit": unit,
                 "peers": [p for p in peers if p]})


for n in (1024, 4096):
    others = (peer("Eigen-tiled", f"eigen_flash/{n}/1/*", flops), peer("PyTorch", f"torch_sdpa_fp32/{n}/1", flops),
              peer("numpy, materialised", f"numpy_attention/{n}/1", flops))
    row(f"FP32 flash ÷ FP32 FMA peak, N = {n}", 0.70, f"flash_fp32/{n}/1", "fma_peak/1", flops, *others)
row("the same on 2 threads, N = 4096", 0.65, "flash_fp32/4096/2", "fma_peak/2", flops,
    peer("Eigen-tiled", "eigen_flash/4096/2/*", flops), peer("PyTorch", "torch_sdpa_fp32/4096/2", flops))
for n in (1024, 4096):
    row(f"FP32 flash ÷ best Eigen-tiled flash, N = {n}", 1.35, f"flash_fp32/{n}/1", f"eigen_flash/{n}/1/*", flops)
for n, threads in ((1024, 1), (4096, 1), (4096, 2)):
    row(f"FP32 flash ÷ PyTorch SDPA (float32), N = {n}, threads {threads}", 1.0, f"flash_fp32/{n}/{threads}",
        f"torch_sdpa_fp32/{n}/{threads}", flops)
for kind in ("bf16", "fp16"):
    for n in (1024, 4096):
        row(f"`flash2_fp32_state` in {kind} ÷ FP32 flash, N = {n}", 0.85, f"fp32_state_{kind}/{n}/1", f"flash_fp32/{n}/1",
            flops, peer("PyTorch", f"torch_sdpa_{kind}/{n}/1", flops))
row("the same in bf16, both with the correctly rounded exp, N = 4096", None, "fp32_state_bf16_correct_exp/4096/1",
    "flash_fp32_correct_exp/4096/1", flops)
row("FP32 flash with the correctly rounded exp ÷ FMA peak, N = 4096", None, "flash_fp32_correct_exp/4096/1",
    "fma_peak/1", flops)
row("every operation rounded (bf16) ÷ FP32 FMA peak", 0.12, "uniform_bf16/1024/1", "fma_peak/1", flops)
for kind in ("fp16", "e4m3", "runtime_e5m10"):
    row(f"the same in {kind.replace('_', ' ')} ÷ bf16", 0.6, f"uniform_{kind}/1024/1", "uniform_bf16/1024/1", flops)
row("FP64 golden ÷ FP32 flash, N = 1024", 0.4, "golden/1024/1", "flash_fp32/1024/1", flops)
for kind in ("fp16", "e4m3"):
    for size, where in ((4096, "16 KiB"), (65536, "256 KiB")):
        row(f"rounding to {kind} ÷ memcpy, {where}", 0.55, f"round_{kind}/{size}", f"copy/{size}", elements,
            peer("PyTorch", f"torch_round_{kind}/{size}", number), peer("numpy", f"numpy_round_{kind}/{size}", number),
            peer("ml_dtypes", f"ml_dtypes_round_{kind}/{size}", number))
row("rounding to bf16 ÷ memcpy, 256 KiB", None, "round_bf16/65536", "copy/65536", elements,
    peer("PyTorch", "torch_round_bf16/65536", number), peer("ml_dtypes", "ml_dtypes_round_bf16/65536", number))
for kind in ("fp16", "e4m3"):
    row(f"subnormals and overflow ÷ normal inputs, {kind}, 16 KiB", 0.9, f"round_{kind}_mixed/4096", f"round_{kind}/4096",
        elements)
row("format chosen at run time ÷ compile time, e5m10, 16 KiB", None, "round_runtime_e5m10/4096", "round_fp16/4096",
    elements)
for kind in ("bf16", "fp16", "e4m3"):
    for size, where in ((4096, "16 KiB"), (65536, "256 KiB")):
        row(f"stochastic ÷ nearest, {kind}, {where}", 0.4, f"stochastic_{kind}/{size}", f"round_{kind}/{size}", elements)
row("correctly rounded bf16 fma ÷ fmaf and round", 0.25, "fma_bf16", "fmaf_bf16", elements)
row("exact W1 of float values ÷ two `std::sort`", 6, "wasserstein", "sort_both", "G values/s",
    peer("scipy", "scipy_wasserstein", number), peer("POT", "pot_wasserstein", number),
    peer("numpy.sort alone", "numpy_sort_both", number))

print(f"FP32 FMA peak {shown(rate('fma_peak/1'), flops)} on one thread, {shown(rate('fma_peak/2'), flops)} on two; memcpy "
      f"{shown(rate('copy/4096'), 'G floats/s')} in 16 KiB, {shown(rate('copy/65536'), 'G floats/s')} in 256 KiB. "
      f"B = 1, H = 8, d = 64.\n")
print("| what | asked | measured | ours | peers |\n|---|---|---|---|---|")
for r in rows:
    asked = "" if r["bound"] is None else f"≥ {r['bound']:g}"
    ratio = "–" if r["ratio"] is None else f"{r['ratio']:.2f}"
    if r["bound"] is not None and r["ratio"] is not None and r["ratio"] < r["bound"]:
        ratio += " (below)"
    print(f"| {r['what']} | {asked} | {ratio} | {shown(r['ours'], r['unit'])} | {'; '.join(r['peers'])} |")

study = folder / "study.txt"
study_seconds = float(study.read_text()) if study.exists() else None
if study_seconds is not None:
    print(f"| default `deviate study`, all cores | < 60 s | {study_seconds:.0f} s | | |")
compile_file = folder / "compile_time.json"
compile_times = json.loads(compile_file.read_text()) if compile_file.exists() else {}
if compile_times:
    print("\n| umbrella and three recipes | seconds (< 10) | MiB (< 1024) |\n|---|---|---|")
    for name, (seconds, memory) in compile_times.items():
        print(f"| {name} | {seconds:.1f} | {memory:.0f} |")

(folder / "performance.json").write_text(json.dumps(
    {"context": {k: context.get(k) for k in ("date", "num_cpus", "mhz_per_cpu", "library_build_type")}, "rows": rows,
     "rates": rates, "study_seconds": study_seconds, "compile_time": compile_times}, indent=1, ensure_ascii=False))
