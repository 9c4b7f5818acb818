// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A helper process that the library has started for itself: its end, and what passes between both.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>
#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/error.hpp"

namespace mpiacq::base {

/// A child process. The object owns it: the destructor kills it and waits for its end.
class helper_child {
 public:
  explicit helper_child(pid_t id);
  helper_child(helper_child&& other) noexcept;
  helper_child& operator=(helper_child&&) = delete;
  helper_child(const helper_child&) = delete;
  helper_child& operator=(const helper_child&) = delete;
  ~helper_child();

  /// Waits up to `patience` for the process to end, then kills it. Returns the wait status of waitpid. Empty if another
  /// part of this program took the status: it waits for any child, or ignores SIGCHLD.
  [[nodiscard]] std::optional<int> end(std::chrono::milliseconds patience);
  /// Waits up to `patience` for the process to end, and then leaves it: it ends by itself, and a later call of this
  /// class takes its status.
  void leave(std::chrono::milliseconds patience);
  /// False in a forked child of the process that made this object.
  [[nodiscard]] bool is_made_here() const { return ::getpid() == made_in_; }

 private:
  void kill() const;

  unique_fd process_;           ///< a pidfd: unlike the number, it cannot come to mean another process
  pid_t id_;                    ///< 0: the process has been waited for
  pid_t made_in_ = ::getpid();  ///< a forked child has a copy of this object, which does nothing
};

/// Two connected descriptors. `theirs` is above the numbers that a new process gets (`spawn_plan::give`).
struct helper_ends {
  unique_fd ours;
  unique_fd theirs;
};
/// The error if one of the descriptors cannot be made, with the current errno.
[[nodiscard]] error no_descriptors(std::string_view what_for);
/// A duplicate of the descriptor at `lowest` or above.
[[nodiscard]] unique_fd moved_up(int fd, int lowest);
/// A stream socket. Error: system.
[[nodiscard]] result<helper_ends> make_helper_socket(int lowest, std::string_view what_for);
/// A pipe from the new process. `ours` does not block. Error: system.
[[nodiscard]] result<helper_ends> make_helper_output(int lowest, std::string_view what_for);

}  // namespace mpiacq::base
