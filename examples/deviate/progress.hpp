// SPDX-License-Identifier: Apache-2.0
/// \file progress.hpp
/// \brief How far a long computation is, on a terminal.
#pragma once

#include <chrono>
#include <string>

namespace deviate::tool {

/// \brief A bar with the share done and the time left on standard error.
///
/// It appears only on a terminal, once half a second has passed and the whole is expected to take more than two; it is
/// erased when the object ends. Calls must not overlap, as those of `workers::progress` do not.
class progress_bar {
 public:
  /// \param wanted false for a bar that never appears
  explicit progress_bar(bool wanted);
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  ~progress_bar();

  /// \param share_done of all work, 0 to 1
  void show(double share_done);

 private:
  using clock = std::chrono::steady_clock;

  bool wanted_;
  bool visible_ = false;
  clock::time_point start_ = clock::now();
  clock::time_point last_{};
};

/// \brief The bar's line: "[#####.....]  50 %  0:07 left".
/// \param share_done 0 to 1
/// \param seconds since the start
std::string progress_line(double share_done, double seconds);

/// \brief True if a computation that has come so far in so many seconds is worth a bar.
bool is_long(double share_done, double seconds);

}  // namespace deviate::tool
