// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The tracing process (see tracer_client.hpp), started with its two sockets open at fixed numbers:
//
//   tracer of PID
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/tracer_client.hpp"
#include "helper/standard_streams.hpp"
#include "server/guard.hpp"
#include "server/tracer_server.hpp"
#include "wire/channel.hpp"

using namespace mpiacq::tracing;

namespace {

/// Closes all of the tool's descriptors but the two sockets and the standard error, which a sanitizer or the loader may
/// need. Otherwise the tool's pipes would not end, and its file systems could not be unmounted.
bool stand_alone() {
  sigset_t all;
  ::sigfillset(&all);
  if (::sigprocmask(SIG_SETMASK, &all, nullptr) != 0 || ::chdir("/") != 0) return false;
  if (::syscall(SYS_close_range, first_free_descriptor, ~0U, 0) != 0) {
    for (int fd = first_free_descriptor; fd < 65536; ++fd) ::close(fd);
  }
  return true;
}

/// Empty if the tool has died already. Its sockets are then at their end.
unique_fd tool_process(pid_t id) {
  unique_fd process{static_cast<int>(::syscall(SYS_pidfd_open, id, 0))};
  return ::getppid() == id ? std::move(process) : unique_fd{};
}

/// With this name `ps` distinguishes the two processes, and `pkill tracer` does not end both.
void take_name_of_guard(char* own_name) {
  constexpr char name[] = "guard";
  if (std::strlen(own_name) >= sizeof name - 1) std::strcpy(own_name, name);
}

int trace(unique_fd tool, unique_fd to_guard) {
  auto statuses = waiter::create();
  if (!statuses) return 1;
  tracer_server tracing(
      {unique_fd{commands_descriptor}, unique_fd{events_descriptor}, std::move(tool), std::move(to_guard)},
      std::move(*statuses));
  tracing.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (!mpiacq::base::open_missing_streams()) return 1;
  const long tool = argc == 3 && std::strcmp(argv[1], "of") == 0 ? std::strtol(argv[2], nullptr, 10) : 0;
  if (tool <= 0 || ::fcntl(events_descriptor, F_GETFD) < 0 || ::fcntl(commands_descriptor, F_GETFD) < 0) {
    std::fputs("This program is started by the mpiacq library, which lets it trace processes for it.\n", stderr);
    return 2;
  }
  for (const int fd : {commands_descriptor, events_descriptor}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  if (!stand_alone()) return 1;
  unique_fd process = tool_process(static_cast<pid_t>(tool));
  auto notes = make_socket_pair(SOCK_SEQPACKET);
  // Each process has its name before the tool receives an answer.
  static_cast<void>(::prctl(PR_SET_NAME, "job-guard"));
  const pid_t child = notes ? ::fork() : -1;
  if (child > 0) {
    notes->theirs.reset();
    ::close(commands_descriptor);
    take_name_of_guard(argv[0]);
    return guard(child, {std::move(notes->ours), unique_fd{events_descriptor}, std::move(process)}).run();
  }
  static_cast<void>(::prctl(PR_SET_NAME, "tracer"));
  // If no second process can be made, this one traces without a guard.
  unique_fd to_guard = child == 0 ? std::move(notes->theirs) : unique_fd{};
  if (notes) notes->ours.reset();
  return trace(std::move(process), std::move(to_guard));
}
