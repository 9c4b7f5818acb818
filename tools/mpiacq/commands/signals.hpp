// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "commands/unanswered_signal.hpp"

namespace mpiacq::tool {

/// A signal that this command gets while a job runs under it.
///
/// A launched job sees the terminal and its user as it would without mpiacq. Ctrl-C reaches the whole foreground
/// group, the starter too: mpiacq only survives it. A signal that is sent to mpiacq alone (kill PID) is meant for the
/// job and is passed on. Ctrl-Z stops mpiacq after the starter: otherwise the starter's stop would wait for mpiacq.
struct received_signal {
  int number;
  bool from_terminal;  ///< the kernel sent it to the whole group, also to the starter
};

/// What happens to a signal that asks a command to end while the command is busy and does not take it.
enum class when_busy : unsigned char {
  keep,  ///< it waits until it is taken: a job runs under the command, and the signal may be meant for the job
  /// Three seconds later the command ends by the signal, as if it had not been caught; a second such signal ends it at
  /// once. For a command that only observes: reading a large table or a file that was made to be slow then does not
  /// outlast a Ctrl-C. What it holds is released by the tracing process.
  end
};

/// Installs handlers for its lifetime; there is one at a time. A signal that was ignored before stays ignored, here and
/// in the starter (nohup).
class signal_catcher {
 public:
  explicit signal_catcher(when_busy policy = when_busy::keep);
  ~signal_catcher();
  signal_catcher(const signal_catcher&) = delete;
  signal_catcher& operator=(const signal_catcher&) = delete;

  /// Readable while a signal waits.
  [[nodiscard]] int descriptor() const;
  [[nodiscard]] std::optional<received_signal> take();

 private:
  std::optional<unanswered_signal> patience_;
};

}  // namespace mpiacq::tool
