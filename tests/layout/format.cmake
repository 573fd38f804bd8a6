# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=… -P format.cmake: every source is laid out as .clang-format says. Versions of clang-format differ, so
# only this one counts. To repair: find include examples tests -name '*.[ch]pp' | xargs clang-format-14 -i
cmake_minimum_required(VERSION 3.21)
set(wanted 14)

find_program(program NAMES clang-format-${wanted} clang-format)
if(program)
  execute_process(COMMAND ${program} --version OUTPUT_VARIABLE banner)
endif()
if(NOT banner MATCHES "version ${wanted}\\.")
  message("skipped: no clang-format ${wanted}")
  return()
endif()

file(GLOB_RECURSE sources ${SOURCE}/include/*.hpp ${SOURCE}/include/*.cuh ${SOURCE}/examples/*.hpp
     ${SOURCE}/examples/*.cpp ${SOURCE}/tests/*.hpp ${SOURCE}/tests/*.cpp ${SOURCE}/tests/*.cu)
execute_process(COMMAND ${program} --dry-run -Werror ${sources} RESULT_VARIABLE failed ERROR_VARIABLE complaints
                WORKING_DIRECTORY ${SOURCE})
if(failed)
  string(REGEX MATCHALL "[^\n]+:[0-9]+:[0-9]+: error" places "${complaints}")
  list(TRANSFORM places REPLACE "^${SOURCE}/(.*):[0-9]+: error$" "\\1")
  list(REMOVE_DUPLICATES places)
  string(REPLACE ";" "\n  " places "${places}")
  message(FATAL_ERROR "format: these lines differ from .clang-format\n  ${places}")
endif()
list(LENGTH sources number)
message("format: ${number} files")
