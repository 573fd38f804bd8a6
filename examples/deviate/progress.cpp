// SPDX-License-Identifier: Apache-2.0
#include "deviate/progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace deviate::tool {

std::string progress_line(double share_done, double seconds) {
  constexpr int width = 40;
  const double share = std::clamp(share_done, 0.0, 1.0);
  const int full = static_cast<int>(share * width);
  std::string line = "[" + std::string(static_cast<std::size_t>(full), '#') +
                     std::string(static_cast<std::size_t>(width - full), '.') + "] ";
  const std::string percent = std::to_string(static_cast<int>(share * 100));
  line += std::string(3 - percent.size(), ' ') + percent + " %";
  if (share > 0) {
    const auto left = static_cast<long long>(std::ceil(std::min(seconds / share * (1 - share), 1e9)));
    const std::string rest = std::to_string(left % 60);
    line += "  " + std::to_string(left / 60) + ":" + std::string(2 - rest.size(), '0') + rest + " left";
  }
  return line;
}

bool is_long(double share_done, double seconds) {
  constexpr double settled = 0.5, worth_a_bar = 2;
  return seconds >= settled && seconds > worth_a_bar * share_done;
}

progress_bar::progress_bar(bool wanted) : wanted_(wanted && isatty(STDERR_FILENO) != 0) {}

progress_bar::~progress_bar() {
  if (visible_) std::fputs("\r\x1b[K", stderr);
}

void progress_bar::show(double share_done) {
  if (!wanted_) return;
  constexpr std::chrono::milliseconds between{100};
  const clock::time_point now = clock::now();
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (now - last_ < between || (!visible_ && !is_long(share_done, seconds))) return;
  last_ = now;
  visible_ = true;
  std::fputs(("\r" + progress_line(share_done, seconds) + "\x1b[K").c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace deviate::tool
