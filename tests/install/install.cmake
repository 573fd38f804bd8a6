# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=… -DBUILD=… -DWORK=… -DCXX=… -DGENERATOR=… -DVERSION=… -P install.cmake
cmake_minimum_required(VERSION 3.21)

function(step)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    string(REPLACE ";" " " command "${ARGV}")
    message(FATAL_ERROR "install: this failed: ${command}\n${output}")
  endif()
endfunction()

# Configures, builds and runs the consumer; further arguments say where it finds deviate.
function(consume name)
  step(${CMAKE_COMMAND} -S ${WORK}/consumer -B ${WORK}/${name} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX}
       -DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON -DWANTED=${VERSION} ${ARGN})
  step(${CMAKE_COMMAND} --build ${WORK}/${name})
  step(${WORK}/${name}/consumer)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(COPY ${SOURCE}/tests/install/consumer DESTINATION ${WORK})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
consume(find_package -DCMAKE_PREFIX_PATH=${WORK}/prefix)
consume(add_subdirectory -DDEVIATE_SOURCE=${SOURCE})
step(${CXX} -std=c++20 -ffp-contract=off -I ${SOURCE}/include ${WORK}/consumer/main.cpp -o ${WORK}/plain)
step(${WORK}/plain)
