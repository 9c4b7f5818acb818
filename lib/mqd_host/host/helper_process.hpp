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

/// Whom the process becomes before it does anything.
struct helper_user {
  uid_t user = 0;
  gid_t group = 0;
};

/// The process that a queue library runs in, for one process of the job: ours, and gone when this is.
class helper_process {
 public:
  /// `program`: empty for the one that is installed. `library` is the file's descriptor.
  [[nodiscard]] static result<helper_process> start(const std::string& program, int library,
                                                    const std::optional<helper_user>& user);
  helper_process(helper_process&& other) noexcept;
  helper_process& operator=(helper_process&&) = delete;
  helper_process(const helper_process&) = delete;
  helper_process& operator=(const helper_process&) = delete;
  /// Ends it, and waits for its end.
  ~helper_process();

  [[nodiscard]] shared_area& area() const { return *area_; }
  [[nodiscard]] int socket() const { return socket_.get(); }
  [[nodiscard]] int output() const { return output_.get(); }  ///< what it prints
  /// As waitpid says it, when it has ended or, if it does not by itself, has been ended. Empty where somebody else took
  /// it: this program waits for any child of its own, or ignores SIGCHLD.
  [[nodiscard]] std::optional<int> end(std::chrono::milliseconds patience);

 private:
  helper_process(shared_memory area, pid_t id) : area_(std::move(area)), id_(id) {}
  void kill() const;

  shared_memory area_;
  base::unique_fd socket_;
  base::unique_fd output_;
  base::unique_fd process_;     ///< a pidfd: what it names is ours also where the number has been given away
  pid_t id_;                    ///< 0: its end has been seen
  pid_t made_in_ = ::getpid();  ///< a forked child has a copy, whose end changes nothing
};

/// "SIGSEGV", or "signal 70" for one without a name.
[[nodiscard]] std::string signal_name(int signal);

}  // namespace mpiacq::mqd_host
