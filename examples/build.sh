# SPDX-License-Identifier: Apache-2.0
# Sourced by examples/study.sh, tests/run.sh and .ci/run: install what is missing, configure, build.
# Nothing is written to standard output, which belongs to the program that is run afterwards.

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
build=$root/build
missing=()

have() { command -v "$1" > /dev/null; }

# need PACKAGE CHECK…: PACKAGE is missing unless the command CHECK succeeds. A file or a program counts, not the package,
# so that software installed in another way is left alone.
need() {
  local package=$1
  shift
  "$@" || missing+=("$package")
}

has_generator() { have ninja || have make; }
# Older Boost warns in the headers used here. Debian's libboost-dev (1.74) and libboost1.81-dev exclude each other.
has_boost() { grep -Eqs 'define BOOST_VERSION 10(8[1-9]|9)' /usr/include/boost/version.hpp; }

need_for_tool() {
  need cmake have cmake
  need g++ have "${CXX:-g++}"
  need ninja-build has_generator
  need nlohmann-json3-dev test -e /usr/include/nlohmann/json.hpp
  need libcli11-dev test -e /usr/include/CLI/CLI.hpp
  need libeigen3-dev test -e /usr/include/eigen3/Eigen/Core
  need libboost1.81-dev has_boost
  need gnuplot-nox have gnuplot
}

need_for_tests() {
  need_for_tool
  need doctest-dev test -e /usr/include/doctest/doctest.h
  need libmpfr-dev test -e /usr/include/mpfr.h
  need clang-format-14 have clang-format-14
  need doxygen have doxygen
}

# Installs what need() found missing; exits with status 2 where that is not possible.
install_missing() {
  [ ${#missing[@]} -gt 0 ] || return 0
  local command="apt-get install --no-install-recommends ${missing[*]}"
  if [ "$(id -u)" -ne 0 ] || ! have apt-get; then
    echo "Missing: ${missing[*]}. On Debian 12, as root: $command" >&2
    exit 2
  fi
  echo "Installing what is missing: $command" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2 < /dev/null || true # a list that cannot be refreshed may still do
  local removed
  removed=$(apt-get install -s -qq --no-install-recommends "${missing[@]}" 2> /dev/null | awk '/^Remv/ { printf " %s", $2 }')
  if [ -n "$removed" ]; then echo "They exclude, so this removes:$removed" >&2; fi
  if ! apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null < /dev/null; then
    echo "This failed: $command" >&2
    exit 2
  fi
  missing=()
}

# As many compilers as there are cores, but one for each 1.5 GiB of memory, the limit of a container included.
parallel_jobs() {
  local cores memory limit
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
  limit=$(cat /sys/fs/cgroup/memory.max 2> /dev/null || echo max)
  if [ "$limit" != max ] && [ $((limit / 1048576)) -lt "$memory" ]; then memory=$((limit / 1048576)); fi
  local by_memory=$((memory / 1536))
  if [ $by_memory -lt 1 ]; then by_memory=1; fi
  echo $((by_memory < cores ? by_memory : cores))
}

# configure FOLDER CMAKE-ARGUMENT…: quiet where nothing is wrong.
configure() {
  local folder=$1
  shift
  if have ninja; then export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}; fi
  cmake -S "$root" -B "$folder" --log-level=NOTICE "$@" >&2
}

# compile FOLDER CMAKE-BUILD-ARGUMENT…
compile() {
  local folder=$1
  shift
  cmake --build "$folder" -j "$(parallel_jobs)" "$@" >&2
}
