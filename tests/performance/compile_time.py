#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compile_time.py: seconds and memory of a translation unit with the umbrella header and three recipes, for every
compiler found. Prints JSON {"compiler version flags": [seconds, MiB]}, the better of two runs."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
include = here.parent.parent / "include"
FLAGS = (["-O2"], ["-O3", "-march=native"])


def compiled(compiler, flags, folder):
    """Seconds of processor time and MiB of one compilation: wait4 gives those of the whole tree below it at most."""
    command = [compiler, "-std=c++20", "-ffp-contract=off", *flags, "-I", str(include), "-c",
               str(here / "three_recipes.cpp"), "-o", os.path.join(folder, "out.o")]
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit("compile_time: failed: " + " ".join(command))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


result = {}
with tempfile.TemporaryDirectory() as folder:
    for compiler in ("g++", "clang++"):
        if not shutil.which(compiler):
            print(f"compile_time: {compiler} is not installed and left out", file=sys.stderr)
            continue
        version = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True, check=True).stdout.strip()
        for flags in FLAGS:
            runs = [compiled(compiler, flags, folder) for _ in range(2)]
            result[f"{compiler} {version} {' '.join(flags)}"] = [min(r[0] for r in runs), max(r[1] for r in runs)]
json.dump(result, sys.stdout, indent=1)
