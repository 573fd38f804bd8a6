#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./tests/performance/run.sh [--rounds N] [--values N] [--priority] [--no-install] [--no-study] [--python PROGRAM] [--build FOLDER]
# Measures speed as ratios and prints the table of README.md; everything lies in FOLDER/performance afterwards. Library and
# peers take turns, N rounds (5) of each, and the best of all rounds counts. Wants a quiet machine.
#   --values    numbers in each sample whose Wasserstein distance is taken (10^7)
#   --priority  real-time priority on the last core, where the machine is not quiet; needs root
#   --python    has the peers' packages; without it they are installed into FOLDER/peers (PyTorch is several GB)
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../examples/build.sh"
here=$root/tests/performance
rounds=5 values=10000000 install=yes study=yes python= priority=()
while [ $# -gt 0 ]; do
  case $1 in
    --rounds) rounds=$2 && shift ;;
    --values) values=$2 && shift ;;
    --python) python=$2 && shift ;;
    --build) build=$2 && shift ;;
    --priority) priority=(chrt -f 50) ;;
    --no-install) install=no ;;
    --no-study) study=no ;;
    *) echo "run.sh: unknown argument $1" >&2 && exit 2 ;;
  esac
  shift
done

need_for_tests
need libbenchmark-dev test -e /usr/include/benchmark/benchmark.h
need python3 have python3
need python3-venv python3 -c 'import ensurepip'
install_missing
[ -e "$build/CMakeCache.txt" ] || configure "$build" -DDEVIATE_TESTS=ON -DDEVIATE_EXAMPLES=ON
compile "$build" --target performance
out=$build/performance
mkdir -p "$out"
rm -f "$out"/*.json "$out"/study.txt

if [ -z "$python" ] && [ $install = yes ]; then
  python=$build/peers/bin/python
  [ -x "$python" ] || python3 -m venv "$build/peers"
  for package in numpy scipy ml_dtypes POT torch; do
    "$python" -m pip install --quiet "$package" >&2 || echo "run.sh: $package cannot be installed and is left out" >&2
  done
fi
python=${python:-python3}

last_core=$(($(nproc) - 1))
pinned=("${priority[@]}" taskset -c "$last_core")
two_threads='^fma_peak/2|^[a-z0-9_]+/[0-9]+/2(/|$)'
export DEVIATE_PERFORMANCE_VALUES=$values
# measure NAME FILTER COMMAND…: one round of the benchmarks, in random order.
measure() {
  local name=$1 filter=$2
  shift 2
  "$@" "$build/bin/performance" --benchmark_filter="$filter" --benchmark_repetitions=3 --benchmark_min_time=0.05 \
    --benchmark_enable_random_interleaving=true --benchmark_out="$out/benchmarks.$name.json" \
    --benchmark_out_format=json > /dev/null 2> "$out/log.txt" || { cat "$out/log.txt" >&2 && exit 1; }
}
for ((round = 1; round <= rounds; ++round)); do
  echo "run.sh: round $round of $rounds" >&2
  # Sorting takes long and is as steady as it gets: once.
  slow="wasserstein|sort_both"
  measure "one.$round" "-$two_threads|$slow" "${pinned[@]}"
  [ "$round" -gt 1 ] || measure sort "$slow" "${pinned[@]}"
  # A kernel that the environment pins OpenBLAS to would slow a peer.
  peers=(env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE "$python" "$here/peers.py")
  "${pinned[@]}" "${peers[@]}" 1 "$values" > "$out/peers.one.$round.json" 2> "$out/left_out.txt"
  if [ "$(nproc)" -gt 1 ]; then
    measure "two.$round" "$two_threads" "${priority[@]}"
    "${priority[@]}" "${peers[@]}" 2 "$values" > "$out/peers.two.$round.json" 2>> "$out/left_out.txt"
  fi
done
sort -u "$out/left_out.txt" >&2
python3 "$here/compile_time.py" > "$out/compile_time.json"
if [ $study = yes ]; then
  compile "$build" --target deviate
  start=$(date +%s.%N)
  "$build/bin/deviate" study > "$out/study.log" 2>&1
  python3 -c "import time; print(time.time() - $start)" > "$out/study.txt"
fi
python3 "$here/table.py" "$out" | tee "$out/performance.md"
