#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./examples/study.sh [ARGUMENT…]: installs what is missing, builds the tool into build/ and runs `deviate study` with
# these arguments. File names in them are relative to the folder it is called from. `--help` lists them.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/build.sh"

need_for_tool
install_missing
# The tests need more packages than the tool: leave them out, unless tests/run.sh has put them in.
if [ -e "$build/bin/deviate" ]; then tests=(); else tests=(-DDEVIATE_TESTS=OFF); fi
configure "$build" -DDEVIATE_EXAMPLES=ON "${tests[@]}"
compile "$build" --target deviate
exec "$build/bin/deviate" study "$@"
