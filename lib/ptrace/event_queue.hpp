// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "mpiacq/tracer.hpp"
#include "proc_files.hpp"

namespace mpiacq::tracing {

/// Events on their way from the tracer's thread to the caller, and a descriptor that is readable while there are any.
class event_queue {
 public:
  [[nodiscard]] static result<std::unique_ptr<event_queue>> create();

  void push(process_event event);
  /// An event of this process is on its way: the caller does not know yet what happened to it.
  [[nodiscard]] bool has_any_of(process_id process) const;
  /// Nothing more comes: whoever waits without a deadline is let go.
  void set_source_dry(bool dry);
  [[nodiscard]] result<std::optional<process_event>> wait(deadline until);
  [[nodiscard]] int descriptor() const { return ready_.get(); }

 private:
  explicit event_queue(unique_fd ready) : ready_(std::move(ready)) {}
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<process_event> events_;
  bool dry_ = true;
  unique_fd ready_;
};

}  // namespace mpiacq::tracing
