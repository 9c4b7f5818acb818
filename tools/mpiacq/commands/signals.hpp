// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "commands/unanswered_signal.hpp"

namespace mpiacq::tool {

/// A signal that this command receives while it controls a job.
struct received_signal {
  int number;
  bool from_terminal;  ///< the kernel sent it to the whole process group, including the starter
};

/// The handling of a signal that asks a command to end, while the command is busy and does not receive it.
enum class when_busy : unsigned char {
  keep,  ///< the signal waits for `take`: a job runs under the command, and the signal may be meant for the job
  /// Three seconds later the command ends by the signal, as if it had not been caught; a second such signal ends it at
  /// once. For a command that only observes: a Ctrl-C then also ends the reading of a large table, or of a file that is
  /// slow on purpose. The tracer server releases the processes that the command holds.
  end
};

/// Installs handlers for its lifetime; only one object may exist at a time. A signal that was ignored before stays
/// ignored, here and in the starter (nohup).
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
