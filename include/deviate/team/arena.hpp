// SPDX-License-Identifier: Apache-2.0
/// \file arena.hpp
/// \brief Scratch memory of a host team: grows once, is handed out in order, and is reused for the next block of work.
// host only
#pragma once

#include <cstddef>
#include <deviate/config.hpp>
#include <memory>
#include <new>
#include <vector>

namespace deviate {

/// \brief Stack-like scratch memory with stable addresses.
class arena {
 public:
  static constexpr std::size_t alignment = 64;  ///< of every piece, in bytes

  arena() = default;
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  /// \brief `bytes` bytes, aligned to 64, valid until `reset`.
  void* take(std::size_t bytes) {
    bytes = (bytes + alignment - 1) / alignment * alignment;
    while (current_ < chunks_.size() && used_ + bytes > chunks_[current_].size) {
      ++current_;
      used_ = 0;
    }
    if (current_ == chunks_.size()) {
      const std::size_t size = bytes > first_chunk ? bytes : first_chunk;
      chunks_.push_back({memory(static_cast<std::byte*>(::operator new(size, std::align_val_t(alignment)))), size});
      used_ = 0;
    }
    void* at = chunks_[current_].data.get() + used_;
    used_ += bytes;
    return at;
  }
  /// \brief Everything taken is given back; memory is kept.
  void reset() { current_ = used_ = 0; }

 private:
  static constexpr std::size_t first_chunk = std::size_t(1) << 20;
  struct release {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t(alignment)); }
  };
  using memory = std::unique_ptr<std::byte, release>;
  struct chunk {
    memory data;
    std::size_t size;
  };
  std::vector<chunk> chunks_;
  std::size_t current_ = 0;
  std::size_t used_ = 0;
};

}  // namespace deviate
