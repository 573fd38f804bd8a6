// SPDX-License-Identifier: Apache-2.0
#include "allocation.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t allocated = 0;

void* counted_if_possible(std::size_t bytes) noexcept {
  allocated += bytes;
  return std::malloc(bytes > 0 ? bytes : 1);
}
void* counted(std::size_t bytes) {
  if (void* const at = counted_if_possible(bytes)) return at;
  throw std::bad_alloc();
}

}  // namespace

std::size_t deviation_test::allocated_bytes() { return allocated; }

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
// Without these a sanitizer's own would give what is freed below: std::stable_sort asks for memory so.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted_if_possible(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return counted_if_possible(bytes); }
void operator delete(void* at) noexcept { std::free(at); }
void operator delete[](void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete[](void* at, std::size_t) noexcept { std::free(at); }
