// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <thread>

namespace mpiacq::tool {

/// Ends this program by a signal that asks it to end and that the program does not handle within three seconds; a
/// second such signal ends the program at once. The kernel can block the main thread in a read of another process's
/// memory, where no handler runs. The thread of this object sees that a signal is pending. Before the program ends, the
/// tracer servers are asked to release everything, because the kernel can keep the main thread, and therefore the
/// program, even then.
class unanswered_signal {
 public:
  unanswered_signal();
  ~unanswered_signal();
  unanswered_signal(const unanswered_signal&) = delete;
  unanswered_signal& operator=(const unanswered_signal&) = delete;

  /// A handler has noted such a signal. May be called in a handler.
  void noted(int number);
  /// The program has taken all signals that were noted.
  void taken();

 private:
  void watch() const;
  [[nodiscard]] int waiting_signal() const;

  std::atomic<int> untaken_{0};  ///< the signal that was noted and not handled, or 0
  int wake_ = -1;                ///< an eventfd: a signal was noted
  int stop_ = -1;                ///< an eventfd: this object ends
  std::thread thread_;
};

}  // namespace mpiacq::tool
