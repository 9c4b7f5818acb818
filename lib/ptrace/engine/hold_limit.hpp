// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "engine/tracee.hpp"

namespace mpiacq::tracing {

/// How long processes stay stopped for a tool that does not call (tracer_options::hold_limit). A tool may be stopped,
/// wait for a full pipe, or wait for memory that does not answer.
class hold_limit {
 public:
  explicit hold_limit(const tracer_options& options) : options_(options) {}

  /// The tool has called, or was given an answer: while it waited for the answer it could not call. The time begins
  /// again.
  void on_call(clock::time_point now);
  /// The limit has passed. Processes are not kept for the tool until it calls again.
  void on_silence() { is_silent_ = true; }
  /// The tool has gone, or wants no more of its processes.
  void on_leave() { is_leaving_ = true; }

  /// The tool wants its processes, and takes care of them.
  [[nodiscard]] bool keeps_processes() const { return !is_silent_ && !is_leaving_; }
  [[nodiscard]] bool tool_is_leaving() const { return is_leaving_; }
  /// When this process has been held too long.
  [[nodiscard]] deadline end_for(const traced_process& process) const;

  /// The process is let go because of the limit. A command about it answers with the reason, until `forget_loss`.
  [[nodiscard]] error reason(pid_t process) const;
  void lose(pid_t process, const error& why) { lost_.insert_or_assign(process, why); }
  [[nodiscard]] const error* loss_of(process_id process) const;
  void forget_loss(pid_t process) { lost_.erase(process); }

 private:
  const tracer_options& options_;
  clock::time_point called_at_ = clock::now();
  bool is_silent_ = false;
  bool is_leaving_ = false;
  std::map<std::int64_t, error> lost_;
};

}  // namespace mpiacq::tracing
