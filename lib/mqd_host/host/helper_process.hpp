// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <sys/types.h>
#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/error.hpp"
#include "separate/shared_area.hpp"

namespace mpiacq::mqd_host {

/// The user that the process becomes before it does anything else.
struct helper_user {
  uid_t user = 0;
  gid_t group = 0;
};

/// The process that runs a queue library for one process of the job. The object owns the process: its destructor ends
/// it.
class helper_process {
 public:
  /// `program`: the path of the program; empty: the installed one. `library` is the descriptor of the library's file.
  [[nodiscard]] static result<helper_process> start(const std::string& program, int library,
                                                    const std::optional<helper_user>& user);
  helper_process(helper_process&& other) noexcept;
  helper_process& operator=(helper_process&&) = delete;
  helper_process(const helper_process&) = delete;
  helper_process& operator=(const helper_process&) = delete;
  /// Kills the process if it still runs, and waits for its end.
  ~helper_process();

  [[nodiscard]] shared_area& area() const { return *area_; }
  [[nodiscard]] int socket() const { return socket_.get(); }
  [[nodiscard]] int output() const { return output_.get(); }  ///< a pipe with the process's output
  /// Waits up to `patience` for the process to end, then kills it. Returns the wait status of waitpid. Empty if another
  /// part of this program took the status: it waits for any child, or ignores SIGCHLD.
  [[nodiscard]] std::optional<int> end(std::chrono::milliseconds patience);

 private:
  helper_process(shared_memory area, pid_t id) : area_(std::move(area)), id_(id) {}
  void kill() const;

  shared_memory area_;
  base::unique_fd socket_;
  base::unique_fd output_;
  base::unique_fd process_;     ///< a pidfd: unlike the number, it cannot come to mean another process
  pid_t id_;                    ///< 0: the process has been waited for
  pid_t made_in_ = ::getpid();  ///< a forked child has a copy of this object, which does nothing
};

/// "SIGSEGV", or "signal 70" for one without a name.
[[nodiscard]] std::string signal_name(int signal);

}  // namespace mpiacq::mqd_host
