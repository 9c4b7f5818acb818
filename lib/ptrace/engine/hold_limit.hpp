// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "engine/tracee.hpp"

namespace mpiacq::tracing {

/// Limits how long processes stay stopped for a tool that makes no call (tracer_options::hold_limit). A tool can be
/// stopped, wait for a full pipe, or wait for memory that does not answer.
class hold_limit {
 public:
  explicit hold_limit(const tracer_options& options) : options_(options) {}

  /// The tool has made a call or received an answer; it could not make a call while it waited for the answer. Restarts
  /// the time.
  void on_call(clock::time_point now);
  /// The limit has passed. No process is kept for the tool until its next call.
  void on_silence() { is_silent_ = true; }
  /// The tool has gone or is done.
  void on_leave() { is_leaving_ = true; }

  /// Whether processes are kept for the tool.
  [[nodiscard]] bool keeps_processes() const { return !is_silent_ && !is_leaving_; }
  [[nodiscard]] bool tool_is_leaving() const { return is_leaving_; }
  /// The time at which this process has been held too long.
  [[nodiscard]] deadline end_for(const traced_process& process) const;

  /// The error for a process that is released because of the limit. Commands about the process answer with it until
  /// `forget_loss`.
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
