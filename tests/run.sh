#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./tests/run.sh [CTEST-ARGUMENT…]: installs what is missing, builds everything into build/ and runs the tests. Slow
# ones, and those that need a quiet machine or a device, run when their label is asked for: ./tests/run.sh -L slow
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../examples/build.sh"

need_for_tests
install_missing
configure "$build" -DDEVIATE_TESTS=ON -DDEVIATE_EXAMPLES=ON
compile "$build"

labels=(-LE 'slow|performance|device')
for argument in "$@"; do
  case $argument in -L* | --label-regex*) labels=() ;; esac
done
cd "$build"
exec ctest --output-on-failure --no-tests=error -j "$(parallel_jobs)" "${labels[@]}" "$@"
