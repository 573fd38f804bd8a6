// SPDX-License-Identifier: Apache-2.0
#include "allocation.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t allocated = 0;

void* counted(std::size_t bytes) {
  allocated += bytes;
  if (void* const at = std::malloc(bytes > 0 ? bytes : 1)) return at;
  throw std::bad_alloc();
}

}  // namespace

std::size_t deviation_test::allocated_bytes() { return allocated; }

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* at) noexcept { std::free(at); }
void operator delete[](void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete[](void* at, std::size_t) noexcept { std::free(at); }
