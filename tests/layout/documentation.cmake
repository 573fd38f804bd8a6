# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=… -DBINARY=… -P documentation.cmake: the documentation builds without a warning.
cmake_minimum_required(VERSION 3.21)

find_program(program doxygen)
if(NOT program)
  message("skipped: no doxygen")
  return()
endif()

file(MAKE_DIRECTORY ${BINARY})
file(WRITE ${BINARY}/Doxyfile "@INCLUDE = Doxyfile\nOUTPUT_DIRECTORY = ${BINARY}/doxygen\n")
execute_process(COMMAND ${program} ${BINARY}/Doxyfile WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "documentation: the warnings above")
endif()
