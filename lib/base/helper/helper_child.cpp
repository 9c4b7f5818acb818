// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "helper/helper_child.hpp"

#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "proc/left_processes.hpp"

namespace mpiacq::base {

namespace {

/// Helpers that were left and have perhaps not ended.
left_processes& all_left() {
  static left_processes all;
  return all;
}

}  // namespace

helper_child::helper_child(pid_t id) : process_(static_cast<int>(::syscall(SYS_pidfd_open, id, 0))), id_(id) {
  all_left().reap();
}

helper_child::helper_child(helper_child&& other) noexcept
    : process_(std::move(other.process_)), id_(std::exchange(other.id_, 0)), made_in_(other.made_in_) {}

helper_child::~helper_child() {
  // In a forked copy of the tool, the child belongs to the original process, which ends it.
  if (id_ != 0 && is_made_here()) static_cast<void>(end(std::chrono::milliseconds{0}));
}

void helper_child::kill() const {
  if (::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0) == 0 || errno == ESRCH) return;
  ::kill(id_, SIGKILL);  // for a kernel, or a sandbox around the tool, without pidfds
}

std::optional<int> helper_child::end(std::chrono::milliseconds patience) {
  if (id_ == 0) return std::nullopt;
  pollfd ending{process_.get(), POLLIN, 0};
  if (patience.count() <= 0 || ::poll(&ending, 1, static_cast<int>(patience.count())) <= 0) kill();
  int status = 0;
  pid_t waited = 0;
  do {
    waited = ::waitpid(id_, &status, 0);
  } while (waited < 0 && errno == EINTR);
  process_.reset();
  return waited == std::exchange(id_, 0) ? std::optional{status} : std::nullopt;
}

void helper_child::leave(std::chrono::milliseconds patience) {
  if (id_ == 0) return;
  pollfd ending{process_.get(), POLLIN, 0};
  if (process_ && ::poll(&ending, 1, static_cast<int>(patience.count())) > 0) return static_cast<void>(end(patience));
  all_left().add(std::exchange(id_, 0));
  process_.reset();
}

error no_descriptors(std::string_view what_for) {
  return error{error_code::system, fmt::format("cannot make the descriptors for {}", what_for)}.with_errno(errno);
}

unique_fd moved_up(int fd, int lowest) {
  return unique_fd{::fcntl(fd, F_DUPFD_CLOEXEC, lowest)};
}

result<helper_ends> make_helper_socket(int lowest, std::string_view what_for) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return fail(no_descriptors(what_for));
  const unique_fd theirs{pair[1]};
  helper_ends both{unique_fd{pair[0]}, moved_up(theirs.get(), lowest)};
  if (!both.theirs) return fail(no_descriptors(what_for));
  return both;
}

result<helper_ends> make_helper_output(int lowest, std::string_view what_for) {
  int pair[2];
  if (::pipe2(pair, O_CLOEXEC) != 0) return fail(no_descriptors(what_for));
  const unique_fd theirs{pair[1]};
  helper_ends both{unique_fd{pair[0]}, moved_up(theirs.get(), lowest)};
  if (!both.theirs || ::fcntl(both.ours.get(), F_SETFL, O_NONBLOCK) != 0) return fail(no_descriptors(what_for));
  return both;
}

}  // namespace mpiacq::base
